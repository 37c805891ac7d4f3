"""The estimate of tokens against a real tokenizer, offline: that of GPT-4o and later."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.language.tokens import beginning, estimate, fitting, weigh
from tests.tokenizer import tokens_of

PAIRS: dict[str, list[list[str]]] = json.loads(
    (Path(__file__).parents[1] / "domain" / "consolidation_pairs.json").read_text(encoding="utf-8")
)
NOTES = [note for pairs in PAIRS.values() for pair in pairs for note in pair[:2]]
CHINESE = [note for note in NOTES if any("\u4e00" <= c <= "\u9fff" for c in note)]
ENGLISH = [note for note in NOTES if note not in CHINESE]


@pytest.mark.parametrize("notes", [ENGLISH, CHINESE, NOTES], ids=["English", "Chinese", "mixed"])
@pytest.mark.parametrize("seed", range(5))
def test_a_page_is_estimated_within_ten_per_cent(notes: list[str], seed: int) -> None:
    page = " ".join(random.Random(seed).sample(notes, 25))
    assert estimate(page) == pytest.approx(tokens_of(page), rel=0.1)


def test_nothing_costs_nothing() -> None:
    assert estimate("") == estimate(" \n\t") == 0


@given(st.text(), st.text())
def test_the_weights_of_two_texts_add_up(one: str, other: str) -> None:
    assert weigh(f"{one}\n{other}") == pytest.approx(weigh(one) + weigh(other))


@given(st.text(), st.text())
def test_more_text_never_weighs_less(one: str, other: str) -> None:
    assert weigh(one + other) >= weigh(one) - 1e-9


@pytest.mark.parametrize("text", ["الإصدار كل يوم ثلاثاء", "релиз каждый вторник", "วันอังคาร", "🎉🚀🔥✅"])
def test_other_scripts_are_estimated_rather_too_high(text: str) -> None:
    assert estimate(text) >= tokens_of(text) - 1


@given(st.text(), st.floats(0, 50))
def test_a_beginning_has_no_more_tokens_than_it_may(text: str, most: float) -> None:
    start = beginning(text, most)
    assert text.startswith(start)
    assert weigh(start) <= max(most, 0) or not start
    assert start == text or weigh(text) > most


def test_lines_are_taken_as_long_as_they_fit() -> None:
    lines = ["one two three", "four five", "six"]
    assert fitting(lines, weigh("".join(lines)) + 5) == lines
    assert fitting(lines, weigh(lines[0]) + 1) == lines[:1]
    assert fitting(lines, 0) == []
