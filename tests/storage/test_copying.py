"""What a copy of a database takes along: every column of both stores, but what is derived."""

from collections.abc import Iterator

import psycopg
import pytest

from memory_server.errors import Unavailable
from memory_server.postgres.database import Database as OnPostgres
from memory_server.storage.columns import TABLES
from tests.conftest import Clock, InMemory
from tests.postgres_server import new_tenant

COPIED = {table.name: set(table.columns) for table in TABLES}

DERIVED = frozenset(
    {
        "memory_counts", "memory_parts", "memory_words", "fact_words", "turn_words", "short_term_words",
        "token_vectors", "turn_token_vectors", "fact_token_vectors", "migrations", "job_problems", "erasures",
        "server_days",
    }
)  # fmt: skip
"""The tables of both stores that are not copied."""

MADE_ANEW = {"memories": {"replaced", "standing"}}
"""Columns that triggers keep."""


@pytest.fixture
def tenant(clock: Clock) -> Iterator[OnPostgres]:
    database = new_tenant(clock)
    yield database
    database.close()


def difference(columns: dict[str, set[str]]) -> dict[str, set[str]]:
    """The columns of one side alone, by table."""
    names = columns.keys() | COPIED.keys()
    parted = {
        name: columns.get(name, set()) - MADE_ANEW.get(name, set()) ^ COPIED.get(name, set())
        for name in names
    }
    return {name: columns for name, columns in parted.items() if columns}


def test_every_column_of_a_file_is_copied(clock: Clock) -> None:
    own = {
        "sqlite_sequence",
        "character_forms",
        "embedding_bits",
        "bits_changes",
        "vector_changes",
        "memory_overwritten",
    }
    database = InMemory(clock)
    with database.read() as tx:
        columns: dict[str, set[str]] = {}
        for table, column in tx.rows(
            """
            SELECT t.name, c.name
            FROM sqlite_schema AS t, pragma_table_xinfo(t.name) AS c
            WHERE t.type = 'table' AND t.name NOT GLOB '*_words*' AND c.hidden = 0
            """
        ):
            if table not in own | DERIVED:
                columns.setdefault(table, set()).add(column)
    database.close()
    assert difference(columns) == {}


def test_every_column_of_a_tenant_is_copied(tenant: OnPostgres) -> None:
    own = {"tenants", "deleted_ids", "writes", "leads", "word_totals"}
    with tenant.read() as tx:
        columns: dict[str, set[str]] = {}
        for table, column in tx.rows(
            """
            SELECT relname, attname
            FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid
            WHERE relnamespace = 'memory_server'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
                AND attgenerated = '' AND attname <> 'tenant_id'
            """
        ):
            if table not in own | DERIVED:
                columns.setdefault(table, set()).add(column)
    assert difference(columns) == {}


def test_a_server_that_has_a_tenant_open_cannot_write_while_it_is_filled(tenant: OnPostgres) -> None:
    tenant.open()
    with psycopg.connect(tenant.place.url, autocommit=True) as connection:
        mark = "UPDATE memory_server.tenants SET copy_of = %s WHERE name = %s"
        connection.execute(mark, ("/tmp/memory.db", tenant.place.tenant))
        with (
            pytest.raises(Unavailable, match=r"is an unfinished copy of /tmp/memory\.db"),
            tenant.write() as tx,
        ):
            tx.value("SELECT 1")
        connection.execute(mark, (None, tenant.place.tenant))
    with tenant.write() as tx:
        assert tx.value("SELECT 1") == 1
