"""A transaction as table modules take it: statements in, rows out."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import apsw

from memory_server.domain import rights
from memory_server.domain.caller import Person
from memory_server.errors import Hint, Mend, Problem, Unavailable
from memory_server.storage.columns import listed
from memory_server.storage.statements import Statements
from memory_server.storage.together import Together, in_turn

Value = str | int | float | bytes | None
Values = Sequence[Value] | Mapping[str, Value]


Copy = TypeVar("Copy")
One = TypeVar("One")


@dataclass(frozen=True, slots=True)
class Copies:
    """Copies in memory of parts of a file, kept by the process: one of each class, such as the sign bits."""

    by_kind: dict[type, Any] = field(default_factory=dict)

    def of(self, kind: type[Copy]) -> Copy:
        """Return the copy of a class. The first call makes it, empty."""
        if kind not in self.by_kind:
            self.by_kind.setdefault(kind, kind())  # another thread may have been first
        copy: Copy = self.by_kind[kind]
        return copy


@dataclass(frozen=True, slots=True)
class Tx:
    """A transaction, as the classes of tables use it. `now` is the time at which it began."""

    connection: apsw.Connection
    now: str
    skipped: list[Problem] = field(default_factory=list)
    """The rows that were left out because their text is not UTF-8, as a hand edit or an import can leave it."""
    person: Person | None = field(default=None, kw_only=True)
    """The person for whom the transaction is; None for the owner of the file."""
    before: int = field(default=-1, kw_only=True)
    """Number of rows that the connection had changed when it began to write; -1 in a transaction that only reads."""
    copies: Copies | None = field(default=None, kw_only=True)
    """None where SQL alone must answer."""

    @property
    def page(self) -> int:
        """Rows to read at once where single ones are asked for: a file gives any row at no cost."""
        return 1

    @property
    def owner(self) -> str | None:
        """The name to write into `person` of a private row; None for the owner of the file."""
        return None if self.person is None else self.person.name

    def key(self, name: str) -> str:
        """Return the name in the file for a name that the person gives."""
        return rights.key(self.person, name)

    def name(self, key: str) -> str:
        """Return the name that the person knows for a name in the file."""
        return rights.name(self.person, key)

    def seen(self, table: str, id: str) -> str:
        """Return a clause to append: the person sees the row of `table` with this id. Empty where all rows are
        visible.
        """
        return (
            "" if self.person is None else f"AND EXISTS (SELECT 1 FROM {table} AS seen WHERE seen.id = {id})"
        )

    @property
    def sees_only_committed(self) -> bool:
        """True if this transaction has changed nothing but access counts."""
        return self.before < 0 or self.connection.total_changes() == self.before

    def rows(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """Run a statement; return its rows without unreadable ones, which are noted in `skipped`."""
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
        """Return the first row of a statement, or None.

        Raises:
            Unavailable: the row cannot be read.
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
        """Return the only row of a statement that always gives one.

        Raises:
            Unavailable: the row cannot be read.
        """
        rows = self.rows(sql, values)
        if not rows:
            self.row(sql, values)  # raises
        (row,) = rows
        return row

    def value(self, sql: str, values: Values = ()) -> Any:
        row = self.row(sql, values)
        return None if row is None else row[0]

    def execute(self, sql: str, values: Values = ()) -> int:
        """Run one statement that writes; return how many rows it changed, those of triggers included."""
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

    def insert(self, table: str, row: Mapping[str, Any], id: int | None = None) -> int:
        if id is not None and id > (
            self.value("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)) or 0
        ):
            row = {**row, "id": id}
        marks = ", ".join(f":{column}" for column in row)
        (inserted,) = self.one(
            f"INSERT INTO main.{table} ({listed(tuple(row))}) VALUES ({marks}) RETURNING id", row
        )
        return int(inserted)

    def insert_each(self, table: str, rows: Sequence[Mapping[str, Any]], or_else: str = "") -> None:
        if rows:
            marks = ", ".join(f":{name}" for name in rows[0])
            sql = f"INSERT INTO {table} ({', '.join(rows[0])}) VALUES ({marks}) {or_else}"
            self.send_each(sql, rows)

    def change(self, sql: str, values: Values = ()) -> int:
        self.connection.execute(sql, values)
        return self.connection.changes()

    def array(self, values: Iterable[Any]) -> str:
        """Return a list as one value, for `json_each`."""
        return json.dumps(list(values))

    def write_words(self, table: str, id: int, row: Mapping[str, Any]) -> None:
        """Nothing: triggers of the file index a text."""

    @property
    def statements(self) -> Statements:
        return self

    @property
    def together(self) -> Together:
        return in_turn

    def each(self, calls: Sequence[Callable[[], One]]) -> list[One]:
        return [call() for call in calls]

    def size(self) -> int:
        return int(self.value("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"))

    def _readable_rows(self, sql: str, values: Values) -> list[tuple[Any, ...]]:
        cursor = self.connection.execute(sql, values)
        columns = cursor.description_full
        rows: list[tuple[Any, ...]] = []
        place = 0
        while True:
            try:
                rows.append(next(cursor))
            except StopIteration:
                return rows
            except UnicodeDecodeError:
                problem = self._unreadable(sql, values, columns, place)
                if problem not in self.skipped:
                    self.skipped.append(problem)
            place += 1

    def _unreadable(self, sql: str, values: Values, columns: Sequence[Sequence[Any]], place: int) -> Problem:
        """Name the row that a statement gives at a place, and its table. Its id is read alone, without the text."""
        ids = [(name, table) for name, _, _, table, origin in columns if origin == "id"]
        if not ids:
            which = f"a row of {columns[0][3] or 'the database'}"
        else:
            name, table = ids[0]
            id = self.connection.execute(f'SELECT "{name}" FROM ({sql}) LIMIT 1 OFFSET {place}', values).get
            which = f"row {id} of {table}"
        return Problem(f"{which} cannot be read: it holds text that is not UTF-8", (Hint(Mend.CHECK_FILE),))

    def tokenize(self, text: str) -> list[str]:
        """Return the tokens that the word index makes of a text: folded, without accents, stemmed."""
        tokenizer = self.connection.fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "2"])
        groups = tokenizer(text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False)
        return [str(token) for group in groups for token in group]


def _abandon(cursor: apsw.Cursor) -> None:
    """End a statement that failed half way: an error that is kept somewhere would keep it running."""
    cursor.close(True)
