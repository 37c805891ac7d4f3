"""The table `erasures`: what was deleted and is still to be erased from the file. Triggers ask for it; jobs do it.

Each row counts how often something was asked for and how often of that is done, so a kill loses nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from memory_server.sqlite.tx import Tx
from memory_server.storage.jobs import FILE


@dataclass(frozen=True, slots=True)
class Erasures:
    """The table `erasures`: what was deleted and is still to be erased from the file. Triggers ask for it; jobs do
    it."""

    tx: Tx

    def due(self) -> dict[str, int]:
        return dict(self.tx.rows("SELECT what, asked FROM erasures WHERE asked > done ORDER BY what"))

    def ask_for_file(self) -> None:
        self.tx.execute("UPDATE erasures SET asked = asked + 1 WHERE what = ?", (FILE,))

    def mark_done(self, asked: Mapping[str, int]) -> None:
        for what, times in asked.items():
            self.tx.execute("UPDATE erasures SET done = max(done, ?) WHERE what = ?", (times, what))
