"""Purges what was deleted long ago, and drops old copies of the file. What is purged is then erased (see `erasure`)."""

from collections.abc import Callable
from dataclasses import dataclass

from memory_server.domain.forgetting import after, expired_before
from memory_server.sqlite import temporary
from memory_server.storage.database import Database
from memory_server.storage.tx import WriteTx

AT_ONCE = 100
"""Things that are purged in one transaction, so that a write waits little."""


@dataclass(frozen=True, slots=True)
class ForgettingService:
    database: Database

    def purge_due(self) -> None:
        """Background work: purge what was deleted 30 days ago, and the copies from before a migration of that age.

        And the copies that a command made and could not remove, because it was killed.
        """
        temporary.remove_stale()
        if self.database.read_only:
            return
        with self.database.read() as tx:
            before = expired_before(tx.now)
        self._purge(before)
        self.database.files.drop_copies(before)

    def purge_deleted(self, told: Callable[[int], None]) -> None:
        """Purge all that is deleted now, for good; what was only changed can still be undone. `told` hears how many
        things are left to purge."""
        with self.database.read() as tx:
            before = after(tx.now)
        while left := self.count_deleted(before):
            told(left)
            with self.database.write() as tx:
                _erase(tx, before)
        told(0)
        self.database.files.drop_copies()

    def count_deleted(self, before: str | None = None) -> int:
        """How many things are deleted and not purged yet; those that were deleted before a moment."""
        with self.database.read() as tx:
            moment = before or after(tx.now)
            return len(tx.trash.older(moment, None)) + len(tx.fact_history.deleted_before(moment, None))

    def _purge(self, before: str) -> None:
        while self._is_due(before):
            with self.database.write() as tx:
                _erase(tx, before)
                tx.changes.delete(tx.changes.older(before, AT_ONCE))

    def _is_due(self, before: str) -> bool:
        """More than one fact is asked for: the first could be a row that cannot be read."""
        with self.database.read() as tx:
            return bool(
                tx.trash.older(before, 1)
                or tx.changes.older(before, 1)
                or tx.fact_history.deleted_before(before, AT_ONCE)
            )


def _erase(tx: WriteTx, before: str) -> None:
    """Some of what was deleted before a moment."""
    for home, key in tx.fact_history.deleted_before(before, AT_ONCE):
        tx.facts.erase(home, key)
    tx.trash.erase(tx.trash.older(before, AT_ONCE))
