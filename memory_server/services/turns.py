"""Turns of conversations: kept with the facts that they brought, found by meaning."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memory_server.domain.caller import Caller
from memory_server.domain.embedding import Embedded
from memory_server.domain.fact import Fact, FactDraft, Scope, homes
from memory_server.domain.secrets import refuse_secrets
from memory_server.domain.turn import Turn
from memory_server.errors import Problem
from memory_server.language import query
from memory_server.services.embedding_queue import Answering, EmbeddingQueue
from memory_server.services.facts import FactService
from memory_server.sqlite import facts, turns
from memory_server.sqlite.database import Database

MENTIONED = 5
"""Facts at most that come back beside the turns."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """Turns with their cosine, best first; facts whose key or value the query names; `degraded` says what failed."""

    turns: list[tuple[Turn, float]]
    facts: list[Fact]
    degraded: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class TurnService:
    """Facts of a turn are facts of the project."""

    database: Database
    queue: EmbeddingQueue
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
            refuse_secrets(message, summary, known)
        with self.database.write() as tx:
            id = turns.insert(tx, message, summary, caller)
            for draft in drafts:
                self.facts.write_in(tx, draft, Scope.PROJECT, caller)
        self.queue.wake()
        return id

    def retrieve(self, text: str, limit: int, caller: Caller) -> Recalled:
        """The turns nearest in meaning, and the facts that the query names."""
        asked = query.parse(text)
        problems: list[Problem] = []
        answering = self.queue.answering()
        vector = None
        if isinstance(answering, Answering):
            left = self.queue.catch_up(answering, Embedded.TURNS)
            if left:
                problems.append(Problem(f"{left} turns are not embedded yet"))
            vector = answering.embedder.embed_query(text)
        else:
            problems.append(Problem(f"no turns: {answering.problem.text}", answering.problem.hints))
        with self.database.read() as tx:
            near = []
            if isinstance(answering, Answering) and vector is not None:
                near = turns.nearest(tx, answering.space_id, vector, limit)
            named = facts.mentioned(tx, homes(None, caller), asked.terms, MENTIONED) if asked.terms else []
            return Recalled(near, named, (*problems, *tx.skipped))
