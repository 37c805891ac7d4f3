"""Items of a briefing from facts and memories: their headings and their worth."""

import re
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

from memory_server.domain import trust
from memory_server.domain.briefing.clauses import is_next, parts, words
from memory_server.domain.briefing.forms import CERTAIN, TASK, WHOLE, Guess, Reader, disputed, forms, marked
from memory_server.domain.briefing.headings import TIMELESS, Heading, Item
from memory_server.domain.briefing.settled import still_open
from memory_server.domain.fact import Fact, Scope
from memory_server.domain.memory import Memory, MemoryId, MemoryType
from memory_server.language import personal, sentences

KEYS = 2048
"""Keys of facts whose place in a briefing is kept: the next one asks for the same."""

ORDINARY = 5
"""The importance of what has none: a fact."""

HALF = {
    Heading.BLOCKED: 60,
    Heading.TASK: 30,
    Heading.UNDER_WAY: 10,
    Heading.DECIDED: 120,
    Heading.FOUND_OUT: 45,
    Heading.SHARED: 60,
    Heading.CONVENTIONS: 365,
    Heading.EVERYWHERE: 730,
    Heading.OTHER: 60,
    Heading.ASKED: 30,
}
"""Days after which an item of a heading counts half of what it did when it was new."""

OLDER_NAMED = 3
"""Tasks that are named among those that nobody has touched for long."""

PROMPT = 120
"""Tokens that are said of a prompt that is due."""

OF_TYPE = {
    MemoryType.DECISION: Heading.DECIDED,
    MemoryType.PREFERENCE: Heading.CONVENTIONS,
    MemoryType.PATTERN: Heading.CONVENTIONS,
}
"""The heading of memories by type; those of all other types are found out."""

USUAL = frozenset(["project", "discovered", "shared", "ai"])
"""The first words of keys under which facts of all kinds stand."""

UNTOUCHED = 30
"""Days after which a task that nobody has touched is perhaps done."""

PROGRESS = frozenset(
    (
        "progress percent percentage completion status state phase stage step steps substep subtask subtasks"
        " next next_step next_steps next_action next_actions todo todos remaining completed done wip"
        " 进度 状态 阶段 步骤 下一步 待办 剩余 完成度"
    ).split()
)
"""The words under `current.` that tell how far the task is. What they told of the task before is of no use."""

OVERVIEWS = frozenset("overview about description summary purpose goal what 概述 简介 目标 说明".split())
"""Last words of keys that say what the project is."""

ABOUT = 9
"""The importance of what the project is."""

HIGH = 7
"""The least importance of what is told of all projects; what is about the person counts as much at least."""

CATALOGUE = 12
"""Keys under one prefix from which on they are a catalogue, of which only the number is told."""

APART = 5
"""Blockers and tasks of one list that are told one by one. A longer list is told as one."""

WEEK = 7
"""Days. The age of what is younger is told only where there is room for the whole sentence."""

LONG_AGO = 90
"""Days. The age of an older decision is always told: another one may have taken its place without a word."""

DATED = frozenset([Heading.BLOCKED, Heading.TASK, Heading.UNDER_WAY])
"""Here the age is told with the shortest form too: what was urgent long ago may not be so any more."""


@lru_cache(maxsize=KEYS)
def heading_of(key: str, scope: Scope) -> Heading:
    """The heading of a fact, by the prefix of its key. `ai.NAME.` and the shared scope are what assistants share."""
    head, _, subkey = key.partition(".")
    match head:
        case "current" if subkey.startswith("block"):
            return Heading.BLOCKED
        case "current" if subkey.startswith("task"):
            return Heading.TASK
        case "current":
            return Heading.UNDER_WAY
        case "discovered":
            return Heading.FOUND_OUT
        case "project":
            return Heading.DECIDED if subkey.startswith("decision") else Heading.CONVENTIONS
        case "shared" | "ai":
            return Heading.SHARED
        case _ if scope is Scope.SHARED:
            return Heading.SHARED
        case _:
            return Heading.EVERYWHERE if scope is Scope.GLOBAL else Heading.OTHER


def is_progress(key: str) -> bool:
    """True if a fact of current work tells how far the task is: `current.progress`, `current.task.step`."""
    what = key.partition(".")[2].casefold()
    return what in PROGRESS or re.match(r"task[._]", what) is not None


def is_overview(key: str) -> bool:
    """True if a fact says what the project is."""
    return key.rpartition(".")[2].casefold() in OVERVIEWS


def of_fact(fact: Fact, reader: Reader, guess: Guess = CERTAIN) -> list[Item]:
    """The items of a fact: one for each of several blockers or tasks; none if it is empty or all of it is over. They
    name what it may replace.

    Under the heading of shared facts each form names the person who wrote the fact, unless that is the owner.
    """
    heading = heading_of(fact.key, fact.home.scope)
    value = still_open(fact.value) if heading <= Heading.UNDER_WAY else fact.value
    if _is_empty(value):
        return []
    age = reader.age(fact.updated_at)
    worth = _worth(heading, ABOUT if is_overview(fact.key) else ORDINARY, age)
    is_shared = fact.home.scope is Scope.SHARED or (
        heading is Heading.SHARED and fact.home.scope is Scope.PROJECT
    )
    by_user = trust.is_of_user(fact.origin) and fact.writer is None
    sharer = f"by {fact.writer}" if is_shared and fact.writer else ""
    is_work = heading in (Heading.BLOCKED, Heading.TASK) or (
        heading is Heading.UNDER_WAY and any(map(is_next, fact.key.split(".")))
    )
    several = isinstance(value, list) and heading in (Heading.BLOCKED, Heading.TASK) and len(value) <= APART

    def worded(entry: Any) -> tuple[str, ...]:
        named = ", ".join(filter(None, [sharer, disputed((), guess, reader.remark(fact))]))
        marks = (
            ""
            if heading in TIMELESS
            else marked(age, None if sharer or by_user else fact.updated_by, reader, named)
        )
        old = (heading in DATED and age >= WEEK) or (heading is Heading.DECIDED and age >= LONG_AGO)
        always = f" ({named})" if named else ""
        whole = TASK if is_work else WHOLE
        texts = forms(
            _label(fact.key, heading),
            parts(entry, whole=is_work),
            marks or always,
            marks if old else always,
            whole,
        )
        return texts[1:] if len(texts) > 2 and heading in DATED else texts

    return [
        Item(
            heading,
            partial(worded, entry),
            worth,
            fact.updated_at,
            fact=fact,
            first=is_work,
            counted=number == 0,
            behind=guess.by,
            by_user=by_user,
        )
        for number, entry in enumerate(value if several else [value])
    ]


@lru_cache(maxsize=KEYS)
def catalogue_of(key: str, heading: Heading) -> str | None:
    """The prefix of a key that may stand in a catalogue: `product` of `product.rye`, `project.api` of `project.api.x`.

    Current work and decisions stand in none.
    """
    names = key.split(".")[:-1]
    if heading <= Heading.DECIDED or not names:
        return None
    if names[0] not in USUAL:
        return names[0]
    return ".".join(names[:2]) if len(names) > 1 else None


def of_catalogue(prefix: str, count: int, newest: Fact, reader: Reader) -> Item:
    """The item of the facts under one prefix: their number."""
    heading = heading_of(newest.key, newest.home.scope)
    worth = _worth(heading, ORDINARY, reader.age(newest.updated_at))
    text = f"{prefix}.*: {count} keys."
    return Item(heading, lambda: (text,), worth, newest.updated_at, leads=False, counted=count)


def of_memory(
    memory: Memory, contradicting: Sequence[MemoryId], reader: Reader, guess: Guess = CERTAIN
) -> Item:
    """The item of a memory; its type decides the heading. The item names the memories that contradict it, and what it
    may replace."""
    heading = OF_TYPE.get(memory.type, Heading.FOUND_OUT)
    if (memory.project or "") != reader.project:
        heading = Heading.EVERYWHERE
    age, by_user = reader.age(memory.occurred_at), trust.is_of_user(memory.origin)

    def worded() -> tuple[str, ...]:
        dispute = disputed(contradicting, guess, reader.remark(memory))
        marks = short = f" ({dispute})" if dispute else ""
        if heading not in TIMELESS:
            marks = marked(age, None if by_user else memory.created_by, reader, dispute)
        if heading is Heading.DECIDED and age >= LONG_AGO:
            short = marks
        return forms("", sentences.split(memory.content), marks, short)

    of_person = heading is Heading.EVERYWHERE and is_about_person(memory)
    worth = _worth(heading, max(memory.importance, HIGH if of_person else 1), age)
    leads = memory.importance >= ORDINARY
    return Item(
        heading,
        worded,
        worth,
        memory.occurred_at,
        leads=leads,
        opening=of_person,
        memory=memory.id,
        by_user=by_user,
    )


def is_about_person(memory: Memory) -> bool:
    """True if a memory of no project is about the person: a preference, or a statement of them."""
    return memory.project is None and (
        memory.type is MemoryType.PREFERENCE or personal.is_about_person(memory.content)
    )


def of_older(count: int, newest: Sequence[Item], before_task: Sequence[Item], reader: Reader) -> Item:
    """The tasks that nobody has touched for long: their number; `newest` are named where there is no newer work.

    `before_task` is progress that was written before the task changed: its handles are told, and of the last day its
    words: who writes the next steps first and the task then means the new one.
    """

    def worded() -> tuple[str, ...]:
        if before_task:
            named = before_task[:OLDER_NAMED]
            more = f"; {count - len(named)} more" if count > len(named) else ""
            handles = [item.handle for item in named]
            texts = [_told_of(item) if reader.age(item.at) < 1 else item.handle for item in named]
            return tuple(dict.fromkeys(f"{'; '.join(listed)}{more}." for listed in (handles, texts)))
        names = "; ".join(item.worded()[0].rstrip(".。") for item in newest[:OLDER_NAMED])
        return (f"{count}.", f"{count}, the last: {names}.") if newest else (f"{count}.",)

    at = max((item.at for item in (*newest, *before_task)), default="")
    return Item(Heading.OLDER, worded, 1.0, at, counted=False)


def _told_of(item: Item) -> str:
    return f"{item.worded()[-1].rstrip('.。')} ({item.handle})"


def of_question(text: str, asked_at: str, reader: Reader) -> Item:
    """The item of a question that found no answer. It has one form, so it is shown whole or not at all."""
    worth = _worth(Heading.ASKED, ORDINARY, reader.age(asked_at))
    return Item(Heading.ASKED, lambda: (text,), worth, asked_at, counted=False)


def of_prompt(prompt: str) -> Item:
    """The item of a prompt that is due."""
    return Item(Heading.DUE, lambda: (sentences.shortened(prompt, PROMPT),), 1.0, "", counted=False)


def _worth(heading: Heading, importance: int, age: float) -> float:
    """Importance x recency: 1 for what is ordinary and new."""
    return importance / ORDINARY / (1 + age / HALF[heading])


def _label(key: str, heading: Heading) -> str:
    """The label before the value of a fact. A blocker or the task has none: the heading says it."""
    if heading in (Heading.BLOCKED, Heading.TASK):
        return ""
    head, _, subkey = key.partition(".")
    if head == "ai" and "." in subkey:
        name, _, what = subkey.partition(".")
        return f"{words(name)} says of {words(what)}: "
    if heading is Heading.DECIDED:
        subkey = subkey.partition(".")[2] or subkey
    has_prefix = head in ("current", "discovered", "project", "shared")
    return f"{words(subkey if has_prefix and subkey else key)}: "


def _is_empty(value: Any) -> bool:
    return value is None or value in ([], {}) or (isinstance(value, str) and not value.strip())
