"""Changes several memories at once: all or none, in one transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memory_server.domain import memory as domain
from memory_server.domain.caller import Caller
from memory_server.domain.memory import Memory, MemoryChange, MemoryId
from memory_server.domain.secrets import refuse_secrets
from memory_server.errors import Invalid
from memory_server.services import projects
from memory_server.storage.database import Database
from memory_server.storage.tx import WriteTx

MOST_TAGS = 10


@dataclass(frozen=True, slots=True)
class ChangeManyService:
    database: Database
    allow_secrets: bool = False

    def add_tags(self, ids: Sequence[MemoryId], tags: Sequence[str], caller: Caller) -> list[int]:
        """Add tags to memories; return the numbers of the changes, which are undone together.

        Raises:
            Invalid: a memory would have more than MOST_TAGS, or a tag looks like a credential.
            NotFound: one of the memories does not exist.
        """
        if not self.allow_secrets:
            refuse_secrets(tuple(tags))

        def tagged(memory: Memory) -> MemoryChange:
            united = tuple(dict.fromkeys((*memory.tags, *tags)))
            if len(united) > MOST_TAGS:
                raise Invalid(
                    f"m{memory.id} would have {len(united)} tags. A memory has at most {MOST_TAGS}."
                )
            return MemoryChange(tags=united)

        with self.database.write() as tx:
            changes = {id: tagged(tx.memories.get(id)) for id in ids}
            return _change(tx, changes, caller)

    def move(self, ids: Sequence[MemoryId], project: str, caller: Caller) -> list[int]:
        """Move memories to a project ('' is none); return the numbers of the changes, which are undone together.

        Raises:
            NotFound: one of the memories does not exist.
        """
        target = projects.asked(project, caller)
        with self.database.write() as tx:
            name = projects.settle(tx, target)
            return _change(tx, dict.fromkeys(ids, MemoryChange(project=name)), caller)

    def newest(self, ids: Sequence[int]) -> list[int]:
        """Return the number of the newest change of each of these memories."""
        with self.database.read() as tx:
            return tx.changes.newest(ids)


def _change(tx: WriteTx, changes: Mapping[MemoryId, MemoryChange], caller: Caller) -> list[int]:
    """Change these memories, those apart that would stay the same; return the numbers of the changes."""
    changed: list[MemoryId] = []
    for id, change in changes.items():
        before = tx.memories.get(id)
        after = domain.change(before, change)
        if after != before:
            tx.changes.keep_memory(before, caller)
            tx.memories.replace(before, after, "rewritten")
            changed.append(id)
    return tx.changes.newest(changed)
