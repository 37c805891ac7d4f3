"""Triggers as people and models write them: what is kept does what is meant, or its author is told of the mistake."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from memory_server.domain.message import Message
from memory_server.domain.situation import Situation
from memory_server.errors import TriggerRejected
from memory_server.triggers import Checked, Value
from memory_server.triggers.engine import Engine
from memory_server.triggers.javascript.sandbox import Sandbox
from memory_server.triggers.wrapping import unwrapped

CORPUS = Path(__file__).with_name("corpus")
TALKS = json.loads((CORPUS / "talks.json").read_text())
ZONE = ZoneInfo(TALKS["zone"])


PLURALS = "Keys match whole words:"


@dataclass(frozen=True, slots=True)
class Tried:
    """A trigger of the corpus: what became of it, and its value in each conversation (None: it failed)."""

    trigger: str
    meant: list[bool]
    mistake: bool
    node: list[bool | None] | None
    checked: Checked | None
    refusal: str
    values: list[bool | None]

    @property
    def told(self) -> bool:
        return self.checked is None or len(self.checked.warnings) > self.told_of_plurals

    @property
    def told_of_plurals(self) -> bool:
        """True if there is the hint that a whole word misses its plural, which its author may want: no mistake."""
        return self.checked is not None and any(
            warning.startswith(PLURALS) for warning in self.checked.warnings
        )

    @property
    def right(self) -> bool:
        return [bool(value) for value in self.values] == self.meant


def situation(name: str) -> Situation:
    talk = TALKS["talks"][name]
    messages = tuple(Message(role, content) for role, content in talk["messages"])
    now = datetime.fromisoformat(talk["at"]).astimezone(ZONE)
    return Situation(messages, TALKS["conversation_id"], now, 1, talk["participants"])


def tried(engine: Engine, entry: dict[str, Any]) -> Tried:
    trigger = unwrapped(entry["trigger"])
    given = (
        trigger,
        entry["meant"],
        entry["mistake"],
        entry.get("node") if trigger == entry["trigger"] else None,
    )
    try:
        checked = engine.check(trigger)
    except TriggerRejected as refused:
        return Tried(*given, None, str(refused), [])
    outcomes = [engine.judge([trigger], situation(talk))[0] for talk in entry["talks"]]
    return Tried(*given, checked, "", [each.holds if isinstance(each, Value) else None for each in outcomes])


@pytest.fixture(scope="module")
def corpus() -> Iterator[list[Tried]]:
    engine = Engine(Sandbox(TALKS["zone"]), lambda said, wanted: 0.9 if "sleep" in said else 0.1)
    lines = (CORPUS / "triggers.jsonl").read_text().splitlines()
    yield [tried(engine, json.loads(line)) for line in lines]
    engine.close()


def test_there_are_enough_of_them_and_half_are_mistakes(corpus: list[Tried]) -> None:
    assert len({each.trigger for each in corpus}) >= 300
    assert sum(each.mistake for each in corpus) >= len(corpus) / 2


def test_none_is_kept_without_a_word_that_does_not_do_what_is_meant(corpus: list[Tried]) -> None:
    silent = [each.trigger for each in corpus if not each.told and not each.right]
    assert silent == []


def test_a_proper_trigger_is_kept_and_does_what_is_meant(corpus: list[Tried]) -> None:
    wrong = [(each.trigger, each.refusal) for each in corpus if not each.mistake and not each.right]
    assert wrong == []


def test_few_proper_triggers_are_warned_of(corpus: list[Tried]) -> None:
    told = [each.trigger for each in corpus if not each.mistake and each.told]
    assert [trigger for trigger in told if "toISOString" not in trigger] == ["true"]  # that date is in UTC
    assert len(told) == 5
    assert sum(each.told_of_plurals for each in corpus if not each.mistake) == 9


def test_the_values_are_those_of_node(corpus: list[Tried]) -> None:
    compared = [each for each in corpus if each.node is not None and each.checked is not None]
    assert len(compared) > 100
    assert [each.trigger for each in compared if each.values != each.node] == []


def test_dates_in_words_are_those_of_node() -> None:
    sandbox = Sandbox(TALKS["zone"])
    written = json.loads((CORPUS / "dates.json").read_text())
    sources = [f"{source} === {json.dumps(text, ensure_ascii=False)}" for source, text in written]
    outcomes = sandbox.run(sources, situation("B"), 60.0)
    sandbox.close()
    assert len(sources) > 150
    assert [
        source
        for source, outcome in zip(sources, outcomes, strict=True)
        if not isinstance(outcome, Value) or not outcome.holds
    ] == []
