"""A transaction as table modules take it: statements in, rows out, and how often the database was waited for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import psycopg
from psycopg import generators

from memory_server.domain import rights
from memory_server.domain.caller import Person
from memory_server.errors import Problem
from memory_server.postgres import together
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
    """How often the database was waited for."""

    number: int = 0


@dataclass(slots=True)
class _Sent:
    """How many statements a transaction has sent, how many of them are answered, and how many may have written."""

    number: int = 0
    answered: int = 0
    writes: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows that a statement will give. Several that are asked one after the other come in one round trip."""

    tx: "Tx"
    cursor: psycopg.Cursor[tuple[Any, ...]]
    number: int

    def wait(self) -> None:
        """Wait for the rows, unless they came already with those of a later statement."""
        self.tx.arrived(self.number)

    def rows(self) -> list[tuple[Any, ...]]:
        """The rows; they can be taken once."""
        self.wait()
        return self.cursor.fetchall()


@dataclass(frozen=True)
class Tx:
    """A transaction, as the classes of tables use it. `now` is when it began.

    Row-level security shows it the rows of its tenant, and of these what its person sees: no statement says so.
    Statements are sent in a pipeline: those that give nothing wait for the next one that gives something.
    """

    connection: Connection
    pipeline: psycopg.Pipeline
    now: str
    skipped: list[Problem] = field(default_factory=list)
    """Rows that were left out because they cannot be read: here there are none."""
    person: Person | None = field(default=None, kw_only=True)
    """The person for whom it is; None for the owner of the tenant."""
    tenant: int = field(kw_only=True)
    """The number of the tenant."""
    trips: Trips = field(default_factory=Trips, kw_only=True)
    _sent: _Sent = field(default_factory=_Sent, kw_only=True)

    @property
    def owner(self) -> str | None:
        """The name of the person whose own is what is written for nobody else."""
        return None if self.person is None else self.person.name

    def key(self, name: str) -> str:
        """What a name that the person gives is in the database."""
        return rights.key(self.person, name)

    def name(self, key: str) -> str:
        """What a key of the database is called by the person."""
        return rights.name(self.person, key)

    def ask(self, sql: str, values: Values = (), binary: bool = False) -> Answer:
        """Ask for rows, and wait for nothing yet: the first answer that is read brings those of all that was asked.

        `binary`: for much of bytes.
        """
        cursor = self._execute(sql, values, binary)
        return Answer(self, cursor, self._sent.number)

    def rows(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """The rows that a statement gives."""
        return self.ask(sql, values).rows()

    def row(self, sql: str, values: Values = ()) -> tuple[Any, ...] | None:
        """The first row."""
        rows = self.rows(sql, values)
        return rows[0] if rows else None

    def one(self, sql: str, values: Values = ()) -> tuple[Any, ...]:
        """The only row of a statement that always gives one."""
        (row,) = self.rows(sql, values)
        return row

    def value(self, sql: str, values: Values = ()) -> Any:
        """The first column of the first row; None where there is none."""
        row = self.row(sql, values)
        return None if row is None else row[0]

    def execute(self, sql: str, values: Values = ()) -> int:
        """Run one statement that writes, and wait for how many rows it changed. `send` does not wait."""
        cursor = self._execute(sql, values)
        self.wait()
        return cursor.rowcount

    def send(self, sql: str, values: Values = ()) -> None:
        """Run one statement whose answer nobody needs; where it fails, a later call or the end raises that."""
        self._execute(sql, values)

    def wait(self) -> None:
        """Wait until all that was sent is done; raises what has failed."""
        self._arrive()
        self.pipeline.sync()

    def arrived(self, number: int) -> None:
        """Count a round trip where the answer to this statement is not here yet."""
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
        """How many statements that may write have been sent: what was read before the last of them may be outdated."""
        return self._sent.writes

    def _execute(self, sql: str, values: Values, binary: bool = False) -> psycopg.Cursor[tuple[Any, ...]]:
        self._sent.number += 1
        self._sent.writes += not sql.lstrip().startswith("SELECT")
        cursor = self.connection.execute(sql, values, binary=binary)
        if _size(values) > LARGE:
            self.connection.wait(generators.send(self.connection.pgconn))
        return cursor


def _size(values: Values) -> int:
    """About how many bytes the texts and arrays of a statement have."""
    given = values.values() if isinstance(values, Mapping) else values
    return sum(
        sum(len(each) for each in value if isinstance(each, str | bytes))
        if isinstance(value, list)
        else len(value)
        for value in given
        if isinstance(value, list | str | bytes)
    )
