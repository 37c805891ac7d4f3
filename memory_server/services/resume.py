"""What an assistant should know when it opens a session, in a few hundred tokens."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memory_server.domain import resume
from memory_server.domain.fact import Home, narrowest
from memory_server.domain.resume import Briefing, Item, Urgency
from memory_server.project import Project, project_of
from memory_server.services.facts import Place
from memory_server.sqlite import facts, memories
from memory_server.sqlite.database import Database, Tx

PER_ITEM = 10
"""Tokens of a short item: more of one urgency than fit are not looked at."""

CONSIDERED = 200
"""Nor more than so many, which fill the longest briefing."""


@dataclass(frozen=True, slots=True)
class Resumed:
    """The briefing, and the facts that it says, as key and value, by what they are about."""

    briefing: Briefing
    project: dict[str, Any]
    current: dict[str, Any]
    shared: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ResumeService:
    """`here` is the project of this server."""

    database: Database
    place: Place
    here: Project

    def resume(self, project_path: str | None, session_id: str | None, max_tokens: int) -> Resumed:
        """Brief on a project and a session, by default those of this server. Reads only."""
        project = project_of(project_path, Path()) if project_path else self.here
        place = replace(self.place, project=project.key, session=session_id or self.place.session)
        considered = min(max_tokens // PER_ITEM, CONSIDERED)
        with self.database.read() as tx:
            known, more_facts = _facts(tx, place.homes(None), considered)
            matter, more_memories = _memories(tx, project.name, considered)
        briefing = resume.brief(project.name, known, matter, more_facts + more_memories, max_tokens)
        return _sorted_out(briefing)


def _facts(tx: Tx, homes: list[Home], limit: int) -> tuple[list[Item], int]:
    """So many facts of each urgency, the last written first; how many there are besides."""
    there = narrowest(facts.headlines(tx, homes, newest_first=True))
    of_urgency: dict[Urgency, list[int]] = {urgency: [] for urgency in Urgency}
    for each in there:
        of_urgency[resume.urgency_of(each.key, each.home.scope)].append(each.id)
    chosen = facts.select(tx, [id for ids in of_urgency.values() for id in ids[:limit]])
    items = [item for item in map(resume.of_fact, chosen) if item is not None]
    return items, len(there) - len(chosen)


def _memories(tx: Tx, project: str, limit: int) -> tuple[list[Item], int]:
    """The memories that matter most now; how many there are besides."""
    chosen = memories.most_important(tx, project, limit)
    total = sum(memories.count(tx, project, by="type").values())
    return [resume.of_memory(memory) for memory in chosen], total - len(chosen)


def _sorted_out(briefing: Briefing) -> Resumed:
    about: dict[str, dict[str, Any]] = {"project": {}, "current": {}, "shared": {}}
    for item in briefing.said:
        if item.key is not None:
            about[_subject(item.urgency)][item.key] = item.value
    return Resumed(briefing, **about)


def _subject(urgency: Urgency) -> str:
    match urgency:
        case Urgency.BLOCKER | Urgency.TASK | Urgency.CURRENT:
            return "current"
        case Urgency.SHARED:
            return "shared"
        case _:
            return "project"
