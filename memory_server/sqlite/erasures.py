"""The table `erasures`: what was deleted and is still to be erased from the file. Triggers ask for it; jobs do it.

Each row counts how often something was asked for and how often of that is done, so a kill loses nothing.
"""

from collections.abc import Mapping
from typing import Final

from memory_server.sqlite.database import Tx, WriteTx
from memory_server.sqlite.rows import Rows

ROWS = (Rows("erasures", ("what",), id="what"),)

FILE: Final = "file"
"""The free bytes of the whole file. The other names are word indexes, whose deleted words are to go."""


def due(tx: Tx) -> dict[str, int]:
    """What is to be erased, each with how often it has been asked for."""
    return dict(tx.rows("SELECT what, asked FROM erasures WHERE asked > done ORDER BY what"))


def ask_for_all(tx: WriteTx) -> None:
    """Erase whatever a hand edit may have left."""
    tx.execute("UPDATE erasures SET asked = asked + 1")


def drop_deleted_words(tx: WriteTx, index: str) -> None:
    """Write a word index anew, if that is still due: FTS5 keeps deleted words as marks of their deletion."""
    asked = due(tx).get(index)
    if asked is None:
        return
    # FTS5's `optimize` will not do: where all segments are on one level it may keep those marks.
    tx.execute(f"INSERT INTO {index} ({index}) VALUES ('rebuild')")
    tx.execute("UPDATE erasures SET asked = asked + 1 WHERE what = ?", (FILE,))
    mark_done(tx, {index: asked})


def mark_done(tx: WriteTx, asked: Mapping[str, int]) -> None:
    """As often as it was asked for when the work began: what was asked for since is still due."""
    for what, times in asked.items():
        tx.execute("UPDATE erasures SET done = max(done, ?) WHERE what = ?", (times, what))
