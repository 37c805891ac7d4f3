"""Questions in two hops."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.domain.bridging import GAIN, Texts, with_bridges
from memory_server.language import query


def test_what_the_best_text_names_leads_to_the_text_that_has_the_rest() -> None:
    texts = Texts(
        ["quokka works in the harbour", "quokka likes sardines", "the harbour has a crane", "a kettle"]
    )
    scores = with_bridges(
        texts, query.parse("who in the harbour likes something"), np.array([0.9, 0.3, 0.5, 0.0])
    )
    assert scores[1] > 0.3
    assert scores[[0, 2, 3]].tolist() == [0.9, 0.5, 0.0]


def test_chinese_texts_are_bridged_too() -> None:
    texts = Texts(["张雅静的年龄是39岁", "张雅静的电话是15361285665", "李强的电话是18486487257", "今天下雨"])
    scores = with_bridges(texts, query.parse("那个39岁的人的电话"), np.array([0.8, 0.3, 0.3, 0.0]))
    assert scores[1] > scores[2] == 0.3


def test_no_text_passes_the_one_that_leads_to_it() -> None:
    texts = Texts(["quokka harbour", "quokka sardines", "kettle"])
    asked = query.parse("harbour sardines")
    scores = with_bridges(texts, asked, np.array([0.31, 0.3, 0.0]))
    assert 0.3 + GAIN / 3 > 0.31
    assert scores[1] == 0.31


@pytest.mark.parametrize("scores", [[0.9, 0.3], [0.0, 0.0]])
def test_a_text_that_answers_all_or_nothing_leads_nowhere(scores: list[float]) -> None:
    texts = Texts(["quokka likes the harbour", "quokka"])
    assert with_bridges(texts, query.parse("quokka harbour likes"), np.array(scores)).tolist() == scores


def test_a_term_is_a_whole_word() -> None:
    assert Texts(["the crane", "cranes", "scrane"]).having("crane").tolist() == [1.0, 0.0, 0.0]


@given(st.text("ab1 -.é", max_size=12), st.text("ab1-", min_size=1, max_size=3))
def test_a_word_is_found_where_it_stands_alone(text: str, word: str) -> None:
    alone = re.search(rf"(?<![a-z0-9]){re.escape(word)}(?![a-z0-9])", text) is not None
    assert Texts([text]).having(word).tolist() == [alone]
