"""What a failure of the disk, the file system or the ids is called: its true cause, and what mends that."""

import errno
import fcntl
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw
import pytest

from memory_server.errors import Hint, Mend, Unavailable
from memory_server.services import restoring
from memory_server.sqlite import failures
from memory_server.sqlite.database import Database
from tests.conftest import Clock, Holder, SmallDisk, lay_empty_file, problems

INSERT = "INSERT INTO memories (content, type) VALUES ('x', 'error')"


class File(apsw.VFSFile):
    """A database file of which an operation fails with a code."""

    fails: tuple[str, int]

    def xRead(self, amount: int, offset: int) -> bytes:
        self._may_fail("xRead")
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._may_fail("xWrite")
        super().xWrite(data, offset)

    def xLock(self, level: int) -> None:
        self._may_fail("xLock")
        super().xLock(level)

    def excepthook(self, *_: object) -> bool:
        return True

    def _may_fail(self, name: str) -> None:
        if name == self.fails[0]:
            raise apsw.exception_for(self.fails[1])


class Disk(apsw.VFS):
    def __init__(self, name: str, code: int) -> None:
        self.fails = (name, code)
        self._base = apsw.vfs_names()[0]
        super().__init__("failing", self._base, makedefault=True)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        if not flags[0] & apsw.SQLITE_OPEN_MAIN_DB:
            return apsw.VFSFile(self._base, name, flags)
        file = File(self._base, name, flags)
        file.fails = self.fails
        return file


@contextmanager
def failing(name: str, code: int) -> Iterator[None]:
    disk = Disk(name, code)
    try:
        yield
    finally:
        disk.unregister()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"
    lay_empty_file(path)
    return path


def refusal(path: Path, clock: Clock) -> Unavailable:
    database = Database(path, clock)
    with pytest.raises(Unavailable) as error, database.write() as tx:
        tx.execute(INSERT)
    database.close()
    return error.value


@pytest.mark.parametrize(
    ("operation", "code"),
    [
        ("xRead", "SQLITE_IOERR_READ"),
        ("xRead", "SQLITE_IOERR_CORRUPTFS"),
        ("xWrite", "SQLITE_IOERR_WRITE"),
    ],
)
def test_a_disk_that_fails_is_not_called_a_damaged_file(
    operation: str, code: str, file: Path, clock: Clock
) -> None:
    with failing(operation, getattr(apsw, code)):
        error = refusal(file, clock)
    assert str(error) == (
        f"The disk that holds {file} failed ({code}). The file may be whole: the disk must be checked. "
        "Nothing was written."
    )


class LateDisk(apsw.VFS):
    """A disk that deletes a journal and then fails to flush its folder, so SQLite learns of a failure."""

    def __init__(self, code: int) -> None:
        self._code = code
        super().__init__("late", apsw.vfs_names()[0], makedefault=True)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        super().xDelete(filename, syncdir)
        if filename.endswith("-journal"):
            raise apsw.exception_for(self._code)

    def excepthook(self, *_: object) -> bool:
        return True


@pytest.mark.parametrize("code", ["SQLITE_IOERR_DELETE", "SQLITE_IOERR_DIR_FSYNC"])
def test_a_disk_that_fails_after_it_has_deleted_the_journal_is_not_said_to_have_written_nothing(
    code: str, file: Path, clock: Clock
) -> None:
    disk = LateDisk(getattr(apsw, code))
    try:
        error = refusal(file, clock)
    finally:
        disk.unregister()
    assert str(error) == (
        f"The disk that holds {file} failed while this was being committed ({code}). The file may be whole: the disk "
        "must be checked. Whether it was written cannot be told."
    )
    assert error.problem.hints == (Hint(Mend.LOOK_FIRST),)
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT content FROM memories").fetchall() == [("x",)]


def test_a_backup_that_cannot_be_read_is_told(file: Path, tmp_path: Path) -> None:
    with failing("xRead", apsw.SQLITE_IOERR_READ), pytest.raises(Unavailable, match="IOERR_READ"):
        restoring.check(file, tmp_path / "another.db")


NO_LOCKS = (
    "does not lock files, and SQLite needs that. The database must be on another disk. Nothing was written."
)


@pytest.mark.parametrize("code", ["SQLITE_IOERR_LOCK", "SQLITE_IOERR_RDLOCK"])
def test_a_file_system_without_locks_is_no_other_process(code: str, file: Path, clock: Clock) -> None:
    with failing("xLock", getattr(apsw, code)):
        error = refusal(file, clock)
    assert str(error) == f"The file system that holds {file} {NO_LOCKS}"
    assert error.problem.hints == (Hint(Mend.USE_ANOTHER_FILE),)


def test_locks_that_are_refused_are_told_from_a_lock_that_is_held(
    file: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite says "busy" for both: on ENOLCK, which NFS answers without its lock server, too."""
    with Holder(file, INSERT):
        connection = apsw.Connection(str(file))
        with pytest.raises(apsw.BusyError) as busy:
            connection.execute("BEGIN IMMEDIATE")
        connection.close()
    assert "Another process has kept" in str(failures.meaning(busy.value, file))

    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "lockf", no_locks)
    assert str(failures.meaning(busy.value, file)) == f"The file system that holds {file} {NO_LOCKS}"


def test_a_row_with_the_largest_id_is_named_and_its_mend_works(file: Path, clock: Clock) -> None:
    database = Database(file, clock)
    with database.write() as tx:
        tx.execute(f"INSERT INTO memories (id, content, type) VALUES ({failures.LARGEST}, 'last', 'error')")
    with pytest.raises(Unavailable) as error, database.write() as tx:
        tx.execute(INSERT)
    assert str(error.value) == (
        "The table memories has a row with the largest id that there is (9223372036854775807), so it takes no more "
        "rows. Nothing was written."
    )
    (hint,) = error.value.problem.hints
    assert hint == Hint(Mend.FREE_IDS, {"table": "memories", "id": failures.LARGEST})
    with database.write() as tx:
        tx.execute(f"DELETE FROM memories WHERE id = {failures.LARGEST}")
        tx.execute("DELETE FROM sqlite_sequence WHERE name = 'memories'")
    with database.write() as tx:
        tx.execute(INSERT)
    with database.read() as tx:
        assert tx.rows("SELECT id, content FROM memories") == [(1, "x")]
    database.close()


def test_the_doctor_tells_a_read_only_disk(small_disk: SmallDisk, clock: Clock) -> None:
    disk = small_disk(2000)
    lay_empty_file(disk / "memory.db")
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    database = Database(disk / "memory.db", clock)
    assert problems(database) == ["nothing can be written: the disk or the folder of the file is read-only"]
    database.close()
