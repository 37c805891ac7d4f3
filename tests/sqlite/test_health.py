"""What `doctor` finds: every text of every table is looked at, and each bad row is named by its table and column."""

from collections.abc import Iterator
from typing import Any

import apsw
import pytest

from memory_server.sqlite import health
from memory_server.sqlite.database import Database
from memory_server.sqlite.transaction import Transaction
from memory_server.storage.columns import Table
from memory_server.storage.health import NAMED
from tests.conftest import Clock, InMemory, problems, undone

NO_UTF8 = b"caf\xe9"
NO_DATES = ["yesterday", "", "2026-13-01T00:00:00.000Z"]
NO_JSON = ["{", "", "NaN", "1e999", "[" * 101 + "]" * 101, "[" * 100_000]

SAMPLES: dict[str, Any] = {"TEXT": "x", "INTEGER": 1, "REAL": 0.5, "BLOB": bytes(4)}
MOMENT = "2026-03-14T09:26:53.589Z"


def columns(tx: Transaction, table: str) -> list[tuple[str, str, bool, int]]:
    """Name, type, whether it must be given, and place in the primary key of each column."""
    rows = tx.rows(f"PRAGMA table_info({table})")
    return [
        (name, type, bool(needed) and default is None, key) for _, name, type, needed, default, key in rows
    ]


def ordinary_tables(tx: Transaction) -> set[str]:
    rows = tx.rows(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'"
    )
    return {name for (name,) in rows}


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    """One for the module: each test undoes what it wrote."""
    database = InMemory(Clock())
    yield database
    assert problems(database) == []
    database.close()


@pytest.fixture
def by_hand(database: Database) -> Iterator[Transaction]:
    """A write of somebody whose program keeps no rule but the types; it is undone afterwards."""
    switches = {apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER: 0, apsw.SQLITE_DBCONFIG_ENABLE_FKEY: 0}
    with undone(database) as tx:
        before = {switch: tx.connection.config(switch, -1) for switch in switches}
        for switch, value in switches.items():
            tx.connection.config(switch, value)
        tx.execute("PRAGMA ignore_check_constraints = ON")
        yield tx
        tx.execute("PRAGMA ignore_check_constraints = OFF")
        for switch, value in before.items():
            tx.connection.config(switch, value)


def put(tx: Transaction, rows: Table, column: str, value: bytes) -> str:
    """A row that is good but for one column; how people name it."""
    given: dict[str, Any] = {}
    for name, type, needed, key in columns(tx, rows.name):
        if needed or key:
            given[name] = MOMENT if name in rows.moments else "[]" if name in rows.json else SAMPLES[type]
    given[rows.id] = "x" if rows.id in rows.texts else 77
    others = [name for name in given if name != column]
    names = ", ".join([f'"{column}"', *others])
    marks = ", ".join(["CAST(? AS TEXT)", *("?" for _ in others)])
    tx.execute(
        f"INSERT INTO {rows.name} ({names}) VALUES ({marks})", [value, *(given[name] for name in others)]
    )
    return value.decode(errors="replace") if column == rows.id else str(given[rows.id])


def bad_rows(tx: Transaction, database: Database) -> list[str]:
    return [each for each in tx.health.problems() if each.startswith("row ")]


def declared(kind: str) -> list[Any]:
    return [
        pytest.param(rows, column, id=f"{rows.name}.{column}")
        for rows in health.TABLES
        for column in getattr(rows, kind)
    ]


def test_every_ordinary_table_is_looked_at(by_hand: Transaction) -> None:
    tables = [rows.name for rows in health.TABLES]
    assert sorted(tables) == sorted(ordinary_tables(by_hand))


@pytest.mark.parametrize("rows", health.TABLES, ids=lambda rows: rows.name)
def test_every_text_column_of_a_table_is_looked_at(by_hand: Transaction, rows: Table) -> None:
    there = columns(by_hand, rows.name)
    assert sorted(rows.texts) == sorted(name for name, type, _, _ in there if type == "TEXT")
    assert set(rows.moments) | set(rows.json) <= set(rows.texts)
    assert rows.id in [name for name, _, _, _ in there]


@pytest.mark.parametrize("rows", health.TABLES, ids=lambda rows: rows.name)
def test_every_column_of_moments_or_json_is_looked_at_as_such(by_hand: Transaction, rows: Table) -> None:
    """A moment is known by its name, JSON by the rule of its column; the history copies what the facts hold."""
    named = {name for name in rows.texts if name.endswith(("_at", "_until")) or name.startswith("valid_")}
    assert set(rows.moments) - {"at", "day", "last_used"} == named
    sql = by_hand.value("SELECT sql FROM sqlite_schema WHERE name = ?", (rows.name,))
    assert set(rows.json) >= {name for name in rows.texts if f"json_valid({name})" in sql}


def test_a_sound_file_has_no_problem(database: Database) -> None:
    assert problems(database) == []


@pytest.mark.parametrize(("rows", "column"), declared("texts"))
def test_text_that_is_no_utf8_is_named(
    by_hand: Transaction, database: Database, rows: Table, column: str
) -> None:
    id = put(by_hand, rows, column, NO_UTF8)
    found = bad_rows(by_hand, database)
    assert f"row {id} of {rows.name}: {column} is not UTF-8" in found
    assert {each.removesuffix(" is not UTF-8") for each in found if "UTF-8" in each} == {
        f"row {id} of {rows.name}: {column}"
    }


@pytest.mark.parametrize("written", NO_DATES)
@pytest.mark.parametrize(("rows", "column"), declared("moments"))
def test_a_moment_that_is_none_is_named(
    by_hand: Transaction, database: Database, rows: Table, column: str, written: str
) -> None:
    id = put(by_hand, rows, column, written.encode())
    assert bad_rows(by_hand, database) == [f"row {id} of {rows.name}: {column} is no date"]


@pytest.mark.parametrize("written", NO_JSON, ids=lambda each: each[:10])
@pytest.mark.parametrize(("rows", "column"), declared("json"))
def test_json_that_clients_cannot_read_is_named(
    by_hand: Transaction, database: Database, rows: Table, column: str, written: str
) -> None:
    id = put(by_hand, rows, column, written.encode())
    assert bad_rows(by_hand, database) == [
        f"row {id} of {rows.name}: {column} is JSON that clients cannot read"
    ]


@pytest.mark.parametrize(("rows", "column"), declared("moments"))
@pytest.mark.parametrize("written", [MOMENT, "2026-11-20", "2026-11-20 10:00", "2461365.5"])
def test_any_date_that_sqlite_reads_is_one(
    by_hand: Transaction, database: Database, rows: Table, column: str, written: str
) -> None:
    put(by_hand, rows, column, written.encode())
    assert bad_rows(by_hand, database) == []


def test_of_many_bad_rows_of_a_table_the_first_are_named_and_the_others_counted(
    by_hand: Transaction, database: Database
) -> None:
    for _ in range(NAMED + 5):
        by_hand.execute("INSERT INTO turns (message, summary) VALUES (CAST(x'ff' AS TEXT), 'fine')")
    found = [each for each in by_hand.health.problems() if "turns" in each]
    assert found == [
        *(f"row {id} of turns: message is not UTF-8" for id in range(1, NAMED + 1)),
        "5 more rows of turns are as bad",
    ]


def test_a_missing_trigger_and_a_memory_outside_the_word_index_and_the_counts_are_named(
    by_hand: Transaction, database: Database
) -> None:
    by_hand.execute("DROP TRIGGER facts_deleted")
    by_hand.execute("INSERT INTO memories (content, type) VALUES ('x', 'error')")
    by_hand.execute("INSERT INTO edges (source_id, target_id, relation) VALUES (1, 2, 'causes')")
    found = by_hand.health.problems()
    assert found[-3:] == [
        "trigger facts_deleted on facts is missing",
        "1 memories are not in the word index",
        "the counts of memories are wrong",
    ]
    assert found[0].startswith("foreign key: ('edges', 1, 'memories'")
