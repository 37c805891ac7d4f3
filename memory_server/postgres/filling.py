"""Fills an empty tenant with the rows of another database; nobody can use it before it is finished."""

import struct
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from functools import partial
from typing import Final

import numpy as np
import psycopg

from memory_server.domain import parts
from memory_server.domain.moment import timestamp
from memory_server.errors import Conflict, Mend, Unavailable
from memory_server.postgres import failures, migrate, tenants
from memory_server.postgres.alone import act_alone_in, act_in, commit_durably
from memory_server.postgres.connections import Connection
from memory_server.postgres.copied import Copied, among, between
from memory_server.postgres.copied_rows import Sending, read_types
from memory_server.postgres.database import WRITES
from memory_server.postgres.filling_words import WORDS, FillingWords
from memory_server.postgres.health import Health
from memory_server.postgres.nearest import INDEXED
from memory_server.postgres.second_connection import SecondConnection
from memory_server.storage.columns import TABLES, VECTOR, Table
from memory_server.storage.copying import FOLLOWS, Key, Row
from memory_server.where import Postgres

FILLING: Final = 0x6D66
"""The first number of the advisory lock of the process that fills a tenant ('mf'); the second is the tenant's."""

INDEX_MEMORY: Final = "512MB"
"""The memory in which an index of vectors is built: 100,000 vectors of 384 numbers fill a fifth of it."""


class Filling(Copied):
    """Fills an empty tenant: see `storage.copying.MoveTarget`. Each call is committed when it returns; the words of its
    rows are committed soon after.
    """

    def __init__(self, place: Postgres, clock: Callable[[], datetime]) -> None:
        self._place = place
        self._clock = clock
        self._connection: Connection | None = None
        self._sending: Sending
        self._words: FillingWords
        self._connections: list[SecondConnection] = []
        self._resumed = False

    def begin(self, source: str) -> bool:
        with self._translated():
            now = timestamp(self._clock())
            connection = self._connection = self._connected()
            migrate.bring_forward(connection, now)
            tenant = tenants.find_or_add(connection, self._place.tenant, now).id
            self.tx = act_alone_in(connection, tenant, now, FILLING, str(self._place))
            self._sending = Sending(tenant, read_types(connection))
            self._resumed = self._mark(source)
            self._words = FillingWords(self._second_connection(), self._sending, alone=self._is_alone())
            return self._resumed

    def put(self, table: Table, after: Key | None, upto: Key | None, rows: Sequence[Row]) -> None:
        where, values = between(table, after, upto)
        with self._translated(), self.tx.connection.transaction():
            self._empty_following(table)
            self.tx.send(f"DELETE FROM {table.name} WHERE {where}", values)
            self._insert(table, rows)
            self._empty_following(table)
        with self._translated():
            self._words.add(table, rows)

    def _insert(self, table: Table, rows: Sequence[Row]) -> None:
        try:
            sent = (_sent(table, row) for row in rows)
            self._sending.send(self.tx.connection, table.name, table.columns, sent)
        except psycopg.DataError as error:
            raise _refused(table, rows, error) from error
        if table.name == "memories":
            columns = ("id", "memory_id", "start", "length")
            self._sending.send(self.tx.connection, "memory_parts", columns, _parts(table, rows))

    def prepare(self) -> None:
        with self._translated():
            if self._resumed:
                self._words.add_missing()
            vectors = self._second_connection()
            vectors.give(_analyze)
            for (dimensions,) in self.tx.rows(
                "SELECT DISTINCT dimensions FROM spaces WHERE tenant_id = tenant() AND state <> 'retired'"
            ):
                vectors.give(partial(_index_vectors, dimensions))

    def finish(self, highest_ids: Mapping[str, int]) -> None:
        with self._translated():
            self._await_indexes()
            transaction = psycopg.Transaction(self.tx.connection)
            try:
                with transaction:
                    self._open_tenant(highest_ids)
            except psycopg.Error as error:
                is_sent = transaction.status is psycopg.Transaction.Status.COMMITTED
                if not is_sent or failures.is_refusal(error):
                    raise
                raise failures.untold(error, str(self._place)) from error

    def _await_indexes(self) -> None:
        self._words.finish()
        for second in self._connections:
            second.wait()

    def _open_tenant(self, highest_ids: Mapping[str, int]) -> None:
        """From the end of the transaction on, the tenant is no copy any more. Raises Unavailable if it is not sound."""
        commit_durably(self.tx)
        self._raise_ids(highest_ids)
        self.tx.send("UPDATE tenants SET copy_of = NULL WHERE id = tenant()")
        self.tx.send("SET LOCAL ROLE memory_server")
        self._refuse_unsound()
        self.tx.send("SELECT tell_write()")

    def _raise_ids(self, highest_ids: Mapping[str, int]) -> None:
        self.tx.send(
            """
            INSERT INTO deleted_ids (tenant_id, name, highest)
            SELECT tenant(), name, highest FROM unnest(%s::text[], %s::bigint[]) AS given (name, highest)
            ON CONFLICT (tenant_id, name) DO UPDATE SET highest = excluded.highest
            """,
            (list(highest_ids), list(highest_ids.values())),
        )

    def _refuse_unsound(self) -> None:
        problems = [problem for problem in Health(self.tx).problems() if not problem.startswith("row ")]
        if problems:
            raise Unavailable(f"The copy in {self._place} is not sound: {problems[0]}.", Mend.COPY_AGAIN)

    # A move

    def check(self) -> None:
        with self._translated():
            self._await_indexes()
            with self.tx.connection.transaction():
                self.tx.send("SET LOCAL ROLE memory_server")
                self._refuse_unsound()

    def replace(self, table: Table, keys: Collection[Key], rows: Sequence[Row]) -> None:
        where, values = among(table, keys)
        with self._translated():
            self._words.second.wait()
            with self.tx.connection.transaction():
                self.tx.send(f"DELETE FROM {table.name} WHERE {where}", values)
                if table.name == "facts":
                    self._empty_history(table, rows)
                self._insert(table, rows)
            self._words.add(table, rows)

    def _empty_history(self, table: Table, facts: Sequence[Row]) -> None:
        """Remove the history of facts, by which a trigger would number them anew. It comes later."""
        places = [table.columns.index(name) for name in ("scope", "owner", "key")]
        self.tx.send(
            """
            DELETE FROM fact_history AS h
            USING unnest(%s::text[], %s::text[], %s::text[]) AS fact (scope, owner, key)
            WHERE tenant_id = tenant()
                AND h.scope = fact.scope AND h.owner = fact.owner AND h.key = fact.key
            """,
            [[fact[place] for fact in facts] for place in places],
        )

    def complete(self, highest_ids: Mapping[str, int]) -> None:
        with self._translated():
            self._words.second.wait()
            with self.tx.connection.transaction():
                commit_durably(self.tx)
                self._raise_ids(highest_ids)
                self.tx.send("UPDATE tenants SET whole = true WHERE id = tenant()")

    def open(self) -> None:
        with self._translated():
            if self._connection is None:
                self._connection = self._connected()
            tenant = tenants.find(self._connection, self._place.tenant)
            if tenant is None:
                raise Unavailable(f"There is no tenant {self._place.tenant} in {self._place}.")
            tenants.open_whole(self._connection, tenant.id)

    def close(self) -> None:
        for second in self._connections:
            second.close()
        if self._connection is not None:
            self._connection.close()

    def _connected(self) -> Connection:
        return Connection.connect(self._place.url, autocommit=True, application_name="memory-server, copying")

    def _second_connection(self) -> SecondConnection:
        """Open a further connection that works in a thread of its own. `close` ends it."""
        connection = self._connected()
        self._connections.append(SecondConnection(connection))
        act_in(connection, self.tx.tenant, self.tx.now)
        return self._connections[-1]

    def _is_alone(self) -> bool:
        """True if no other tenant has words in this database."""
        others_hold = " OR ".join(
            f"EXISTS (SELECT 1 FROM {name} WHERE tenant_id <> tenant())" for name in WORDS
        )
        return not self.tx.value(f"SELECT {others_hold}")

    def _mark(self, source: str) -> bool:
        """Mark the tenant as an unfinished copy of the source; return true if it was one before."""
        with self.tx.connection.transaction():
            self.tx.send("SELECT pg_advisory_xact_lock(%s, %s)", (WRITES, self.tx.tenant))
            before = self.tx.value("SELECT copy_of FROM tenants WHERE id = tenant()")
            if before not in (None, source):
                raise Conflict(
                    f"{self._place} is an unfinished copy of {before}, not of {source}. Nothing was written.",
                    Mend.EMPTY_TARGET,
                )
            if before is None:
                filled = [table.name for table in TABLES if self.count(table)]
                if filled:
                    raise Conflict(
                        f"{self._place} is not empty: it has rows in {', '.join(filled)}. Nothing was written.",
                        Mend.EMPTY_TARGET,
                    )
            self.tx.send("UPDATE tenants SET copy_of = %s, whole = false WHERE id = tenant()", (source,))
        return before is not None

    def _empty_following(self, table: Table) -> None:
        if table.name in FOLLOWS:
            self.tx.send(f"DELETE FROM {FOLLOWS[table.name]} WHERE tenant_id = tenant()")

    def _translated(self) -> AbstractContextManager[None]:
        return failures.translated(str(self._place))


def _parts(table: Table, memories: Sequence[Row]) -> Iterator[Row]:
    """Yield the rows of the parts of long memories that have ids of their own."""
    id, content = map(table.columns.index, ("id", "content"))
    for row in memories:
        starts = parts.starts(len(row[content]))
        for number, start in enumerate(starts[1:], 1):
            yield parts.id_of(row[id], number), row[id], start + 1, min(parts.PART, len(row[content]) - start)


def _analyze(connection: Connection) -> None:
    connection.execute(f"ANALYZE memories, turns, facts, {', '.join(INDEXED)}".encode())


def _index_vectors(dimensions: int, connection: Connection) -> None:
    connection.execute("SELECT set_config('maintenance_work_mem', %s, false)", (INDEX_MEMORY,))
    connection.execute("SELECT index_vectors(%s)", (dimensions,))


def _sent(table: Table, row: Row) -> Row:
    """Return a row as it is sent: with its vector as PostgreSQL receives it."""
    if VECTOR not in table.columns:
        return row
    place = table.columns.index(VECTOR)
    numbers = np.frombuffer(row[place], dtype="<f4")
    sent = struct.pack(">hh", len(numbers), 0) + numbers.astype(">f4").tobytes()
    return (*row[:place], sent, *row[place + 1 :])


def _refused(table: Table, rows: Sequence[Row], error: psycopg.DataError) -> Conflict:
    """Make the error for rows that PostgreSQL refuses; it keeps no character U+0000."""
    for row in rows:
        if any(isinstance(value, str) and "\0" in value for value in row):
            key = ", ".join(map(str, table.key_of(row)))
            return Conflict(
                f"Row {key} of {table.name} holds the character U+0000, which PostgreSQL cannot keep.",
                Mend.MEND_SOURCE,
            )
    return Conflict(f"A row of {table.name} does not fit: {str(error).splitlines()[0]}.", Mend.MEND_SOURCE)
