"""Purges what was deleted long ago, and drops old copies of the file. What is purged is then erased (see `erasure`)."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from memory_server.domain.forgetting import after, day_of, expired_before, jumped
from memory_server.sqlite import temporary
from memory_server.storage.database import Database
from memory_server.storage.tx import WriteTx

logger = logging.getLogger(__name__)

AT_ONCE = 100
"""Things that are purged in one transaction, so that a write waits little."""


@dataclass(frozen=True, slots=True)
class ForgettingService:
    database: Database

    def purge_due(self) -> None:
        """Background work: purge what was deleted 30 days ago, and the copies from before a migration of that age.

        The 30 days end before the last day on which a server ran. It also removes the copies that a command made and
        could not remove, because it was killed.
        """
        temporary.remove_stale()
        if self.database.read_only:
            return
        self._mark_day()
        with self.database.read() as tx:
            moment = tx.server_days.certain()
        if moment is not None:
            self._purge(moment)
            self.database.files.drop_copies(older_than=expired_before(moment))

    def purge_deleted(self, progress: Callable[[int], None]) -> None:
        """Purge all that is deleted now, for good; what was only changed can still be undone. `progress` gets how many
        things are left to purge."""
        with self.database.read() as tx:
            before = after(tx.now)
        while left := self.count_deleted(before):
            progress(left)
            with self.database.write() as tx:
                _erase(tx, before, tx.now)
        progress(0)
        self.database.files.drop_copies()

    def count_deleted(self, before: str | None = None) -> int:
        """Count the things that are deleted and not purged yet; where a moment is given, those deleted before it."""
        with self.database.read() as tx:
            moment = before or after(tx.now)
            return len(tx.trash.older(moment, None)) + len(
                tx.fact_history.deleted_before(moment, tx.now, None)
            )

    def _mark_day(self) -> None:
        """Record that a server runs today. Warn where the clock may be wrong."""
        with self.database.read() as tx:
            newest, now = tx.server_days.newest(), tx.now
        if newest == day_of(now):
            return
        if jump := jumped(now, newest):
            logger.warning("%s", jump)
        with self.database.write() as tx:
            tx.server_days.mark()

    def _purge(self, moment: str) -> None:
        before = expired_before(moment)
        while self._is_due(before, moment):
            with self.database.write() as tx:
                _erase(tx, before, moment)
                tx.changes.delete(tx.changes.older(before, AT_ONCE))
                tx.events.forget_steps(tx.events.older(before, 1))

    def _is_due(self, before: str, moment: str) -> bool:
        """True if something is to purge. More than one fact is read: the first could be a row that cannot be read."""
        with self.database.read() as tx:
            return bool(
                tx.trash.older(before, 1)
                or tx.changes.older(before, 1)
                or tx.events.older(before, 1)
                or tx.fact_history.deleted_before(before, moment, AT_ONCE)
            )


def _erase(tx: WriteTx, before: str, moment: str) -> None:
    """Erase some of what was deleted before a moment, and of the deleted facts that would have expired by another."""
    for home, key in tx.fact_history.deleted_before(before, moment, AT_ONCE):
        tx.facts.erase(home, key)
    tx.trash.erase(tx.trash.older(before, AT_ONCE))
