"""What `doctor` finds wrong with the rows of a tenant on PostgreSQL, which a program of somebody else has written."""

from collections.abc import Iterator

import pytest

from memory_server.postgres import health
from memory_server.postgres.database import Database
from memory_server.postgres.transaction import Transaction
from tests.conftest import Clock
from tests.postgres_server import new_tenant


@pytest.fixture
def database(clock: Clock) -> Iterator[Database]:
    tenant = new_tenant(clock)
    yield tenant
    tenant.close()


@pytest.fixture
def tx(database: Database) -> Iterator[Transaction]:
    """A write that is undone."""

    class Undo(Exception):
        pass

    try:
        with database.write() as tx:
            yield tx
            raise Undo
    except Undo:
        pass


def test_every_column_of_a_moment_is_declared(tx: Transaction) -> None:
    found = tx.rows(
        """
        SELECT c.relname, attname
        FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid JOIN pg_type AS t ON t.oid = atttypid
        WHERE relnamespace = 'memory_server'::regnamespace AND relkind = 'r' AND typname = 'exact_text'
            AND attname ~ '(_at|_until|_from|_to|^at|^day|_used)$'
        """
    )
    own = {("tenants", "created_at"), ("tenants", "moved_to"), ("job_problems", "at")}
    queues = {(table, column) for table, column in found if table.endswith(("_queue", "embeddings"))}
    declared = {(table, column) for table, columns in health.MOMENTS.items() for column in columns}
    assert set(found) - own - queues == declared


def test_an_empty_tenant_has_no_problems(tx: Transaction) -> None:
    assert tx.health.problems() == []


def test_what_lacks_its_words_its_project_or_its_counts_is_told(tx: Transaction) -> None:
    tx.send("INSERT INTO turns (message, summary, project) VALUES ('said', 'short', 'alpha')")
    tx.send("INSERT INTO facts (scope, key, value) VALUES ('global', 'a', '1')")
    tx.send("DELETE FROM projects")
    assert {"1 facts are not in the word index", "1 turns are not in the word index"} < set(
        tx.health.problems()
    )


def test_a_date_that_is_none_and_json_that_clients_cannot_read_are_told(tx: Transaction) -> None:
    tx.send(
        "INSERT INTO tokens (name, hash, prefix, expires_at) VALUES ('ann', repeat('a', 64), 'msrv', 'soon')"
    )
    tx.send(
        "INSERT INTO tokens (name, hash, prefix, projects) VALUES ('bo', repeat('b', 64), 'msrv', '[NaN]')"
    )
    assert tx.health.problems() == [
        "row 1 of tokens: expires_at is no date",
        "row 2 of tokens: projects is JSON that clients cannot read",
    ]


def test_many_bad_rows_of_a_table_are_counted(tx: Transaction) -> None:
    tx.send(
        """
        INSERT INTO tokens (id, name, hash, prefix, created_at)
        SELECT n, 'ann', lpad(n::text, 64, '0'), 'msrv', 'once' FROM generate_series(1, 25) AS n
        """
    )
    found = tx.health.problems()
    assert len(found) == 21
    assert found[-1] == "5 more rows of tokens are as bad"


def test_totals_of_words_that_are_wrong_are_told(database: Database, tx: Transaction) -> None:
    tx.send("RESET ROLE")
    tx.send(
        "INSERT INTO word_totals (tenant_id, name, texts, terms) VALUES (%s, 'turn_words', 1, 1)",
        (tx.tenant,),
    )
    tx.send("SET LOCAL ROLE memory_server")
    assert "1 totals of word indexes are wrong" in tx.health.problems()


def test_the_libraries_name_the_server_and_pgvector(tx: Transaction) -> None:
    assert set(tx.health.libraries()) == {"schema", "postgresql", "vectors"}
