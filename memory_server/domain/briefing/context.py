"""The facts that a briefing says, as JSON, for the callers that ask for them."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from memory_server.domain.briefing.headings import Heading, Item
from memory_server.language.tokens import weigh


class Part(StrEnum):
    """Parts of a context: subjects of facts."""

    PROJECT = "project"
    CURRENT = "current"
    SHARED = "shared"


@dataclass(frozen=True, slots=True)
class Said:
    """A value as it was written, whole; who wrote it last, and when."""

    value: Any
    by: str | None
    at: str


@dataclass(frozen=True, slots=True)
class Context:
    """By part and key; `cost` is the estimate of its tokens as JSON."""

    parts: dict[Part, dict[str, Said]]
    cost: float


def context_of(items: Sequence[Item], chosen_parts: frozenset[Part], room: float) -> Context:
    """The facts of the chosen parts, in the order of the items, as long as there is room."""
    parts: dict[Part, dict[str, Said]] = {part: {} for part in Part if part in chosen_parts}
    cost = _cost(parts)
    for item in items:
        if item.fact is None or part_of(item.heading) not in chosen_parts:
            continue
        entry = Said(item.fact.value, item.fact.updated_by, item.fact.updated_at)
        more = _cost({item.fact.key: asdict(entry)})
        if cost + more <= room:
            parts[part_of(item.heading)][item.fact.key] = entry
            cost += more
    return Context(parts, cost)


def part_of(heading: Heading) -> Part:
    if heading <= Heading.UNDER_WAY:
        return Part.CURRENT
    return Part.SHARED if heading is Heading.SHARED else Part.PROJECT


def _cost(value: Any) -> float:
    return weigh(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
