"""What a search shows, and in which order: what supersedes a memory ranks above it, whatever the ranks."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.domain.edge import Edge, Linked, Relation
from memory_server.domain.embedding import Space
from memory_server.domain.memory import Memory, MemoryId, MemoryType
from memory_server.domain.ranking import (
    BELOW,
    BLIND_WEIGHT,
    CUT,
    INEXACT,
    LEAST,
    LEXICAL_WEIGHT,
    MEANING_WEIGHT,
    NEIGHBOUR_WEIGHT,
    PRIOR_WEIGHT,
    SUPERSEDED_WEIGHT,
    Hit,
    Literal,
    Why,
    fts5_idf,
    in_order,
    likely,
    meaning_weight,
    prior,
    with_linked,
    with_neighbours,
    with_newer,
)
from memory_server.language.text import fold

NOW = "2026-03-14T12:00:00.000Z"


def hit(id: int, rank: float, score: float | None = None) -> Hit:
    """A hit; its probability is its rank unless told otherwise."""
    memory = Memory(
        MemoryId(id), f"text {id}", MemoryType.DECISION, None, (), 5, {}, 0, NOW, NOW, None, None, NOW
    )
    return Hit(memory, rank, rank if score is None else score, Why(rank, 0.0, 5.0), memory.content)


def line(*ids: int) -> dict[MemoryId, MemoryId]:
    """Each superseded by the next."""
    return {MemoryId(old): MemoryId(new) for old, new in pairwise(ids)}


@pytest.mark.parametrize(
    ("newer", "order"),
    [
        ({1: 3}, [3, 1, 2, 4]),
        ({2: 3, 1: 2}, [3, 2, 1, 4]),
        ({3: 1}, [1, 2, 3, 4]),
        ({2: 9}, [1, 9, 2, 3, 4]),
        ({2: 9, 9: 8}, [1, 8, 9, 2, 3, 4]),
        ({1: 2, 2: 1}, [2, 1, 3, 4]),
        ({}, [1, 2, 3, 4]),
    ],
)
def test_what_probably_replaces_a_hit_comes_right_before_it(newer: dict[int, int], order: list[int]) -> None:
    assert with_newer([1, 2, 3, 4], newer, newer) == order


@pytest.mark.parametrize(
    ("newer", "order"),
    [
        ({1: 3}, [1, 3, 2, 4]),
        ({2: 1}, [1, 2, 3, 4]),
        ({1: 2, 2: 4}, [1, 2, 4, 3]),
        ({2: 9, 9: 8}, [1, 2, 9, 8, 3, 4]),
        ({1: 2, 2: 1}, [1, 2, 3, 4]),
    ],
)
def test_what_answers_less_well_than_what_it_may_replace_comes_right_behind_it(
    newer: dict[int, int], order: list[int]
) -> None:
    assert with_newer([1, 2, 3, 4], newer, ()) == order


def order(hits: list[Hit], successors: Mapping[MemoryId, MemoryId]) -> list[int]:
    return [each.memory.id for each in in_order(hits, successors)]


def test_the_successor_takes_the_whole_rank_and_why_names_the_edge() -> None:
    old, new = hit(1, 0.8, 0.6), hit(2, 0.1, 0.2)
    first, second = in_order([old, new], line(1, 2))
    assert first == replace(new, rank=0.8, score=0.6, why=Why(0.1, 0.0, 5.0, edge="2 supersedes 1"))
    assert second == replace(old, rank=0.8 * SUPERSEDED_WEIGHT)


def test_a_successor_that_is_the_better_hit_keeps_its_rank_and_names_no_edge() -> None:
    old, new = hit(1, 0.5), hit(2, 0.9)
    first, second = in_order([old, new], line(1, 2))
    assert first == new
    assert second == replace(old, rank=0.5 * SUPERSEDED_WEIGHT)


def test_a_successor_that_is_likelier_keeps_its_probability() -> None:
    first, _ = in_order([hit(1, 0.8, 0.3), hit(2, 0.1, 0.4)], line(1, 2))
    assert (first.memory.id, first.rank, first.score) == (2, 0.8, 0.4)


def test_in_a_line_each_ranks_below_the_next_and_edges_are_the_ones_that_exist() -> None:
    found = in_order([hit(1, 0.9), hit(2, 0.2), hit(3, 0.1)], line(1, 2, 3))
    assert [each.memory.id for each in found] == [3, 2, 1]
    assert [each.why.edge for each in found] == ["3 supersedes 2", "2 supersedes 1", None]
    assert found[2].rank == pytest.approx(BELOW * found[1].rank)


def test_the_rank_is_handed_over_a_memory_of_the_line_that_was_not_found() -> None:
    found = in_order([hit(1, 0.9), hit(3, 0.1)], line(1, 2, 3))
    assert [(each.memory.id, each.why.edge) for each in found] == [(3, "3 supersedes 2"), (1, None)]


def test_a_superseded_memory_without_its_successor_among_the_hits_still_ranks_lower() -> None:
    (alone,) = in_order([hit(1, 0.8)], line(1, 2))
    assert alone.rank == pytest.approx(0.8 * SUPERSEDED_WEIGHT)
    assert order([hit(1, 0.8), hit(3, 0.7)], line(1, 2)) == [3, 1]


def test_a_superseded_memory_is_left_out_no_sooner_than_before_it_was_superseded() -> None:
    at_the_limit = hit(1, 0.5, LEAST)
    assert [each.memory.id for each in likely(in_order([hit(9, 1.0), at_the_limit], {}))] == [9, 1]
    superseded = in_order([hit(9, 1.0), at_the_limit, hit(2, 0.0)], line(1, 2))
    assert [each.memory.id for each in likely(superseded)] == [9, 2, 1]


def test_two_superseded_by_the_same_share_it() -> None:
    both = {MemoryId(1): MemoryId(3), MemoryId(2): MemoryId(3)}
    found = in_order([hit(1, 0.5), hit(2, 0.9), hit(3, 0.1)], both)
    assert [each.memory.id for each in found] == [3, 2, 1]
    assert found[0].why.edge == "3 supersedes 2"


@pytest.mark.parametrize("circle", [(1, 2, 1), (1, 2, 3, 1), (4, 1, 2, 3, 1)])
def test_a_circle_made_by_hand_is_survived_and_everything_found(circle: tuple[int, ...]) -> None:
    hits = [hit(id, 0.5 + id / 100) for id in set(circle)]
    found = in_order(hits, line(*circle))
    assert {each.memory.id for each in found} == set(circle)
    assert all(each.rank <= 0.55 * SUPERSEDED_WEIGHT for each in found)


def test_a_line_of_a_thousand_is_survived() -> None:
    ids = range(1, 1001)
    found = order([hit(id, 0.5) for id in ids], line(*ids))
    assert found == sorted(found, reverse=True)
    assert len(found) == 1000


RANKS = st.dictionaries(st.integers(1, 12), st.floats(0.05, 1.0), min_size=1)


@given(RANKS, st.dictionaries(st.integers(1, 12), st.integers(1, 12)))
def test_whatever_the_ranks_nothing_ranks_above_what_superseded_it(
    ranks: dict[int, float], edges: dict[int, int]
) -> None:
    upwards = {MemoryId(old): MemoryId(new) for old, new in edges.items() if new > old}
    hits = [hit(id, rank) for id, rank in ranks.items()]
    found = order(hits, upwards)
    for old, new in upwards.items():
        if old in found and new in found:
            assert found.index(new) < found.index(old)
    assert sorted(found) == sorted(ranks)
    assert all(0 <= each.rank <= 1 and 0 <= each.score <= 1 for each in in_order(hits, upwards))


@given(RANKS)
def test_without_successors_the_order_is_that_of_the_ranks_and_equal_ones_stay(
    ranks: dict[int, float],
) -> None:
    hits = [hit(id, rank) for id, rank in ranks.items()]
    found = in_order(hits, {})
    assert found == sorted(hits, key=lambda each: -each.rank)
    assert all(each.why.edge is None for each in found)


def test_the_best_hit_is_shown_and_those_likely_enough() -> None:
    below, at, above = (hit(id, 0.5, LEAST + off) for id, off in ((1, -0.001), (2, 0.0), (3, 0.001)))
    assert likely([below, above, below, at]) == [below, above, at]
    assert likely([below]) == [below]
    assert likely([]) == []


# Neighbours of the best hit


def joined(hits: list[Hit], *near: Edge, candidates: tuple[Hit, ...] = ()) -> dict[int, float]:
    found = with_neighbours(hits, near, [*hits, *candidates])
    assert [each.rank for each in found] == sorted((each.rank for each in found), reverse=True)
    return {each.memory.id: each.rank for each in found}


def edge(source: int, target: int, strength: float = 1.0) -> Edge:
    return Edge(MemoryId(source), MemoryId(target), Relation.SOLVES, strength)


def test_a_neighbour_joins_with_its_part_of_the_best_rank() -> None:
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


def test_a_neighbour_is_as_likely_as_it_was_or_by_its_part_of_the_best_hit() -> None:
    found = with_neighbours(
        [hit(1, 0.8, 0.5)], [edge(1, 2), edge(1, 3)], [hit(2, 0.0, 0.4), hit(3, 0.0, 0.2)]
    )
    assert {each.memory.id: each.score for each in found} == {
        1: 0.5,
        2: 0.4,
        3: pytest.approx(0.5 * NEIGHBOUR_WEIGHT),
    }


def test_of_two_edges_to_a_neighbour_the_stronger_counts() -> None:
    found = with_neighbours([hit(1, 0.8)], [edge(1, 2, 0.9), edge(2, 1, 0.6)], [hit(2, 0.0)])
    assert [(each.memory.id, each.why.edge) for each in found] == [(1, None), (2, "1 solves 2")]


def test_a_neighbour_that_is_not_among_the_candidates_does_not_join() -> None:
    assert joined([hit(1, 0.8)], edge(1, 2)) == {1: 0.8}


# What is shown inside a hit


def shown(hits: list[Hit], linked: dict[int, list[int]]) -> list[tuple[int, list[int]]]:
    """Each hit with what is inside it; `linked` says what solves which memory."""
    edges = {
        MemoryId(id): [Linked(MemoryId(other), "solves", "text") for other in others]
        for id, others in linked.items()
    }
    return [(each.memory.id, [one.id for one in each.linked]) for each in with_linked(hits, edges)]


def test_what_is_inside_a_better_hit_is_left_out_of_the_list() -> None:
    hits = [hit(1, 0.9), hit(2, 0.8), hit(3, 0.7)]
    assert shown(hits, {1: [3, 9]}) == [(1, [3, 9]), (2, [])]
    assert shown(hits, {}) == [(1, []), (2, []), (3, [])]
    assert shown([], {}) == []


def test_what_ranks_above_a_hit_is_not_shown_inside_it_again() -> None:
    assert shown([hit(1, 0.9), hit(2, 0.8)], {2: [1]}) == [(1, []), (2, [])]


def test_of_two_that_are_linked_both_ways_the_better_hit_holds_the_other() -> None:
    assert shown([hit(1, 0.9), hit(2, 0.8)], {1: [2], 2: [1]}) == [(1, [2])]


def test_what_is_linked_to_a_memory_that_is_left_out_stays_in_the_list() -> None:
    assert shown([hit(1, 0.9), hit(2, 0.8), hit(3, 0.7)], {1: [2], 2: [3]}) == [(1, [2]), (3, [])]


# Weights


def space(*, chinese: bool = True, lexical: bool = False) -> Space:
    return Space("hashing", "m", "1", 8, "", "", "", chinese, lexical, "f")


@pytest.mark.parametrize(
    ("known", "mode", "chinese", "weight"),
    [
        (None, "hybrid", False, 0.0),
        (None, "semantic", True, 0.0),
        (space(), "keyword", False, 0.0),
        (space(), "semantic", False, 1.0),
        (space(chinese=False), "semantic", True, 1.0),
        (space(), "hybrid", True, MEANING_WEIGHT),
        (space(chinese=False), "hybrid", False, MEANING_WEIGHT),
        (space(chinese=False), "hybrid", True, BLIND_WEIGHT),
        (space(lexical=True), "hybrid", False, LEXICAL_WEIGHT),
        (space(lexical=True, chinese=False), "hybrid", True, BLIND_WEIGHT),
    ],
)
def test_meaning_weighs_what_the_embedder_knows_of_the_question(
    known: Space | None, mode: str, chinese: bool, weight: float
) -> None:
    assert meaning_weight(known, mode, chinese) == weight


@given(st.floats(0, 1000), st.floats(0, 1000))
def test_a_higher_decayed_score_keeps_more_and_none_loses_much(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 1 - PRIOR_WEIGHT <= prior(low) <= prior(high) <= 1


def test_a_fully_decayed_memory_loses_the_whole_weight() -> None:
    assert prior(0.0) == 1 - PRIOR_WEIGHT


def test_the_rarity_is_that_of_fts5() -> None:
    assert fts5_idf(1, 10) == pytest.approx(log(9.5 / 1.5))
    assert fts5_idf(0, 10) > fts5_idf(1, 10) > fts5_idf(4, 10) > fts5_idf(5, 10) == fts5_idf(10, 10) == 1e-6


# Letter by letter


@pytest.mark.parametrize(
    ("question", "text", "exact"),
    [
        ("C++", "We write C++ here", True),
        ("C++", "We write C here", False),
        ("who restarted pve-01?", "PVE-01 was restarted", True),
        ("who restarted pve-01?", "pve 01 was restarted", False),
        ("who restarted pve-01?", "pve-011 was restarted", False),
        ("who restarted pve-01?", "xpve-01 was restarted", False),
        ("where is foo_bar and a.b?", "foo_bar calls a.b", True),
        ("where is foo_bar and a.b?", "foo_bar calls a b", False),
        ("who restarted the host?", "nobody", True),  # no token has a mark in it
        ("host", "the host", True),  # one word means this word
        ("host", "the hosts", False),
        ("when is 🚀", "soon 🚀", True),
        ("when is 🚀", "soon", False),
        ("重启 pve-01", "已重启pve-01了", True),
        ("重启pve-01了吗", "已重启 pve 01", False),
    ],
)
def test_a_text_that_lacks_a_token_letter_by_letter_keeps_less(question: str, text: str, exact: bool) -> None:
    assert Literal(question).share(fold(text)) == (1.0 if exact else INEXACT)


@pytest.mark.parametrize(
    ("question", "text", "within"),
    [
        ("The Host", "on the host of old", True),
        ("the host", "on the hostile side, the host", True),
        ("the host", "on the hostile side", False),
        ("主机", "一台主机坏了", True),
        ("+", "a+b", True),
    ],
)
def test_a_whole_query_is_found_as_whole_words(question: str, text: str, within: bool) -> None:
    assert Literal(question).within(fold(text)) == within


@given(st.text(), st.text(), st.text())
def test_every_text_holds_itself(before: str, text: str, after: str) -> None:
    assert Literal(text).within(fold(f"{before} {text.strip()} {after}"))
    assert Literal(text).share(fold(f"{before} {text.strip()} {after}")) == 1.0
