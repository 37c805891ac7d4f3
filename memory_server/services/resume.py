"""Briefs an assistant that opens a session: what it should know, in a few hundred tokens."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Any, Protocol, TypeVar

from memory_server.domain import trust
from memory_server.domain.briefing.choice import HEADROOM, Briefing, brief
from memory_server.domain.briefing.context import Context, Part, context_of
from memory_server.domain.briefing.forms import CERTAIN, Guess, Reader, usual_author
from memory_server.domain.briefing.headings import Heading, Item
from memory_server.domain.briefing.items import (
    CATALOGUE,
    HIGH,
    ORDINARY,
    UNTOUCHED,
    catalogue_of,
    heading_of,
    is_about_person,
    of_catalogue,
    of_fact,
    of_memory,
    of_older,
    of_prompt,
    of_question,
)
from memory_server.domain.briefing.leading import Limits
from memory_server.domain.briefing.session import (
    LastSession,
    SessionEvent,
    last_session,
    next_step,
    of_session,
    title,
)
from memory_server.domain.briefing.settled import still_open
from memory_server.domain.briefing.text import Frame
from memory_server.domain.caller import Caller
from memory_server.domain.digest import is_telling
from memory_server.domain.fact import Fact, homes, narrowest
from memory_server.domain.memory import Memory, MemoryId, MemoryType
from memory_server.domain.mending import remedy_of
from memory_server.domain.moment import parse, timestamp
from memory_server.domain.notice import LikelyUpdate
from memory_server.errors import Problem
from memory_server.language.tokens import weigh_json
from memory_server.services import ground, projects
from memory_server.services.learning import open_ones
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx

PER_ITEM = 25
"""Tokens: of each heading so many facts and memories are looked at as items of this length would fill the answer."""

CONSIDERED = 200
"""Nor more than so many, which fill the longest briefing."""

NEWEST = 5
"""Memories of each type that are considered because they are new, whatever their importance."""

EVENTS = 40
"""Turns, and observations, among which the last session is looked for."""

TURN = 6
"""The importance of a turn of the last session beside the observations there."""

DOUBTED = timedelta(days=14)
"""How long a briefing tells of two things that the newer one may replace the older one, unless a client says what is
so."""

QUESTIONS = 3
"""Open questions that a briefing may tell, the latest."""

Standing = TypeVar("Standing", Fact, Memory)

Disputes = Mapping[MemoryId, Sequence[MemoryId]]
"""Which memories contradict a memory."""

NOTED = 4
"""Tokens of the name of a note."""


class DuePrompts(Protocol):
    """Gives the prompts that are due without any message, each with `prompt`, and records which of them were told."""

    def due(self, caller: Caller) -> Sequence[Any]: ...

    def mark(self, prompts: Sequence[Any], caller: Caller) -> None: ...


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of a face: how to read what is left out, and the tokens of an answer that says nothing."""

    more: str
    overhead: Callable[[Sequence[Problem]], float]


@dataclass(frozen=True, slots=True)
class Resumed:
    """The briefing of a moment, the tokens of the whole answer, and the parts of the context that were asked for.

    `degraded` names the rows that could not be read, `note` a project of which nothing is known.
    """

    briefing: Briefing
    token_count: int
    now: str
    context: Context | None
    degraded: tuple[Problem, ...]
    note: str | None = None


FEW = 3
"""Facts under one prefix, where not all facts are chosen, from which on it may be a catalogue."""


@dataclass(frozen=True, slots=True)
class _Known:
    """The facts to say, the catalogues by prefix with their number of keys and newest fact, the tasks that nobody has
    touched for long with their number, and how many more there are.
    """

    facts: list[Fact]
    catalogues: dict[str, tuple[int, Fact]]
    older: list[Fact]
    older_count: int
    more: int


@dataclass(frozen=True, slots=True)
class _Updates:
    """Pairs of which the newer one probably replaces the older one, and the words of the user that other memories have
    replaced."""

    likely: Sequence[LikelyUpdate]
    overruled: Disputes = field(default_factory=dict)

    def guess(self, kind: str, row: int | None) -> Guess:
        """Return what may replace a thing, what it may replace, and what of the user it has replaced."""
        if row is None:
            return CERTAIN
        of_user = self.overruled.get(MemoryId(row), ()) if kind == "memory" else ()
        older = [
            update.old.handle for update in self.likely if (update.new.kind, update.new.row) == (kind, row)
        ]
        newer = [update for update in self.likely if (update.old.kind, update.old.row) == (kind, row)]
        by, name = (newer[0].new.handle, newer[0].old.handle) if newer else (None, "")
        return Guess(tuple(older), by, name, tuple(f"m{id}" for id in of_user))

    def newer(self, kind: str, kind_of_older: str, rows: Collection[int]) -> list[int]:
        """The ids of a kind that may replace any of these things."""
        return [
            update.new.row
            for update in self.likely
            if update.new.kind == kind and update.old.kind == kind_of_older and update.old.row in rows
        ]


@dataclass(frozen=True, slots=True)
class ResumeService:
    """`learns` is off where open questions are not told. Where `prompts` is None no prompt is due."""

    database: Database
    learns: bool = True
    prompts: "DuePrompts | None" = None

    def resume(self, max_tokens: int, include: frozenset[Part], wording: Wording, caller: Caller) -> Resumed:
        """Brief on the caller's project and session, in an answer of at most so many tokens. Reads only."""
        considered = min(max_tokens // PER_ITEM, CONSIDERED)
        self.database.settle()
        due_prompts = self.prompts.due(caller) if self.prompts else ()
        due = [(prompt, of_prompt(prompt.prompt)) for prompt in due_prompts]
        with self.database.read() as tx:
            note = _unknown(tx, caller)
            named_by_folder, caller = caller, projects.known(tx, caller)
            name = caller.project.name
            (
                known_facts,
                questions,
                (learnt, disputes, overruled),
                (events, overruled_lately),
                (current, updates),
            ) = tx.together(
                lambda: _facts(tx, caller, max(considered, CATALOGUE)),
                lambda: open_ones(tx, caller)[:QUESTIONS] if self.learns else [],
                lambda: _memories(tx, name, considered),
                lambda: _events(tx, name),
                lambda: (tx.memory_counts.current(name), _updates(tx, name)),
            )
            known_facts, learnt = _newer(tx, known_facts, learnt, updates)
            updates = replace(updates, overruled={**overruled, **overruled_lately})
            learnt = _signed(tx, learnt)
            stored_ground = ground.of_briefing(tx, learnt, known_facts.facts, named_by_folder)
            now, skipped = tx.now, tuple(tx.skipped)
            waiting = tx.outside.count(name) if current and not learnt else 0
        total = current - waiting + known_facts.more
        authors = [fact.updated_by for fact in known_facts.facts]
        usual = usual_author([*authors, *(memory.created_by for memory in learnt)])
        reader = Reader(now, caller.author, caller.project.name, usual, stored_ground.remark)
        session = last_session(_guessed(events, updates))
        of_facts = _of_facts(known_facts, reader, updates)
        total += sum(item.counted for item in of_facts)
        total += sum((memory.project or "") != caller.project.name for memory in learnt)
        items = [
            *of_facts,
            *_of_memories(learnt, session, disputes, reader, updates),
            *(of_session(session, reader) if session else []),
            *(item for _, item in due),
            *(of_question(question.text, question.asked_at, reader) for question in questions),
        ]
        titles = {Heading.LAST_SESSION: title(session, reader, caller.session)} if session else {}
        author = None if reader.usual == caller.author else reader.usual
        frame = Frame(caller.project.name, total, wording.more, author, titles)
        overhead = wording.overhead(skipped)
        if note and weigh_json(note) + NOTED > (HEADROOM * max_tokens - overhead) / 2:
            note = None
        overhead += weigh_json(note) + NOTED if note else 0
        room = HEADROOM * max_tokens - overhead
        briefing = brief(items, frame, room / 2 if include else room)
        if self.prompts:
            self.prompts.mark([prompt for prompt, item in due if item in briefing.items], caller)
        context = context_of(briefing.items, include, room - briefing.cost) if include else None
        tokens = overhead + briefing.cost + (context.cost if context else 0)
        return Resumed(briefing, round(tokens), now, context, skipped, note)


def _unknown(tx: Tx, caller: Caller) -> str | None:
    """Return the note for a project of which nothing is known: a name, or a folder that does not exist."""
    if caller.project.is_given:
        return projects.unknown(tx, caller.project)
    return projects.missing_folder(tx, caller)


def _standing(things: list[Standing]) -> list[Standing]:
    """Return what may be said unasked: nothing that somebody outside has written and no person has confirmed."""
    return [item for item in things if not trust.waits(item.origin)]


def _updates(tx: Tx, project: str) -> _Updates:
    return _Updates(tx.likely_updates.select(project, timestamp(parse(tx.now) - DOUBTED)))


def _newer(
    tx: Tx, known_facts: _Known, learnt: list[Memory], updates: _Updates
) -> tuple[_Known, list[Memory]]:
    """Return the facts and memories with those that may replace them."""
    if not updates.likely:
        return known_facts, learnt
    memory_ids, fact_ids = [memory.id for memory in learnt], [fact.id for fact in known_facts.facts]
    newer_memories = {
        *updates.newer("memory", "memory", memory_ids),
        *updates.newer("memory", "fact", fact_ids),
    }
    newer_memories -= set(memory_ids)
    newer_facts = set(updates.newer("fact", "memory", memory_ids)) - set(fact_ids)
    if newer_memories:
        learnt = learnt + _standing(tx.memories.select([MemoryId(id) for id in newer_memories]))
    facts = known_facts.facts + (_standing(tx.facts.select(list(newer_facts))) if newer_facts else [])
    return replace(known_facts, facts=facts), learnt


def _guessed(events: Sequence[SessionEvent], updates: _Updates) -> list[SessionEvent]:
    """Return the events with what may replace them, and what they may replace."""
    return [
        replace(
            event,
            guess=updates.guess("turn", event.turn)
            if event.memory is None
            else updates.guess("memory", event.memory),
        )
        for event in events
    ]


def _facts(tx: Tx, caller: Caller, limit: int) -> _Known:
    """Return twice so many facts of each heading, the last written first: a catalogue may take the half."""
    untouched = timestamp(parse(tx.now) - timedelta(days=UNTOUCHED))
    leading = tx.leading_facts.select(homes(None, caller), Limits(2 * limit, CONSIDERED, untouched))
    chosen, late = tx.facts.select(leading.ids), tx.facts.select(leading.older)
    waiting = [fact for fact in late if still_open(fact.value) is not None]
    unread = leading.older_number - len(leading.older)
    more = leading.number - len(chosen) - leading.older_number
    catalogues = _catalogues(tx, chosen, caller, least=CATALOGUE if more <= 0 else FEW)
    told = [fact for fact in chosen if _prefix(fact) not in catalogues]
    more += len(chosen) - len(told) - sum(count for count, _ in catalogues.values())
    return _Known(told, catalogues, waiting, len(waiting) + unread, more)


def _catalogues(tx: Tx, facts: Sequence[Fact], caller: Caller, least: int) -> dict[str, tuple[int, Fact]]:
    """Return the catalogues of which at least so many facts are here: their number of keys and newest fact."""
    counts = Counter(prefix for prefix in map(_prefix, facts) if prefix)
    newest = {_prefix(fact): fact for fact in sorted(facts, key=lambda fact: fact.updated_at)}
    prefixes = [prefix for prefix, count in counts.items() if count >= least]
    keys = tx.each(
        [
            partial(tx.facts.headlines, homes(None, caller), f"{prefix}.", said_unasked=True)
            for prefix in prefixes
        ]
    )
    numbers = dict(zip(prefixes, (len(narrowest(lines)) for lines in keys), strict=True))
    return {prefix: (number, newest[prefix]) for prefix, number in numbers.items() if number >= CATALOGUE}


def _prefix(fact: Fact) -> str | None:
    return catalogue_of(fact.key, heading_of(fact.key, fact.home.scope))


def _memories(tx: Tx, project: str, limit: int) -> tuple[list[Memory], Disputes, Disputes]:
    """Return the memories that matter most now, the newest of each type, and what matters most in all projects; and
    which memories contradict each, and what of the user each has replaced."""
    newest = tx.each([partial(tx.memories.newest_current, project, type, NEWEST) for type in MemoryType])
    memories = [
        *tx.standing.most_important(project, limit),
        *(memory for memories in newest for memory in memories),
        *(_of_no_project(tx, limit) if project else ()),
    ]
    learnt = list({memory.id: memory for memory in memories}.values())
    return learnt, *_disputes(tx, learnt)


def _disputes(tx: Tx, memories: Sequence[Memory]) -> tuple[Disputes, Disputes]:
    """Return which memories contradict each of these, and what of the user each has replaced."""
    ids = [memory.id for memory in memories]
    return tx.together(lambda: tx.edges.contradicting(ids), lambda: tx.edges.overruled(ids))


def _of_no_project(tx: Tx, limit: int) -> list[Memory]:
    """Return what is about the person, and what else matters in all projects."""
    ordinary, high = tx.together(
        lambda: tx.standing.most_important("", CONSIDERED // 2, ORDINARY),
        lambda: tx.standing.most_important("", limit, HIGH),
    )
    return [*filter(is_about_person, ordinary), *high]


def _events(tx: Tx, project: str) -> tuple[list[SessionEvent], Disputes]:
    """Return the newest turns and observations of the project, and what of the user each observation has replaced.

    What the user has stated stands among the user's statements, unless it tells what comes next.
    """
    turns = tx.turns.newest(project, EVENTS)
    observations = [
        memory
        for memory in tx.memories.newest_current(project, MemoryType.OBSERVATION, EVENTS)
        if not trust.is_of_user(memory.origin) or next_step(memory.content)[1]
    ]
    disputes, overruled = _disputes(tx, observations)
    events = [
        *(
            SessionEvent(
                turn.summary.strip() or turn.message,
                turn.occurred_at,
                turn.session,
                turn.created_by,
                TURN,
                turn=turn.id,
            )
            for turn in turns
        ),
        *(
            SessionEvent(
                memory.content,
                memory.occurred_at,
                memory.session,
                memory.created_by,
                memory.importance,
                memory.id,
                tuple(disputes.get(memory.id, ())),
            )
            for memory in observations
        ),
    ]
    return events, overruled


def _signed(tx: Tx, learnt: Sequence[Memory]) -> list[Memory]:
    """Return the memories with those as their authors who have written their present texts."""
    changed = [memory.id for memory in learnt if memory.updated_at != memory.created_at]
    writers = tx.changes.writers(changed) if changed else {}
    return [replace(memory, created_by=writers.get(memory.id, memory.created_by)) for memory in learnt]


def _of_facts(known_facts: _Known, reader: Reader, updates: "_Updates") -> list[Item]:
    items = [
        item for fact in known_facts.facts for item in of_fact(fact, reader, updates.guess("fact", fact.id))
    ]
    items += [
        of_catalogue(prefix, count, newest, reader)
        for prefix, (count, newest) in known_facts.catalogues.items()
    ]
    if known_facts.older_count:
        older = [item for fact in known_facts.older for item in of_fact(fact, reader)]
        before_task = [item for item in older if reader.age(item.at) < UNTOUCHED]
        fresh = any(item.heading in (Heading.TASK, Heading.UNDER_WAY) for item in items)
        items.append(
            of_older(known_facts.older_count, [] if fresh else older, before_task if fresh else [], reader)
        )
    return items


def _of_memories(
    learnt: Sequence[Memory],
    session: LastSession | None,
    disputes: Disputes,
    reader: Reader,
    updates: "_Updates",
) -> list[Item]:
    """Return the items of the memories, without those that the last session tells, and without what ended an error:
    that is told when it comes back."""
    session_memory_ids = {event.memory for event in session.events} if session else set()
    learnt = [memory for memory in learnt if remedy_of(memory.metadata) is None]
    return [
        of_memory(memory, disputes.get(memory.id, []), reader, updates.guess("memory", memory.id))
        for memory in learnt
        if memory.id not in session_memory_ids and (not memory.is_digest or is_telling(memory.content))
    ]
