"""Fills an empty tenant with the rows of another database; nobody can use it before it is finished."""

import json
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final

import numpy as np
import psycopg

from memory_server.domain.moment import timestamp
from memory_server.errors import Conflict, Mend, Unavailable
from memory_server.postgres import failures, migrate, terms, word_rows
from memory_server.postgres.database import WRITES
from memory_server.postgres.exchange.copied import VECTOR, Copied, between
from memory_server.postgres.health import Health
from memory_server.postgres.terms import Terms
from memory_server.postgres.tx import Trips, Tx
from memory_server.storage.copying import TABLES, Key, Row, Table
from memory_server.where import Postgres

FILLING: Final = 0x6D66
"""The first number of the advisory lock of who fills a tenant ('mf'); the second is the tenant's."""

_SENT_AS = {
    "integer": "int4",
    "bigint": "int8",
    "text": "text",
    "boolean": "bool",
    "double precision": "float8",
    "public.vector": "bytea",
    "vector": "bytea",
    "tsvector": "bytea",
    "jsonb": "bytea",
}
"""How a value of each type is sent: what psycopg has no binary form of is sent as the bytes that the type receives."""

_WORDS = ("memory_words", "fact_words", "turn_words", "short_term_words")

_BULK = """
    SELECT
        set_config('gin_pending_list_limit', '65536', false), set_config('work_mem', '65536', false),
        set_config('maintenance_work_mem', '524288', false)
"""
"""Kilobytes: new words are kept aside and sorted into their index together, which is three times as fast; and an index
of vectors is built in memory, which 100,000 of 384 numbers fill to a fifth."""

_FOLLOWS = {
    "facts": "fact_history",
    "memories": "digested",
    "memory_history": "digested",
    "edges": "digested",
    "turns": "digested",
}
"""Triggers of the first table write the second, or act upon it: that is emptied, and comes later."""


class Filling:
    """Fills an empty tenant; each call is committed when it returns."""

    def __init__(self, place: Postgres, clock: Callable[[], datetime]) -> None:
        self._place = place
        self._clock = clock
        self._connection: psycopg.Connection[tuple[Any, ...]] | None = None
        self._tx: Tx
        self._types: dict[str, dict[str, str]] = {}

    def begin(self, source: str) -> bool:
        with self._translated():
            now = timestamp(self._clock())
            connection = psycopg.connect(
                self._place.url,
                autocommit=True,
                connect_timeout=10,
                application_name="memory-server, copying",
            )
            self._connection = connection
            migrations = migrate.load()
            migrate.refuse_newer(migrate.version_of(connection), migrations[-1].version)
            migrate.migrate(connection, migrations, now)
            connection.execute(
                "INSERT INTO memory_server.tenants (name, created_at) VALUES (%s, %s) ON CONFLICT DO NOTHING",
                (self._place.tenant, now),
            )
            (tenant,) = connection.execute(
                "SELECT id FROM memory_server.tenants WHERE name = %s", (self._place.tenant,)
            ).fetchall()[0]
            connection.execute(
                """
                SELECT
                    set_config('search_path', 'memory_server, public', false),
                    set_config('memory.tenant', %s, false),
                    set_config('memory.person', '', false),
                    set_config('memory.projects', '*', false),
                    set_config('memory.now', %s, false)
                """,
                (str(tenant), now),
            )
            self._tx = Tx(connection, psycopg.Pipeline(connection), now, tenant=tenant, trips=Trips())
            self._refuse_others()
            self._types = self._read_types()
            resumed = self._mark(source)
            self._tx.send(_BULK)
            self._keep_words_aside("on")
            return resumed

    def count(self, table: Table) -> int:
        with self._translated():
            return Copied(self._tx).count(table)

    def rows(self, table: Table, after: Key | None, upto: Key | None, limit: int | None) -> list[Row]:
        with self._translated():
            return Copied(self._tx).rows(table, after, upto, limit)

    def highest_ids(self) -> Mapping[str, int]:
        with self._translated():
            return Copied(self._tx).highest_ids()

    def put(self, table: Table, after: Key | None, upto: Key | None, rows: Sequence[Row]) -> None:
        where, values = between(table, after, upto)
        with self._translated(), self._tx.connection.transaction():
            self._empty_following(table)
            self._tx.send(f"DELETE FROM {table.name} WHERE {where}", values)
            try:
                self._send(table.name, table.columns, (_sent(table, row) for row in rows))
            except psycopg.DataError as error:
                raise _refused(table, rows, error) from error
            self._empty_following(table)
            self._index(table, rows)

    def finish(self, highest_ids: Mapping[str, int]) -> None:
        with self._translated():
            for name in _WORDS:
                self._tx.rows("SELECT gin_clean_pending_list(%s::regclass)", (f"{name}_by_word",))
            self._keep_words_aside("off")
            for (dimensions,) in self._tx.rows(
                "SELECT DISTINCT dimensions FROM spaces WHERE tenant_id = tenant() AND state <> 'retired'"
            ):
                self._tx.send("SELECT index_vectors(%s)", (dimensions,))
            self._tx.send("ANALYZE memories, memory_words, turns, turn_words, facts, fact_words, embeddings")
            with self._tx.connection.transaction():
                self._tx.send(
                    """
                    INSERT INTO deleted_ids (tenant_id, name, highest)
                    SELECT tenant(), name, highest FROM unnest(%s::text[], %s::bigint[]) AS given (name, highest)
                    ON CONFLICT (tenant_id, name) DO UPDATE SET highest = excluded.highest
                    """,
                    (list(highest_ids), list(highest_ids.values())),
                )
                self._tx.send("UPDATE tenants SET copy_of = NULL WHERE id = tenant()")
                self._tx.send("SET LOCAL ROLE memory_server")
                wrong = [each for each in Health(self._tx).problems() if not each.startswith("row ")]
                if wrong:
                    raise Unavailable(f"The copy in {self._place} is not sound: {wrong[0]}.", Mend.COPY_AGAIN)
                self._tx.send("SELECT tell_write()")

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _keep_words_aside(self, state: str) -> None:
        for name in _WORDS:
            self._tx.send(f"ALTER INDEX {name}_by_word SET (fastupdate = {state})")

    def _refuse_others(self) -> None:
        """Raises Unavailable where another process fills the tenant, or this role may not fill it."""
        if self._tx.value("SELECT row_security_active('memories')"):
            raise Unavailable(
                f"The tables of {self._place} belong to another role: copy as the role that made them."
            )
        if not self._tx.value("SELECT pg_try_advisory_lock(%s, %s)", (FILLING, self._tx.tenant)):
            raise Unavailable(f"Another process copies into {self._place} now.", Mend.TRY_AGAIN)

    def _mark(self, source: str) -> bool:
        """Mark the tenant as an unfinished copy of the source; whether it was one before."""
        with self._tx.connection.transaction():
            self._tx.send("SELECT pg_advisory_xact_lock(%s, %s)", (WRITES, self._tx.tenant))
            before = self._tx.value("SELECT copy_of FROM tenants WHERE id = tenant()")
            if before not in (None, source):
                raise Conflict(
                    f"{self._place} is an unfinished copy of {before}, not of {source}. Nothing was written.",
                    Mend.EMPTY_TARGET,
                )
            if before is None:
                held = [table.name for table in TABLES if Copied(self._tx).count(table)]
                if held:
                    raise Conflict(
                        f"{self._place} is not empty: it has rows in {', '.join(held)}. Nothing was written.",
                        Mend.EMPTY_TARGET,
                    )
            self._tx.send("UPDATE tenants SET copy_of = %s WHERE id = tenant()", (source,))
        return before is not None

    def _read_types(self) -> dict[str, dict[str, str]]:
        """How the columns of each table are sent."""
        found: dict[str, dict[str, str]] = {}
        for table, column, type in self._tx.rows(
            """
            SELECT c.relname, attname, coalesce(nullif(typbasetype, 0), atttypid)::regtype::text
            FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid JOIN pg_type AS t ON t.oid = atttypid
            WHERE relnamespace = %s::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
            """,
            (migrate.SCHEMA,),
        ):
            if type in _SENT_AS:
                found.setdefault(table, {})[column] = _SENT_AS[type]
        return found

    def _empty_following(self, table: Table) -> None:
        if table.name in _FOLLOWS:
            self._tx.send(f"DELETE FROM {_FOLLOWS[table.name]} WHERE tenant_id = tenant()")

    def _send(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        names, types = ("tenant_id", *columns), self._types[table]
        with (
            self._tx.connection.cursor() as cursor,
            cursor.copy(f"COPY {table} ({', '.join(names)}) FROM STDIN (FORMAT BINARY)") as copy,
        ):
            copy.set_types([types[name] for name in names])
            for row in rows:
                copy.write_row((self._tx.tenant, *row))

    def _index(self, table: Table, rows: Sequence[Row]) -> None:
        """Write the rows of the words. Those of rows that were there before went with them."""
        named = [dict(zip(table.columns, row, strict=True)) for row in rows]
        words = ("words", "repeated", "tokens", "length")
        tenant = self._tx.tenant
        match table.name:
            case "memories":
                parts: list[tuple[int, int, int, int]] = []
                self._send("memory_words", ("id", "memory_id", *words), _memory_words(tenant, named, parts))
                self._send("memory_parts", ("id", "memory_id", "start", "length"), parts)
            case "facts":
                self._send(
                    "fact_words",
                    ("id", *words),
                    ((row["id"], *_words(word_rows.fact(tenant, row["key"], row["value"]))) for row in named),
                )
            case "turns":
                self._send(
                    "turn_words",
                    ("id", *words),
                    (
                        (row["id"], *_words(terms.terms(tenant, row["summary"], row["message"])))
                        for row in named
                    ),
                )
            case "short_term_memories":
                self._send(
                    "short_term_words",
                    ("id", *words),
                    ((row["id"], *_words(terms.terms(tenant, row["text"]))) for row in named),
                )

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise failures.meaning(error, str(self._place)) from error


def _memory_words(
    tenant: int, memories: Iterable[Mapping[str, Any]], parts: list[tuple[int, int, int, int]]
) -> Iterator[Row]:
    """The rows of the words of memories. The server takes the first ones in while the next are made. `parts` gets the
    rows of the parts that have ids of their own."""
    for memory in memories:
        id = memory["id"]
        for part, start, length, found in word_rows.memory(tenant, id, memory["content"], memory["tags"]):
            if part != id:
                parts.append((part, id, start, length))
            yield (part, id, *_words(found))


def _words(found: Terms) -> tuple[bytes, bytes, str, int]:
    """The columns of an index of words: a tsvector and JSON as PostgreSQL receives them, the tokens, their number."""
    lexemes = b"".join(
        each.encode() + b"\0\0\0" for each in found.lexemes
    )  # the end of its text, and no positions
    return (
        struct.pack(">i", len(found.lexemes)) + lexemes,
        b"\x01" + json.dumps(found.repeated).encode(),
        found.tokens,
        found.length,
    )


def _sent(table: Table, row: Row) -> Row:
    """A row as it is sent: a vector as PostgreSQL receives it."""
    if VECTOR not in table.columns:
        return row
    place = table.columns.index(VECTOR)
    numbers = np.frombuffer(row[place], dtype="<f4")
    sent = struct.pack(">hh", len(numbers), 0) + numbers.astype(">f4").tobytes()
    return (*row[:place], sent, *row[place + 1 :])


def _refused(table: Table, rows: Sequence[Row], error: psycopg.DataError) -> Conflict:
    """What cannot be kept here. PostgreSQL keeps no character U+0000."""
    for row in rows:
        if any(isinstance(value, str) and "\0" in value for value in row):
            key = ", ".join(map(str, table.key_of(row)))
            return Conflict(
                f"Row {key} of {table.name} holds the character U+0000, which PostgreSQL cannot keep.",
                Mend.MEND_SOURCE,
            )
    return Conflict(f"A row of {table.name} does not fit: {str(error).splitlines()[0]}.", Mend.MEND_SOURCE)
