"""The connection: modes, permissions, transactions, waiting, and what each failure of the driver becomes."""

import os
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from memory_server.call import deadline
from memory_server.cli import hints as for_people
from memory_server.domain.moment import timestamp
from memory_server.errors import Conflict, Hint, MemoryServerError, Mend, Unavailable
from memory_server.mcp import hints as for_models
from memory_server.sqlite import database as module
from memory_server.sqlite import waiting
from memory_server.sqlite.database import Database
from memory_server.sqlite.transaction import Transaction
from tests.conftest import ROOT, Clock, Holder, SmallDisk, Sqlite, problems, undone, until

INSERT = "INSERT INTO memories (content, type) VALUES (?, 'error')"


def keep(database: Database, text: str) -> None:
    with database.write() as tx:
        tx.execute(INSERT, (text,))


def texts(database: Database) -> list[str]:
    with database.read() as tx:
        return [text for (text,) in tx.rows("SELECT content FROM memories ORDER BY id")]


def all_errors(kind: type[apsw.Error]) -> Iterator[type[apsw.Error]]:
    for each in kind.__subclasses__():
        yield each
        yield from all_errors(each)


# Files and modes


def test_a_new_folder_and_file_are_for_their_owner_alone(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "memory-server" / "memory.db"
    old = os.umask(0)
    try:
        database = Database(path, clock)
        keep(database, "x")
        database.close()
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_exists_keeps_its_permissions(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "memory.db"
    path.touch(0o640)
    database = Database(path, clock)
    database.open()
    database.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_commit_is_flushed_with_its_folder_and_deleted_text_is_overwritten(file_database: Database) -> None:
    with file_database.read() as tx:
        read_back = {
            name: tx.value(f"PRAGMA {name}")
            for name in ("journal_mode", "synchronous", "fullfsync", "foreign_keys", "secure_delete")
        }
    extra = 3
    assert read_back == {
        "journal_mode": "delete", "synchronous": extra, "fullfsync": 1, "foreign_keys": 1, "secure_delete": 1,
    }  # fmt: skip


def test_no_connection_trusts_the_schema_or_the_pages_of_a_file(file_database: Database) -> None:
    for transaction in (file_database.read, file_database.write):
        with transaction() as tx:
            assert tx.value("PRAGMA trusted_schema") == 0
            assert tx.value("PRAGMA cell_size_check") == 1


def test_nothing_of_a_long_write_is_in_the_file_before_its_commit(file_database: Database) -> None:
    """So that a copy of the main file alone is whole, whatever was under way: 10 MB are more than the cache holds."""
    assert file_database.path is not None
    before = subprocess.check_output(["cksum", str(file_database.path)])
    with undone(file_database) as tx:
        for number in range(2000):
            tx.execute(INSERT, (f"{number}" * 1000,))
        assert subprocess.check_output(["cksum", str(file_database.path)]) == before


def test_a_file_in_wal_mode_is_brought_back_to_a_rollback_journal(
    tmp_path: Path, clock: Clock, sqlite: Sqlite
) -> None:
    path = tmp_path / "memory.db"
    first = Database(path, clock)
    keep(first, "kept")
    first.close()
    assert sqlite(path, "PRAGMA journal_mode = wal", INSERT.replace("?", "'from the log'")) == "wal"
    database = Database(path, clock)
    assert texts(database) == ["kept", "from the log"]
    with database.read() as tx:
        assert tx.health.libraries()["journal"] == "delete, synchronous 3"
    database.close()
    assert sqlite(path, "PRAGMA journal_mode") == "delete"


def test_a_file_in_wal_mode_that_another_program_holds_is_refused(
    tmp_path: Path, clock: Clock, sqlite: Sqlite
) -> None:
    path = tmp_path / "memory.db"
    fresh = Database(path, clock)
    fresh.open()
    fresh.close()
    sqlite(path, "PRAGMA journal_mode = wal")
    with (
        Holder(path, "SELECT count(*) FROM memories"),
        pytest.raises(Unavailable, match=r"must be closed\. Nothing was written\.$") as error,
        deadline.within(0.1),
    ):
        Database(path, clock).open()
    assert error.value.problem.hints == (Hint(Mend.TRY_AGAIN),)
    database = Database(path, clock)
    database.open()
    database.close()


# Waiting for others


LOCKING = INSERT.replace("?", "'theirs'")


def test_a_write_waits_for_another_process_and_then_succeeds(
    file_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert file_database.path is not None
    napping = threading.Event()
    nap = waiting.nap

    def seen(tries: int) -> bool:
        napping.set()
        return nap(tries)

    monkeypatch.setattr(module, "nap", seen)
    database = Database(file_database.path, Clock())
    database.open()
    with Holder(file_database.path, LOCKING):
        writer = threading.Thread(target=keep, args=(database, "ours"))
        writer.start()
        until(napping.is_set, "the writer meets the lock")
        assert writer.is_alive()
    writer.join(20)
    assert texts(database) == ["ours"]  # the other process left without a commit
    database.close()


def test_a_write_gives_up_when_the_lock_stays_and_nothing_is_written(file_database: Database) -> None:
    assert file_database.path is not None
    with Holder(file_database.path, LOCKING):
        with (
            pytest.raises(
                Unavailable,
                match=r"Another process has kept .* locked for longer than this call waits\. .* Nothing was written\.$",
            ) as error,
            deadline.within(0.05),
        ):
            keep(file_database, "ours")
        assert error.value.problem.hints == (Hint(Mend.TRY_AGAIN),)
        assert texts(file_database) == []
    keep(file_database, "ours, later")
    assert texts(file_database) == ["ours, later"]


def test_a_commit_gives_up_when_a_reader_stays_and_nothing_is_written(file_database: Database) -> None:
    assert file_database.path is not None
    with (
        Holder(file_database.path, "SELECT count(*) FROM memories"),
        pytest.raises(Unavailable, match="locked"),
        deadline.within(0.05),
    ):
        keep(file_database, "ours")
    assert texts(file_database) == []


def test_threads_of_one_process_take_turns(file_database: Database) -> None:
    threads = [threading.Thread(target=keep, args=(file_database, f"text {n}")) for n in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(20)
    assert sorted(texts(file_database)) == [f"text {n}" for n in range(8)]


# Transactions


def test_a_write_that_raises_leaves_every_table_as_it_was(file_database: Database, sqlite: Sqlite) -> None:
    keep(file_database, "before")
    assert file_database.path is not None
    before = sqlite(file_database.path, ".dump")

    def half(tx: Transaction) -> None:
        tx.execute("UPDATE memories SET content = 'after', project = 'p'")
        tx.execute(INSERT, ("another",))
        tx.execute("INSERT INTO edges (source_id, target_id, relation) VALUES (1, 2, 'causes')")
        raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"), file_database.write() as tx:
        half(tx)
    assert sqlite(file_database.path, ".dump") == before
    keep(file_database, "the connection is free again")


def test_a_write_that_breaks_a_rule_is_a_conflict_and_writes_nothing(database: Database) -> None:
    with pytest.raises(Conflict, match="breaks a rule"), database.write() as tx:
        tx.execute("INSERT INTO memories (content, type) VALUES ('fine', 'error'), ('x', 'rumour')")
    assert texts(database) == []


def test_a_read_sees_one_moment_though_another_process_writes(file_database: Database) -> None:
    assert file_database.path is not None
    with file_database.read() as tx:
        assert tx.value("SELECT count(*) FROM memories") == 0
        other = Database(file_database.path, Clock())
        with pytest.raises(Unavailable, match="locked"), deadline.within(0.05):
            keep(other, "in between")
        assert tx.value("SELECT count(*) FROM memories") == 0
        other.close()


def test_every_timestamp_of_a_transaction_is_the_moment_it_began(database: Database, clock: Clock) -> None:
    with database.write() as tx:
        began = tx.now
        clock.advance(hours=1)
        assert tx.now == began == "2026-03-14T09:26:53.589Z"
    with database.write() as tx:
        assert tx.now == timestamp(clock()) == "2026-03-14T10:26:53.589Z"


def test_a_closed_database_says_that_the_server_stops(file_database: Database) -> None:
    assert file_database.close()
    with pytest.raises(Unavailable, match="stopping"):
        keep(file_database, "late")


def test_closing_does_not_wait_for_ever_for_a_thread_that_writes(file_database: Database) -> None:
    inside, leave = threading.Event(), threading.Event()

    def work() -> None:
        with file_database.write():
            inside.set()
            leave.wait(20)

    worker = threading.Thread(target=work)
    worker.start()
    inside.wait(20)
    assert not file_database.close(timeout=0.01)
    leave.set()
    worker.join(20)
    assert file_database.close(timeout=1)


def test_closing_leaves_a_thread_that_reads_what_it_reads(file_database: Database) -> None:
    keep(file_database, "kept")
    inside, leave = threading.Event(), threading.Event()
    read: list[int] = []

    def work() -> None:
        with file_database.read() as tx:
            inside.set()
            leave.wait(20)
            read.append(tx.value("SELECT count(*) FROM memories"))

    worker = threading.Thread(target=work)
    worker.start()
    inside.wait(20)
    assert file_database.close(timeout=1)
    leave.set()
    worker.join(20)
    assert read == [1]
    with pytest.raises(Unavailable, match="stopping"):
        texts(file_database)


# What failures become


@pytest.mark.parametrize("kind", dict.fromkeys(all_errors(apsw.Error)), ids=str)
def test_every_error_of_the_driver_becomes_one_of_ours(kind: type[apsw.Error], database: Database) -> None:
    with pytest.raises(MemoryServerError) as caught, database.read():
        raise kind("reason")
    assert isinstance(caught.value.__cause__, kind)
    assert str(caught.value)


def test_the_driver_has_no_error_outside_that_family() -> None:
    kinds = [each for each in vars(apsw).values() if isinstance(each, type) and issubclass(each, Exception)]
    assert all(issubclass(each, apsw.Error) for each in kinds)


def test_a_file_that_is_no_database_is_left_as_it_is(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "letter.txt"
    path.write_bytes(b"Dear Ada, " * 500)
    with pytest.raises(Unavailable, match=r"is not a SQLite database\. It was left as it is\.$") as error:
        Database(path, clock).open()
    assert error.value.problem.hints == (Hint(Mend.USE_ANOTHER_FILE),)
    assert path.read_bytes() == b"Dear Ada, " * 500


def test_a_damaged_file_says_how_to_rescue_it(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "memory.db"
    database = Database(path, clock)
    for number in range(50):
        keep(database, f"text {number} " * 100)
    database.close()
    content = bytearray(path.read_bytes())
    content[8192:-4096] = os.urandom(len(content) - 8192 - 4096)
    path.write_bytes(content)
    broken = Database(path, clock)
    with pytest.raises(Unavailable, match=r"is damaged \(.*\)\.$") as error:
        texts(broken)
    assert error.value.problem.hints == (Hint(Mend.RESTORE),)
    for words in (for_models.WORDS, for_people.WORDS):
        assert "restore a backup. Without one, `memory-server rescue FILE`" in words[Mend.RESTORE]
    broken.close()


def test_a_folder_is_no_database(tmp_path: Path, clock: Clock) -> None:
    with pytest.raises(Unavailable, match="is a folder"):
        Database(tmp_path, clock).open()


def test_a_missing_folder_is_named(tmp_path: Path, clock: Clock) -> None:
    with pytest.raises(
        Unavailable, match=r"The folder .*/far/away does not exist\. The user can create it with mkdir -p\.$"
    ) as error:
        Database(tmp_path / "far" / "away" / "memory.db", clock).open()
    assert error.value.problem.hints == (Hint(Mend.USE_ANOTHER_FILE),)


def test_opening_is_tried_again_at_the_next_use(tmp_path: Path, clock: Clock) -> None:
    database = Database(tmp_path / "far" / "away" / "memory.db", clock)
    with pytest.raises(Unavailable):
        keep(database, "too early")
    (tmp_path / "far").mkdir()
    keep(database, "now")
    assert texts(database) == ["now"]
    database.close()


def test_a_file_that_another_window_creates_is_not_taken_for_an_emptied_one(
    tmp_path: Path, clock: Clock
) -> None:
    path = tmp_path / "memory.db"
    path.touch()
    other = Database(path, clock)
    creates = threading.Timer(0.2, other.open)
    creates.start()
    Database(path, clock).files.refuse_empty()
    creates.join()
    other.close()
    os.truncate(path, 0)
    with pytest.raises(Unavailable, match="has 0 bytes"):
        Database(path, clock).files.refuse_empty()


def test_a_file_that_was_moved_away_takes_no_more_writes(
    file_database: Database, tmp_path: Path, sqlite: Sqlite
) -> None:
    """Else a restored backup would lie there while every write goes into the file that nobody sees any more."""
    assert file_database.path is not None
    keep(file_database, "old")
    file_database.path.rename(tmp_path / "moved.db")
    shutil.copy(tmp_path / "moved.db", file_database.path)
    with pytest.raises(
        Unavailable,
        match=r"Another file has taken the place of .* while it was open\. .* Nothing was written\.",
    ):
        keep(file_database, "lost")
    keep(file_database, "new")
    assert texts(file_database) == ["old", "new"]
    assert sqlite(tmp_path / "moved.db", "SELECT content FROM memories") == "old"


def test_a_full_database_keeps_what_it_has(file_database: Database) -> None:
    """SQLITE_FULL as a full disk raises it, by a limit on the pages."""
    keep(file_database, "kept")
    with file_database.write() as tx:
        pages = tx.value("PRAGMA page_count")
        tx.value(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(
        Unavailable, match=r"disk .* is full\. Space must be freed\. Nothing was written\.$"
    ) as error:
        keep(file_database, "too much " * 5000)
    assert error.value.problem.hints == (Hint(Mend.TRY_AGAIN),)
    assert texts(file_database) == ["kept"]


def test_a_disk_that_fills_up_loses_nothing_and_serves_again_when_there_is_room(
    small_disk: SmallDisk, clock: Clock
) -> None:
    tiny_disk = small_disk(1200)
    (tiny_disk / "ballast").write_bytes(bytes(100_000))
    database = Database(tiny_disk / "memory.db", clock)
    kept: list[str] = []

    def fill() -> None:
        while True:
            text = os.urandom(1000).hex()
            keep(database, text)
            kept.append(text)

    with pytest.raises(Unavailable, match="is full"):
        fill()
    assert kept
    assert texts(database) == kept
    (tiny_disk / "ballast").unlink()
    keep(database, "room again")
    assert problems(database) == []
    assert texts(database) == [*kept, "room again"]
    database.close()


AS_NOBODY = """
import os, sys
from datetime import UTC, datetime
from pathlib import Path
from memory_server.errors import Unavailable
from memory_server.sqlite.database import Database
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
database = Database(Path(sys.argv[1]), lambda: datetime.now(UTC))
with database.read() as tx:
    print(tx.rows("SELECT content FROM memories"), database.read_only)
try:
    with database.write() as tx:
        tx.execute("INSERT INTO memories (content, type) VALUES ('x', 'error')")
except Unavailable as error:
    print(error, *(hint.mend.name for hint in error.problem.hints))
"""


@pytest.fixture
def readable() -> Iterator[Path]:
    """A folder that another user may read; the test's own lies below folders that are root's alone."""
    folder = Path(
        subprocess.check_output(["mktemp", "-d", "/tmp/memory-server-tests-XXXXXX"], text=True).strip()
    )
    folder.chmod(0o755)
    yield folder
    for each in folder.iterdir():
        each.chmod(0o644)
    folder.chmod(0o755)
    shutil.rmtree(folder)


def as_nobody(path: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, str(path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if "Permission denied" in done.stderr and "site-packages" in done.stderr:
        pytest.skip("another user cannot read this Python's packages")
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
@pytest.mark.parametrize("folder", [0o555, 0o755])
def test_a_read_only_file_is_read_and_refuses_writes(readable: Path, clock: Clock, folder: int) -> None:
    path = readable / "memory.db"
    database = Database(path, clock)
    keep(database, "kept")
    database.close()
    path.chmod(0o444)
    readable.chmod(folder)
    read, refused = as_nobody(path)
    assert read == "[('kept',)] True"
    assert refused == (
        f"The database {path} is read-only. "
        "The user must make the file and its folder writable (chmod u+w). Nothing was written. TRY_AGAIN"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_a_writable_file_in_a_read_only_folder_is_read_and_refuses_writes(
    readable: Path, clock: Clock
) -> None:
    path = readable / "memory.db"
    database = Database(path, clock)
    keep(database, "kept")
    database.close()
    path.chmod(0o666)
    readable.chmod(0o555)
    read, refused = as_nobody(path)
    assert read.startswith("[('kept',)]")
    assert "cannot be opened" in refused or "is read-only" in refused
    assert refused.endswith((" USE_ANOTHER_FILE", " TRY_AGAIN"))


def test_a_backup_is_whole_and_private_and_replaces_an_older_one(
    file_database: Database, tmp_path: Path
) -> None:
    keep(file_database, "kept")
    target = tmp_path / "copy.db"
    target.write_text("an older backup")
    file_database.backup(target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    copy = Database(target, Clock())
    assert texts(copy) == ["kept"]
    assert problems(copy) == []
    copy.close()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["copy.db", "memory.db"]


def test_a_backup_into_a_missing_folder_says_so_and_leaves_nothing(
    file_database: Database, tmp_path: Path
) -> None:
    with pytest.raises(Unavailable, match=r"nowhere.copy\.db cannot be written"):
        file_database.backup(tmp_path / "nowhere" / "copy.db")
    assert [each.name for each in tmp_path.iterdir()] == ["memory.db"]
