"""What an assistant should know when it opens a session, in a few hundred tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memory_server.domain import resume
from memory_server.domain.caller import Caller
from memory_server.domain.fact import Fact, homes, narrowest
from memory_server.domain.memory import Memory
from memory_server.domain.resume import Briefing, Pointers, Urgency
from memory_server.errors import Problem
from memory_server.sqlite import facts, memories
from memory_server.sqlite.database import Database
from memory_server.sqlite.tx import Tx

PER_ITEM = 10
"""Tokens of a short item: more of one urgency than fit are not looked at."""

CONSIDERED = 200
"""Nor more than so many, which fill the longest briefing."""


@dataclass(frozen=True, slots=True)
class Resumed:
    """The briefing, and the facts that it says, as key and value, by what they are about.

    `degraded` names the rows that could not be read.
    """

    briefing: Briefing
    project: dict[str, Any]
    current: dict[str, Any]
    shared: dict[str, Any]
    degraded: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class ResumeService:
    database: Database

    def resume(self, max_tokens: int, pointers: Pointers, caller: Caller) -> Resumed:
        """Brief on the caller's project and session. Reads only."""
        considered = min(max_tokens // PER_ITEM, CONSIDERED)
        with self.database.read() as tx:
            known, more_facts = _facts(tx, caller, considered)
            matter, more_memories = _memories(tx, caller.project.name, considered)
        facts = [item for item in (resume.of_fact(fact, pointers) for fact in known) if item is not None]
        learnt = [resume.of_memory(memory, pointers) for memory in matter]
        more = more_facts + more_memories
        briefing = resume.brief(caller.project.name, facts, learnt, more, max_tokens, pointers)
        return _sorted_out(briefing, tx.skipped)


def _facts(tx: Tx, caller: Caller, limit: int) -> tuple[list[Fact], int]:
    """So many facts of each urgency, the last written first; how many there are besides."""
    there = narrowest(facts.headlines(tx, homes(None, caller), newest_first=True))
    of_urgency: dict[Urgency, list[int]] = {urgency: [] for urgency in Urgency}
    for each in there:
        of_urgency[resume.urgency_of(each.key, each.home.scope)].append(each.id)
    chosen = facts.select(tx, [id for ids in of_urgency.values() for id in ids[:limit]])
    return chosen, len(there) - len(chosen)


def _memories(tx: Tx, project: str, limit: int) -> tuple[list[Memory], int]:
    """The memories that matter most now; how many there are besides."""
    chosen = memories.most_important(tx, project, limit)
    total = sum(memories.count_by_type(tx, project).values())
    return chosen, total - len(chosen)


def _sorted_out(briefing: Briefing, skipped: Sequence[Problem]) -> Resumed:
    about: dict[str, dict[str, Any]] = {"project": {}, "current": {}, "shared": {}}
    for item in briefing.said:
        if item.key is not None:
            about[_subject(item.urgency)][item.key] = item.value
    return Resumed(briefing, **about, degraded=tuple(skipped))


def _subject(urgency: Urgency) -> str:
    match urgency:
        case Urgency.BLOCKER | Urgency.TASK | Urgency.CURRENT:
            return "current"
        case Urgency.SHARED:
            return "shared"
        case _:
            return "project"
