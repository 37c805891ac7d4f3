"""Questions by time, in English and Chinese, on three small stores: what each one lists or finds first.

In each line of the files `lists` are all texts of the answer, in any order; `first` is the first one, `within` all that
may be in the answer. `plain`: the words of time belong to the subject, so the answer says nothing of a time.
"""

import json
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from quality.doors import built, unmerged

from memory_server.domain.caller import Caller
from memory_server.domain.fact import FactDraft, Scope
from memory_server.domain.memory import MemoryDraft, MemoryType
from memory_server.domain.moment import timestamp
from memory_server.domain.turn import TurnDraft
from memory_server.embedding.bundled import BundledEmbedder
from memory_server.services.recall import Recalled, RecallWish

CALLER = Caller("tests", "now")
HERE = Path(__file__).parent
STORES: dict[str, Any] = json.loads((HERE / "asked_times.json").read_text(encoding="utf-8"))
NOW = datetime.fromisoformat(STORES["now"]).astimezone()


def questions() -> list[dict[str, Any]]:
    files = ("asked_times.jsonl", "asked_times_held.jsonl")
    return [json.loads(line) for name in files for line in (HERE / name).read_text("utf-8").splitlines()]


Ask = Any


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    with (
        built(BundledEmbedder()) as shop,
        built(BundledEmbedder()) as han,
        built(BundledEmbedder()) as home,
    ):
        doors = dict(zip(STORES["stores"], (shop, han, home), strict=True))
        names = {store: filled(door[0], door[1], STORES["stores"][store]) for store, door in doors.items()}

        def asked(store: str, text: str, wish: RecallWish | None = None) -> tuple[list[str], Recalled]:
            services, _ = doors[store]
            recalled = services.recall.recall(text, (), 800, wish or RecallWish(), CALLER)
            return [
                names[store][ref] for ref in re.findall(r"\[([^\[\]]+)\]$", recalled.answer.text, re.M)
            ], recalled

        yield asked


def filled(services: Any, set_clock: Any, rows: list[list[str]]) -> dict[str, str]:
    """Store the texts, each when it was; return their names by handle."""
    memories, names = unmerged(services.memories), {}
    for name, kind, day, text in sorted(rows, key=lambda row: row[2]):
        set_clock(datetime.fromisoformat(day).astimezone())
        match kind:
            case "turn":
                names[f"t{services.turns.register(TurnDraft(text, text), {}, CALLER)}"] = name
            case "fact":
                key, _, value = text.partition("=")
                services.facts.write(FactDraft(key, value), Scope.PROJECT, CALLER)
                names[f"f {key}"] = name
            case _:
                draft = MemoryDraft(text, MemoryType(kind))
                names[f"m{memories.store(draft, None, CALLER).memory.id}"] = name
    set_clock(NOW)
    services.queue.warm_up()
    services.queue.drain()
    return names


@pytest.mark.parametrize("question", questions(), ids=lambda question: question["ask"])
def test_a_question_by_time_lists_that_time_and_words_of_time_in_a_name_filter_nothing(
    ask: Ask, question: dict[str, Any]
) -> None:
    found, recalled = ask(question["store"], question["ask"])
    if "lists" in question:
        assert sorted(found) == sorted(question["lists"]), recalled.note
    else:
        assert found[:1] == [question["first"]], (found, recalled.note)
    if "within" in question:
        assert set(found) <= set(question["within"])
    if "note" in question:
        assert recalled.note == question["note"]
    if "plain" in question:
        assert recalled.note is None


def test_the_newest_of_a_list_comes_first(ask: Ask) -> None:
    assert ask("shop", "What did we decide last week?")[0] == ["a5", "a3", "a2", "a1"]


def test_a_filter_by_time_lists_all_where_the_question_has_no_subject(ask: Ask) -> None:
    wish = RecallWish(since=timestamp(datetime(2026, 11, 16).astimezone()), until=timestamp(NOW))
    assert ask("shop", "decisions", wish)[0] == ["a6", "a5", "a3", "a2", "a1"]
    assert ask("shop", "What did we decide?", wish)[0] == ["a6", "a5", "a3", "a2", "a1"]
    found, recalled = ask("shop", "", wish)
    assert found == ["a8", "a6", "a14", "a5", "a4", "a3", "a2", "a1"]
    assert recalled.note == "All from 2026-11-16 to 2026-11-27."


def test_an_answer_tells_the_time_that_it_is_from_and_where_it_is_from_another_one(ask: Ask) -> None:
    notes = [
        ask("shop", text)[1].note
        for text in (
            "What did we decide last week?",
            "What did we decide last week about the session store?",
            "Which deploy script did we use last week?",
            "What was decided on 12 October?",
        )
    ]
    assert notes == [
        "Decisions from 2026-11-16 to 2026-11-22.",
        "Only what is from 2026-11-16 to 2026-11-22.",
        "Nothing from 2026-11-16 to 2026-11-22 clearly answers this. Of all times:",
        "No decision was stored of 2026-10-12. This was:",
    ]
