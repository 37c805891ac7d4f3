"""The newest memories with their vectors, for a picture of the whole. To look counts no access."""

from dataclasses import dataclass

from memory_server.domain.caller import Caller
from memory_server.domain.embedding import Vector
from memory_server.domain.memory import Filter, Memory, MemoryId
from memory_server.domain.project import EVERYWHERE
from memory_server.services import projects
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.meaning import Meaning, Unanswered
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx


@dataclass(frozen=True, slots=True)
class Overview:
    """`total` counts all of them; `vectors` has those that are embedded, and none where they were not asked for."""

    memories: list[Memory]
    total: int
    vectors: dict[MemoryId, Vector]


@dataclass(frozen=True, slots=True)
class OverviewService:
    database: Database
    queue: EmbeddingQueue

    def look(self, project: str | None, limit: int, vectors: bool, caller: Caller) -> Overview:
        """Return the newest memories, at most `limit`; of one project ('' is none) or of all."""
        lookup = projects.among(EVERYWHERE if project is None else project, caller)

        def ask(tx: Tx, meaning: Meaning | Unanswered | None) -> Overview:
            where = lookup(tx)
            memories = tx.candidates.newest(Filter(project=where.only), limit, 0)
            embedded: dict[int, Vector] = {}
            if isinstance(meaning, Meaning):
                embedded = tx.embeddings.vectors_of(meaning.space_id, [memory.id for memory in memories])
            total = sum(tx.memory_counts.by_type(where.only).values())
            return Overview(memories, total, {MemoryId(id): vector for id, vector in embedded.items()})

        if vectors:
            return self.queue.read((), ask)
        with self.database.read() as tx:
            return ask(tx, None)
