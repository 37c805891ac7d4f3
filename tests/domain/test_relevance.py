"""How well texts answer a question: words that neighbours lend, vectors that they widen, and what is asked for."""

from collections.abc import Sequence
from datetime import date
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from memory_server.domain import relevance
from memory_server.domain.relevance import (
    ANSWER,
    DATED,
    LEND,
    NAMED,
    ONLY_ASKS,
    OWN_WORDS,
    SAYS_NUMBER,
    SAYS_WHEN,
    WIDEN,
    Hood,
    Names,
    Numbers,
    Term,
)
from memory_server.language import dates, question
from memory_server.language.text import fold

TODAY = date(2026, 3, 14)


def talk(number: int, *, asks: Sequence[int] = (), among: Sequence[int] | None = None) -> Hood:
    """Texts 1, 2, 3, … of one talk, all of them candidates, or those `among`. `asks` end in a question mark."""
    rows = np.array([id - 1 for id in among or range(1, number + 1)], np.int64)
    near = {}
    for distance in LEND:
        there = rows + distance
        near[distance] = np.where((there >= 0) & (there < number), there, number)
    return Hood(
        np.arange(1, number + 1),
        rows,
        near,
        np.array([id in asks for id in range(1, number + 2)], np.bool_),
        0,
    )


def alone(number: int) -> Hood:
    """Texts of which none has a neighbour."""
    nowhere = np.full(number, number, np.int64)
    return Hood(
        np.arange(1, number + 1),
        np.arange(number),
        dict.fromkeys(LEND, nowhere),
        np.zeros(number + 1, np.bool_),
        0,
    )


def term(*ids: int, usual: float = 0.0004, score: float = 1.0) -> Term:
    return Term(np.array(ids, np.int64), np.full(len(ids), score), len(ids), usual)


def shares(terms: Sequence[Term], hood: Hood) -> list[float]:
    return [round(share, 6) for share in relevance.shares(terms, 100, hood).share.tolist()]


# Words


def test_a_text_has_the_share_of_the_weight_of_its_words() -> None:
    found = relevance.shares([term(1, 2), term(1)], 100, alone(3))
    first, second = term(1, 2).weight(100), term(1).weight(100)
    assert found.share == pytest.approx([1.0, first / (first + second), 0.0])
    assert found.cover == pytest.approx(found.share)
    assert found.full == pytest.approx(first + second)


def test_neighbours_lend_the_word_that_a_text_lacks_the_nearer_the_more() -> None:
    assert shares([term(4)], talk(9)) == [0.2, 0.4, 0.6, 1.0, 0.6, 0.4, 0.2, 0.0, 0.0]


def test_a_text_has_the_best_of_what_it_holds_and_what_is_lent_and_not_the_sum() -> None:
    assert shares([term(1, 2, 3)], talk(3)) == [1.0, 1.0, 1.0]
    assert shares([term(1, 3)], talk(3)) == [1.0, 0.6, 1.0]


def test_what_is_lent_is_not_covered() -> None:
    found = relevance.shares([term(1)], 100, talk(2))
    assert found.cover.tolist() == [1.0, 0.0]
    assert 0 < found.share[1] < 1


def test_a_reply_inherits_the_words_of_the_question_before_it() -> None:
    assert shares([term(1)], talk(2, asks=[1])) == [1.0, ANSWER]
    assert shares([term(2)], talk(2, asks=[1])) == [LEND[1], 1.0]


def test_only_the_reply_right_after_inherits() -> None:
    assert shares([term(1)], talk(3, asks=[1])) == [1.0, ANSWER, LEND[-2]]


def test_a_neighbour_that_is_no_candidate_lends_too() -> None:
    assert shares([term(1)], talk(3, asks=[1], among=[2, 3])) == [ANSWER, LEND[-2]]


def test_nobody_lends_to_a_text_that_stands_alone() -> None:
    assert shares([term(1)], alone(3)) == [1.0, 0.0, 0.0]


def test_without_terms_and_without_texts_shares_have_the_shape_of_the_candidates() -> None:
    assert shares([], alone(3)) == [0.0, 0.0, 0.0]
    assert relevance.shares([], 0, alone(3)).full == 0.0
    assert shares([term(7)], alone(0)) == []
    assert shares([term()], alone(2)) == [0.0, 0.0]


@given(
    st.integers(1, 12).flatmap(
        lambda number: st.tuples(
            st.just(number),
            st.lists(st.lists(st.integers(1, number), unique=True), max_size=4),
            st.lists(st.integers(1, number)),
        )
    ),
    st.floats(0.1, 2.2),
)
def test_a_neighbour_never_takes_and_a_share_is_never_above_one(
    drawn: tuple[int, list[list[int]], list[int]], score: float
) -> None:
    number, holding, asks = drawn
    terms = [term(*sorted(ids), score=score) for ids in holding]
    together = relevance.shares(terms, number, talk(number, asks=asks))
    apart = relevance.shares(terms, number, alone(number))
    assert together.share.shape == together.cover.shape == (number,)
    assert np.all((together.share >= apart.share - 1e-9) & (together.share <= 1))
    assert np.array_equal(together.cover, apart.cover)


# The weight of a word in a store of few texts


def test_in_a_store_of_two_texts_a_word_of_both_counts() -> None:
    assert term(1, 2).weight(2) > 1


def test_in_a_small_store_a_word_that_is_rare_in_general_counts_more_than_a_usual_one() -> None:
    assert term(1, 2).weight(5) > 1.5 * term(1, 2, usual=0.3).weight(5)
    assert term(1, usual=0.3).weight(5) < term(1, 2).weight(5)


def test_in_a_large_store_the_store_itself_decides() -> None:
    many, few = tuple(range(1, 4001)), tuple(range(1, 5))
    assert term(*few, usual=0.3).weight(10_000) > 3 * term(*many, usual=0.0004).weight(10_000)


@given(st.integers(0, 5000), st.floats(0, 1), st.integers(0, 5000))
def test_a_weight_is_never_negative_and_falls_with_the_number_of_texts_that_hold_the_word(
    texts: int, usual: float, holding: int
) -> None:
    holding = min(holding, texts)
    nothing = np.zeros(0, np.int64)
    weights = [
        Term(nothing, np.zeros(0), each, usual).weight(texts) for each in (holding, min(holding + 1, texts))
    ]
    assert weights[0] >= weights[1] >= 0


def test_a_term_gives_its_scores_by_id_and_a_zero_for_nowhere() -> None:
    held = Term(np.array([2, 5, 9]), np.array([0.5, 0.7, 0.9]), 3, 0.0)
    assert held.over(np.array([1, 2, 9, 12])).tolist() == [0.0, 0.5, 0.9, 0.0, 0.0]
    assert term().over(np.array([1, 2])).tolist() == [0.0, 0.0, 0.0]
    assert held.over(np.zeros(0, np.int64)).tolist() == [0.0]


# Vectors


def vectors(*rows: Sequence[float]) -> "np.typing.NDArray[np.float32]":
    """The vectors of the texts, and the row of zeros for nowhere."""
    return np.array([*rows, [0.0] * len(rows[0])], np.float32)


def test_a_vector_is_drawn_towards_its_neighbours_and_keeps_its_length() -> None:
    wide = relevance.widened(vectors([1, 0, 0], [0, 1, 0], [0, 1, 0]), talk(3))
    assert np.linalg.norm(wide, axis=1) == pytest.approx([1, 1, 1], abs=1e-5)
    first, second, _ = wide
    assert first[0] > first[1] > 0.3  # it stays nearest to its own
    assert second[1] > second[0] > 0
    assert not wide[:, 2].any()


def test_a_vector_that_stands_alone_stays_as_it_is() -> None:
    own = vectors([0.6, 0.8], [1, 0])
    assert relevance.widened(own, alone(2)) == pytest.approx(own[:2])


def test_a_text_without_a_vector_gets_none_from_its_neighbours() -> None:
    wide = relevance.widened(vectors([1, 0], [0, 0], [1, 0]), talk(3))
    assert not wide[1].any()
    assert wide[0] == pytest.approx([1, 0])


def test_a_neighbour_beyond_the_reach_does_not_widen() -> None:
    rows = [[1.0, 0.0]] * (max(WIDEN) + 1) + [[0.0, 1.0]]
    assert relevance.widened(vectors(*rows), talk(len(rows)))[0] == pytest.approx([1, 0])


@given(
    st.integers(1, 8).flatmap(
        lambda number: arrays(np.float32, (number, 6), elements=st.floats(-1, 1, width=32))
    )
)
def test_widened_vectors_have_the_length_one_or_are_none(rows: "np.typing.NDArray[np.float32]") -> None:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    own = np.where(lengths > 1e-3, rows / np.maximum(lengths, 1e-3), 0).astype(np.float32)
    wide = relevance.widened(np.vstack([own, np.zeros((1, 6), np.float32)]), talk(len(rows)))
    assert wide.shape == own.shape
    assert wide.dtype == np.float32
    for each, before in zip(np.linalg.norm(wide, axis=1), own, strict=True):
        assert each == pytest.approx(1.0 if before.any() else 0.0, abs=1e-3)
    found = relevance.cosines(wide, own[0])
    assert found.shape == (len(rows),)
    assert np.all((found >= 0) & (found <= 1.001))


def test_the_middle_lies_between() -> None:
    middle = relevance.middle([np.array([1, 0], np.float32), np.array([0, 1], np.float32)])
    assert middle == pytest.approx([0.5**0.5] * 2)
    assert middle.shape == (2,)


def test_the_middle_of_arrays_lies_between_their_rows() -> None:
    first, second = np.array([[1, 0], [0, 0]], np.float32), np.array([[0, 1], [0, 0]], np.float32)
    assert relevance.middle([first, second]) == pytest.approx(np.array([[0.5**0.5] * 2, [0, 0]]))


def test_a_text_is_repeated_by_the_first_ones_that_are_near_but_not_by_itself() -> None:
    vectors = np.array([[1, 0], [1, 0], [0, 1], [0.8, 0.6]], np.float32)
    assert relevance.repeated(vectors, 2, 0.7) == pytest.approx(np.array([1, 1, 0, 2 / 3]))
    assert relevance.repeated(vectors[:1], 2, 0.7).tolist() == [0]


def test_without_vectors_nothing_is_repeated() -> None:
    assert relevance.repeated(np.zeros((3, 0), np.float32), 2, 0.7).tolist() == [0, 0, 0]


# The order over several questions


def order(*lists: Sequence[float]) -> tuple[list[int], list[int]]:
    places, best = relevance.best_places([np.array(each, np.float64) for each in lists])
    return places.tolist(), best.tolist()


def test_the_order_of_one_question_is_that_of_its_scores_and_equals_stay_in_order() -> None:
    assert order([0.1, 0.9, 0.5, 0.9]) == ([1, 3, 2, 0], [0, 0, 0, 0])


def test_each_of_two_questions_brings_its_best_text_to_the_top() -> None:
    """Text 0 answers the first, text 2 the second, and text 1 is half right for each."""
    found, best = order([0.9, 0.5, 0.0, 0.1], [0.0, 0.1, 0.3, 0.05])
    assert found[:3] == [0, 2, 1]
    assert (best[0], best[2]) == (0, 1)


def test_no_candidates_have_no_places() -> None:
    assert order([]) == ([], [])
    assert order([], []) == ([], [])


@given(
    st.tuples(st.integers(1, 4), st.integers(0, 20)).flatmap(
        lambda shape: arrays(np.float64, shape, elements=st.floats(0, 1))
    )
)
def test_every_candidate_comes_once_and_the_best_of_each_part_is_near_the_top(scores: Numbers) -> None:
    found, best = relevance.best_places(list(scores))
    assert sorted(found.tolist()) == list(range(scores.shape[1]))
    assert best.shape == (scores.shape[1],)
    if scores.shape[1]:
        assert all(found.tolist().index(int(each.argmax())) < len(scores) for each in scores)


# What a question asks for


def boosted(asked: str, text: str, day: date | None = None, speakers: Sequence[str] = ()) -> Any:
    folded = fold(asked)
    return relevance.boost(
        question.read(asked),
        dates.named(folded, TODAY),
        Names.of(folded, set(speakers)),
        fold(text),
        day,
    )


@pytest.mark.parametrize(
    ("asked", "text", "amount", "reason"),
    [
        ("What does Evan do?", "Evan: I paint houses.", NAMED, ("speaker",)),
        ("Where is my passport?", "user: it lies in the drawer", OWN_WORDS, ("own words",)),
        ("我的护照在哪里？", "user：在抽屉里", OWN_WORDS, ("own words",)),
        ("When is the release?", "The release is next Tuesday", SAYS_WHEN, ("says when",)),
        ("什么时候发布？", "发布在5月3日", SAYS_WHEN, ("says when",)),
        ("How many cats has Ann?", "Ann has three cats", SAYS_NUMBER, ("says how many",)),
        ("她有多少只猫？", "她有三只猫", SAYS_NUMBER, ("says how many",)),
        ("What does Evan do?", "Maria: I paint houses.", 0.0, ()),
        ("What does Evan do?", "Evan paints houses.", 0.0, ()),
        ("Where is the passport?", "user: it lies in the drawer", 0.0, ()),
        ("Where is my passport?", "assistant: it lies in the drawer", 0.0, ()),
        ("What is the release?", "The release is next Tuesday", 0.0, ()),
        ("When is the release?", "It comes out with the fix", 0.0, ()),
        ("Where is Evan?", "Where was Evan last seen?", -ONLY_ASKS, ()),
        ("Evan 在哪里？", "Evan 去哪里了？", -ONLY_ASKS, ()),
    ],
)
def test_what_is_asked_for_raises_a_text_and_a_text_that_only_asks_is_lowered(
    asked: str, text: str, amount: float, reason: tuple[str, ...]
) -> None:
    found = boosted(asked, text, speakers=["evan", "maria", "user"])
    assert found.amount == pytest.approx(amount)
    assert found.reasons == reason


def test_a_text_of_the_time_that_is_asked_for_is_raised() -> None:
    asked = "What did we decide on 2023-05-10?"
    amounts = {day: boosted(asked, "Tea", date(2023, 5, day)).amount for day in (10, 25)}
    assert amounts == {10: DATED, 25: DATED / 2}
    assert boosted(asked, "Tea", date(2023, 5, 10)).reasons == ("date",)
    assert boosted(asked, "Tea", date(2023, 7, 10)).amount == 0.0
    assert boosted("What did we decide?", "Tea", date(2023, 5, 10)).amount == 0.0


def test_a_question_that_names_all_speakers_raises_none() -> None:
    everyone = ["evan", "maria"]
    asked = "What do Evan and Maria do?"
    assert boosted(asked, "Evan: I paint.", speakers=everyone).reasons == ()
    assert boosted(asked, "Evan: I paint.", speakers=[*everyone, "sam"]).reasons == ("speaker",)


def test_a_name_inside_another_word_is_not_named() -> None:
    assert boosted("Do the events matter?", "Even: hello", speakers=["even", "maria"]).reasons == ()
    assert boosted("What do the users say?", "user: hello", speakers=["user", "evan"]).reasons == ()


def test_who_speaks() -> None:
    assert relevance.speaker_of(fold("Evan: hello")) == "evan"
    assert relevance.speaker_of(fold("小明：你好")) == "小明"
    assert relevance.speaker_of(fold("We use Postgres")) == ""
    assert relevance.speaker_of(fold(f"{'a' * 31}: hello")) == ""


@given(st.text(max_size=60), st.text(max_size=60), st.one_of(st.none(), st.dates()))
def test_any_question_and_text_have_a_small_boost(asked: str, text: str, day: date | None) -> None:
    found = boosted(asked, text, day, [relevance.speaker_of(fold(text))])
    most = NAMED + OWN_WORDS + DATED + SAYS_WHEN + SAYS_NUMBER
    assert -ONLY_ASKS <= found.amount <= most
    assert not (found.named and found.other_named)


@given(st.sets(st.integers(1, 20), min_size=1))
def test_no_other_vectors_are_read_than_widened_ones_need(among: set[int]) -> None:
    hood = talk(20, among=sorted(among))
    vectors = np.random.default_rng(1).random((21, 4), np.float32)
    vectors[-1] = 0.0
    read = relevance.read_by_widened(hood)
    only = vectors * np.append(read, False)[:, None]
    assert relevance.widened(only, hood).tolist() == relevance.widened(vectors, hood).tolist()
    assert only[hood.rows].tolist() == vectors[hood.rows].tolist()
    furthest = max(map(abs, WIDEN))
    assert read.tolist() == [any(abs(id - each) <= furthest for each in among) for id in range(1, 21)]
