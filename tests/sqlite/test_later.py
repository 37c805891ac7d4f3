"""What a read has to write is written with the next write, all of it once, as of its own moment."""

import threading
from pathlib import Path

import pytest

from memory_server.domain.memory import MemoryId
from memory_server.errors import Unavailable
from memory_server.sqlite.database import Database
from memory_server.sqlite.transaction import Transaction
from memory_server.storage import later
from memory_server.storage.tx import WriteTx
from tests.conftest import Clock, damage


@pytest.fixture
def database(file_database: Database) -> Database:
    """A file with one memory."""
    with file_database.write() as tx:
        tx.execute("INSERT INTO memories (content, type) VALUES ('first', 'error')")
    return file_database


def count(database: Database) -> None:
    database.later(lambda tx: tx.memories.mark_accessed([MemoryId(1)]))


def counted(database: Database) -> tuple[int, str | None]:
    with database.read() as tx:
        access_count, accessed_at = tx.one("SELECT access_count, accessed_at FROM memories WHERE id = 1")
        return access_count, accessed_at


def test_a_read_writes_nothing_itself(database: Database) -> None:
    count(database)
    assert counted(database) == (0, None)


def test_the_next_write_sees_it_as_of_the_moment_of_the_read(database: Database, clock: Clock) -> None:
    with database.read() as tx:
        then = tx.now
    count(database)
    clock.advance(hours=1)
    with database.write() as tx:
        assert tx.one("SELECT access_count, accessed_at FROM memories") == (1, then)
        assert tx.now > then
    assert database.settle() is None
    assert counted(database) == (1, then)


def test_a_write_that_is_undone_keeps_it_for_the_next(database: Database) -> None:
    count(database)
    with pytest.raises(ZeroDivisionError), database.write():
        raise ZeroDivisionError
    assert counted(database)[0] == 0
    count(database)
    assert database.settle() is None
    assert counted(database)[0] == 2


def test_one_that_cannot_be_written_is_left_out_and_logged(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(tx: WriteTx) -> None:
        assert isinstance(tx, Transaction)
        tx.memories.mark_accessed([MemoryId(1)])
        tx.execute("INSERT INTO memories (content, type) VALUES ('', 'no type')")

    count(database)
    database.later(broken)
    count(database)
    with database.write() as tx:
        tx.execute("INSERT INTO memories (content, type) VALUES ('second', 'error')")
    assert counted(database)[0] == 2
    assert "what a read has to write was left out" in caplog.text


def test_what_threads_count_at_once_adds_up(database: Database) -> None:
    def work() -> None:
        for _ in range(50):
            count(database)
            database.settle(20)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counted(database)[0] == 200


def test_closing_writes_it(tmp_path: Path, clock: Clock) -> None:
    for _ in range(2):
        database = Database(tmp_path / "memory.db", clock)
        with database.write() as tx:
            tx.execute("INSERT OR IGNORE INTO memories (id, content, type) VALUES (1, 'first', 'error')")
        count(database)
        assert database.close()
    database = Database(tmp_path / "memory.db", clock)
    assert counted(database)[0] == 2
    database.close()
    assert damage(tmp_path / "memory.db") == []


def test_it_is_never_written_into_another_file(tmp_path: Path, clock: Clock) -> None:
    """The memory 1 there is another one."""
    path = tmp_path / "memory.db"
    for name in ("other.db", "memory.db"):
        database = Database(tmp_path / name, clock)
        with database.write() as tx:
            tx.execute("INSERT INTO memories (content, type) VALUES (?, 'error')", (name,))
        if name == "other.db":
            database.close()
    count(database)
    (tmp_path / "other.db").replace(path)
    with pytest.raises(Unavailable, match="Another file has taken the place"):
        database.settle()
    count(database)
    assert database.settle() is None
    assert counted(database)[0] == 1
    database.close()


def test_of_more_marks_than_are_kept_the_latest_stay() -> None:
    marks = [later.Mark(lambda _: None, str(number)) for number in range(later.MOST + 2)]
    kept = later.Later()
    kept.add(marks[-1])
    kept.put_back(marks[:-1])
    assert kept.take() == marks[2:]
