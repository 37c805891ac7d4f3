"""What an assistant should know when it opens a session, in a few hundred tokens."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memory_server.domain.briefing.choice import HEADROOM, Briefing, Frame, Heading, Item, brief
from memory_server.domain.briefing.context import Context, Part, context_of
from memory_server.domain.briefing.forms import Reader, usual_author
from memory_server.domain.briefing.items import (
    UNTOUCHED,
    heading_of,
    is_overview,
    is_progress,
    of_fact,
    of_memory,
    of_older,
    of_question,
)
from memory_server.domain.briefing.session import Event, LastSession, last_session, of_session, title
from memory_server.domain.briefing.settled import still_open
from memory_server.domain.caller import Caller
from memory_server.domain.fact import Fact, Headline, Scope, home, homes, narrowest
from memory_server.domain.learning import OPEN, OpenQuestion
from memory_server.domain.memory import Memory, MemoryId, MemoryType
from memory_server.domain.scoring import age_in_days
from memory_server.errors import Problem
from memory_server.language.tokens import weigh_json
from memory_server.services import projects
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

QUESTIONS = 3
"""Open questions that a briefing may tell, the latest."""

HIGH = 7
"""The least importance of the memories of no project that each briefing considers."""

TASK = "current.task"

NOTED = 4
"""Tokens of the name of a note."""


@dataclass(frozen=True, slots=True)
class Wording:
    """How a face words its answer: how to read what is left out, and the tokens of an answer that says nothing."""

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


@dataclass(frozen=True, slots=True)
class _Known:
    """The facts to say, the tasks that nobody has touched for long with their number, and how many more there are."""

    facts: list[Fact]
    older: list[Fact]
    older_count: int
    more: int


@dataclass(frozen=True, slots=True)
class ResumeService:
    """`learns` is off where open questions are not told."""

    database: Database
    learns: bool = True

    def resume(self, max_tokens: int, include: frozenset[Part], wording: Wording, caller: Caller) -> Resumed:
        """Brief on the caller's project and session, in an answer of at most so many tokens. Reads only."""
        considered = min(max_tokens // PER_ITEM, CONSIDERED)
        self.database.settle()
        with self.database.read() as tx:
            note = projects.unknown(tx, caller.project) if caller.project.is_given else None
            caller = projects.known(tx, caller)
            known = _facts(tx, caller, considered)
            learnt = _memories(tx, caller.project.name, considered)
            disputes = tx.edges.contradicting([memory.id for memory in learnt])
            events = _events(tx, caller)
            asked = _asked(tx, caller) if self.learns else []
            total = tx.memory_counts.current(caller.project.name) + known.more
            now, skipped = tx.now, tuple(tx.skipped)
        reader = Reader(now, caller.author, caller.project.name, _usual(known.facts, learnt))
        session = last_session(events)
        of_facts = _of_facts(known, reader)
        total += sum(item.counted for item in of_facts)
        total += sum((memory.project or "") != caller.project.name for memory in learnt)
        items = [
            *of_facts,
            *_of_memories(learnt, session, disputes, reader),
            *(of_session(session, reader) if session else []),
            *(of_question(each.text, each.asked_at, reader) for each in asked),
        ]
        titles = {Heading.LAST_SESSION: title(session, reader, caller.session)} if session else {}
        author = None if reader.usual == caller.author else reader.usual
        frame = Frame(caller.project.name, total, wording.more, author, titles)
        overhead = wording.overhead(skipped) + (weigh_json(note) + NOTED if note else 0)
        room = HEADROOM * max_tokens - overhead
        briefing = brief(items, frame, room / 2 if include else room)
        context = context_of(briefing.said, include, room - briefing.cost) if include else None
        tokens = overhead + briefing.cost + (context.cost if context else 0)
        return Resumed(briefing, round(tokens), now, context, skipped, note)


def _facts(tx: Tx, caller: Caller, limit: int) -> _Known:
    """So many facts of each heading, the last written first."""
    there = narrowest(tx.facts.headlines(homes(None, caller), newest_first=True))
    stale = _stale(tx, there, caller)
    of_heading: dict[Heading, list[int]] = {heading: [] for heading in Heading}
    for each in there:
        heading = heading_of(each.key, each.home.scope)
        ids = of_heading[Heading.OLDER if stale(each, heading) else heading]
        ids.insert(0 if is_overview(each.key) else len(ids), each.id)
    older = of_heading.pop(Heading.OLDER)
    chosen = tx.facts.select([id for ids in of_heading.values() for id in ids[:limit]])
    waiting = [fact for fact in tx.facts.select(older[:CONSIDERED]) if still_open(fact.value) is not None]
    unread = max(0, len(older) - CONSIDERED)
    return _Known(chosen, waiting, len(waiting) + unread, len(there) - len(chosen) - len(older))


def _stale(tx: Tx, there: Sequence[Headline], caller: Caller) -> Callable[[Headline, Heading], bool]:
    """Whether a fact of current work is older than a month, or is the progress of a task that was another one."""
    task = next((each.home for each in there if each.key == TASK), home(Scope.PROJECT, caller))
    changed = tx.fact_history.changed_at(task, TASK)

    def stale(each: Headline, heading: Heading) -> bool:
        if heading not in (Heading.TASK, Heading.UNDER_WAY):
            return False
        if changed and each.updated_at < changed and is_progress(each.key):
            return True
        return age_in_days(each.updated_at, tx.now) > UNTOUCHED

    return stale


def _memories(tx: Tx, project: str, limit: int) -> list[Memory]:
    """The memories that matter most now, the newest of each type, and what matters most in all projects."""
    found = tx.standing.most_important(project, limit)
    for type in MemoryType:
        found += tx.memories.newest_current(project, type, NEWEST)
    if project:
        found += tx.standing.most_important("", limit, HIGH)
    return list({memory.id: memory for memory in found}.values())


def _events(tx: Tx, caller: Caller) -> list[Event]:
    """The newest turns and observations of the project."""
    seen = tx.memories.newest_current(caller.project.name, MemoryType.OBSERVATION, EVENTS)
    disputes = tx.edges.contradicting([each.id for each in seen])
    return [
        *(
            Event(turn.summary.strip() or turn.message, turn.occurred_at, turn.session, turn.created_by, TURN)
            for turn in tx.turns.newest(caller.project.name, EVENTS)
        ),
        *(
            Event(
                each.content,
                each.occurred_at,
                each.session,
                each.created_by,
                each.importance,
                each.id,
                tuple(disputes.get(each.id, ())),
            )
            for each in seen
        ),
    ]


def _asked(tx: Tx, caller: Caller) -> list[OpenQuestion]:
    """The open questions of the project that a briefing may tell."""
    if not tx.open_questions.select(caller.project.name, OPEN):
        return []
    from memory_server.services.learning import open_ones  # 80 ms of a hook that is to take 150

    return open_ones(tx, caller)[:QUESTIONS]


def _usual(known: Sequence[Fact], learnt: Sequence[Memory]) -> str | None:
    return usual_author([*(fact.updated_by for fact in known), *(memory.created_by for memory in learnt)])


def _of_facts(known: _Known, reader: Reader) -> list[Item]:
    items = [item for fact in known.facts for item in of_fact(fact, reader)]
    if known.older_count:
        fresh = any(item.heading in (Heading.TASK, Heading.UNDER_WAY) for item in items)
        named = [] if fresh else [item for fact in known.older for item in of_fact(fact, reader)]
        items.append(of_older(known.older_count, named))
    return items


def _of_memories(
    learnt: Sequence[Memory],
    session: LastSession | None,
    disputes: dict[MemoryId, list[MemoryId]],
    reader: Reader,
) -> list[Item]:
    """Without those that the last session tells."""
    told = {event.memory for event in session.events} if session else set()
    return [
        of_memory(memory, disputes.get(memory.id, []), reader) for memory in learnt if memory.id not in told
    ]
