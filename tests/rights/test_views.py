"""What a person's connection shows is what the rule says, and what it may change is what it shows."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_server.call import acting
from memory_server.domain import rights
from memory_server.domain.caller import OWNED, Person
from memory_server.errors import Conflict, Invalid, Unavailable
from memory_server.sqlite import rights as sql
from memory_server.sqlite.database import Database
from memory_server.sqlite.transaction import Transaction

ROOT = Path(__file__).resolve().parents[2]

people = st.builds(
    Person,
    st.sampled_from(["ana", "bob", "an", "ana "]),
    st.one_of(st.none(), st.frozensets(st.sampled_from(["shop", "blog", "sho", ""]))),
)
owners = st.one_of(st.none(), st.sampled_from(["ana", "bob", "an", "ana "]))
places = st.one_of(st.none(), st.sampled_from(["shop", "blog", "sho", "Shop"]))


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "m.db", lambda: datetime(2026, 3, 14, tzinfo=UTC))
    yield database
    database.close()


@settings(max_examples=60)
@given(person=people, rows=st.lists(st.tuples(owners, places), max_size=12))
def test_a_person_sees_what_the_rule_says(
    database: Database, person: Person, rows: list[tuple[str | None, str | None]]
) -> None:
    """Memories, turns, facts of a project and of nobody, conversations, trash, and what hangs on them."""
    with database.write() as tx:
        for table in (
            "edges",
            "memories",
            "turns",
            "facts",
            "fact_history",
            "conversations",
            "trash",
            "projects",
        ):
            tx.execute(f"DELETE FROM {table}")
        for number, (own, project) in enumerate(rows, 1):
            tx.execute(
                "INSERT INTO memories (id, content, type, project, person) VALUES (?, 'x', 'error', ?, ?)",
                (number, project, own),
            )
            tx.execute(
                "INSERT INTO memory_history (memory_id, content, reason, replaced_at) "
                "VALUES (?, 'y', 'merged', '2026')",
                (number,),
            )
            tx.execute(
                "INSERT INTO turns (id, message, summary, project, person) VALUES (?, 'x', 'x', ?, ?)",
                (number, project or "", own),
            )
            key = f"{own}{OWNED}" if own else ""
            for scope, owner in (
                ("global", key),
                ("session", f"{key}s"),
                ("shared", ""),
                ("project", project or key),
            ):
                tx.execute(
                    "INSERT INTO facts (scope, owner, key, value) VALUES (?, ?, ?, '1')",
                    (scope, owner, f"k{number}"),
                )
            tx.execute("INSERT INTO conversations (id, name) VALUES (?, ?)", (number, f"{key}c{number}"))
            tx.execute(
                "INSERT INTO short_term_memories (id, conversation_id, text) VALUES (?, ?, 'x')",
                (number, number),
            )
            tx.execute(
                "INSERT INTO trash (item_id, kind, parts, person) VALUES (?, 'memory', ?, ?)",
                (number, json.dumps({"memories": [{"project": project}]}), own),
            )
        for one in range(2, len(rows) + 1):
            tx.execute(
                "INSERT INTO edges (source_id, target_id, relation) VALUES (?, ?, 'causes')", (one - 1, one)
            )
    seen = {number for number, (own, project) in enumerate(rows, 1) if rights.sees(person, own, project)}
    alone = {number for number, (own, _) in enumerate(rows, 1) if rights.sees(person, own, None)}
    facts = {
        (scope, f"k{number}")
        for number, (own, project) in enumerate(rows, 1)
        for scope, whose, place in (
            ("global", own, None),
            ("session", own, None),
            ("project", None if project else own, project),
        )
        if rights.sees(person, whose, place)
    } | {("shared", f"k{number}") for number in range(1, len(rows) + 1)}
    with acting.as_(person), database.read() as tx:
        for table, wanted in (
            ("memories", seen),
            ("trash", seen),
            ("turns", alone),
            ("conversations", alone),
            ("short_term_memories", alone),
        ):
            column = "item_id" if table == "trash" else "id"
            assert {id for (id,) in tx.rows(f"SELECT {column} FROM {table}")} == wanted, table
        assert {id for (id,) in tx.rows("SELECT memory_id FROM memory_history")} == seen
        assert set(tx.rows("SELECT scope, key FROM facts")) == facts
        assert set(tx.rows("SELECT scope, key FROM fact_history")) == facts
        assert set(tx.rows("SELECT source_id, target_id FROM edges")) == {
            (id - 1, id) for id in range(2, len(rows) + 1) if {id - 1, id} <= seen
        }
        assert tx.value("SELECT ifnull(sum(number), 0) FROM memory_counts") == len(seen)
        assert {name for (name,) in tx.rows("SELECT name FROM projects")} == {
            name for _, name in rows if name and rights.has(person, name)
        }


def test_every_table_of_the_file_has_a_right(database: Database) -> None:
    """One that has none shows nothing to a person: that is safe, and nobody means it."""
    with database.read() as tx:
        there = {name for (name,) in tx.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    inside = {
        name for name in there if any(name == each or name.startswith(f"{each}_") for each in sql.INDEXES)
    }
    assert there - inside == set(sql.RIGHTS) | sql.PUBLIC


def test_a_table_without_a_right_shows_nothing(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with database.write() as tx:
        tx.execute("INSERT INTO memories (content, type, person) VALUES ('x', 'error', 'ana')")
    monkeypatch.delitem(sql.RIGHTS, "memories")
    with acting.as_(Person("ana")), database.read() as tx:
        assert tx.rows("SELECT content FROM memories") == []
        assert tx.rows("SELECT * FROM readable_memories") == []


def test_no_view_of_the_file_shows_a_person_anything(database: Database) -> None:
    """They read the tables of the file itself."""
    with database.write() as tx:
        tx.execute("INSERT INTO memories (content, type, person) VALUES ('x', 'error', 'bob')")
        views = [name for (name,) in tx.rows("SELECT name FROM sqlite_schema WHERE type = 'view'")]
    assert len(views) > 15
    with acting.as_(Person("ana")), database.read() as tx:
        for view in views:
            assert tx.rows(f"SELECT * FROM {view}") == []


def test_the_connections_of_the_one_whose_file_it_is_have_nothing_of_this(database: Database) -> None:
    with acting.as_(Person("ana")), database.write() as tx:
        tx.execute("INSERT INTO main.memories (content, type, person) VALUES ('x', 'error', 'ana')")
    for open in (database.read, database.write):
        with open() as tx:
            assert tx.value("SELECT count(*) FROM sqlite_temp_schema") == 0
            assert tx.value("SELECT content FROM memories") == "x"


def test_by_its_bare_name_a_person_writes_no_table(database: Database) -> None:
    refused = pytest.raises(Unavailable, match="it is a view")
    with acting.as_(Person("ana")), refused, database.write() as tx:
        tx.connection.execute("DELETE FROM memories")


WRITES = (
    "UPDATE main.memories SET content = 'z'",
    "UPDATE main.memories SET person = 'bob'",
    "UPDATE main.memories SET access_count = 9",
    "DELETE FROM main.memories",
    "UPDATE main.memory_history SET content = 'z'",
    "DELETE FROM main.memory_history",
    "UPDATE main.turns SET summary = 'z'",
    "DELETE FROM main.turns",
    "UPDATE main.facts SET value = '2'",
    "DELETE FROM main.facts",
    "DELETE FROM main.fact_history",
    "UPDATE main.conversations SET removed = 2",
    "DELETE FROM main.conversations",
    "DELETE FROM main.short_term_memories",
    "UPDATE main.short_term_memories SET score = 7",
    "DELETE FROM main.long_term_memories",
    "UPDATE main.long_term_memories SET prompt = 'z'",
    "DELETE FROM main.trash",
    "UPDATE main.trash SET parts = '{}'",
    "DELETE FROM main.memory_uses",
    "DELETE FROM main.likely_updates",
    "UPDATE main.rules SET off = 1",
    "DELETE FROM main.rule_hits",
    "UPDATE main.memory_anchors SET project = 'z'",
    "DELETE FROM main.memory_anchors",
    "DELETE FROM main.open_questions",
    "UPDATE main.open_questions SET sessions = 4",
    "UPDATE main.edges SET strength = 0",
    "UPDATE main.projects SET folder = '/'",
    "DELETE FROM main.projects",
)


@pytest.mark.parametrize("statement", WRITES)
def test_a_row_of_somebody_else_is_passed_over(database: Database, statement: str) -> None:
    with database.write() as tx:
        tx.connection.execute(
            """
            INSERT INTO memories (id, content, type, person) VALUES (1, 'x', 'error', 'ana'), (2, 'x', 'error', 'ana');
            INSERT INTO memories (id, content, type, project) VALUES (3, 'x', 'error', 'shop');
            INSERT INTO memory_history (memory_id, content, reason, replaced_at) VALUES (1, 'y', 'merged', '2026');
            INSERT INTO edges (source_id, target_id, relation) VALUES (1, 2, 'causes'), (1, 3, 'causes');
            INSERT INTO turns (message, summary, person) VALUES ('x', 'x', 'ana');
            INSERT INTO facts (scope, owner, key, value) VALUES ('global', 'ana' || char(31), 'k', '1');
            INSERT INTO conversations (id, name) VALUES (1, 'ana' || char(31) || 'c');
            INSERT INTO short_term_memories (conversation_id, text) VALUES (1, 'x');
            INSERT INTO long_term_memories (conversation_id, name, prompt, "trigger") VALUES (1, 'n', 'x', 'true');
            INSERT INTO trash (item_id, kind, parts, person) VALUES (9, 'turn', '{}', 'ana');
            INSERT INTO memory_uses (memory_id, session, person) VALUES (1, 's', 'ana');
            INSERT INTO open_questions (question, session, person) VALUES ('q', 's', 'ana');
            INSERT INTO likely_updates (memory_id, kind, item_id, newer) VALUES (1, 'memory', 2, 0);
            INSERT INTO memory_anchors (memory_id, project, anchors, observed_at) VALUES (1, 'shop', '[]', '2026');
            INSERT INTO rules (memory_id, effect, holds, passes) VALUES (1, 'deny', '[]', '[]');
            INSERT INTO rule_hits (memory_id, at, effect, act) VALUES (1, '2026', 'deny', 'x');
            """
        )
    tables = [name for name in sql.RIGHTS if name != "memory_overwritten"]

    def all_rows() -> dict[str, list[tuple[object, ...]]]:
        with database.read() as tx:
            return {name: tx.rows(f"SELECT * FROM {name}") for name in tables}

    before = all_rows()
    with acting.as_(Person("bob", frozenset({"blog"}))), database.write() as tx:
        tx.execute(statement)
    assert all_rows() == before


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO main.memories (content, type, person) VALUES ('x', 'error', 'ana')",
        "INSERT INTO main.memories (content, type, project) VALUES ('x', 'error', 'shop')",
        "INSERT INTO main.memories (content, type) VALUES ('x', 'error')",
        "INSERT INTO main.turns (message, summary) VALUES ('x', 'x')",
        "INSERT INTO main.facts (scope, owner, key, value) VALUES ('project', 'shop', 'k', '1')",
        "INSERT INTO main.facts (scope, key, value) VALUES ('global', 'k', '1')",
        "INSERT INTO main.conversations (name) VALUES ('c')",
        "INSERT INTO main.projects (name) VALUES ('shop')",
    ],
)
def test_no_row_can_become_somebody_elses(database: Database, statement: str) -> None:
    bob = Person("bob", frozenset({"blog"}))
    with acting.as_(bob), pytest.raises(Conflict), database.write() as tx:
        tx.execute(statement)


def test_where_several_have_the_file_nobody_reads_without_a_name(tmp_path: Path) -> None:
    database = Database(tmp_path / "m.db", lambda: datetime(2026, 3, 14, tzinfo=UTC), several=True)
    for open in (database.read, database.write):
        with pytest.raises(RuntimeError, match="nobody has said for whom"), open():
            pass
    with acting.as_(None), database.read() as tx:
        assert tx.value("SELECT count(*) FROM memories") == 0
    database.close()


def test_who_reads_only_writes_nothing(database: Database) -> None:
    with acting.as_(Person("max", None, reads_only=True)):
        with pytest.raises(Invalid, match="only read"), database.write():
            pass
        database.later(lambda tx: cast(Transaction, tx).execute("DELETE FROM main.memories"))
        assert database.settle() is None
        assert database.read_only
    assert not database.read_only


def test_a_mark_is_written_for_the_person_for_whom_it_was_made(database: Database) -> None:
    database.open()
    for person in (Person("ana"), Person("bob"), None):
        with acting.as_(person):
            database.later(
                lambda tx: cast(Transaction, tx).execute(
                    "INSERT INTO main.turns (message, summary, person) VALUES ('x', 'x', ?)", (tx.owner,)
                )
            )
    with acting.as_(Person("bob")), database.write():
        pass
    with database.read() as tx:
        assert tx.rows("SELECT person FROM turns") == [("bob",)]
    assert database.settle() is None
    with database.read() as tx:
        assert {person for (person,) in tx.rows("SELECT person FROM turns")} == {"ana", "bob", None}


@pytest.mark.parametrize("name", ["", "a" * 101, f"ana{OWNED}x"])
def test_a_name_that_could_be_taken_for_another_one_is_none(name: str) -> None:
    with pytest.raises(Invalid):
        Person(name)


READS_ALL = {
    "bit_rows.py": "the copy in the process is of all rows, and repeats the rule for those that it finds",
    "edges.py": "whether two memories that the person sees are of the same person",
    "trash_rows.py": "an edge to what the person does not see is kept with what is deleted",
}
"""The modules that read a table of the file itself, and why."""


MODULES = [
    path
    for folder in ("sqlite", "storage", "transfer")
    for path in (ROOT / "memory_server" / folder).rglob("*.py")
]
"""All that have statements for a file."""


def test_only_these_modules_read_past_the_views() -> None:
    reading = re.compile(r"(?:FROM|JOIN) main\.")
    for path in MODULES:
        if path.name == "rights.py":
            continue
        statements = re.sub(r"DELETE FROM main\.", "", path.read_text(encoding="utf-8"))
        assert bool(reading.search(statements)) == (path.name in READS_ALL), path.name


def test_who_asks_a_word_index_demands_that_its_rows_are_seen() -> None:
    """MATCH works on no view. Where rows are joined with their table by its name, that is one."""
    asking = {path.name for path in MODULES if " MATCH " in path.read_text(encoding="utf-8")}
    assert asking == {
        "candidates.py",
        "checks.py",
        "peers.py",
        "rights.py",
        "word_hits.py",
        "words.py",
    }
