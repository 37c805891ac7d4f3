"""A transaction as table modules use it: statements in, rows out; it counts the round trips."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import psycopg
from psycopg import generators

from memory_server.domain import rights
from memory_server.domain.caller import Person
from memory_server.errors import Problem
from memory_server.postgres import failures, together
from memory_server.postgres.connections import Connection
from memory_server.storage.together import Together

One = TypeVar("One")

Value = Any
"""What the driver adapts: numbers, texts, booleans, bytes, None, and lists of them as arrays."""

Values = Sequence[Value] | Mapping[str, Value]


LARGE = 30_000
"""A statement with more bytes than this is sent out before the next one. A connection takes some 200,000 bytes at once.
The driver would keep the rest, and the end of the pipeline would wait for ever for the answer to it."""


@dataclass(slots=True)
class Trips:
    """The number of waits for the database."""

    number: int = 0


@dataclass(slots=True)
class _Sent:
    """Counts of a transaction: statements sent, statements answered, and statements sent that may have written."""

    number: int = 0
    answered: int = 0
    writes: int = 0


@dataclass(frozen=True, slots=True)
class PendingRows:
    """The rows that a statement will give. Statements that are sent one after the other are answered in one round
    trip.
    """

    tx: "Tx"
    cursor: psycopg.Cursor[tuple[Any, ...]]
    number: int

    def rows(self) -> list[tuple[Any, ...]]:
        """Wait for the rows, unless they came with those of a later statement; they can be taken once."""
        self.tx.arrived(self.number)
        return self.cursor.fetchall()


@dataclass(frozen=True)
class Tx:
    """A transaction, as the classes of tables use it. `now` is the time at which it began.

    Row-level security limits it to the rows of its tenant, and of these to what its person sees; no statement needs a
    clause for that. Statements are sent in a pipeline: those without a result wait for the next one that has one.
    """

    connection: Connection
    pipeline: psycopg.Pipeline
    now: str
    skipped: list[Problem] = field(default_factory=list)
    """Rows that were left out because they cannot be read: none in PostgreSQL."""
    person: Person | None = field(default=None, kw_only=True)
    """The person for whom the transaction is; None for the owner of the tenant."""
    tenant: int = field(kw_only=True)
    """The number of the tenant."""
    trips: Trips = field(default_factory=Trips, kw_only=True)
    directories: dict[str | None, list[tuple[Any, ...]]] = field(default_factory=dict, kw_only=True)
    """The projects as this process read them last, by the name of the person."""
    unchecked: list[tuple[PendingRows, list[tuple[Any, ...]]]] = field(default_factory=list, kw_only=True)
    """Rows of a directory that were used before the database had said that they are so still, with its answer."""
    _sent: _Sent = field(default_factory=_Sent, kw_only=True)

    @property
    def owner(self) -> str | None:
        """The name to write into `person` of a private row; None for the owner of the tenant."""
        return None if self.person is None else self.person.name

    def key(self, name: str) -> str:
        """Return the name in the database for a name that the person gives."""
        return rights.key(self.person, name)

    def name(self, key: str) -> str:
        """Return the name that the person knows for a name in the database."""
        return rights.name(self.person, key)

    def ask(self, sql: str, values: Values = (), binary: bool = False) -> PendingRows:
        """Send a statement without waiting; the first answer that is read brings those of all statements sent by then.

        `binary`: for large columns of bytes.
        """
        cursor = self._execute(sql, values, binary)
        return PendingRows(self, cursor, self._sent.number)

    def rows(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a statement."""
        return self.ask(sql, values).rows()

    def row(self, sql: str, values: Values = ()) -> tuple[Any, ...] | None:
        """Return the first row of a statement, or None."""
        rows = self.rows(sql, values)
        return rows[0] if rows else None

    def one(self, sql: str, values: Values = ()) -> tuple[Any, ...]:
        (row,) = self.rows(sql, values)
        return row

    def value(self, sql: str, values: Values = ()) -> Any:
        """Return the first column of the first row; None where there is no row."""
        row = self.row(sql, values)
        return None if row is None else row[0]

    def execute(self, sql: str, values: Values = ()) -> int:
        """Run one statement that writes; wait, and return how many rows it changed. `send` does not wait."""
        cursor = self._execute(sql, values)
        self.wait()
        return cursor.rowcount

    def send(self, sql: str, values: Values = ()) -> None:
        """Send one statement whose answer is not needed; if it fails, a later call or the end of the transaction
        raises that.
        """
        self._execute(sql, values)

    def wait(self) -> None:
        """Wait until all statements that were sent are done; raises what has failed."""
        self._arrive()
        self.pipeline.sync()

    def refuse_outdated(self) -> None:
        """Raise Undone where other servers have changed the projects that this transaction went by: repeat the call."""
        for answer, used in self.unchecked:
            if answer.rows() != used:
                self.directories.clear()
                raise failures.outdated()
        self.unchecked.clear()

    def arrived(self, number: int) -> None:
        """Count a round trip where the answer to this statement has not come yet."""
        if number > self._sent.answered and not together.wait():
            self._arrive()

    def _arrive(self) -> None:
        self.trips.number += 1
        self._sent.answered = self._sent.number

    @property
    def together(self) -> Together:
        return self._together

    def _together(self, *calls: Callable[[], Any]) -> Any:
        return tuple(together.run(calls, self._arrive))

    def each(self, calls: Sequence[Callable[[], One]]) -> list[One]:
        return [call() for call in calls] if len(calls) < 2 else together.run(calls, self._arrive)

    def size(self) -> int:
        """Bytes of the database, with those of other tenants."""
        return int(self.value("SELECT pg_database_size(current_database())"))

    @property
    def writes(self) -> int:
        """Number of statements sent that may have written: an earlier read may be outdated once it has grown."""
        return self._sent.writes

    def _execute(self, sql: str, values: Values, binary: bool = False) -> psycopg.Cursor[tuple[Any, ...]]:
        self._sent.number += 1
        self._sent.writes += not sql.lstrip().startswith("SELECT")
        cursor = self.connection.execute(sql, values, binary=binary)
        if _size(values) > LARGE:
            self.connection.wait(generators.send(self.connection.pgconn))
        return cursor


def _size(values: Values) -> int:
    """Estimate the bytes of the texts and arrays of a statement."""
    bound = values.values() if isinstance(values, Mapping) else values
    return sum(
        sum(len(item) for item in value if isinstance(item, str | bytes))
        if isinstance(value, list)
        else len(value)
        for value in bound
        if isinstance(value, list | str | bytes)
    )
