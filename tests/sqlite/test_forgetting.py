"""Forgetting for good: SQLite's own `secure_delete` and FTS5's `optimize` are not enough."""

import random
import subprocess
import sys
from functools import partial
from pathlib import Path

import apsw
import pytest
from torture.histories import History

from memory_server.call import deadline
from memory_server.errors import Unavailable
from memory_server.services.erasure import ErasureService
from memory_server.sqlite import deleted_words, erasing
from memory_server.sqlite.database import Database
from memory_server.sqlite.deleted_words import COLUMNS, Removal
from tests.conftest import ROOT, Clock, Holder, Sqlite, problems


def due(database: Database) -> set[str]:
    with database.read() as tx:
        return set(tx.erasures.due())


@pytest.mark.parametrize("seed", range(8))
def test_nothing_of_what_was_forgotten_stays_in_the_file(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "memory.db"
    database = Database(path, Clock())
    history = History(database, random.Random(seed))
    for _ in range(20):
        history.step()
    history.forget(0.2)
    ErasureService(database).erase()
    assert history.traces(path) == set()
    assert history.lost() == []
    assert problems(database) == []
    assert due(database) == set()
    assert database.erase() == 0
    database.close()
    assert history.traces(path) == set()


def test_erasing_lets_every_other_connection_drop_the_pages_that_it_has_read(
    tmp_path: Path, clock: Clock
) -> None:
    """They hold the bytes that were erased, and a page that is written again would bring them back."""
    database = Database(tmp_path / "memory.db", clock)
    history = History(database, random.Random(3))
    for _ in range(20):
        history.step()
    history.forget(0.5)
    reader = apsw.Connection(str(tmp_path / "memory.db"))
    reader.execute("SELECT count(*) FROM memories").fetchall()
    before = reader.pragma("data_version")
    assert database.erase() > 0
    assert reader.pragma("data_version") != before
    reader.close()
    database.close()


def test_a_deletion_by_hand_is_erased_too(tmp_path: Path, clock: Clock, sqlite: Sqlite) -> None:
    path = tmp_path / "memory.db"
    database = Database(path, clock)
    history = History(database, random.Random(1))
    for _ in range(20):
        history.step()
    history.gone |= history.alive
    history.rows.clear()
    sqlite(
        path,
        "PRAGMA secure_delete = OFF",
        *(
            f"DELETE FROM {table}"
            for table in ("memories", "facts", "fact_history", "turns", "conversations", "memory_history")
        ),
    )
    assert history.traces(path)
    ErasureService(database).erase()
    assert history.traces(path) == set()
    assert problems(database) == []
    database.close()


def test_it_waits_until_the_deleting_has_come_to_rest(file_database: Database) -> None:
    service = ErasureService(file_database)

    def store_and_forget() -> None:
        with file_database.write() as tx:
            tx.execute("INSERT INTO memories (content, type) VALUES ('secret', 'error')")
            tx.execute("DELETE FROM memories")

    for _ in range(3):
        store_and_forget()
        service.erase_at_rest()
        assert due(file_database) == {"file", "memory_words"}
    service.erase_at_rest()
    assert due(file_database) == set()


def test_deletions_that_never_rest_are_erased_all_the_same(file_database: Database) -> None:
    service = ErasureService(file_database)
    looks = 0
    while looks < 16 and (not looks or due(file_database)):
        looks += 1
        with file_database.write() as tx:
            tx.execute("INSERT INTO memories (content, type) VALUES ('secret', 'error')")
            tx.execute("DELETE FROM memories")
        service.erase_at_rest()
    assert looks == 15


def test_a_file_of_an_unexpected_layout_is_written_anew(tmp_path: Path, clock: Clock, sqlite: Sqlite) -> None:
    path = tmp_path / "memory.db"
    history = History(Database(path, clock), random.Random(2))
    for _ in range(10):
        history.step()
    sqlite(path, "PRAGMA auto_vacuum = FULL; VACUUM")
    history.forget(0.5)
    ErasureService(history.database).erase()
    assert history.traces(path) == set()
    assert problems(history.database) == []
    assert due(history.database) == set()
    history.database.close()


def test_what_one_process_leaves_due_the_next_one_erases(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    history = History(Database(path, Clock()), random.Random(3))
    for _ in range(20):
        history.step()
    history.forget(0.3)
    history.database.close()
    history.database = Database(path, Clock())
    service = ErasureService(history.database)
    service.erase_at_rest()
    service.erase_at_rest()
    assert due(history.database) == set()
    assert history.traces(path) == set()
    history.database.close()


def test_between_the_steps_of_the_erasing_another_program_can_write_without_waiting(
    file_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = History(file_database, random.Random(5))
    for _ in range(30):
        history.step()
    history.forget(0.3)
    other, rests = apsw.Connection(str(tmp_path / "memory.db")), []

    def rest(seconds: float) -> None:
        other.execute("UPDATE erasures SET done = done")  # raises where it would have to wait
        rests.append(seconds)

    monkeypatch.setattr(deleted_words, "Removal", partial(Removal, small=0, pages=1))
    ErasureService(file_database, rest).erase()
    other.close()
    assert len(rests) > 10
    assert min(rests) > 0
    assert due(file_database) == set()
    assert history.traces(tmp_path / "memory.db") == set()


def test_a_reader_that_stays_makes_it_wait_for_the_next_look(
    file_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasing, "LOOKS", 0)
    monkeypatch.setattr(erasing, "nap", lambda tries: tries < 3)
    history = History(file_database, random.Random(4))
    for _ in range(20):
        history.step()
    history.forget(0.3)
    service = ErasureService(file_database)
    for index in COLUMNS:
        service.remove_words(index)
    with (
        Holder(tmp_path / "memory.db", "SELECT count(*) FROM memories"),
        deadline.within(1),
        pytest.raises(Unavailable, match="locked"),
    ):
        service.erase()
    assert due(file_database) == {"file"}
    service.erase()
    assert due(file_database) == set()
    assert history.traces(tmp_path / "memory.db") == set()


@pytest.mark.parametrize("part", ["power cuts", "kills", "windows", "full disks"])
def test_erasing_does_no_harm(part: str) -> None:
    """A short run of the torture; by hand it runs for a thousand rounds."""
    script = ROOT / "scripts" / "lab" / "torture" / "erase.py"
    run = subprocess.run(
        [sys.executable, str(script), "1", "--seed", "7", "--part", part],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
