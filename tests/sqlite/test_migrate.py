"""Opening a file: fresh, newer, foreign, old, killed half way, opened by many at once."""

import hashlib
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from memory_server.errors import Hint, Mend, Unavailable
from memory_server.language.han import TRADITIONAL
from memory_server.sqlite import migrate
from memory_server.sqlite.database import Database
from memory_server.storage import packaged
from tests.conftest import ROOT, Clock, Sqlite, damage, problems

MIGRATIONS = ROOT / "migrations"
LOADED = packaged.load(MIGRATIONS)
NEWEST = LOADED[-1].version
OPEN = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from memory_server.sqlite.database import Database
database = Database(Path(sys.argv[1]), lambda: datetime.now(UTC))
print("opening", flush=True)
database.open()
with database.write() as tx:
    tx.execute("INSERT INTO memories (content, type) VALUES (?, 'error')", (sys.argv[2],))
"""
DIE_HALF_WAY = """
import os, sys, apsw
connection = apsw.Connection(sys.argv[1])
connection.pragma("cache_size", 1)
connection.execute("BEGIN IMMEDIATE")
connection.pragma("user_version", 9)
connection.execute("CREATE TABLE big (x)")
for _ in range(500):
    connection.execute("INSERT INTO big VALUES (randomblob(3000))")
os._exit(9)
"""
NEWER_THAN_3_37 = (
    r"unixepoch|->>?|concat|concat_ws|string_agg|json_array_insert|jsonb?_pretty|format|octet_length|timediff"
    r"|unhex|jsonb\w*|subsec|json_error_position|right join|full (outer )?join|is not distinct|is distinct|median"
    r"|percentile\w*|if"
)

Folder = Callable[..., Path]


@pytest.fixture
def migrations(tmp_path: Path) -> Folder:
    """A copy of the shipped migrations with one more, of the SQL given."""

    def folder(sql: str) -> Path:
        copy = tmp_path / f"migrations-{len(list(tmp_path.iterdir()))}"
        shutil.copytree(MIGRATIONS, copy)
        (copy / f"{NEWEST + 1:04d}_more.sql").write_text(sql, encoding="utf-8")
        return copy

    return folder


def stored(path: Path, clock: Clock, migrations: Path | None = None) -> Path:
    """A closed database that holds one memory."""
    database = Database(path, clock, migrations)
    with database.write() as tx:
        tx.execute("INSERT INTO memories (content, type) VALUES ('kept', 'decision')")
    database.close()
    return path


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def process(path: Path, text: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-c", OPEN, str(path), text],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_a_fresh_file_gets_the_newest_schema_and_says_whose_it_is(
    file_database: Database, clock: Clock
) -> None:
    with file_database.read() as tx:
        assert tx.rows("SELECT version, name FROM migrations") == [
            (1, "memories"),
            (2, "facts"),
            (3, "graph"),
            (4, "short_term"),
            (5, "long_term"),
            (39, "version_0_2"),
        ]
        assert tx.value("SELECT applied_at FROM migrations") == tx.now
        assert tx.value("PRAGMA user_version") == NEWEST
        assert tx.value("PRAGMA application_id") == migrate.APPLICATION_ID


def test_every_table_is_strict_and_every_view_reads(database: Database) -> None:
    with database.read() as tx:
        tables = tx.rows(
            "SELECT name, strict FROM pragma_table_list WHERE type = 'table' AND schema = 'main'"
        )
        assert {name for name, strict in tables if not strict} == {"sqlite_schema", "sqlite_sequence"}
        for (view,) in tx.rows("SELECT name FROM sqlite_schema WHERE type = 'view'"):
            assert tx.rows(f"SELECT * FROM {view}") == []


def test_the_schema_uses_nothing_newer_than_sqlite_3_37() -> None:
    for path in sorted(MIGRATIONS.glob("*.sql")):
        code = re.sub(r"--.*|'(?:[^']|'')*'", " ", path.read_text(encoding="utf-8"))
        called = re.findall(
            rf"\b(?:{NEWER_THAN_3_37})\s*\(|->>?|\b(?:right|full)\s+join", code, re.IGNORECASE
        )
        assert called == []


def test_migrations_run_from_one_without_a_gap(tmp_path: Path) -> None:
    (tmp_path / "0001_first.sql").touch()
    (tmp_path / "0003_third.sql").touch()
    with pytest.raises(Unavailable, match="no unbroken row of migrations"):
        packaged.load(tmp_path)


def test_six_processes_that_open_an_empty_file_at_once_share_one_good_database(
    tmp_path: Path, clock: Clock
) -> None:
    path = tmp_path / "memory.db"
    started = [process(path, f"memory {number}") for number in range(6)]
    for each in started:
        _, errors = each.communicate(timeout=60)
        assert (each.returncode, errors) == (0, b"")
    database = Database(path, clock)
    with database.read() as tx:
        found = {content for (content,) in tx.rows("SELECT content FROM memories")}
        assert found == {f"memory {number}" for number in range(6)}
        assert tx.value("SELECT count(*) FROM migrations") == len(LOADED)
    database.close()
    assert damage(path) == []


def test_a_process_killed_while_it_migrates_leaves_a_file_that_opens(tmp_path: Path, clock: Clock) -> None:
    chance = random.Random(2)

    def killed(round: int) -> Path:
        path = tmp_path / f"{round}.db"
        with process(path, "unsure") as victim:
            assert victim.stdout is not None
            victim.stdout.readline()
            if chance.random() < 0.9:
                try:
                    victim.wait(chance.uniform(0.0, 0.12))
                except subprocess.TimeoutExpired:
                    victim.kill()
        return path

    with ThreadPoolExecutor(2) as pool:
        paths = list(pool.map(killed, range(16)))
    for path in paths:
        assert damage(stored(path, clock)) == []


def test_a_killed_migration_is_rolled_back_from_its_journal(
    tmp_path: Path, clock: Clock, migrations: Folder
) -> None:
    """The worst moment on purpose: pages of the new schema are in the file, the journal still lies beside it."""
    path = stored(tmp_path / "memory.db", clock)
    done = subprocess.run([sys.executable, "-c", DIE_HALF_WAY, str(path)], check=False)
    assert done.returncode == 9
    assert path.with_name("memory.db-journal").exists()
    database = Database(path, clock)
    with database.read() as tx:
        assert tx.value("PRAGMA user_version") == NEWEST
        assert tx.rows("SELECT content FROM memories") == [("kept",)]
    database.close()
    assert not path.with_name("memory.db-journal").exists()


def test_a_newer_file_is_refused_with_both_versions_and_left_as_it_is(tmp_path: Path, clock: Clock) -> None:
    path = stored(tmp_path / "memory.db", clock)
    connection = apsw.Connection(str(path))
    connection.pragma("user_version", 41)
    connection.pragma("journal_mode", "wal")  # what a newer version might like
    connection.close()
    before = digest(path)
    database = Database(path, clock)
    wording = (
        rf"^The database has schema version 41, and this program knows versions up to {NEWEST}\. "
        r"Nothing was changed\.$"
    )
    with pytest.raises(Unavailable, match=wording) as error:
        database.open()
    assert error.value.problem.hints == (Hint(Mend.UPGRADE),)
    assert digest(path) == before


@pytest.mark.parametrize("version", [0, 1, 2])
@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_file_of_another_program_is_refused_and_left_as_it_is(
    tmp_path: Path, clock: Clock, version: int, journal: str
) -> None:
    path = tmp_path / "bookmarks.db"
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", journal)
    connection.execute("CREATE TABLE bookmarks (url)")
    connection.pragma("user_version", version)
    connection.close()
    before = digest(path)
    wording = rf"^{re.escape(str(path))} is a SQLite database of another program\. Nothing was changed\.$"
    with pytest.raises(Unavailable, match=wording) as error:
        Database(path, clock).open()
    assert error.value.problem.hints == (Hint(Mend.USE_ANOTHER_FILE),)
    assert digest(path) == before
    assert [each.name for each in tmp_path.iterdir()] == ["bookmarks.db"]


def test_a_migration_of_a_file_with_data_makes_a_backup_first(
    tmp_path: Path, clock: Clock, migrations: Folder
) -> None:
    path = stored(tmp_path / "memory.db", clock)
    database = Database(path, clock, migrations("ALTER TABLE memories ADD COLUMN colour TEXT;"))
    with database.read() as tx:
        assert tx.rows("SELECT content, colour FROM memories") == [("kept", None)]
        assert tx.value("PRAGMA user_version") == NEWEST + 1
    database.close()
    copy = tmp_path / f"memory.db.before-{NEWEST + 1:04d}"
    assert copy.stat().st_mode & 0o777 == 0o600
    old = Database(copy, clock)
    with old.read() as tx:
        assert tx.rows("SELECT content FROM memories") == [("kept",)]
        assert tx.value("PRAGMA user_version") == NEWEST
    old.close()


def test_a_copy_is_on_the_disk_before_it_gets_its_name_and_its_name_before_it_counts(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, target = stored(tmp_path / "memory.db", clock), tmp_path / "copy.db"
    steps: list[tuple[str, bool]] = []
    flush = migrate.flush

    def flushed(place: Path) -> None:
        flush(place)
        steps.append(("folder" if place.is_dir() else "file", target.exists()))

    monkeypatch.setattr(migrate, "flush", flushed)
    database = Database(path, clock)
    database.backup(target)
    database.close()
    assert steps == [("file", False), ("folder", True)]


def test_a_second_process_does_not_replace_the_backup_with_a_migrated_copy(
    tmp_path: Path, clock: Clock, migrations: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both see the old version; while the slower one is about to make its copy, the faster one migrates."""
    folder = migrations("ALTER TABLE memories ADD COLUMN colour TEXT;")
    path = stored(tmp_path / "memory.db", clock)
    slow, fast = Database(path, clock, folder), Database(path, clock, folder)
    begin = migrate.refuse

    def overtaken(connection: apsw.Connection, migrations: list[packaged.Migration]) -> None:
        begin(connection, migrations)
        monkeypatch.setattr(migrate, "refuse", begin)
        fast.open()
        fast.close()

    monkeypatch.setattr(migrate, "refuse", overtaken)
    slow.open()
    slow.close()
    copy = apsw.Connection(str(tmp_path / f"memory.db.before-{NEWEST + 1:04d}"))
    assert copy.pragma("user_version") == NEWEST
    copy.close()


def test_a_migration_that_fails_leaves_everything_as_it_was(
    tmp_path: Path, clock: Clock, migrations: Folder
) -> None:
    path = stored(tmp_path / "memory.db", clock)
    with pytest.raises(Unavailable, match="no such table: nowhere"):
        Database(path, clock, migrations("DELETE FROM memories; INSERT INTO nowhere VALUES (1);")).open()
    database = Database(path, clock)
    with database.read() as tx:
        assert tx.rows("SELECT content FROM memories") == [("kept",)]
        assert tx.value("PRAGMA user_version") == NEWEST
    database.close()


def test_reads_and_writes_are_refused_after_another_process_upgraded_the_open_file(
    file_database: Database, clock: Clock, migrations: Folder
) -> None:
    with file_database.read() as tx:
        assert tx.rows("SELECT * FROM memories") == []
    newer = Database(file_database.path, clock, migrations("ALTER TABLE memories RENAME TO notes;"))
    newer.open()
    newer.close()
    for transaction in (file_database.read, file_database.write):
        with (
            pytest.raises(
                Unavailable, match=f"schema version {NEWEST + 1}, .* versions up to {NEWEST}"
            ) as error,
            transaction() as tx,
        ):
            tx.rows("SELECT * FROM memories")
        assert error.value.problem.hints == (Hint(Mend.UPGRADE),)


def test_the_packaged_migrations_are_those_of_the_checkout() -> None:
    assert packaged.folder() == MIGRATIONS


def test_the_migration_holds_its_characters_as_they_are_meant() -> None:
    """An editor that normalises text would turn a compatibility character into another one."""
    written = (MIGRATIONS / "0001_memories.sql").read_text(encoding="utf-8")
    assert TRADITIONAL[:100] in "".join(re.findall(r'"(.)":".",', written))


def test_a_file_restored_from_a_dump_is_taken_as_ours(
    file_database: Database, tmp_path: Path, clock: Clock, sqlite: Sqlite
) -> None:
    assert file_database.path is not None
    with file_database.write() as tx:
        tx.execute("INSERT INTO memories (content, type) VALUES ('kept', 'error')")
    restored = tmp_path / "restored.db"
    dump = tmp_path / "dump.sql"
    dump.write_text(sqlite(file_database.path, ".dump"), encoding="utf-8")
    sqlite(restored, f".read {dump}")
    database = Database(restored, clock)
    with database.read() as tx:
        assert tx.value("SELECT content FROM memories") == "kept"
    assert problems(database) == []
    database.close()
