"""The table `erasures`: what was deleted and is still to be erased. Triggers ask for it; jobs do it.

Each row counts how often something was asked for and how often of that is done, so a kill loses nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from memory_server.storage.statements import Statements

FILE: Final = "file"
"""The free bytes of the whole file. The other names are word indexes, whose deleted words are to go."""


@dataclass(frozen=True, slots=True)
class Erasures:
    tx: Statements

    def due(self) -> dict[str, int]:
        """Return what is to be erased, each with how often it has been asked for."""
        return dict(self.tx.rows("SELECT what, asked FROM erasures WHERE asked > done ORDER BY what"))


@dataclass(frozen=True, slots=True)
class WritableErasures(Erasures):
    def mark_done(self, times_asked: Mapping[str, int]) -> None:
        """Mark it done as often as it was asked for when the work began: what was asked for since is still due."""
        self.tx.send_each(
            "UPDATE erasures SET done = :times WHERE what = :what AND done < :times",
            ({"what": what, "times": times} for what, times in times_asked.items()),
        )
