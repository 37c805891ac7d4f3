"""Completes names that a person types: keys of facts, projects, conversations, ids of memories."""

from dataclasses import dataclass

from memory_server.domain.caller import Caller
from memory_server.domain.change import ChangeFilter, ChangeId, Kind
from memory_server.domain.completing import MOST, Completed, completed
from memory_server.domain.fact import Scope, homes
from memory_server.services import projects as known_projects
from memory_server.services.waking import places
from memory_server.storage.database import Database


@dataclass(frozen=True, slots=True)
class CompletionService:
    database: Database

    def keys(self, written: str, scope: Scope | None, caller: Caller) -> Completed:
        """Complete keys of facts that the caller sees, in one scope or in all."""
        with self.database.read() as tx:
            headlines = tx.facts.headlines(homes(scope, known_projects.known(tx, caller)))
            return completed(written, (headline.key for headline in headlines))

    def projects(self, written: str) -> Completed:
        with self.database.read() as tx:
            return completed(written, tx.projects.names())

    def conversations(self, written: str) -> Completed:
        """Complete names of conversations, the newest first."""
        with self.database.read() as tx:
            return completed(written, tx.conversations.names())

    def memory_ids(self, written: str, caller: Caller) -> Completed:
        """Complete ids that begin with what is written, those of the caller's project first, the newest first."""
        with self.database.read() as tx:
            project = known_projects.name_of(tx, caller.project)
            ids, total = tx.memories.ids_like(written.strip().removeprefix("m"), project, MOST)
            return Completed(tuple(map(str, ids)), total)

    def numbered(self, kind: Kind, digits: str, caller: Caller) -> list[tuple[int, str]]:
        """Return memories, turns or short-term memories whose id begins so, newest first, each with its beginning."""
        with self.database.read() as tx:
            project = known_projects.name_of(tx, caller.project)
            return tx.completing.numbered(kind, digits, project, MOST)

    def prompts(self, caller: Caller) -> list[str]:
        """Return the names of the long-term memories of the caller's project and of all projects."""
        with self.database.read() as tx:
            conversation_ids = places(tx, [None], caller)
            return [name for place in conversation_ids for name in tx.long_term.names(place, MOST)]

    def changes(self) -> list[tuple[ChangeId, str]]:
        """Return the changes that can be undone, the latest first, each with its text."""
        with self.database.read() as tx:
            changes = tx.log.select(ChangeFilter(undone=True), MOST)
            return [(change.id, change.text) for change in changes if change.id is not None]
