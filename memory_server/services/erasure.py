"""Erases what was deleted from the bytes of the file: once nothing more is deleted, or at once for a command."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from memory_server.errors import Problem, Unavailable
from memory_server.storage.database import Database
from memory_server.storage.tables.erasures import FILE

logger = logging.getLogger(__name__)

LOOKS = 15
"""After so many looks, what is due is erased even if deletions continue."""


REST = 0.02
"""Seconds between two transactions that take out words. Another process that waits to write looks only now and then
whether it may: without a pause it waited for all of them, 1.9 s at 200 MB."""


@dataclass(slots=True)
class ErasureService:
    """Every process looks; the one that comes first does the work, and one that is killed leaves it to the next."""

    database: Database
    pause: Callable[[float], object] = time.sleep
    _before: dict[str, int] = field(default_factory=dict)
    """What was due at the last look."""
    _looks: int = 0

    def erase_at_rest(self) -> None:
        """Background work: erase what is due, if nothing more has been deleted since the last look."""
        if self.database.read_only:
            return
        with self.database.read() as tx:
            due = tx.erasures.due()
        self._looks = self._looks + 1 if due else 0
        if due and (due == self._before or self._looks >= LOOKS):
            self.erase()
            self._looks = 0
        self._before = due

    def erase_now(self) -> Problem | None:
        """Erase what is due before a command says that it is gone; return why that failed. Then it stays due."""
        try:
            with self.database.read() as tx:
                due = tx.erasures.due()
            if due:
                self.erase()
        except Unavailable as error:
            return error.problem
        return None

    def erase(self) -> None:
        """Erase what is due now: deleted words first, because their bytes are among those erased then.

        A project of which nothing is left goes too, with its name and the paths that led to it.
        """
        with self.database.write() as tx:
            tx.projects.delete_empty()
            due = tx.erasures.due()
        for index in due:
            if index != FILE:
                self.remove_words(index)
        with self.database.read() as tx:
            due_file = {what: times for what, times in tx.erasures.due().items() if what == FILE}
        if due_file:
            written = self.database.erase()
            logger.info("%d bytes of what was deleted are overwritten", written)
            with self.database.write() as tx:
                tx.erasures.mark_done(due_file)

    def remove_words(self, index: str) -> None:
        """Remove words in one short transaction after another, so that other writes wait little."""
        go_on = self.database.files.removal(index)
        while not go_on():
            self.pause(REST)
