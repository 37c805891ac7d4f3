"""A transaction as table modules take it: statements in, rows out."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import apsw

from memory_server.domain import rights
from memory_server.domain.caller import Person
from memory_server.errors import Hint, Mend, Problem, Unavailable
from memory_server.storage.statements import Statements
from memory_server.storage.together import Together, in_turn
from memory_server.storage.words import Index

Value = str | int | float | bytes | None
Values = Sequence[Value] | Mapping[str, Value]


Copy = TypeVar("Copy")
One = TypeVar("One")


def no_more_than(limit: int | None) -> int:
    """The value of a LIMIT; None is none."""
    return -1 if limit is None else limit


@dataclass(frozen=True, slots=True)
class Copies:
    """What a process keeps in memory of a file: one copy of each kind, such as the sign bits."""

    made: dict[type, Any] = field(default_factory=dict)

    def of(self, kind: type[Copy]) -> Copy:
        """The copy of a kind. The first call makes it, empty."""
        if kind not in self.made:
            self.made.setdefault(kind, kind())  # another thread may have been first
        copy: Copy = self.made[kind]
        return copy


@dataclass(frozen=True, slots=True)
class Tx:
    """A transaction, as the classes of tables use it. `now` is when it began."""

    connection: apsw.Connection
    now: str
    skipped: list[Problem] = field(default_factory=list)
    """The rows that were left out because their text is not UTF-8, as a hand edit or an import can leave it."""
    person: Person | None = field(default=None, kw_only=True)
    """The person for whom it is; None for the owner of the file."""
    before: int = field(default=-1, kw_only=True)
    """How many rows the connection had changed when it began to write; -1 where it only reads."""
    copies: Copies | None = field(default=None, kw_only=True)
    """None where the file alone is to answer."""

    @property
    def owner(self) -> str | None:
        """The name of the person whose own is what is written for nobody else."""
        return None if self.person is None else self.person.name

    def key(self, name: str) -> str:
        """What a name that the person gives is in the file."""
        return rights.key(self.person, name)

    def name(self, key: str) -> str:
        """What a key of the file is called by the person."""
        return rights.name(self.person, key)

    def seen(self, table: str, id: str) -> str:
        """A clause behind others: the person sees the row of a table that has this id. Nothing where all is seen."""
        return (
            "" if self.person is None else f"AND EXISTS (SELECT 1 FROM {table} AS seen WHERE seen.id = {id})"
        )

    @property
    def sees_only_committed(self) -> bool:
        """Whether all that it reads, accesses aside, is the same for every other transaction that begins now."""
        return self.before < 0 or self.connection.total_changes() == self.before

    def rows(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """The rows that a statement gives, without those that cannot be read: they are noted in `skipped`."""
        cursor = self.connection.execute(sql, values)
        try:
            return cursor.fetchall()
        except UnicodeDecodeError:
            repeatable = cursor.is_readonly
            _abandon(cursor)
            if not repeatable:  # to run it again would write twice
                raise
        return self._readable_rows(sql, values)

    def row(self, sql: str, values: Values = ()) -> tuple[Any, ...] | None:
        """The first row.

        Raises:
            Unavailable: it cannot be read.
        """
        cursor = self.connection.execute(sql, values)
        try:
            return cursor.fetchone()
        except UnicodeDecodeError as error:
            repeatable, columns = cursor.is_readonly, cursor.description_full
            _abandon(cursor)
            if not repeatable:
                raise
            problem = self._unreadable(sql, values, columns, 0)
            raise Unavailable(problem.text, *problem.hints) from error

    def one(self, sql: str, values: Values = ()) -> tuple[Any, ...]:
        """The only row of a statement that always gives one.

        Raises:
            Unavailable: it cannot be read.
        """
        found = self.rows(sql, values)
        if not found:
            self.row(sql, values)  # raises
        (row,) = found
        return row

    def value(self, sql: str, values: Values = ()) -> Any:
        row = self.row(sql, values)
        return None if row is None else row[0]

    def execute(self, sql: str, values: Values = ()) -> int:
        """Run one statement that writes; how many rows it changed."""
        before = self.connection.total_changes()
        self.connection.execute(sql, values)
        return self.connection.total_changes() - before

    def send(self, sql: str, values: Values = ()) -> None:
        """Run one statement that writes."""
        self.connection.execute(sql, values)

    def send_each(self, sql: str, values: Iterable[Values]) -> None:
        """Run one statement that writes with each of these values."""
        for value in values:
            self.connection.execute(sql, value)

    def change(self, sql: str, values: Values = ()) -> int:
        """Run one statement that writes, and return how many rows it changed itself, without those of triggers."""
        self.connection.execute(sql, values)
        return self.connection.changes()

    def array(self, values: Iterable[Any]) -> str:
        """Return a list as one value, for `json_each`."""
        return json.dumps(list(values))

    def write_words(self, index: Index, id: int, first: str, second: str) -> None:
        """Nothing: triggers of the file index a text."""

    @property
    def statements(self) -> Statements:
        """The transaction as the tables take it that both stores share."""
        return self

    @property
    def together(self) -> Together:
        return in_turn

    def each(self, calls: Sequence[Callable[[], One]]) -> list[One]:
        return [call() for call in calls]

    def size(self) -> int:
        """Bytes of the database."""
        return int(self.value("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"))

    def _readable_rows(self, sql: str, values: Values) -> list[tuple[Any, ...]]:
        cursor = self.connection.execute(sql, values)
        columns = cursor.description_full
        found: list[tuple[Any, ...]] = []
        place = 0
        while True:
            try:
                found.append(next(cursor))
            except StopIteration:
                return found
            except UnicodeDecodeError:
                problem = self._unreadable(sql, values, columns, place)
                if problem not in self.skipped:
                    self.skipped.append(problem)
            place += 1

    def _unreadable(self, sql: str, values: Values, columns: Sequence[Sequence[Any]], place: int) -> Problem:
        """Which row of which table a statement gives at a place. Its id is read alone, without the text."""
        ids = [(name, table) for name, _, _, table, origin in columns if origin == "id"]
        if not ids:
            which = f"a row of {columns[0][3] or 'the database'}"
        else:
            name, table = ids[0]
            id = self.connection.execute(f'SELECT "{name}" FROM ({sql}) LIMIT 1 OFFSET {place}', values).get
            which = f"row {id} of {table}"
        return Problem(f"{which} cannot be read: it holds text that is not UTF-8", (Hint(Mend.CHECK_FILE),))

    def tokenize(self, text: str) -> list[str]:
        """The tokens that the word index makes of a text: folded, without accents, stemmed."""
        tokenizer = self.connection.fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "2"])
        groups = tokenizer(text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False)
        return [str(token) for group in groups for token in group]


def _abandon(cursor: apsw.Cursor) -> None:
    """End a statement that failed half way: an error that somebody keeps would keep it running."""
    cursor.close(True)
