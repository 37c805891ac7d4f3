"""What the tables that both stores share rely on: the same statements do the same on either."""

from collections.abc import Iterator
from typing import Any

import pytest

from memory_server.storage.database import Database
from memory_server.storage.statements import Statements
from tests.conftest import STORES, Clock, InMemory
from tests.postgres_server import new_tenant

USE = {"session": "s", "shown_at": "2026-01-01T00:00:00.000Z"}
IDS = "SELECT id, memory_id FROM memory_uses ORDER BY id"


@pytest.fixture(params=STORES)
def statements(request: pytest.FixtureRequest, clock: Clock) -> Iterator[Statements]:
    database: Database = InMemory(clock) if request.param == "sqlite" else new_tenant(clock)
    with database.write() as tx:
        yield tx.statements
    database.close()


def uses(*memories: int) -> list[dict[str, Any]]:
    return [{"memory_id": id, **USE} for id in memories]


def test_rows_are_inserted_in_their_order(statements: Statements) -> None:
    statements.insert_each("main.memory_uses", uses(9, 7))
    statements.insert_each("main.memory_uses", uses(8))
    assert statements.rows(IDS) == [(1, 9), (2, 7), (3, 8)]


def test_no_rows_are_no_statement(statements: Statements) -> None:
    statements.insert_each("main.memory_uses", [])
    assert statements.rows(IDS) == []


def test_what_is_there_stays_where_a_conflict_is_nothing(statements: Statements) -> None:
    statements.insert_each("main.memory_uses", uses(9))
    statements.insert_each("main.memory_uses", uses(9, 7, 7), "ON CONFLICT DO NOTHING")
    assert [memory for _, memory in statements.rows(IDS)] == [9, 7]


@pytest.mark.parametrize(("ids", "inside"), [([1, 3], [1, 3]), ([], []), ([4], [])])
def test_a_list_is_one_value(statements: Statements, ids: list[int], inside: list[int]) -> None:
    statements.insert_each("main.memory_uses", uses(1, 2, 3))
    values = {"ids": statements.array(ids)}
    rows = "SELECT memory_id FROM memory_uses WHERE memory_id"
    assert statements.rows(f"{rows} IN (SELECT value FROM json_each(:ids)) ORDER BY 1", values) == [
        (id,) for id in inside
    ]
    outside = [(id,) for id in (1, 2, 3) if id not in inside]
    assert statements.rows(f"{rows} NOT IN (SELECT value FROM json_each(:ids)) ORDER BY 1", values) == outside


def test_the_rows_that_a_statement_changes_are_counted_without_those_of_triggers(
    statements: Statements,
) -> None:
    statements.send_each(
        "INSERT INTO main.facts (scope, owner, key, value) VALUES ('global', '', :key, '1')",
        [{"key": "a"}, {"key": "b"}],
    )
    assert statements.value("SELECT count(*) FROM fact_history") == 2
    assert statements.change("DELETE FROM main.facts WHERE key = :key", {"key": "a"}) == 1
    assert statements.change("DELETE FROM main.facts WHERE key = :key", {"key": "none"}) == 0


def test_signs_of_a_placeholder_in_a_text_are_text(statements: Statements) -> None:
    assert statements.one("SELECT ':id 100% main.x ?' || :id", {"id": "!"}) == (":id 100% main.x ?!",)


def test_json_is_read_by_a_path(statements: Statements) -> None:
    statements.send(
        """
        INSERT INTO main.trash (kind, item_id, parts, deleted_at)
        VALUES ('memory', 1, '{"memories": [{"project": "shop"}]}', :now)
        """,
        {"now": statements.now},
    )
    assert statements.value("SELECT json_extract(parts, '$.memories[0].project') FROM trash") == "shop"
