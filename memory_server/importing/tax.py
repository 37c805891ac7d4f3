"""The memories.json of the article "The Tax MCP Memory": turns with a summary, a vector, and facts.

The vectors count letters in 128 buckets: they say nothing, and are left behind.
"""

from collections.abc import Iterator
from typing import Any

from memory_server.domain.exchange.records import FactRecord, FactStep, Record, Refusal, TurnRecord
from memory_server.domain.fact import is_plain
from memory_server.importing.opened import Format, Opened
from memory_server.importing.values import hashed, moment

NAME = "tax-memories"


def fits(opened: Opened) -> bool:
    first = next(iter(_turns(opened)), None)
    return (
        isinstance(first, dict)
        and "summary" in first
        and not first.keys().isdisjoint(("message", "embedding"))
    )


def records(opened: Opened) -> Iterator[Record]:
    known = opened.json.get("facts") if isinstance(opened.json, dict) else None
    yield from _facts(known, "")
    for number, each in enumerate(_turns(opened), 1):
        if not isinstance(each, dict) or not is_plain(each) or not each.get("summary"):
            yield Refusal(f"memory {number}", "has no summary")
            continue
        when = moment(each.get("timestamp") or each.get("created_at"))
        message, summary = str(each.get("message") or each["summary"]), str(each["summary"])
        yield TurnRecord(
            str(each.get("id") or hashed(message, summary)),
            message,
            summary,
            created_at=when,
            created_by=NAME,
        )
        yield from _facts(each.get("facts"), when)


def _facts(known: Any, when: str) -> Iterator[Record]:
    for key, value in known.items() if isinstance(known, dict) else ():
        step = FactStep(1, "written", value, changed_at=when, changed_by=NAME)
        yield FactRecord("global", "", str(key), (step,), created_at=when, created_by=NAME)


def _turns(opened: Opened) -> list[Any]:
    if isinstance(opened.json, dict):
        there = opened.json.get("memories")
        return there if isinstance(there, list) else []
    return opened.json if isinstance(opened.json, list) else []


FORMAT = Format(NAME, 'the memories.json of "The Tax MCP Memory"', fits, records)
