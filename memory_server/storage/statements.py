"""Statements as the tables take them that both stores share, and how their SQL is written.

They are written as SQLite reads them; on a file nothing is changed. PostgreSQL spells a few things in another way, and
`postgres/spelling.py` has the list. So a shared table

- names its values: `:project`. A list is `IN (SELECT value FROM json_each(:ids))` with the value `tx.array(ids)`.
- writes to `main.TABLE` where a view for the rights of a person hides the table: reads go through the view.
- uses `ifnull` and `julianday` as the indexes do, and else what both know: `coalesce`, `CASE`, `true`, `RETURNING`,
  `count(*) FILTER (WHERE …)`, `IS NOT DISTINCT FROM`, `ON CONFLICT`, and `NULLS FIRST` or `NULLS LAST` where an ordered
  column can be NULL.
- reads rows that it brings along `FROM json_each(:rows)`, where `:rows` is JSON, with `value ->> 0`; the texts of an
  array in a column `FROM json_each(a.texts)`; a text as bytes with `CAST(text AS BLOB)`; days between two moments with
  `julianday(a) - julianday(b)`; a sum of doubles with `total(a + b)`.
- reads the JSON of the trash as `parts AS parts`, a path of it with `->` and `->>`, and its elements with `CROSS JOIN
  json_each(list) AS c`; orders texts by their bytes with `COLLATE BINARY`; brings a
  moment into our form with `strftime('%Y-%m-%dT%H:%M:%fZ', at)`.
- bounds a value with a number in front, `max(0, x)` or `min(100.0, x)`: any other `max(` is that of all rows.

What needs more than this has a class in each store.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

Values = Mapping[str, Any] | tuple[()]
"""The values of a statement by their names."""

Row = tuple[Any, ...]


class Statements(Protocol):
    """Statements of one transaction in, rows out."""

    @property
    def page(self) -> int:
        """Rows to read at once where single ones of a list are asked for: a server far away is waited for once."""
        ...

    @property
    def now(self) -> str:
        """The moment when the transaction began."""
        ...

    @property
    def owner(self) -> str | None:
        """The person who owns what is written; None for the owner of the database."""
        ...

    def key(self, name: str) -> str:
        """Return the form in which the database keeps a name that the person gives."""
        ...

    def name(self, key: str) -> str:
        """Return the name by which the person calls a key of the database."""
        ...

    def array(self, values: Iterable[Any]) -> Any:
        """Return a list as one value of a statement."""
        ...

    def rows(self, sql: str, values: Values = ..., /) -> list[Row]:
        """Return the rows that a statement gives, without those that cannot be read."""
        ...

    def row(self, sql: str, values: Values = ..., /) -> Row | None:
        """Return the first row."""
        ...

    def one(self, sql: str, values: Values = ..., /) -> Row:
        """Return the only row of a statement that always gives one."""
        ...

    def value(self, sql: str, values: Values = ..., /) -> Any:
        """Return the first column of the first row; None without a row."""
        ...

    def send(self, sql: str, values: Values = ..., /) -> None:
        """Run a statement that gives nothing. PostgreSQL is not waited for: a failure raises in a later call."""
        ...

    def send_each(self, sql: str, values: Iterable[Values], /) -> None:
        """Run a statement that gives nothing once for each of these values, in their order."""
        ...

    def insert(self, table: str, row: Mapping[str, Any], id: int | None = None, /) -> int:
        """Insert a row with its words, and return its id: this one, if no row of the table ever had that or a later
        one, else the next."""
        ...

    def insert_each(self, table: str, rows: Sequence[Mapping[str, Any]], or_else: str = "", /) -> None:
        """Insert rows, which have the same columns, in their order. `or_else` is an ON CONFLICT clause."""
        ...

    def change(self, sql: str, values: Values = ..., /) -> int:
        """Run a statement that writes, and return how many rows it changed itself, without those of triggers."""
        ...

    def write_words(self, table: str, id: int, row: Mapping[str, Any], /) -> None:
        """Index the texts of a row anew, if it has all that are indexed. On a file this does nothing: triggers do it
        there."""
        ...


class HasStatements(Protocol):
    """A transaction that gives its statements to the tables that both stores share."""

    @property
    def now(self) -> str: ...

    @property
    def statements(self) -> Statements: ...
