"""The table `erasures`: what was deleted and is still to be erased from the file. Triggers ask for it; jobs do it.

Each row counts how often something was asked for and how often of that is done, so a kill loses nothing.
"""

from collections.abc import Mapping
from typing import Final

from memory_server.sqlite.rows import Rows
from memory_server.sqlite.tx import Tx, WriteTx

ROWS = (Rows("erasures", ("what",), id="what"),)

FILE: Final = "file"
"""The free bytes of the whole file. The other names are word indexes, whose deleted words are to go."""


def due(tx: Tx) -> dict[str, int]:
    """What is to be erased, each with how often it has been asked for."""
    return dict(tx.rows("SELECT what, asked FROM erasures WHERE asked > done ORDER BY what"))


def ask_for_file(tx: WriteTx) -> None:
    tx.execute("UPDATE erasures SET asked = asked + 1 WHERE what = ?", (FILE,))


def mark_done(tx: WriteTx, asked: Mapping[str, int]) -> None:
    """As often as it was asked for when the work began: what was asked for since is still due."""
    for what, times in asked.items():
        tx.execute("UPDATE erasures SET done = max(done, ?) WHERE what = ?", (times, what))
