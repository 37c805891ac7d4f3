"""What people type is read for facts and for decisions: both are measured on turns that were labelled before the rules.

`spoken_held.jsonl` and `stated_held.jsonl` were kept aside until the rules were done.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from memory_server.language.own_words import own_words
from memory_server.language.statements import statements
from memory_server.language.told import told

HERE = Path(__file__).parent


def labelled(name: str) -> list[dict[str, Any]]:
    lines = (HERE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def is_part(found: str, wanted: list[str]) -> bool:
    return any(found.rstrip(".。") in each for each in wanted)


@pytest.mark.parametrize(
    ("name", "precision", "recall"), [("spoken", 0.98, 0.95), ("spoken_held", 0.9, 0.85)]
)
def test_plain_facts_are_found_and_hardly_anything_else(name: str, precision: float, recall: float) -> None:
    turns = labelled(name)
    found = [(fact.text, turn["facts"]) for turn in turns for fact in told(turn["said"])]
    right = sum(is_part(fact, wanted) for fact, wanted in found)
    assert right / len(found) >= precision, [fact for fact, wanted in found if not is_part(fact, wanted)]
    assert right / sum(len(turn["facts"]) for turn in turns) >= recall


@pytest.mark.parametrize(("name", "precision", "recall"), [("spoken", 0.95, 0.95), ("spoken_held", 0.9, 0.9)])
def test_decisions_preferences_and_corrections_are_found_in_turns(
    name: str, precision: float, recall: float
) -> None:
    turns = labelled(name)
    found = [(each, turn["states"]) for turn in turns for each in statements(turn["said"])]
    right = sum(is_part(each, wanted) for each, wanted in found)
    assert right / len(found) >= precision, [each for each, wanted in found if not is_part(each, wanted)]
    assert right / sum(len(turn["states"]) for turn in turns) >= recall


@pytest.mark.parametrize("name", ["stated", "stated_held"])
def test_what_is_of_the_moment_is_no_decision(name: str) -> None:
    sentences = labelled(name)
    wrong = [each["said"] for each in sentences if bool(statements(each["said"])) is not each["states"]]
    assert len(wrong) <= 0.05 * len(sentences), wrong


@pytest.mark.parametrize(
    ("text", "fact", "wish", "personal"),
    [
        (
            "Actually, the port of the ledger is 6000. Fix it.",
            "the port of the ledger is 6000.",
            False,
            False,
        ),
        ("my name is Priya", "my name is Priya", False, True),
        ("以后都用 uv", "以后都用 uv", True, False),
        ("前端是用 Vue 3 写的，帮我写一个组件", "前端是用 Vue 3 写的", False, False),
    ],
)
def test_a_fact_is_kept_without_what_stands_around_it(
    text: str, fact: str, wish: bool, personal: bool
) -> None:
    (found,) = told(text)
    assert (found.text, found.wish, found.personal) == (fact, wish, personal)


def test_code_logs_quotations_and_what_is_to_be_translated_are_not_the_persons_words() -> None:
    text = '```\nmy name is Bob\n```\n> we use yarn\n2024-05-03 12:00 INFO up\nLook at it.\nWhy?\nHe said "we use npm".'
    assert own_words(text) == ["Look at it.", "Why?"]
    assert own_words("Fine. Translate this: we use npm. My name is Bob.") == ["Fine."]
