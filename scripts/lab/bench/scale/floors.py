"""The least that the same machine needs: a server of one tool on the same SDK, a commit, a scan, a query by words."""

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import numpy as np
from show.results import COMMIT, FLOOR, Measured, times

from scale import texts
from scale.clients import connected
from scale.effort import Effort
from scale.files import temporary

BARE_CALL = "call of a tool that does nothing, on the same SDK"
SCAN = "numpy: ten nearest vectors"
WORDS = "FTS5: ten best for a question"

_BLOCK = 100_000
"""Vectors that are scanned at once: a block is scanned again for each further so many."""

_PROGRAM = """
from mcp.server.mcpserver import MCPServer

server = MCPServer("one-tool")

@server.tool()
def nothing() -> str:
    return ""

server.run("stdio")
"""

ONE_TOOL = (sys.executable, "-c", _PROGRAM)
"""The command of a server on the same SDK whose one tool does nothing."""


async def call(effort: Effort) -> Measured:
    """A call that does nothing, through the server."""
    async with connected(ONE_TOOL, {}) as server:
        spent = [await server.spent("nothing", {}) for _ in range(effort.asked)]
    return Measured(FLOOR, BARE_CALL, 0, times(spent[effort.warm :]))


def commit(effort: Effort) -> Measured:
    """A row that is on the disk afterwards, with the pragmas of the product: rollback journal, synchronous EXTRA."""
    with temporary() as folder:
        connection = apsw.Connection(str(folder / "one.db"))
        connection.execute("PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA")
        connection.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT)")
        found = _times(lambda _: connection.execute("INSERT INTO rows (text) VALUES ('a row')"), effort)
        connection.close()
    return Measured(FLOOR, COMMIT, 0, found)


def of_file(db: Path, size: int, effort: Effort) -> Iterator[Measured]:
    """A scan and a query on the vectors and words of this file."""
    connection = apsw.Connection(str(db), flags=apsw.SQLITE_OPEN_READONLY)
    block = _vectors(connection)

    def scan(number: int) -> None:
        for _ in range(-(-size // _BLOCK)):
            cosines = block @ block[number]
            np.argpartition(cosines, -min(10, len(block)))[-10:]

    def words(number: int) -> None:
        connection.execute(
            "SELECT rowid FROM memory_words WHERE memory_words MATCH ? ORDER BY rank LIMIT 10",
            (asked[number],),
        ).fetchall()

    asked = [_any_word(question) for question in texts.questions(effort.asked)]
    yield Measured(FLOOR, SCAN, size, _times(scan, effort))
    yield Measured(FLOOR, WORDS, size, _times(words, effort))
    connection.close()


def _vectors(connection: apsw.Connection) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    """At most _BLOCK vectors of shape (number, dimensions)."""
    rows: list[tuple[Any, ...]] = connection.execute(
        "SELECT vector FROM embeddings LIMIT ?", (_BLOCK,)
    ).fetchall()
    return np.frombuffer(b"".join(vector for (vector,) in rows), dtype="<f4").reshape(len(rows), -1)


def _any_word(question: str) -> str:
    """A query for any of the words; Chinese by characters, as the index has them."""
    spaced = "".join(character if character.isascii() else f" {character} " for character in question)
    return " OR ".join(f'"{word}"' for word in spaced.replace("?", "").replace("？", "").split())


def _times(work: Callable[[int], object], effort: Effort) -> dict[str, float]:
    spent = []
    for number in range(effort.asked):
        cpu, wall = time.process_time(), time.perf_counter()
        work(number)
        spent.append((time.process_time() - cpu, time.perf_counter() - wall))
    return times(spent[effort.warm :])
