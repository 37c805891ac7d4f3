"""Probabilities that texts answer: within bounds, and more where a text has more of the answer."""

from dataclasses import replace
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.domain import confidence
from memory_server.domain.confidence import LIKELY, Signals
from memory_server.domain.ranking import LEAST
from memory_server.domain.relevance import ONLY_ASKS, Boost

NOTHING = Boost(0.0, (), False, False)
SHARES = st.floats(0, 1)

BOOSTS = st.builds(Boost, st.floats(-0.05, 0.45), st.just(()), st.booleans(), st.booleans())
SIGNALS = st.builds(
    Signals,
    share=SHARES,
    cover=SHARES,
    cosine=SHARES,
    distinct=st.floats(-8, 30),
    score=st.floats(-0.05, 1.45),
    far=st.floats(-0.05, 1.45),
    boost=BOOSTS,
    only_asks=st.booleans(),
    full=st.floats(0, 400),
    terms=st.integers(0, 300),
    questions=st.integers(1, 4),
    restated=st.floats(0, 9),
    summed=st.floats(0, 9),
)


def sure(score: float = 0.9) -> Signals:
    """A text that has every word of a question of three and is near in meaning."""
    return Signals(1.0, 1.0, 0.9, 3.0, score, 0.2, NOTHING, False, 12.0, 3)


def unsure() -> Signals:
    """A text without any word of the question, and far in meaning."""
    return Signals(0.0, 0.0, 0.06, 0.0, 0.05, 0.05, NOTHING, False, 12.0, 3)


@given(st.lists(SIGNALS, max_size=30), st.booleans())
def test_each_text_has_a_probability(ranked: list[Signals], meaning: bool) -> None:
    found = confidence.probabilities(ranked, meaning)
    assert len(found) == len(ranked)
    assert all(0 <= each <= 1 for each in found)


@pytest.mark.parametrize("meaning", [True, False])
def test_an_empty_ranking_has_none(meaning: bool) -> None:
    assert confidence.probabilities([], meaning) == []


@given(SIGNALS, st.tuples(SHARES, SHARES))
def test_a_text_nearer_in_meaning_is_likelier_all_else_equal(
    signals: Signals, cosines: tuple[float, float]
) -> None:
    less, more = (
        confidence.probabilities([replace(signals, cosine=cosine)], True)[0] for cosine in sorted(cosines)
    )
    assert more >= less


@given(SIGNALS, st.tuples(SHARES, SHARES))
def test_without_meaning_the_cosine_counts_nothing(signals: Signals, cosines: tuple[float, float]) -> None:
    first, second = (
        confidence.probabilities([replace(signals, cosine=cosine)], False)[0] for cosine in cosines
    )
    assert first == second


@pytest.mark.parametrize("meaning", [True, False])
def test_a_text_with_all_that_is_asked_is_likely_and_those_with_nothing_are_not(meaning: bool) -> None:
    likely, *unlikely = confidence.probabilities([sure(), *[unsure()] * 9], meaning)
    assert likely > 0.5
    assert all(each < LIKELY for each in unlikely)
    assert max(unlikely) < likely / 5
    assert unlikely[-2] < LEAST
    without, *_ = confidence.probabilities([unsure()] * 10, meaning)
    assert without < LIKELY


@pytest.mark.parametrize("meaning", [True, False])
def test_of_equal_texts_the_earlier_is_likelier(meaning: bool) -> None:
    found = confidence.probabilities([sure()] * 6, meaning)[:-1]
    assert found == sorted(found, reverse=True)
    assert found[0] > found[-1]


@pytest.mark.parametrize("meaning", [True, False])
def test_a_text_that_only_asks_is_less_likely(meaning: bool) -> None:
    """Its score is lowered, and that lowers its probability too."""
    lower = replace(NOTHING, amount=-ONLY_ASKS)
    asking, telling = (
        confidence.probabilities([each, *[unsure()] * 9], meaning)[0]
        for each in (replace(sure(0.9 - ONLY_ASKS), boost=lower, only_asks=True), sure())
    )
    assert asking < telling


@pytest.mark.parametrize("meaning", [True, False])
def test_a_better_score_is_likelier_all_else_equal(meaning: bool) -> None:
    found = [confidence.probabilities([sure(score)], meaning)[0] for score in (0.3, 0.5, 0.7, 0.9)]
    assert found == sorted(found)
    assert found[0] < found[-1]


def test_the_inputs_are_a_row_for_each_text_with_six_more_columns_where_meaning_is_known() -> None:
    ranked = [
        replace(each, questions=2, restated=restated, summed=1.0)
        for each, restated in ((sure(), 0.0), (unsure(), 3.0))
    ]
    with_meaning, by_words = (confidence.inputs(ranked, meaning) for meaning in (True, False))
    assert with_meaning.shape == (2, by_words.shape[1] + 6)
    lead, again = 0.9 - 0.05, log(1 + 3) * 0.06 / 0.4
    assert with_meaning[:, -6:] == pytest.approx(
        np.array([[3.0, log(2), 0.0, 0.0, again / 2, log(2)], [0.0, log(2), lead, again, again / 2, log(2)]])
    )


def test_a_text_that_others_restate_is_likelier() -> None:
    restated = [
        confidence.probabilities([replace(sure(0.5), restated=each)] * 10, True)[3] for each in (0, 2, 5)
    ]
    assert restated == sorted(restated)
    assert restated[0] < restated[-1]


def test_behind_a_text_that_is_far_ahead_the_others_are_less_likely() -> None:
    behind, beside = (
        confidence.probabilities([sure(score), *[sure(0.5)] * 5], True)[1] for score in (1.2, 0.52)
    )
    assert behind < beside


def test_of_several_questions_one_that_is_answered_is_enough() -> None:
    several = [replace(signals, questions=2) for signals in (unsure(), sure(), *[unsure()] * 20)]
    assert confidence.is_answered(several, [0.1, 0.9, *[0.01] * 20], meaning=True)
    single = [replace(signals, questions=1) for signals in several]
    assert not confidence.is_answered(single, [0.1, 0.9, *[0.01] * 20], meaning=True)


def test_where_a_name_of_the_question_is_unknown_the_text_must_be_surer() -> None:
    near = [replace(sure(0.5), cosine=0.4, share=0.4, cover=0.4), *[unsure()] * 20]
    unknown = [replace(signals, names_unknown=True) for signals in near]
    chances = [0.3, *[0.01] * 20]
    assert confidence.is_answered(near, chances, meaning=True)
    assert not confidence.is_answered(unknown, chances, meaning=True)
    assert confidence.is_answered(
        [replace(unknown[0], translated=True, cosine=0.9), *unknown[1:]], chances, True
    )


def test_a_name_in_another_script_may_be_spelt_otherwise() -> None:
    signals = replace(unsure(), translated=True, names_unknown=True, score=0.16)
    far, near = (replace(signals, cosine=cosine) for cosine in (0.25, 0.45))
    assert confidence.is_answered([replace(far, names_unknown=False)], [0.3], meaning=True)
    assert not confidence.is_answered([far], [0.3], meaning=True)
    assert confidence.is_answered([near], [0.3], meaning=True)


def test_among_few_texts_the_same_signals_decide() -> None:
    near, unlikely = replace(sure(0.5), cosine=0.4, cover=0.4), [0.1, 0.01, 0.01]
    assert confidence.is_answered([near, *[unsure()] * 2], unlikely, meaning=True)
    assert not confidence.is_answered([unsure()] * 3, unlikely, meaning=True)
    assert not confidence.is_answered([replace(near, names_unknown=True), *[unsure()] * 2], unlikely, True)
