"""Forgetting for good: SQLite's own `secure_delete` and FTS5's `optimize` are not enough."""

import random
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_server.domain.memory import MemoryId
from memory_server.errors import Unavailable
from memory_server.sqlite import memories
from memory_server.sqlite.database import Database, WriteTx
from tests.conftest import Clock, problems


def bytes_of(path: Path) -> bytes:
    """Read by another process: to close a handle on the file here would drop the locks of this one."""
    return subprocess.run(["cat", str(path)], capture_output=True, check=True).stdout


KINDS = st.sampled_from(["store", "store", "store", "reword", "forget"])
HISTORIES = st.lists(st.tuples(KINDS, st.integers(0, 99), st.integers(1, 400)), min_size=4, max_size=60)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(HISTORIES, st.integers(0, 2**32))
def test_nothing_of_a_forgotten_memory_stays_in_the_file(
    tmp_path_factory: pytest.TempPathFactory, history: list[tuple[str, int, int]], seed: int
) -> None:
    chance = random.Random(seed)

    def unique() -> str:
        return "zq" + "".join(chance.choices("bcdfghjklm", k=14))

    path = tmp_path_factory.mktemp("forgotten") / "memory.db"
    database = Database(path, Clock())
    alive: dict[MemoryId, list[str]] = {}
    gone: list[str] = []
    for kind, pick, length in [*history, ("forget", 0, 1)]:
        with database.write() as tx:
            if kind == "store" or not alive:
                marks = [unique() for _ in range(4)]
                filler = " ".join(f"word{chance.randrange(300)}" for _ in range(length))
                id = tx.value(
                    "INSERT INTO memories (content, type, tags, metadata, project)"
                    " VALUES (?, 'error', json_array(?), json_object('k', ?), ?) RETURNING id",
                    (f"{marks[0]} {filler}"[:5000], *marks[1:]),
                )
                alive[id] = marks
            else:
                id = list(alive)[pick % len(alive)]
                if kind == "reword":
                    alive[id].append(unique())
                    text = f"{alive[id][-1]} " + "other " * length
                    tx.execute("UPDATE memories SET content = ? WHERE id = ?", (text[:5000], id))
                else:
                    gone += alive.pop(id)
                    assert memories.delete(tx, id)
    open_file = bytes_of(path)
    assert [mark for mark in gone if mark[4:].encode() in open_file] == []
    assert all(marks[0].encode() in open_file for marks in alive.values() if len(marks) == 4)
    assert problems(database) == []
    database.close()
    closed_file = bytes_of(path)
    assert [mark for mark in gone if mark[4:].encode() in closed_file] == []


def test_a_memory_is_gone_even_if_its_traces_cannot_be_overwritten(
    file_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with file_database.write() as tx:
        tx.execute("INSERT INTO memories (content, type) VALUES ('secret', 'error')")
    monkeypatch.setattr(WriteTx, "rewrite_file_afterwards", lambda tx: tx.afterwards.append("VACUUM nowhere"))

    def forget() -> None:
        with file_database.write() as tx:
            assert memories.delete(tx, MemoryId(1))

    wording = (
        rf"^The text is deleted, but overwriting its traces in {re.escape(str(file_database.path))} failed "
        r"\(.*nowhere.*\)\. The user can overwrite them with the SQL command VACUUM\.$"
    )
    with pytest.raises(Unavailable, match=wording):
        forget()
    with file_database.read() as reading:
        assert reading.value("SELECT count(*) FROM memories") == 0
