"""SQL in a file that is not ours is refused before the first read, and one command removes it."""

import shutil
from pathlib import Path

import pytest

from memory_server.errors import Hint, Mend, Unavailable
from memory_server.sqlite import migrate, pragmas, rights, schema
from memory_server.sqlite.database import Database
from memory_server.sqlite.glance import Glance
from memory_server.storage import packaged
from tests.conftest import Clock, Sqlite, lay_empty_file, problems

MIGRATIONS = packaged.load(packaged.folder())

EVIL = """
    CREATE TRIGGER evil AFTER INSERT ON memories WHEN NEW.content NOT LIKE 'evil%'
    BEGIN UPDATE memories SET content = 'evil: ' || content WHERE id = NEW.id; END
"""
FOREIGN = {
    "a trigger": (EVIL, "trigger evil on memories"),
    "a view": ("CREATE VIEW mine AS SELECT content FROM memories", "view mine"),
    "an index": ("CREATE INDEX by_size ON memories (length(content))", "index by_size on memories"),
    "a trigger on a table of the user": (
        "CREATE TABLE mine (x); CREATE TRIGGER t AFTER INSERT ON mine BEGIN DELETE FROM memories; END",
        "trigger t on mine",
    ),
    "a trigger of ours with other SQL": (
        "DROP TRIGGER memories_deleted; CREATE TRIGGER memories_deleted AFTER DELETE ON memories BEGIN SELECT 1; END",
        "trigger memories_deleted on memories",
    ),
    "a view of ours with other SQL": (
        "DROP VIEW readable_memories; CREATE VIEW readable_memories AS SELECT 1",
        "view readable_memories",
    ),
    "a name with a quote": ('CREATE VIEW "a""; DROP TABLE memories; --" AS SELECT 1', 'view a"; DROP TABLE'),
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"
    lay_empty_file(path)
    return path


def schema_of(path: Path) -> list[tuple[object, ...]]:
    connection = pragmas.connected(path)
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY 1, 2").fetchall()
    connection.close()
    return rows


def test_the_digest_is_that_of_the_newest_schema(file: Path) -> None:
    """After a migration was added: write the number and the digest that this test names into `schema.NEWEST`."""
    connection = pragmas.connected(file)
    assert (MIGRATIONS[-1].version, schema.digest(connection)) == schema.NEWEST
    connection.close()


def test_each_table_counts_as_ours_or_as_the_users(file: Path) -> None:
    ours = {name for type, name, *_ in schema_of(file) if type == "table"}
    assert {name for name in ours if not rights.is_ours(str(name))} == set()
    assert not rights.is_ours("notes")


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_sql_is_refused_before_the_first_read_and_removed_by_one_command(
    name: str, file: Path, clock: Clock, sqlite: Sqlite
) -> None:
    before = schema_of(file)
    sql, named = FOREIGN[name]
    sqlite(file, sql)
    database = Database(file, clock)
    with pytest.raises(Unavailable) as error:
        database.open()
    text = str(error.value)
    assert text.startswith(f"The database holds SQL that is not of this program: {named}")
    assert "\n" not in text
    assert error.value.problem.hints == (Hint(Mend.REMOVE_FOREIGN_SQL),)
    with pytest.raises(Unavailable, match="not of this program"), Glance(file, clock).read():
        pass
    done = database.files.tidy()
    assert [line for line in done if line.startswith(f"removed {named}")] == done[:1]
    assert [row for row in schema_of(file) if row[1] != "mine"] == before
    assert problems(database) == []
    database.close()


def test_a_server_sees_what_is_put_into_its_open_file(file_database: Database, sqlite: Sqlite) -> None:
    assert file_database.path is not None
    file_database.open()
    sqlite(file_database.path, EVIL)
    for transaction in (file_database.read, file_database.write):
        with pytest.raises(Unavailable, match="trigger evil on memories"), transaction():
            pass
    assert file_database.files.tidy() == ["removed trigger evil on memories: it is not of this program"]
    with file_database.write() as tx:
        tx.execute("INSERT INTO memories (content, type) VALUES ('kept', 'error')")
        assert tx.value("SELECT content FROM memories") == "kept"


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE notes (id INTEGER PRIMARY KEY, note TEXT UNIQUE); CREATE INDEX newest ON notes (note)",
        'CREATE TABLE "a"" AS SELECT 1; --" (x)',
        "CREATE VIRTUAL TABLE found USING fts5 (note); INSERT INTO found VALUES ('x')",
        "ANALYZE",
        "VACUUM",
    ],
)
def test_what_is_the_users_alone_stays(sql: str, file: Path, clock: Clock, sqlite: Sqlite) -> None:
    sqlite(file, sql)
    rows = schema_of(file)
    database = Database(file, clock)
    assert problems(database) == []
    assert database.files.tidy() == []
    rights.install(pragmas.connected(file))
    database.compact()
    database.close()
    assert schema_of(file) == rows


@pytest.mark.parametrize(
    "sql",
    [
        "ALTER TABLE memories ADD COLUMN colour TEXT",
        "ALTER TABLE facts ADD COLUMN loud TEXT AS (upper(value))",
        "PRAGMA writable_schema = 1;"
        "UPDATE sqlite_schema SET sql = replace(sql, 'DEFAULT 5', 'DEFAULT 9') WHERE name = 'memories'",
    ],
)
def test_a_changed_table_of_ours_is_refused_and_left_as_it_is(
    sql: str, file: Path, clock: Clock, sqlite: Sqlite
) -> None:
    sqlite(file, sql)
    content = file.read_bytes()
    database = Database(file, clock)
    for attempt in (database.open, database.files.tidy):
        with pytest.raises(Unavailable, match=r"changed the definition of table (memories|facts)") as error:
            attempt()
        assert error.value.problem.hints == (Hint(Mend.RESTORE),)
    assert file.read_bytes() == content


def test_a_trigger_that_is_dressed_up_as_a_table_is_refused(file: Path, clock: Clock, sqlite: Sqlite) -> None:
    """SQLite goes by the SQL of a row of its schema, whatever the row says that it is."""
    sqlite(
        file,
        EVIL,
        "PRAGMA writable_schema = 1;UPDATE sqlite_schema SET type = 'table' WHERE name = 'evil'",
    )
    database = Database(file, clock)
    for attempt in (database.open, database.files.tidy):
        with pytest.raises(Unavailable, match=r"not of this program: table evil|malformed database schema"):
            attempt()


def test_what_of_ours_is_missing_is_told_and_made_anew(file_database: Database, sqlite: Sqlite) -> None:
    assert file_database.path is not None
    file_database.open()
    before = schema_of(file_database.path)
    sqlite(file_database.path, "DROP TRIGGER memories_deleted; DROP VIEW readable_facts")
    missing = ["view readable_facts", "trigger memories_deleted on memories"]
    assert sorted(problems(file_database)) == sorted(f"{each} is missing" for each in missing)
    assert sorted(file_database.files.tidy()) == sorted(f"made {each} anew" for each in missing)
    assert schema_of(file_database.path) == before
    assert problems(file_database) == []


@pytest.mark.parametrize("version", [1, 8, 20, len(MIGRATIONS) - 1])
def test_a_file_of_an_earlier_schema_is_looked_at_before_it_is_migrated(
    version: int, tmp_path: Path, clock: Clock, sqlite: Sqlite
) -> None:
    path, folder = tmp_path / "old.db", tmp_path / "migrations"
    folder.mkdir()
    for migration in MIGRATIONS[:version]:
        shutil.copy(migration.path, folder)
    Database(path, clock, folder).open()
    sqlite(path, EVIL)
    content = path.read_bytes()
    with pytest.raises(Unavailable, match="trigger evil on memories"):
        Database(path, clock).open()
    assert path.read_bytes() == content
    sqlite(path, "DROP TRIGGER evil")
    database = Database(path, clock)
    assert problems(database) == []
    connection = pragmas.connected(path)
    assert schema.digest(connection) == schema.NEWEST[1]
    connection.close()
    database.close()


def test_a_dump_with_foreign_sql_is_refused_and_one_without_it_is_ours(
    file: Path, tmp_path: Path, clock: Clock, sqlite: Sqlite
) -> None:
    def restored(name: str) -> Path:
        return tmp_path / f"{name}.db"

    for name, sql in (("sound", "SELECT 1"), ("evil", EVIL)):
        sqlite(file, sql)
        dump = tmp_path / f"{name}.sql"
        dump.write_text(sqlite(file, ".dump"), encoding="utf-8")
        sqlite(restored(name), f".read {dump}")
    database = Database(restored("sound"), clock)
    assert problems(database) == []
    database.close()
    with pytest.raises(Unavailable, match="trigger evil on memories"):
        Database(restored("evil"), clock).open()
    connection = pragmas.connected(restored("evil"))
    assert migrate.mend_schema(connection, MIGRATIONS) == [
        "removed trigger evil on memories: it is not of this program"
    ]
    connection.close()
