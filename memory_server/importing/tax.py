"""The memories.json of the article "The Tax MCP Memory": turns with a summary, a vector, and facts.

The vectors count letters in 128 buckets: they say nothing, and are left behind.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
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
    yield from _facts(opened.json.get("facts") if opened.json else None, "")
    at_moment: Counter[str] = Counter()
    for number, turn in enumerate(_turns(opened), 1):
        if not isinstance(turn, dict) or not is_plain(turn) or not turn.get("summary"):
            yield Refusal(f"memory {number}", "has no summary")
            continue
        when = moment(turn.get("timestamp") or turn.get("created_at"))
        message, summary = str(turn.get("message") or turn["summary"]), str(turn["summary"])
        text_id = hashed(message, summary)
        at_moment[when] += 1
        yield TurnRecord(
            str(turn.get("id") or (hashed(when, at_moment[when]) if when else text_id)),
            message,
            summary,
            created_at=when,
            created_by=NAME,
            also=(text_id,),
        )
        yield from _facts(turn.get("facts"), when)


def _facts(facts: Any, when: str) -> Iterator[Record]:
    for key, value in facts.items() if isinstance(facts, dict) else ():
        step = FactStep(1, "written", value, changed_at=when, changed_by=NAME)
        yield FactRecord("global", "", str(key), (step,), created_at=when, created_by=NAME)


def _turns(opened: Opened) -> Iterable[Any]:
    if opened.json is None:
        return opened.values or ()
    memories = opened.json.get("memories")
    return memories if isinstance(memories, list) else []


FORMAT = Format(NAME, 'the memories.json of "The Tax MCP Memory"', fits, records)
