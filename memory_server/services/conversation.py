"""Turns of conversations: kept with the facts that they brought, found by meaning."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memory_server.domain import query
from memory_server.domain.fact import Fact, FactDraft, Scope
from memory_server.domain.memory import Caller
from memory_server.domain.secrets import refuse_secrets
from memory_server.domain.turn import Turn
from memory_server.services.facts import FactService
from memory_server.services.indexing import Indexer
from memory_server.sqlite import embeddings, facts, turns
from memory_server.sqlite.database import Database

MENTIONED = 5
"""So many facts at most come back beside the turns."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """Turns with their cosine, best first; facts whose key or value the query names; `degraded` says what failed."""

    turns: list[tuple[Turn, float]]
    facts: list[Fact]
    degraded: str | None


@dataclass(frozen=True, slots=True)
class ConversationService:
    """Facts of a turn are facts of the project."""

    database: Database
    indexer: Indexer
    facts: FactService

    def register(self, message: str, summary: str, known: Mapping[str, Any], caller: Caller) -> int:
        """Keep a turn and its facts in one transaction: all or nothing; the id of the turn.

        Raises:
            Invalid: something looks like a credential.
        """
        drafts = [FactDraft(key, value) for key, value in known.items()]
        for draft in drafts:
            self.facts.check(draft)
        if not self.facts.allow_secrets:
            refuse_secrets(message, summary)
        home = self.facts.place.home(Scope.PROJECT)
        with self.database.write() as tx:
            id = turns.insert(tx, message, summary, home.owner, caller)
            for draft in drafts:
                self.facts.write_in(tx, draft, home, caller)
        self.indexer.wake()
        return id

    def retrieve(self, text: str, limit: int) -> Recalled:
        """The turns nearest in meaning, and the facts that the query names."""
        asked = query.parse(text)
        answering = self.indexer.answering()
        degraded = f"no turns: {answering}" if isinstance(answering, str) else None
        vector = None
        if not isinstance(answering, str):
            left = self.indexer.catch_up(answering, embeddings.TURNS)
            degraded = f"{left} turns are not embedded yet" if left else None
            vector = answering.embedder.embed_query(text)
        with self.database.read() as tx:
            near = []
            if vector is not None and not isinstance(answering, str):
                near = turns.nearest(tx, answering.space_id, vector, limit)
            homes = self.facts.place.homes(None)
            named = facts.mentioned(tx, homes, asked.terms, MENTIONED) if asked.terms else []
        return Recalled(near, named, degraded)
