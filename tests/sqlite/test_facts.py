"""The tables of facts and turns as people and programs edit them: history, versions and the word index stay true."""

import json
import shutil
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_server.domain.caller import Caller
from memory_server.domain.fact import FactDraft, Home, Scope
from memory_server.errors import Conflict
from memory_server.language.query import parse
from memory_server.sqlite.database import Database
from memory_server.sqlite.transaction import Transaction
from tests.conftest import ROOT, Clock, Sqlite, as_rows, damage, rounds, undone

CLAUDE = Caller("Claude", "s1")
GLOBAL = Home(Scope.GLOBAL, "")
KEY = "cache.limit"


def write(tx: Transaction, key: str, value: Any, home: Home = GLOBAL) -> int:
    current = tx.facts.find(home, key)
    draft = FactDraft(key, value)
    fact = (
        tx.facts.replace(current, draft, None, CLAUDE)
        if current
        else tx.facts.insert(home, draft, None, CLAUDE)
    )
    return fact.id


def found(tx: Transaction, question: str) -> list[str]:
    return [fact.key for fact in tx.word_hits.mentioned_facts([GLOBAL], parse(question).terms, 10)]


def past(tx: Transaction, key: str = KEY) -> list[tuple[int, str, Any, str | None]]:
    """Version, action, value, by whom: oldest first."""
    changes = tx.fact_history.select(GLOBAL, key, 100)
    return [(each.version, each.action.value, each.value, each.changed_by) for each in reversed(changes)]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda parts: st.lists(parts, max_size=4) | st.dictionaries(st.text(), parts, max_size=4),
    max_leaves=12,
)
STORABLE = JSON.filter(
    lambda value: not any("\ud800" <= c <= "\udfff" for c in json.dumps(value, ensure_ascii=False))
)


@settings(max_examples=rounds(80))
@given(STORABLE)
def test_any_json_value_comes_back_as_it_was(database: Database, value: Any) -> None:
    with undone(database) as tx:
        write(tx, KEY, value)
        fact = tx.facts.find(GLOBAL, KEY)
        assert fact is not None
        assert repr(fact.value) == repr(value)
        assert repr(past(tx)[0][2]) == repr(value)


@pytest.mark.parametrize(
    ("key", "value", "question"),
    [
        ("annual_income", 75000, "what is my income"),
        ("annual_income", 75000, "75000"),
        ("数据库.端口", 5433, "端口是多少"),
        ("a", "发布时间是星期二", "什么时候发布"),
        ("a", "發佈時間", "发布"),
        ("a", "first\nsecond\tthird", "second"),
        ("a", 'said "quoted"', "quoted"),
        ("a", "C:\\new\\table", "table"),
        ("a", {"deep": [{"owner": "Mina"}]}, "Mina"),
        ("a", {"deep": [{"所有者": 1}]}, "所有者"),
        ("a", "x" * 499 + "数据库", "数据库"),
        ("a", "字" * 700 + "端口", "端口"),
        ("a", "café", "cafe"),
        ("a", "ＡＰＩ", "api"),
    ],
)
def test_words_of_keys_and_values_are_found(database: Database, key: str, value: Any, question: str) -> None:
    with database.write() as tx:
        write(tx, "other", "nothing of it")
        write(tx, key, value)
        assert found(tx, question) == [key]


def test_a_rewritten_or_deleted_value_is_found_by_its_new_words_only(database: Database) -> None:
    with database.write() as tx:
        write(tx, KEY, "apples")
        write(tx, KEY, "pears")
        assert (found(tx, "apples"), found(tx, "pears")) == ([], [KEY])
        fact = tx.facts.find(GLOBAL, KEY)
        assert fact is not None
        tx.facts.delete(fact, CLAUDE)
        assert found(tx, "pears") == []
        assert tx.rows("SELECT * FROM fact_words") == []


def test_each_write_and_delete_is_in_the_history_and_versions_go_on(database: Database) -> None:
    with database.write() as tx:
        for value in (1, 2):
            write(tx, KEY, value)
        fact = tx.facts.find(GLOBAL, KEY)
        assert fact is not None
        tx.facts.delete(fact, Caller("Cursor", None))
        write(tx, KEY, 3)
        assert past(tx) == [
            (1, "written", 1, "Claude"),
            (2, "written", 2, "Claude"),
            (3, "deleted", 2, "Cursor"),
            (4, "written", 3, "Claude"),
        ]


def test_reading_moves_the_count_and_the_moment_and_nothing_else(database: Database, clock: Clock) -> None:
    with database.write() as tx:
        id = write(tx, KEY, 1)
        (before,) = tx.facts.select([id])
    clock.advance(days=1)
    with database.write() as tx:
        tx.facts.mark_accessed([id])
        (after,) = tx.facts.select([id])
        assert (after.access_count, after.accessed_at) == (1, tx.now)
        assert (after.updated_at, after.version) == (before.updated_at, before.version)
        assert len(past(tx)) == 1


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE facts SET key = 'other'",
        "UPDATE facts SET scope = 'shared'",
        "UPDATE facts SET id = 77",
        "UPDATE facts SET value = 'no JSON'",
        "UPDATE facts SET tags = '{}'",
        "UPDATE facts SET version = 0",
        "UPDATE facts SET expires_at = '2026-12-31'",
        "UPDATE facts SET expires_at = 'soon'",
        "UPDATE facts SET updated_at = 'soon'",
        "INSERT INTO facts (scope, owner, key, value) VALUES ('global', 'me', 'k', '1')",
        "INSERT INTO facts (scope, key, value) VALUES ('world', 'k', '1')",
        "INSERT INTO facts (scope, key, value) VALUES ('global', '', '1')",
        f"INSERT INTO facts (scope, key, value) VALUES ('global', '{'k' * 201}', '1')",
        "INSERT INTO facts (scope, key, value) VALUES ('global', 'cache.limit', '1')",
    ],
)
def test_what_would_break_a_fact_is_refused(database: Database, statement: str) -> None:
    with database.write() as tx:
        write(tx, KEY, 1)
    with pytest.raises(Conflict), database.write() as tx:
        tx.execute(statement)


def test_the_refusals_say_how_a_value_and_a_moment_are_written(database: Database) -> None:
    with pytest.raises(Conflict, match="a text stands in double quotes"), database.write() as tx:
        tx.execute("INSERT INTO facts (scope, key, value) VALUES ('global', 'k', 'hello')")
    with pytest.raises(Conflict, match=r"must look like 2026-12-31T23:59:00\.000Z"), database.write() as tx:
        tx.execute(
            "INSERT INTO facts (scope, key, value, expires_at) VALUES ('global', 'k', '1', 'tomorrow')"
        )


def test_every_moment_of_the_server_is_one_that_the_table_takes(database: Database, clock: Clock) -> None:
    with database.write() as tx:
        for milliseconds in range(1000):
            tx.execute(
                "INSERT INTO facts (scope, key, value, expires_at) VALUES ('global', ?, '1', ?)",
                (f"k{milliseconds}", f"2126-02-28T23:59:59.{milliseconds:03d}Z"),
            )


# In the stock program


def test_a_statement_is_compiled_once_for_all_values(database: Database) -> None:
    compiled: list[int] = []

    def note(action: int, *_: object) -> int:
        compiled.append(action)
        return apsw.SQLITE_OK

    with database.write() as tx:
        tx.connection.authorizer = note  # SQLite calls it while it compiles
        for number in range(2):
            write(tx, f"key.{number}", number)
        assert compiled
        compiled.clear()
        write(tx, KEY, "another value")
        assert compiled == []


@pytest.fixture
def hand(file_database: Database, sqlite: Sqlite) -> Any:
    """`hand("UPDATE …")` edits in the stock program the file that holds one fact."""
    with file_database.write() as tx:
        write(tx, KEY, "apples")

    def edit(*statements: str, fails: bool = False) -> str:
        assert file_database.path is not None
        return sqlite(file_database.path, *statements, fails=fails)

    return edit


def test_a_value_changed_by_hand_is_a_version_by_nobody(file_database: Database, hand: Any) -> None:
    hand("UPDATE facts SET value = '\"数据库\"'")
    with file_database.write() as tx:
        assert past(tx) == [(1, "written", "apples", "Claude"), (2, "written", "数据库", None)]
        fact = tx.facts.find(GLOBAL, KEY)
        assert fact is not None
        assert (fact.version, fact.updated_by, fact.value) == (2, None, "数据库")
        assert (found(tx, "apples"), found(tx, "数据库")) == ([], [KEY])


def test_a_fact_deleted_by_hand_is_in_the_history(file_database: Database, hand: Any) -> None:
    hand("DELETE FROM facts")
    with file_database.write() as tx:
        assert past(tx)[-1] == (2, "deleted", "apples", None)
        assert found(tx, "apples") == []


@pytest.mark.parametrize(
    "statements",
    [
        ["INSERT OR REPLACE INTO facts (scope, key, value) VALUES ('global', 'cache.limit', '7')"],
        ["DELETE FROM facts", "INSERT INTO facts (scope, key, value) VALUES ('global', 'cache.limit', '7')"],
        [
            "INSERT INTO facts (scope, key, value) VALUES ('global', 'cache.limit', '7') "
            "ON CONFLICT DO UPDATE SET value = excluded.value"
        ],
    ],
    ids=["replaced", "deleted and inserted", "upserted"],
)
def test_a_key_written_again_by_hand_never_uses_a_version_twice(
    file_database: Database, hand: Any, statements: list[str]
) -> None:
    hand(*statements)
    with file_database.write() as tx:
        versions = [version for version, *_ in past(tx)]
        assert versions == sorted(set(versions))
        fact = tx.facts.find(GLOBAL, KEY)
        assert fact is not None
        assert (fact.value, fact.version, fact.updated_by) == (7, versions[-1], None)
        assert past(tx)[-1] == (fact.version, "written", 7, None)
        assert found(tx, "apples") == []
        assert tx.rows("SELECT rowid, value FROM fact_words") == [(fact.id, "7")]


@pytest.mark.parametrize("value", ["1e999", '{"a": [-1e999]}', "[" * 101 + "]" * 101, "[" * 900 + "]" * 900])
def test_a_value_by_hand_that_no_client_could_read_is_answered_as_text(
    file_database: Database, hand: Any, value: str
) -> None:
    hand(f"UPDATE facts SET value = '{value}'")
    with file_database.read() as tx:
        fact = tx.facts.find(GLOBAL, KEY)
        assert fact is not None
        assert fact.value == value


def test_an_ignored_insert_changes_nothing(file_database: Database, hand: Any) -> None:
    hand("INSERT OR IGNORE INTO facts (scope, key, value) VALUES ('global', 'cache.limit', '7')")
    with file_database.write() as tx:
        assert past(tx) == [(1, "written", "apples", "Claude")]
        assert found(tx, "apples") == [KEY]


def test_a_dump_that_is_loaded_again_answers_the_same(hand: Any, sqlite: Sqlite, tmp_path: Path) -> None:
    hand("UPDATE facts SET value = '2'", "UPDATE facts SET value = '3'")
    dump, copy = tmp_path / "dump.sql", tmp_path / "copy.db"
    hand(f".once {dump}", ".dump")
    sqlite(copy, f".read {dump}")
    assert damage(copy) == []
    assert sqlite(copy, "SELECT version, value FROM fact_history") == '1|"apples"\n2|2\n3|3'
    assert sqlite(copy, "SELECT rowid, value FROM fact_words") == "1|3"


def test_the_views_show_facts_readably(file_database: Database, hand: Any) -> None:
    hand("UPDATE facts SET expires_at = '2126-12-31T23:59:00.000Z'")
    (row,) = as_rows(hand(".mode json", "SELECT * FROM readable_facts"))
    assert row == {**row, "scope": "global", "key": KEY, "value": '"apples"', "expires": "2126-12-31 23:59"}
    history = as_rows(hand(".mode json", "SELECT * FROM readable_fact_history"))
    assert [(each["version"], each["changed_by"]) for each in history] == [(1, "Claude"), (2, "-")]


def test_an_old_file_with_memories_and_spaces_takes_facts_and_turns(
    tmp_path: Path, clock: Clock, sqlite: Sqlite
) -> None:
    first = tmp_path / "migrations"
    first.mkdir()
    shutil.copy(ROOT / "migrations" / "0001_memories.sql", first)
    path = tmp_path / "memory.db"
    old = Database(path, clock, first)
    with old.write() as tx:
        tx.execute("INSERT INTO memories (content, type) VALUES ('kept', 'decision')")
        tx.execute(
            """
            INSERT INTO spaces (provider, model, revision, dimensions, query_prompt, document_prompt, transform,
                chinese, lexical, fingerprint, state, created_at)
            VALUES ('p', 'm', '', 4, '', '', '', 0, 0, 'f', 'active', '2026-01-01')
            """
        )
    old.close()
    database = Database(path, clock)
    with database.write() as tx:
        write(tx, KEY, 1)
        tx.execute("INSERT INTO turns (message, summary) VALUES ('m', 's')")
        assert tx.rows("SELECT content FROM memories") == [("kept",)]
        assert tx.rows("SELECT turn_id FROM turn_embedding_queue") == [(1,)]
    database.close()
    assert damage(path) == []


# Turns


def test_a_turn_waits_for_its_embedding_and_leaves_nothing_behind(database: Database) -> None:
    with database.write() as tx:
        tx.execute(
            """
            INSERT INTO spaces (provider, model, revision, dimensions, query_prompt, document_prompt, transform,
                chinese, lexical, fingerprint, state, created_at)
            VALUES ('p', 'm', '', 4, '', '', '', 0, 0, 'f', 'active', '2026-01-01')
            """
        )
        tx.execute("INSERT INTO turns (message, summary) VALUES ('m', 's')")
        tx.execute("DELETE FROM turn_embedding_queue")
        tx.execute("INSERT INTO turn_embeddings VALUES (1, 1, x'00000000', '2026-01-01')")
        tx.execute("INSERT INTO turn_message_embeddings VALUES (1, 1, x'00000000')")
        tx.execute("UPDATE turns SET summary = 'other'")
        assert tx.value("SELECT count(*) FROM turn_embeddings") == 0
        assert tx.value("SELECT count(*) FROM turn_message_embeddings") == 0
        assert tx.value("SELECT count(*) FROM turn_embedding_queue") == 1
        tx.execute("DELETE FROM turns")
        assert tx.value("SELECT count(*) FROM turn_embedding_queue") == 0
