"""The briefing of an assistant that opens a session: whole sentences, the most urgent first, within a token limit."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import count
from typing import Any

from memory_server.domain.fact import Fact, Scope
from memory_server.domain.memory import Memory, MemoryType
from memory_server.language.text import HAN
from memory_server.language.tokens import estimate, weigh


class Urgency(IntEnum):
    """The order of a briefing: blockers, the task, current work, decisions, discoveries, shared facts, conventions."""

    BLOCKER = 0
    TASK = 1
    CURRENT = 2
    DECISION = 3
    DISCOVERY = 4
    SHARED = 5
    CONVENTION = 6
    OTHER = 7


HEADINGS = {
    Urgency.BLOCKER: "Blocked",
    Urgency.TASK: "Current task",
    Urgency.CURRENT: "Under way",
    Urgency.DECISION: "Decided",
    Urgency.DISCOVERY: "Found out",
    Urgency.SHARED: "Shared",
    Urgency.CONVENTION: "Conventions",
    Urgency.OTHER: "Also known",
}
"""The heading of the sentences of each urgency."""

_OF_TYPE = {
    MemoryType.DECISION: Urgency.DECISION,
    MemoryType.PREFERENCE: Urgency.CONVENTION,
    MemoryType.PATTERN: Urgency.CONVENTION,
}
"""The urgency of memories by type; those of all other types are discoveries."""

HEADROOM = 0.9
"""Share of the token limit that the estimate may fill. The real count is up to 10 % higher and must keep the limit."""

LONG = 60
"""Tokens. Of a longer text the briefing has only the first sentences, so that there is room for other texts."""

TOO_LONG = 150
"""Tokens. Of a longer sentence the briefing only says where to read it: it would take the room of many others."""

LONGEST_NAME = 20
"""Tokens of the line with the project's name. A longer line becomes "This project.": a briefing may have only 50."""

_SENTENCE_END = re.compile(
    r"(?<=[。！？])(?![”’」』）。！？])"
    r"|(?<=[.!?…])(?<!\b\w\.)\s+(?=[^a-z])"  # not after e.g. or 1.
    r"|\s*\n\s*"
)
"""The end of a sentence in English or Chinese, or of a line."""

_ENDS_IN_HAN = re.compile(f"[{HAN}\u3041-\u30ff]$")
"""A text that ends in Chinese or Japanese: its full stop is 。."""


@dataclass(frozen=True, slots=True)
class Item:
    """A sentence of a briefing. `key` and `value` are those of its fact; a long text is shortened in both."""

    urgency: Urgency
    sentence: str
    key: str | None = None
    value: Any = None


@dataclass(frozen=True, slots=True)
class Pointers:
    """How a face says where to read more: a fact by `{key}`, a memory by `{id}`, and everything that was left out."""

    fact: str
    memory: str
    more: str


@dataclass(frozen=True, slots=True)
class Briefing:
    """`token_count` is the estimate for `text`; `said` are the items in it, `left_out` is the number of the others."""

    text: str
    token_count: int
    said: tuple[Item, ...]
    left_out: int


def urgency_of(key: str, scope: Scope) -> Urgency:
    """The urgency of a fact, by the prefix of its key. `ai.NAME.` and the shared scope are what assistants share."""
    head, _, rest = key.partition(".")
    match head:
        case "current" if rest.startswith("block"):
            return Urgency.BLOCKER
        case "current" if rest.startswith("task"):
            return Urgency.TASK
        case "current":
            return Urgency.CURRENT
        case "discovered":
            return Urgency.DISCOVERY
        case "project":
            return Urgency.DECISION if rest.startswith("decision") else Urgency.CONVENTION
        case "shared" | "ai":
            return Urgency.SHARED
        case _:
            return Urgency.SHARED if scope is Scope.SHARED else Urgency.OTHER


def of_fact(fact: Fact, pointers: Pointers) -> Item | None:
    """A fact as a sentence; None where it says nothing: an empty value, or a blocker that is false."""
    urgency = urgency_of(fact.key, fact.home.scope)
    if _is_empty(fact.value) or (urgency is Urgency.BLOCKER and fact.value is False):
        return None
    label, where = _label(fact.key, urgency), pointers.fact.format(key=fact.key)
    if isinstance(fact.value, str):
        value = _opening(fact.value)
        return _named_if_long(Item(urgency, _sentence(label + value), fact.key, value), where)
    said = _sentence(label + _plain(fact.value))
    return _named_if_long(Item(urgency, said, fact.key, fact.value), where)


def of_memory(memory: Memory, pointers: Pointers) -> Item:
    """A memory as a sentence; its type decides the urgency."""
    urgency = _OF_TYPE.get(memory.type, Urgency.DISCOVERY)
    where = pointers.memory.format(id=memory.id)
    return _named_if_long(Item(urgency, _sentence(_opening(memory.content))), where)


def brief(
    project: str,
    facts: Sequence[Item],
    memories: Sequence[Item],
    more: int,
    max_tokens: int,
    pointers: Pointers,
) -> Briefing:
    """The most urgent items that fit, each whole or not at all; `more` counts items that were not given here.

    Under one heading facts and memories alternate, each in the order given. The same items give the same text.
    """
    opening = f"Project {project}." if project else "No project."
    if weigh(opening) > LONGEST_NAME:
        opening = "This project."
    ordered = sorted([*_ranked(facts), *_ranked(memories)], key=lambda ranked: ranked[:2])
    items = [item for _, _, item in ordered]
    said = _chosen(items, HEADROOM * max_tokens - weigh(_text(opening, [], len(items) + more, pointers)))
    left = len(items) - len(said) + more
    text = _text(opening, said, left, pointers)
    return Briefing(text, estimate(text), tuple(said), left)


def _ranked(items: Sequence[Item]) -> list[tuple[Urgency, int, Item]]:
    """Each item with its rank among those of its urgency."""
    ranks = {urgency: count() for urgency in Urgency}
    return [(item.urgency, next(ranks[item.urgency]), item) for item in items]


def _chosen(ordered: Sequence[Item], room: float) -> list[Item]:
    """The items that fit. First no heading after the task takes more than half of the room, so that each gets some."""
    costs = [weigh(f" {item.sentence}") for item in ordered]
    said: set[int] = set()
    headed: set[Urgency] = set()
    for halved in (True, False):
        for urgency in Urgency:
            share = room / 2 if halved and urgency > Urgency.TASK else room
            room -= share
            for number, item in enumerate(ordered):
                if item.urgency is not urgency or number in said:
                    continue
                cost = costs[number] + (0 if urgency in headed else weigh(HEADINGS[urgency] + ":"))
                if cost <= share:
                    said.add(number)
                    headed.add(urgency)
                    share -= cost
            room += share
    return [ordered[number] for number in sorted(said)]


def _text(opening: str, said: Sequence[Item], left: int, pointers: Pointers) -> str:
    lines = [opening]
    for urgency, heading in HEADINGS.items():
        sentences = [item.sentence for item in said if item.urgency is urgency]
        if sentences:
            lines.append(f"{heading}: {' '.join(sentences)}")
    if not said and not left:
        lines.append("Nothing is stored for it yet.")
    if left:
        lines.append(f"Left out: {left} more ({pointers.more}).")
    return "\n".join(lines)


def _named_if_long(item: Item, where: str) -> Item:
    if weigh(item.sentence) <= TOO_LONG:
        return item
    return Item(item.urgency, f"Too long to say here: {where}.")


def _opening(text: str) -> str:
    """The first sentences, up to LONG tokens but at least one; `[…]` where there are more."""
    sentences = [part for part in _SENTENCE_END.split(text.strip()) if part.strip()]
    said: list[str] = []
    for sentence in sentences:
        if said and weigh(" ".join([*said, sentence])) > LONG:
            return " ".join([*map(_line, said), "[…]"])
        said.append(sentence)
    return _line(text)


def _sentence(text: str) -> str:
    if text.endswith((".", "!", "?", "。", "！", "？", "…", "…]")):
        return text
    return text + ("。" if _ENDS_IN_HAN.search(text) else ".")


def _label(key: str, urgency: Urgency) -> str:
    """The name of a key, before its value. A blocker or the task has none: the heading says it."""
    if urgency in (Urgency.BLOCKER, Urgency.TASK):
        return ""
    head, _, rest = key.partition(".")
    if head == "ai" and "." in rest:
        name, _, what = rest.partition(".")
        return f"{_words(name)} says of {_words(what)}: "
    if urgency is Urgency.DECISION:
        rest = rest.partition(".")[2] or rest
    known = head in ("current", "discovered", "project", "shared")
    return f"{_words(rest if known and rest else key)}: "


def _plain(value: Any) -> str:
    """Text as it is, lists and small objects as enumerations, anything else as JSON."""
    match value:
        case str():
            return _line(value)
        case list() if all(_is_scalar(each) for each in value):
            return "; ".join(_plain(each) for each in value)
        case dict() if all(_is_scalar(each) for each in value.values()):
            return "; ".join(f"{_words(name)} {_plain(each)}" for name, each in value.items())
        case _:
            return json.dumps(value, ensure_ascii=False)


def _is_empty(value: Any) -> bool:
    return value is None or value in ([], {}) or (isinstance(value, str) and not value.strip())


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _words(key: str) -> str:
    return _line(key.replace(".", " ").replace("_", " "))


def _line(text: str) -> str:
    """The text on one line: a second line could look like a heading."""
    return " ".join(text.split())
