"""Background work: faded observations and turns that belong together get a digest."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from memory_server.domain import digest as domain
from memory_server.domain.caller import Caller
from memory_server.domain.digest import Note, NoteKind
from memory_server.domain.edge import Edge, Relation
from memory_server.domain.memory import SERVER, MemoryDraft, MemoryId
from memory_server.services import ground
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx

AT_ONCE = 20
"""Digests that one run makes: a large old file gets them bit by bit."""

WRITER = Caller(SERVER)


@dataclass(frozen=True, slots=True)
class DigestService:
    """Nothing is changed or deleted: a digest stands beside what it was made from, and to delete it undoes it."""

    database: Database
    queue: EmbeddingQueue
    enabled: bool = True

    def make_due(self) -> int:
        """Make the digests that are due; return how many were made."""
        if not self.enabled or self.database.read_only:
            return 0
        with self.database.read() as tx:
            last = tx.digests.newest_sessions()  # briefings tell the last session of each project
            notes = _standing(tx, tx.digests.notes(domain.before(tx.now), last))
        groups = domain.groups(notes, tx.now)
        drafts = ((group, draft) for group in groups if (draft := domain.digest(group)))
        number = sum(self._make(group, draft) for group, draft in islice(drafts, AT_ONCE))
        if number:
            self.queue.wake()
        return number

    def _make(self, group: list[Note], draft: MemoryDraft) -> bool:
        """Make one digest in its own transaction, unless a note has changed or another server has made it."""
        with self.database.write() as tx:
            if not set(group) <= set(tx.digests.notes(domain.before(tx.now), among=group)):
                return False
            memory = tx.memories.insert(draft, WRITER)
            for note in group:
                if note.kind is NoteKind.MEMORY:
                    tx.edges.connect(Edge(memory.id, MemoryId(note.id), Relation.SUMMARIZES), WRITER)
            tx.digests.insert(memory.id, group)
        return True


def _standing(tx: Tx, notes: Sequence[Note]) -> list[Note]:
    """Return the notes without the observations whose files have changed since."""
    memories = {note.id: note.project for note in notes if note.kind is NoteKind.MEMORY and note.project}
    changed = ground.outdated(tx, memories) if memories else set()
    return [note for note in notes if note.kind is not NoteKind.MEMORY or note.id not in changed]
