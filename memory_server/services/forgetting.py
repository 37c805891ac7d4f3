"""Purges what was deleted long ago, and drops old copies of the file. What is purged is then erased (see `erasure`)."""

from dataclasses import dataclass

from memory_server.domain.forgetting import expired_before
from memory_server.sqlite import changes, fact_history, facts, temporary, trash
from memory_server.sqlite.database import Database

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
        while self._is_due(before):
            with self.database.write() as tx:
                for home, key in fact_history.deleted_before(tx, before, AT_ONCE):
                    facts.erase(tx, home, key)
                trash.erase(tx, trash.older(tx, before, AT_ONCE))
                changes.delete(tx, changes.older(tx, before, AT_ONCE))
        self.database.drop_copies(before)

    def _is_due(self, before: str) -> bool:
        """More than one fact is asked for: the first could be a row that cannot be read."""
        with self.database.read() as tx:
            return bool(
                trash.older(tx, before, 1)
                or changes.older(tx, before, 1)
                or fact_history.deleted_before(tx, before, AT_ONCE)
            )
