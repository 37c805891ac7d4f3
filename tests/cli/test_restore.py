"""`restore` loses no file: on a full disk, when it is killed at any step, beside a program that writes."""

import os
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest

from memory_server.call import deadline
from memory_server.errors import Unavailable
from memory_server.services import restoring
from memory_server.sqlite.database import Database
from tests import warm
from tests.cli.conftest import Terminal
from tests.conftest import Clock, Holder, SmallDisk, Sqlite, damage, lay_empty_file

INSERT = "INSERT INTO memories (content, type) VALUES ('{}', 'error')"

CONTENT = "SELECT content FROM memories ORDER BY id"

RESTORES = """
import os, sys
from datetime import UTC, datetime
from pathlib import Path
from memory_server.services import restoring
from memory_server.sqlite.database import Database

backup, target, step = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
steps = 0

def hook(event, _arguments):
    global steps
    if event in ("os.rename", "os.link", "os.remove", "os.chmod"):
        if steps == step:
            os._exit(9)
        steps += 1

sys.addaudithook(hook)
restoring.restore(backup, target, datetime(2026, 1, 1, tzinfo=UTC), lambda _done, _total: None)
"""

LEAVES_A_JOURNAL = """
import apsw, os, sys
connection = apsw.Connection(sys.argv[1])
connection.execute("PRAGMA cache_size = 2; BEGIN IMMEDIATE; UPDATE memories SET content = 'half ' || content")
connection.execute("CREATE TABLE big AS SELECT randomblob(90000) AS x")
os._exit(9)
"""


@pytest.fixture
def target(tmp_path: Path, sqlite: Sqlite) -> Path:
    """A database that holds `old`."""
    folder = tmp_path / "data"
    folder.mkdir()
    path = folder / "memory.db"
    lay_empty_file(path)
    sqlite(path, INSERT.format("old"))
    return path


@pytest.fixture
def backup(tmp_path: Path, sqlite: Sqlite) -> Path:
    """A backup that holds `new`."""
    path = tmp_path / "backup.db"
    lay_empty_file(path)
    sqlite(path, INSERT.format("new"))
    return path


def restore(backup: Path, target: Path) -> Path | None:
    return restoring.restore(
        backup, target, datetime(2026, 1, 1, tzinfo=UTC), lambda _done, _total: None
    ).kept


def leave_a_journal(path: Path) -> bytes:
    """Kill a program amid a write; the journal, which undoes what it has written."""
    subprocess.run([sys.executable, "-c", LEAVES_A_JOURNAL, str(path)], check=False)
    journal = path.with_name(f"{path.name}-journal").read_bytes()
    assert journal.startswith(bytes.fromhex("d9d505f920a163d7"))
    return journal


def test_a_restore_on_a_full_disk_leaves_the_old_file(
    small_disk: SmallDisk, terminal: Terminal, target: Path, backup: Path
) -> None:
    disk = small_disk(1200)
    db = disk / "memory.db"
    db.write_bytes(target.read_bytes())
    before = db.read_bytes()
    done = subprocess.run(
        [*terminal.servers.command()[:3], "restore", str(backup), "--yes", "--db", str(db)],
        env={**os.environ, **terminal.servers.env}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.splitlines()[1:] == [
        f"memory-server: The disk that holds {db} is full. Space must be freed. Nothing was written. "
        "Then run the command again."
    ]
    assert db.read_bytes() == before
    assert [path.name for path in disk.iterdir()] == ["memory.db"]


@pytest.mark.parametrize("journal", [False, True])
def test_a_restore_that_is_killed_at_any_step_leaves_a_whole_file_at_the_path(
    target: Path, backup: Path, sqlite: Sqlite, journal: bool
) -> None:
    before, undoes = target.read_bytes(), b""
    if journal:
        undoes = leave_a_journal(target)
        before = target.read_bytes()
    kills, ends = 0, set()
    while True:
        for path in target.parent.iterdir():
            path.unlink()
        target.write_bytes(before)
        if undoes:
            target.with_name("memory.db-journal").write_bytes(undoes)
        done = subprocess.run(warm.text(RESTORES, str(backup), str(target), str(kills)), check=False)
        content = sqlite(target, CONTENT)
        ends.add(content)
        assert damage(target) == []
        if content == "new":
            (kept,) = target.parent.glob("*.before-restore-*")
            assert (sqlite(kept, CONTENT), damage(kept)) == ("old", [])
        else:
            assert content == "old"
        if done.returncode == 0:
            break
        assert done.returncode == 9
        kills += 1
    assert kills >= 3
    assert ends == {"old", "new"}


def test_a_restore_over_a_file_that_a_killed_program_left_keeps_it_rolled_back(
    target: Path, backup: Path, sqlite: Sqlite
) -> None:
    leave_a_journal(target)
    kept = restore(backup, target)
    assert kept is not None
    assert sorted(path.name for path in target.parent.iterdir()) == ["memory.db", kept.name]
    assert (sqlite(target, CONTENT), sqlite(kept, CONTENT)) == ("new", "old")
    assert damage(target) == damage(kept) == []


def test_a_restore_waits_for_a_program_that_writes_and_then_gives_up(
    target: Path, backup: Path, sqlite: Sqlite
) -> None:
    before = target.read_bytes()
    with Holder(target, INSERT.format("theirs")):
        with deadline.within(0.05), pytest.raises(Unavailable, match=r"Another process has kept .* locked"):
            restore(backup, target)
        assert not list(target.parent.glob("*.before-restore-*"))
        assert not list(target.parent.glob("*.tmp*"))
    assert target.read_bytes() == before
    assert sqlite(target, CONTENT) == "old"


def test_a_program_that_has_the_old_file_open_writes_into_neither(
    target: Path, backup: Path, sqlite: Sqlite
) -> None:
    other = apsw.Connection(str(target))
    assert other.execute(CONTENT).get == "old"
    kept = restore(backup, target)
    with pytest.raises(apsw.ReadOnlyError):
        other.execute(INSERT.format("lost"))
    other.close()
    assert kept is not None
    assert (sqlite(target, CONTENT), sqlite(kept, CONTENT)) == ("new", "old")


@pytest.mark.parametrize("damaged", [False, True])
def test_where_there_are_no_links_the_old_file_is_copied(
    target: Path, backup: Path, sqlite: Sqlite, monkeypatch: pytest.MonkeyPatch, damaged: bool
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError("no links here")

    if damaged:
        target.write_bytes(b"garbage" * 1000)
    before = target.read_bytes()
    monkeypatch.setattr(os, "link", refuse)
    kept = restore(backup, target)
    assert kept is not None
    assert sqlite(target, CONTENT) == "new"
    assert kept.stat().st_ino != target.stat().st_ino
    if damaged:
        assert kept.read_bytes() == before
    else:
        assert sqlite(kept, CONTENT) == "old"


def test_a_backup_with_the_journal_of_a_killed_program_is_restored_as_it_was(
    target: Path, backup: Path, sqlite: Sqlite
) -> None:
    leave_a_journal(backup)
    restore(backup, target)
    assert sqlite(target, CONTENT) == "new"
    assert damage(target) == []


def test_sql_of_a_backup_that_is_not_ours_is_told_and_not_restored(
    terminal: Terminal, backup: Path, sqlite: Sqlite
) -> None:
    sqlite(backup, "CREATE TRIGGER evil AFTER INSERT ON memories BEGIN DELETE FROM memories; END")
    content = backup.read_bytes()
    told = f"{backup} holds SQL that is not of this program, which is not restored: trigger evil on memories."
    assert told in terminal("restore", str(backup), "--dry-run").err
    assert told in terminal("restore", str(backup), "--yes").err
    assert backup.read_bytes() == content
    terminal("add", "written afterwards")
    assert sqlite(terminal.servers.db, CONTENT).splitlines() == ["new", "written afterwards"]


def test_a_damaged_file_names_its_newest_backup_and_the_command_restores_it(terminal: Terminal) -> None:
    terminal("add", "The harbour opens at noon")
    path = terminal.servers.db
    terminal("engine", "stop")
    (path.parent / "backups").mkdir()
    for name in ("old", "backup of today"):
        terminal("backup", str(path.parent / "backups" / f"{path.stem}-{name}{path.suffix}"))
    with path.open("r+b") as file:
        file.seek(1024)
        file.write(b"\xff" * 40_000)
    assert "newest backup" in terminal("view", code=1).err
    told = shlex.split(terminal("doctor", code=1).out.partition("newest backup: memory-server ")[2])
    terminal(*told[:2], "--yes")
    assert told[1].endswith("backup of today.db")
    assert "harbour" in terminal("list").out


# What is kept


def kept_beside(terminal: Terminal) -> list[Path]:
    return sorted(terminal.servers.db.parent.glob("memory.db.before-restore-*"))


def other_database(path: Path, sqlite: Sqlite, *statements: str) -> Path:
    """A database that was made at another moment."""
    lay_empty_file(path)
    sqlite(path, "UPDATE migrations SET applied_at = '2020-01-01T00:00:00.000Z'", *statements)
    return path


@pytest.mark.parametrize("kind", ["another", "empty"])
def test_a_purge_leaves_the_last_copy_of_what_was_restored_over_and_says_so(
    terminal: Terminal, tmp_path: Path, sqlite: Sqlite, kind: str
) -> None:
    terminal("add", "The only place where this is")
    backup = tmp_path / "backup.db"
    if kind == "another":
        other_database(backup, sqlite, INSERT.format("theirs"))
    else:
        backup.write_bytes(terminal.servers.db.read_bytes())
        sqlite(backup, "DELETE FROM memories", "DELETE FROM projects", "DELETE FROM sqlite_sequence")
    terminal("restore", str(backup), "--yes")
    (kept,) = kept_beside(terminal)
    told = f"{kept} may be all that is left of what it holds"
    assert told in terminal("doctor", code=1).out
    for text in ("A second text", "Something else"):
        terminal("add", text)
    purged = terminal("forget", "m2", "--purge", "--yes")
    assert str(kept) not in purged.err, "it was replaced before this was stored"
    assert sqlite(kept, CONTENT) == "The only place where this is"
    assert told in terminal("doctor", code=1).out


@pytest.mark.parametrize("later", [(), ("Later than the backup",)])
def test_a_purge_removes_the_copy_of_another_state_of_the_same_database(
    terminal: Terminal, tmp_path: Path, later: tuple[str, ...]
) -> None:
    terminal("add", "A secret of some length")
    if later:
        terminal("add", "The harbour opens at noon")
    terminal("backup", str(tmp_path / "backup.db"))
    for text in later:
        terminal("add", text)
    terminal("restore", str(tmp_path / "backup.db"), "--yes")
    assert len(kept_beside(terminal)) == 1
    terminal("doctor", code=0)
    purged = terminal("forget", "m1", "--purge", "--yes")
    assert purged.err == ""
    assert kept_beside(terminal) == []


def test_a_purge_beside_a_damaged_file_removes_no_copy(target: Path, clock: Clock) -> None:
    copy = target.with_name("memory.db.before-0009")
    copy.write_bytes(target.read_bytes())
    connection = apsw.Connection(str(target))
    page = int(connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'turns_by_moment'").get)
    connection.close()
    content = bytearray(target.read_bytes())
    content[(page - 1) * 4096 : page * 4096] = b"\xff" * 4096
    target.write_bytes(content)
    database = Database(target, clock)
    assert database.files.drop_copies({"memories": 1}) == (str(copy),)
    assert copy.exists()
    database.close()


def test_a_purge_keeps_and_names_the_copies_where_the_file_cannot_be_read_afterwards(
    target: Path, clock: Clock
) -> None:
    copy = target.with_name("memory.db.before-0009")
    copy.write_bytes(target.read_bytes())
    database = Database(target, clock)
    database.open()
    with Holder(target, "COMMIT; BEGIN EXCLUSIVE; SELECT 1"), deadline.within(0.1):
        assert database.files.drop_copies({"memories": 1}) == (str(copy),)
    assert copy.exists()
    database.close()


def test_a_purge_names_the_copy_that_a_killed_command_has_left(target: Path, clock: Clock) -> None:
    copy = target.with_name("memory.db.x1y2z3.tmp")
    copy.write_bytes(target.read_bytes())
    database = Database(target, clock)
    assert database.files.drop_copies({"memories": 1}) == (str(copy),)
    database.close()
