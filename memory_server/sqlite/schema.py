"""Compares the SQL in a file with ours: what is missing, changed, or foreign."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import apsw

from memory_server.errors import Mend, Unavailable
from memory_server.sqlite import pragmas, rights
from memory_server.storage.packaged import Migration

NEWEST = (39, "ef4ee8c9b024f8ea7a22562fdd7a1a17931d9772b9bb7db516758285a48e5f60")
"""The newest version of the schema and the digest of its SQL: a file that has it need not be compared further."""

_STARTS = {
    "table": ("CREATE TABLE ", "CREATE VIRTUAL TABLE "),
    "index": ("CREATE INDEX ", "CREATE UNIQUE INDEX "),
}
"""How the SQL of what a user may add begins. SQLite goes by the SQL of a row, whatever its type says."""

_MADE_ANEW = ("trigger", "view", "index")
"""The types of objects that hold no rows."""

_NAMED = 5
"""Objects that a message names; of the others it says how many they are."""

_LONGEST = 60
"""Characters of a name that a message shows: whoever made the file has chosen it."""


class Object(NamedTuple):
    """A row of `sqlite_schema` that has SQL."""

    type: str
    name: str
    table: str
    sql: str

    def __str__(self) -> str:
        of = ("on", self.table) if self.type in ("trigger", "index") else ()
        return " ".join(" ".join(part.split())[:_LONGEST] for part in (self.type, self.name, *of))


Ours = dict[tuple[str, str], Object]


@dataclass(frozen=True, slots=True)
class Difference:
    """The foreign objects of a file, the tables of ours that were changed, and the objects of ours that are missing."""

    foreign: tuple[Object, ...] = ()
    changed: tuple[Object, ...] = ()
    missing: tuple[Object, ...] = ()


def digest(connection: apsw.Connection) -> str:
    """The digest of all SQL of a file but that of the user's own tables and their indexes."""
    texts = "\0".join("\0".join(row) for row in _objects(connection))
    return hashlib.sha256(texts.encode()).hexdigest()


def difference(connection: apsw.Connection, migrations: Sequence[Migration]) -> Difference:
    """Compare the SQL of a file with that of the migrations that were applied to it."""
    if migrations and (migrations[-1].version, digest(connection)) == NEWEST:
        return Difference()
    ours, rows = _ours(tuple(migrations)), list(_objects(connection))
    unlike = [row for row in rows if not _same(row, ours.get(row[:2]))]
    changed = [row for row in unlike if _starts(row, "table")]
    names = {row[:2] for row in rows}
    return Difference(
        tuple(row for row in unlike if row not in changed),
        tuple(row for row in changed if row[:2] in ours),
        tuple(row for key, row in ours.items() if row.type in _MADE_ANEW and key not in names),
    )


def refuse_foreign(connection: apsw.Connection, migrations: Sequence[Migration]) -> None:
    """Raises Unavailable where a file has triggers, views or indexes that are not ours, or changed tables of ours."""
    changes = difference(connection, migrations)
    refuse_changed(changes)
    if changes.foreign:
        raise Unavailable(
            f"The database holds SQL that is not of this program: {listed(changes.foreign)}. Nothing was read.",
            Mend.REMOVE_FOREIGN_SQL,
        )


def refuse_changed(changes: Difference) -> None:
    """Raises Unavailable where tables of ours were changed: they hold rows, so they cannot be rebuilt."""
    if changes.changed:
        raise Unavailable(
            f"Another program has changed the definition of {listed(changes.changed)} in the database. "
            "Nothing was read. A column that was added can be dropped again: ALTER TABLE … DROP COLUMN.",
            Mend.RESTORE,
        )


def mend(connection: apsw.Connection, migrations: Sequence[Migration]) -> list[str]:
    """Remove what is not ours and make what is missing, in one transaction; what was done, a line each.

    Raises:
        Unavailable: tables of ours were changed, or something foreign cannot be removed.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        foreign = difference(connection, migrations).foreign
        for row in foreign:
            if row.type in _MADE_ANEW:
                name = row.name.replace('"', '""')
                connection.execute(f'DROP {row.type} IF EXISTS "{name}"')
        missing = difference(connection, migrations).missing
        for row in missing:
            connection.execute(row.sql)
        refuse_foreign(connection, migrations)
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return [
        *(f"removed {row}: it is not of this program" for row in foreign),
        *(f"made {row} anew" for row in missing),
    ]


def listed(rows: Sequence[Object]) -> str:
    """Name some objects, and count the others."""
    more = f" and {len(rows) - _NAMED} more" if len(rows) > _NAMED else ""
    return ", ".join(map(str, rows[:_NAMED])) + more


def _objects(connection: apsw.Connection) -> Iterator[Object]:
    """All SQL of a file but that of the user's own tables and their indexes."""
    rows = connection.execute(
        """
        SELECT ifnull(type, '') || '', ifnull(name, '') || '', ifnull(tbl_name, '') || '', sql || ''
        FROM sqlite_schema
        WHERE sql IS NOT NULL
        ORDER BY name, type
        """
    )
    for row in map(Object._make, rows):
        if rights.is_ours(row.table) or not (_starts(row, "table") or _starts(row, "index")):
            yield row


def _starts(row: Object, type: str) -> bool:
    """True for an object of this type by its SQL too: SQLite obeys that, and a forger can write any type beside it."""
    return row.type == type and row.sql.startswith(_STARTS[type])


def _same(row: Object, ours: Object | None) -> bool:
    """Equal; in the SQL of a table spaces and quotes aside, which ALTER TABLE may write otherwise in another SQLite."""
    if ours is None or row == ours:
        return ours is not None
    return _starts(row, "table") and row[:3] == ours[:3] and _bare(row.sql) == _bare(ours.sql)


def _bare(sql: str) -> str:
    return re.sub(r'[\s"]+', "", sql)


@lru_cache(maxsize=2)
def _ours(migrations: tuple[Migration, ...]) -> Ours:
    """The objects that these migrations make, by type and name, in the order of making. Takes a tenth of a second."""
    with closing(pragmas.connected(":memory:")) as connection:
        for migration in migrations:
            connection.execute(migration.path.read_text(encoding="utf-8"))
        rows = connection.execute(
            "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid"
        ).fetchall()
    return {row[:2]: row for row in map(Object._make, rows)}
