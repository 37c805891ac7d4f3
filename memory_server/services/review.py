"""The work list of a project: what contradicts itself, is said twice, perhaps done, of no use, or asked in vain."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from memory_server.domain import review as domain
from memory_server.domain.briefing.headings import Heading
from memory_server.domain.briefing.items import UNTOUCHED, heading_of
from memory_server.domain.briefing.settled import still_open
from memory_server.domain.caller import Caller
from memory_server.domain.fact import Headline, homes, narrowest
from memory_server.domain.fact_text import of as fact_as_text
from memory_server.domain.memory import Memory
from memory_server.domain.moment import parse, timestamp
from memory_server.domain.review import Finding, ReviewKind
from memory_server.domain.scoring import age_in_days
from memory_server.errors import Hint, Mend, Problem
from memory_server.language.sentences import shortened
from memory_server.nlp import Segmenter
from memory_server.services import ground, learning, projects
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx

OF_EACH = 50
"""Findings of each kind at most."""

COMPARED = 500
"""Memories among which duplicates are looked for, the newest: at most 0.7 seconds of CPU."""

SHOWN = 25.0
"""Tokens of each text that a finding shows."""

WOKEN_WITHIN = 7
"""Days in which a trigger that is of use has probably woken its memory once."""


@dataclass(frozen=True, slots=True)
class Review:
    """The work list by kind; `degraded` names the rows that could not be read, `note` a project that is not known."""

    project: str
    findings: list[Finding]
    degraded: tuple[Problem, ...]
    note: str | None


@dataclass(frozen=True, slots=True)
class ReviewService:
    """`learns` is off where nothing that sessions show is used."""

    database: Database
    segmenter: Segmenter
    learns: bool = True

    def review(self, conversation: str | None, caller: Caller) -> Review:
        """List what to look at in the caller's project. Triggers are those of a conversation, or of the project and
        of no project. Reads only."""
        self.database.settle()
        with self.database.read() as tx:
            note = projects.unknown(tx, caller.project) if caller.project.is_given else None
            here = projects.known(tx, caller)
            project = here.project.name
            findings = [  # a new kind is one line more
                *_contradictions(tx, project),
                *_changed_ground(tx, caller),
                *_duplicates(tx, project, self.segmenter),
                *_stale_tasks(tx, here),
                *_unused_triggers(tx, projects.conversations(tx, conversation, caller)),
                *(_open_questions(tx, here) if self.learns else ()),
            ]
            return Review(project, findings, tuple(tx.skipped), note)


def _contradictions(tx: Tx, project: str) -> Iterator[Finding]:
    for pair in tx.edges.disputes(project, OF_EACH):
        both = tx.memories.select(pair)
        if len(both) < 2:  # one cannot be read
            continue
        old, new = sorted(both, key=lambda memory: (memory.occurred_at, memory.id))
        source, target = pair
        mend = Hint(Mend.SETTLE_DISPUTE, {"old": old.id, "new": new.id, "source": source, "target": target})
        text = f"[m{new.id}] contradicts [m{old.id}]. {_told(new)} — {_told(old)}"
        yield Finding(ReviewKind.CONTRADICTION, (f"m{old.id}", f"m{new.id}"), Problem(text, (mend,)))


def _changed_ground(tx: Tx, caller: Caller) -> Iterator[Finding]:
    for changed in ground.changed_of(tx, caller)[:OF_EACH]:
        id = changed.memory.id
        text = f"[m{id}] {_told(changed.memory)} But {changed.remark}."
        mend = Hint(Mend.FOLLOW_GROUND, {"id": id})
        yield Finding(ReviewKind.CHANGED_GROUND, (f"m{id}",), Problem(text, (mend,)))


def _duplicates(tx: Tx, project: str, segmenter: Segmenter) -> Iterator[Finding]:
    memories = tx.memories.newest_of(project, COMPARED)
    pairs = domain.duplicates(memories, segmenter.segment)
    for (original, duplicate), _ in zip(pairs, range(OF_EACH), strict=False):
        text = f"[m{duplicate.id}] says the same as [m{original.id}]. {_told(duplicate)}"
        mend = Hint(Mend.DELETE_DUPLICATE, {"id": duplicate.id})
        yield Finding(ReviewKind.DUPLICATE, (f"m{duplicate.id}", f"m{original.id}"), Problem(text, (mend,)))


def _stale_tasks(tx: Tx, caller: Caller) -> Iterator[Finding]:
    headlines = narrowest(tx.facts.headlines(homes(None, caller), newest_first=True))
    old = [
        headline.id
        for headline in headlines
        if _is_work(headline) and _days(tx, headline.updated_at) > UNTOUCHED
    ]
    for fact in tx.facts.select(old[:OF_EACH]):
        if still_open(fact.value) is None:
            continue
        days = round(_days(tx, fact.updated_at))
        shown = shortened(fact_as_text(fact.key, fact.value), SHOWN)
        text = f"[f {fact.key}] was not touched for {days} days, since {_day(fact.updated_at)}. {shown}"
        mend = Hint(Mend.CLOSE_TASK, {"key": fact.key, "scope": fact.home.scope.value})
        yield Finding(ReviewKind.STALE_TASK, (f"f {fact.key}",), Problem(text, (mend,)))


def _unused_triggers(tx: Tx, places: Sequence[str]) -> Iterator[Finding]:
    before = timestamp(parse(tx.now) - timedelta(days=WOKEN_WITHIN))
    for name in places:
        place = tx.conversations.find(name)
        memories = [] if place is None else tx.long_term.never_woken(place, before, OF_EACH)
        for memory in memories:
            wrong = (
                f"has a trigger that fails: {shortened(memory.error, SHOWN)}"
                if memory.error
                else f"was never woken since {_day(memory.created_at)}"
            )
            text = f"[w {memory.name}] {wrong}. {shortened(memory.prompt, SHOWN)}"
            mend = Hint(Mend.MEND_TRIGGER, {"name": memory.name, "conversation": name})
            yield Finding(ReviewKind.UNUSED_TRIGGER, (f"w {memory.name}",), Problem(text, (mend,)))


def _open_questions(tx: Tx, here: Caller) -> Iterator[Finding]:
    for question in learning.open_ones(tx, here)[:OF_EACH]:
        text = (
            f"{question.sessions} sessions asked in vain, last on {_day(question.asked_at)}: "
            f"{shortened(question.text, SHOWN)}"
        )
        mend = Hint(Mend.ANSWER_QUESTION, {"question": f"q{question.id}"})
        yield Finding(ReviewKind.OPEN_QUESTION, (f"q{question.id}",), Problem(text, (mend,)))


def _is_work(headline: Headline) -> bool:
    return heading_of(headline.key, headline.home.scope) in (Heading.BLOCKED, Heading.TASK, Heading.UNDER_WAY)


def _days(tx: Tx, moment: str) -> float:
    return age_in_days(moment, tx.now)


def _told(memory: Memory) -> str:
    return f"{_day(memory.occurred_at)}: {shortened(memory.content, SHOWN)}"


def _day(moment: str) -> str:
    return moment[:10]
