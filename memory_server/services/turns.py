"""Turns of conversations: kept with the facts that they brought, found by words and meaning."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memory_server.domain.caller import Caller
from memory_server.domain.embedding import Embedded
from memory_server.domain.fact import Fact, FactDraft, Scope, homes
from memory_server.domain.forgetting import Forgotten, Kind
from memory_server.domain.memory import Filter
from memory_server.domain.secrets import refuse_secrets
from memory_server.domain.turn import Turn, TurnDraft
from memory_server.errors import Mend, NotFound, Problem
from memory_server.language import query
from memory_server.services import deleting, projects, retrieval
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.facts import FactService
from memory_server.services.gathering import KindSearch, SearchItem
from memory_server.services.learning import ON, Learning
from memory_server.services.meaning import Meaning, Unanswered, keep, usable
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx

MENTIONED = 5
"""Facts at most that come back beside the turns."""


LIKELY = 0.1
"""Probability of the best turn below which the question counts as asked in vain."""


@dataclass(frozen=True, slots=True)
class RecalledTurns:
    """Turns with their score, best first; facts whose key or value the query names; `degraded` says what failed.

    `note` says that nothing is known of the project that was named.
    """

    turns: list[tuple[Turn, float]]
    facts: list[Fact]
    degraded: tuple[Problem, ...]
    note: str | None = None


@dataclass(frozen=True, slots=True)
class TurnService:
    """Facts of a turn are facts of the project."""

    database: Database
    queue: EmbeddingQueue
    facts: FactService
    learning: Learning = ON

    def register(self, turn: TurnDraft, fact_values: Mapping[str, Any], caller: Caller) -> int:
        """Keep a turn and its facts in one transaction, all or nothing; return the id of the turn.

        Raises:
            Invalid: something looks like a credential.
        """
        drafts = [FactDraft(key, value) for key, value in fact_values.items()]
        for draft in drafts:
            self.facts.check(draft)
        if not self.facts.allow_secrets:
            refuse_secrets(turn.message, turn.summary, fact_values, turn.session)
        embedded = self.queue.embed_now(turn.summary, turn.message)
        with self.database.write() as tx:
            caller, fresh = projects.settled(tx, caller), usable(tx, embedded)
            id = tx.turns.insert(turn, caller)
            if fresh is not None:
                keep(tx, fresh, Embedded.TURNS, id)
            for draft in drafts:
                self.facts.write_in(tx, draft, Scope.PROJECT, caller)
        if fresh is None:
            self.queue.wake()
        return id

    def retrieve(self, text: str, limit: int, caller: Caller, project: str | None = None) -> RecalledTurns:
        """Return the turns that answer a question best, and the facts that it names. Other projects' turns come later.

        `project` is a name, a path, the address of a remote, or '*', with which all projects are equal.
        """
        parsed = query.parse(text)
        lookup = projects.among(project, caller)

        def ask(tx: Tx, meaning: Meaning | Unanswered) -> RecalledTurns:
            by_meaning = meaning if isinstance(meaning, Meaning) else None
            mode = "hybrid" if by_meaning else "keyword"
            where, here = lookup(tx), projects.known(tx, caller)
            search = KindSearch(
                Embedded.TURNS, load, Filter(project=where.only, transcripts=False), limit, mode, where.first
            )
            hits = retrieval.rank_all(tx, text, (search,), by_meaning)[:limit]
            named: list[Fact] = []
            if parsed.terms:
                named = tx.word_hits.mentioned_facts(homes(None, here), parsed.terms, MENTIONED)
            problems = retrieval.without_meaning(tx, [Embedded.TURNS], meaning)
            turns = [(hit.item.thing, hit.probability) for hit in hits if self.facts.shows(hit.item.thing)]
            named = list(filter(self.facts.shows, named))
            return RecalledTurns(turns, named, (*problems, *tx.skipped), where.note)

        recalled = self.queue.read(retrieval.questions(text), ask)
        answers = recalled.facts or any(score >= LIKELY for _, score in recalled.turns[:1])
        vain = project is None and not (answers or recalled.degraded)
        if vain and self.learning.wants(text, caller):
            self.database.later(lambda tx: self.learning.unanswered(tx, text, caller))
        return recalled

    def get(self, id: int) -> Turn:
        """Return one turn whole.

        Raises:
            NotFound: there is none.
        """
        with self.database.read() as tx:
            turns = tx.turns.select([id])
            if not turns:
                raise NotFound(f"No turn {id}.", Mend.FIND_TURN)
            file = tx.turns.file_of(id) if turns[0].is_transcript else None
        return replace(turns[0], file=file)

    def forget(self, id: int, purge: bool, caller: Caller) -> Forgotten:
        """Delete a turn: it can be brought back for 30 days. Or erase it for good. Its facts stay.

        Raises:
            NotFound: no such turn; to erase, also none that was deleted.
        """
        return deleting.delete(self.database, Kind.TURN, id, purge, caller)

    def restore(self, id: int) -> Turn:
        """Bring back a turn that was deleted.

        Raises:
            NotFound: it was not deleted in the last 30 days.
        """
        with self.database.write() as tx:
            deleting.restore(tx, Kind.TURN, id)
            (turn,) = tx.turns.select([id])
        self.queue.wake()
        return turn


def load(tx: Tx, ids: Sequence[int]) -> dict[int, SearchItem[Turn]]:
    return {
        turn.id: SearchItem(turn, (turn.summary, turn.message), turn.project, turn.occurred_at)
        for turn in tx.turns.select(ids)
    }
