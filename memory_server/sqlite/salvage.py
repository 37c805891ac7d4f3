"""Fills a draft with what can be read of a damaged file, page by page.

The draft has the version of the schema that the file had. Its triggers are made last, so nothing is derived yet.
"""

import shutil
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import apsw

from memory_server.domain.lost_rows import LostRows
from memory_server.sqlite import bm25, migrate, pragmas, vectors
from memory_server.sqlite.pages import LARGEST, Gap, PageRow, Pages
from memory_server.storage import packaged
from memory_server.storage.columns import TABLES, VECTOR
from memory_server.storage.packaged import Migration
from memory_server.storage.vectors import TABLES as TEXTS

MADE_ANEW = {"spaces", "short_term_keywords"}
"""Tables that are left out, besides those of vectors and queues."""

KEPT = tuple(
    table.name
    for table in TABLES
    if table.name not in MADE_ANEW and VECTOR not in table.columns and not table.name.endswith("_queue")
)

INDEXED = {tables.source: f"{tables.words}_docsize" for tables in TEXTS.values()}
"""The tables whose ids the word indexes have too: these tell which rows there were."""

TYPES: dict[str, Any] = {"TEXT": str, "INTEGER": int, "REAL": (int, float), "BLOB": bytes}


@dataclass(frozen=True, slots=True)
class Rescued:
    """`rows` and `left_out` count by table: those that are in the new file, and those that belong to a lost one.

    `ours`: the file says that it is of this program.
    """

    ours: bool
    rows: dict[str, int]
    lost: tuple[LostRows, ...]
    left_out: dict[str, int]


@dataclass(slots=True)
class _Table:
    """A table of the draft: its stored columns in order, with types; `id` is where the row id stands."""

    name: str
    columns: list[str]
    types: list[str]
    id: int | None
    gaps: list[Gap] = field(default_factory=list)
    ids: set[int] = field(default_factory=set)

    def takes(self, row: PageRow) -> bool:
        """True if a row may be one of this table, by the types of its values."""
        values = row.values
        if not 1 < len(values) <= len(self.columns) or (self.id is not None and values[self.id] is not None):
            return False
        return all(
            value is None or isinstance(value, TYPES.get(type_, object))
            for value, type_ in zip(values, self.types, strict=False)
        )

    def put(self, connection: apsw.Connection, row: PageRow) -> bool:
        """Insert a row; False where the table refuses it."""
        if not self.takes(row):
            return False
        values = list(row.values)
        if self.id is not None:
            values[self.id] = row.id
        names = ", ".join(f'"{name}"' for name in self.columns[: len(values)])
        marks = ", ".join("?" for _ in values)
        try:
            connection.execute(f"INSERT INTO {self.name} ({names}) VALUES ({marks})", values)
        except apsw.ConstraintError:
            return False
        self.ids.add(row.id)
        return True


def fill(path: Path, source: Path, migrations: list[Migration], now: str) -> Rescued:
    """Make the draft at a path.

    Raises:
        Unavailable: the file is newer than this program.
    """
    pages = Pages.of(_bytes_of(source, path.with_name("damaged.db")))
    migrate.refuse_newer(pages.version or 0, migrations[-1].version)
    with closing(pragmas.connected(path)) as draft:
        vectors.install(draft)
        bm25.install(draft)
        had = packaged.applied(migrations, pages.version or 0) or migrations  # without a header: the newest
        migrate.migrate(draft, None, had, now)
        return _fill(draft, pages)


def _bytes_of(source: Path, copy: Path) -> bytes:
    """Return the bytes of a file as it is without the transaction of a killed program; unreadable ones are zero."""
    with source.open("rb") as damaged, copy.open("wb") as out:
        for at in range(0, source.stat().st_size, 4096):
            damaged.seek(at)
            try:
                out.write(damaged.read(4096))
            except OSError:  # a bad place of the disk
                out.write(bytes(4096))
    journal = source.with_name(source.name + "-journal")
    if journal.exists():
        shutil.copyfile(journal, copy.with_name(copy.name + "-journal"))
        with suppress(apsw.Error), closing(pragmas.connected(copy)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    return copy.read_bytes()


def _fill(draft: apsw.Connection, pages: Pages) -> Rescued:
    """Fill the tables of the draft, without their triggers."""
    roots = {str(name): int(str(root)) for _, name, _, root, _ in _schema(pages) if root}
    tables = [table for table in map(partial(_table, draft), KEPT) if table.columns]
    triggers = draft.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    draft.execute("BEGIN")
    for name, _ in triggers:
        draft.execute(f'DROP TRIGGER "{name}"')
    for table in tables:
        for row in _rows(pages, roots.get(table.name), table.gaps):
            if not table.put(draft, row):
                table.gaps.append(Gap(row.id - 1, row.id))
    highest, all_known = _highest_ids(pages, roots)
    indexed = {name: _ids(pages, roots.get(index)) for name, index in INDEXED.items()}
    _take_strays(draft, pages, roots, tables)
    left_out = _drop_orphans(draft)
    _set_highest_ids(draft, highest, tables)
    _name_projects(draft)
    for _, sql in triggers:
        draft.execute(str(sql))
    draft.execute("COMMIT")
    counts = {table.name: int(draft.execute(f"SELECT count(*) FROM {table.name}").get) for table in tables}
    lost = (_lost(table, highest.get(table.name, 0), indexed.get(table.name)) for table in tables)
    in_doubt = {table.name for table in tables if table.gaps and (table.id is None or not all_known)}
    return Rescued(
        pages.application == migrate.APPLICATION_ID,
        {name: number for name, number in counts.items() if number},
        tuple(rows for rows in lost if rows.ids or (rows.table in in_doubt and not rows.certain)),
        left_out,
    )


def _rows(pages: Pages, root: int | None, gaps: list[Gap]) -> Iterator[PageRow]:
    """Yield the rows of a tree; where nothing leads to it, all of them are in one gap."""
    if root is None:
        gaps.append(Gap(0, LARGEST))
        return iter(())
    return pages.rows(root, gaps)


def _schema(pages: Pages) -> list[tuple[object, ...]]:
    """Return the rows of `sqlite_schema` that can be read."""
    return [row.values for row in pages.rows(1, []) if len(row.values) == 5]


def _table(draft: apsw.Connection, name: str) -> _Table:
    """Return a table of the draft; without columns where its schema has none of that name."""
    stored = [row for row in draft.execute(f"PRAGMA table_xinfo({name})") if row[6] != 2]  # 2: is not stored
    has_row_ids = "WITHOUT ROWID" not in str(
        draft.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (name,)).get
    )
    key = [place for place, row in enumerate(stored) if row[5]]
    id = key[0] if has_row_ids and len(key) == 1 and stored[key[0]][2] == "INTEGER" else None
    return _Table(name, [row[1] for row in stored], [row[2] for row in stored], id)


def _ids(pages: Pages, root: int | None) -> set[int] | None:
    """Return the ids of a tree; None where not all of them can be read."""
    gaps = list[Gap]()
    ids = {row.id for row in _rows(pages, root, gaps)}
    return None if gaps else ids


def _highest_ids(pages: Pages, roots: dict[str, int]) -> tuple[dict[str, int], bool]:
    """Return the highest id that each table ever gave; False where that of a table may be missing."""
    gaps = list[Gap]()
    rows = _rows(pages, roots.get("sqlite_sequence"), gaps)
    highest = {
        str(row.values[0]): row.values[1]
        for row in rows
        if len(row.values) == 2 and isinstance(row.values[1], int)
    }
    return highest, not gaps


def _set_highest_ids(draft: apsw.Connection, highest: dict[str, int], tables: Iterable[_Table]) -> None:
    """Let no id be given again that a lost row had."""
    for table in tables:
        if highest.get(table.name, 0) > max(table.ids, default=0):
            draft.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table.name,))
            draft.execute("INSERT INTO sqlite_sequence VALUES (?, ?)", (table.name, highest[table.name]))


def _take_strays(
    draft: apsw.Connection, pages: Pages, roots: dict[str, int], tables: Iterable[_Table]
) -> None:
    """Take the pages to which nothing leads any more, each into the table that its rows fit."""
    for root in roots.values():
        if root not in pages.visited:
            deque(pages.rows(root, []), maxlen=0)
    damaged = {table.name: table for table in tables if table.gaps}
    rows_of_tables = draft.execute("SELECT name FROM sqlite_schema WHERE rootpage > 0 AND type = 'table'")
    names = [str(name) for (name,) in rows_of_tables]
    every = [
        damaged.get(name) or _table(draft, name) for name in names if name in damaged or name not in KEPT
    ]
    for rows in pages.strays():
        length = max(len(row.values) for row in rows)
        fitting = [table for table in every if table.id is not None and all(map(table.takes, rows))]
        # A row from before a migration is shorter.
        fitting.sort(key=lambda table: len(table.columns) - length)
        for table in fitting:
            if table.name not in damaged or table.put(draft, rows[0]):
                for row in rows[1:] if table.name in damaged else ():
                    table.put(draft, row)
                break


def _drop_orphans(draft: apsw.Connection) -> dict[str, int]:
    """Take out the rows that belong to a lost one; return how many of each table."""
    left_out = Counter[str]()
    while broken := draft.execute("PRAGMA foreign_key_check").fetchall():
        for table, _, _, number in broken:
            key = next(row for row in draft.execute(f"PRAGMA foreign_key_list({table})") if row[0] == number)
            column, parent, parent_column = key[3], key[2], key[4] or "id"
            lost = f"{column} NOT IN (SELECT {parent_column} FROM {parent})"
            if key[6] == "SET NULL":
                draft.execute(f"UPDATE {table} SET {column} = NULL WHERE {lost}")
            else:
                draft.execute(f"DELETE FROM {table} WHERE {lost}")
                left_out[str(table)] += draft.changes()
    return +left_out


def _name_projects(draft: apsw.Connection) -> None:
    """Make a project for each name that rows have, as their triggers do: its own row may be lost."""
    if not draft.execute("SELECT 1 FROM sqlite_schema WHERE name = 'projects'").get:
        return  # a file of before projects had rows
    draft.execute(
        """
        INSERT OR IGNORE INTO projects (name)
        SELECT project FROM memories WHERE project IS NOT NULL
        UNION
        SELECT project FROM turns WHERE project <> ''
        UNION
        SELECT owner FROM facts WHERE scope = 'project' AND owner <> '' AND person IS NULL
        """
    )


def _lost(table: _Table, highest: int, indexed: set[int] | None) -> LostRows:
    """Return the ids in the gaps of a table that are not rescued, as far as the word index does not deny them."""
    end = max(highest, max(table.ids, default=0), max(indexed or (), default=0))
    lost = set[int]()
    for gap in table.gaps:
        lost.update(range(gap.low + 1, min(gap.high, end) + 1))
    lost -= table.ids
    return LostRows(
        table.name, tuple(sorted(lost if indexed is None else lost & indexed)), indexed is not None
    )
