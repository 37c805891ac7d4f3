"""What supersedes a memory ranks above it, whatever the scores and however long the line."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.domain.edge import Edge, Relation
from memory_server.domain.memory import Memory, MemoryId, MemoryType
from memory_server.domain.ranking import (
    BELOW,
    CUT,
    NEIGHBOUR_WEIGHT,
    SUPERSEDED_WEIGHT,
    Hit,
    Why,
    best,
    with_neighbours,
)


def hit(id: int, score: float, day: int = 1) -> Hit:
    """A hit whose memory was written on a day of March."""
    day_text = f"2026-03-{day:02d}T12:00:00.000Z"
    memory = Memory(
        MemoryId(id), f"text {id}", MemoryType.DECISION, None, (), 5, {}, 0, day_text, day_text, None, None
    )
    return Hit(memory, score, Why(score, 0.0, 5.0))


def line(*ids: int) -> dict[MemoryId, MemoryId]:
    """Each superseded by the next."""
    return {MemoryId(old): MemoryId(new) for old, new in pairwise(ids)}


def order(hits: list[Hit], successors: Mapping[MemoryId, MemoryId], limit: int = 10) -> list[int]:
    return [each.memory.id for each in best(hits, limit, successors)]


def test_the_successor_takes_the_whole_score_and_why_names_the_edge() -> None:
    old, new = hit(1, 0.8), hit(2, 0.1, day=2)
    first, second = best([old, new], 10, line(1, 2))
    assert (first.memory, second.memory) == (new.memory, old.memory)
    assert first.score == pytest.approx(0.8 * 0.95)  # of two, the older one loses half of NEWNESS_WEIGHT
    assert first.why == Why(0.1, 0.0, 5.0, edge="2 supersedes 1")
    assert second.score == pytest.approx(first.score * SUPERSEDED_WEIGHT)
    assert second.why == old.why


def test_a_successor_that_is_the_better_hit_keeps_its_score_and_names_no_edge() -> None:
    first, second = best([hit(1, 0.5), hit(2, 0.9, day=2)], 10, line(1, 2))
    assert (first.memory.id, first.score, first.why.edge) == (2, 0.9, None)
    assert second.score == pytest.approx(0.5 * 0.95 * SUPERSEDED_WEIGHT)


def test_in_a_line_each_ranks_below_the_next_and_edges_are_the_ones_that_exist() -> None:
    found = best([hit(1, 0.9), hit(2, 0.2), hit(3, 0.1)], 10, line(1, 2, 3))
    assert [each.memory.id for each in found] == [3, 2, 1]
    assert [each.why.edge for each in found] == ["3 supersedes 2", "2 supersedes 1", None]
    assert found[2].score == pytest.approx(BELOW * found[1].score)


def test_the_score_is_handed_over_a_memory_of_the_line_that_was_not_found() -> None:
    found = best([hit(1, 0.9), hit(3, 0.1)], 10, line(1, 2, 3))
    assert [(each.memory.id, each.why.edge) for each in found] == [(3, "3 supersedes 2"), (1, None)]


def test_a_superseded_memory_without_its_successor_among_the_hits_still_loses_half() -> None:
    (alone,) = best([hit(1, 0.8)], 10, line(1, 2))
    assert alone.score == pytest.approx(0.8 * SUPERSEDED_WEIGHT)


def test_a_superseded_memory_is_cut_no_sooner_than_before_it_was_superseded() -> None:
    near_the_cut = CUT * 1.2
    assert order([hit(9, 1.0), hit(1, near_the_cut)], {}) == [9, 1]
    assert order([hit(9, 1.0), hit(1, near_the_cut), hit(2, 0.0)], line(1, 2)) == [9, 2, 1]


def test_two_superseded_by_the_same_share_it() -> None:
    both = {MemoryId(1): MemoryId(3), MemoryId(2): MemoryId(3)}
    found = best([hit(1, 0.5), hit(2, 0.9), hit(3, 0.1)], 10, both)
    assert [each.memory.id for each in found] == [3, 2, 1]
    assert found[0].why.edge == "3 supersedes 2"


@pytest.mark.parametrize("circle", [(1, 2, 1), (1, 2, 3, 1), (4, 1, 2, 3, 1)])
def test_a_circle_made_by_hand_is_survived_and_everything_found(circle: tuple[int, ...]) -> None:
    hits = [hit(id, 0.5 + id / 100) for id in set(circle)]
    found = best(hits, 10, line(*circle))
    assert {each.memory.id for each in found} == set(circle)
    assert all(each.score <= 0.55 * SUPERSEDED_WEIGHT for each in found)


def test_a_line_of_a_thousand_is_survived() -> None:
    ids = range(1, 1001)
    found = order([hit(id, 0.5) for id in ids], line(*ids), limit=1000)
    assert found == sorted(found, reverse=True)
    assert len(found) == 1000


SCORES = st.floats(0.05, 1.0)


@given(
    st.dictionaries(st.integers(1, 12), st.tuples(SCORES, st.integers(1, 28)), min_size=1),
    st.dictionaries(st.integers(1, 12), st.integers(1, 12)),
)
def test_whatever_the_scores_nothing_ranks_above_what_superseded_it(
    scores: dict[int, tuple[float, int]], edges: dict[int, int]
) -> None:
    upwards = {MemoryId(old): MemoryId(new) for old, new in edges.items() if new > old}
    hits = [hit(id, score, day) for id, (score, day) in scores.items()]
    found = order(hits, upwards, limit=100)
    for old, new in upwards.items():
        if old in found and new in found:
            assert found.index(new) < found.index(old)
    assert set(found) >= set(order(hits, {}, limit=100))
    assert all(each.score <= 1.0 for each in best(hits, 100, upwards))


@given(st.dictionaries(st.integers(1, 12), st.tuples(SCORES, st.integers(1, 28)), min_size=1))
def test_without_successors_the_order_is_that_of_the_scores(scores: dict[int, tuple[float, int]]) -> None:
    found = best([hit(id, score, day) for id, (score, day) in scores.items()], 100)
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    assert all(each.why.edge is None for each in found)


# Neighbours of the best hit


def joined(
    hits: list[Hit], *near: Edge, limit: int = 10, candidates: tuple[Hit, ...] = ()
) -> dict[int, float]:
    found = with_neighbours(hits, near, [*hits, *candidates], limit)
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    return {each.memory.id: each.score for each in found}


def edge(source: int, target: int, strength: float = 1.0) -> Edge:
    return Edge(MemoryId(source), MemoryId(target), Relation.SOLVES, strength)


def test_a_neighbour_joins_with_its_part_of_the_best_score() -> None:
    new, weak = hit(2, 0.1), hit(3, 0.1)
    assert joined([hit(1, 0.8)], edge(1, 2), edge(3, 1, 0.5), candidates=(new, weak)) == {
        1: 0.8,
        2: pytest.approx(0.8 * NEIGHBOUR_WEIGHT),
        3: pytest.approx(0.8 * NEIGHBOUR_WEIGHT * 0.5),
    }


def test_an_edge_too_weak_for_the_cut_brings_nothing() -> None:
    assert joined([hit(1, 0.8)], edge(1, 2, CUT / NEIGHBOUR_WEIGHT - 0.01), candidates=(hit(2, 0.0),)) == {
        1: 0.8
    }


def test_a_neighbour_among_the_hits_rises_but_never_falls() -> None:
    hits = [hit(1, 0.8), hit(2, 0.7), hit(3, 0.3)]
    assert joined(hits, edge(1, 2), edge(1, 3)) == {1: 0.8, 2: 0.7, 3: pytest.approx(0.48)}


def test_a_superseded_neighbour_neither_joins_nor_rises() -> None:
    old = replace(hit(2, 0.3), memory=replace(hit(2, 0.3).memory, superseded_by=MemoryId(9)))
    assert joined([hit(1, 0.8), old], edge(1, 2)) == {1: 0.8, 2: 0.3}
    assert joined([hit(1, 0.8)], edge(1, 2), candidates=(old,)) == {1: 0.8}


def test_of_two_edges_to_a_neighbour_the_stronger_counts() -> None:
    found = with_neighbours([hit(1, 0.8)], [edge(1, 2, 0.9), edge(2, 1, 0.6)], [hit(2, 0.0)], 10)
    assert [(each.memory.id, each.why.edge) for each in found] == [(1, None), (2, "1 solves 2")]


def test_neighbours_do_not_exceed_the_limit_and_nothing_has_none() -> None:
    assert joined([hit(1, 0.8)], edge(1, 2), limit=1, candidates=(hit(2, 0.0),)) == {1: 0.8}
    assert with_neighbours([], [], [], 10) == []
