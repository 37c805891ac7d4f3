"""Looks into copies of a database: do they hold all that is left of something, or what was erased since?"""

from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import lru_cache
from pathlib import Path

import apsw

from memory_server.sqlite import migrate, pragmas

_TABLES = ("memories", "facts", "turns", "short_term_memories", "long_term_memories")
"""What people would miss."""


def is_last(copy: Path, database: apsw.Connection) -> bool:
    """True if a copy is of another database, or shares no row with this one and has rows that this one never had.

    So it is after the restore of another database, or of an empty one. A copy of an earlier state shares rows with the
    database, unless all of them were erased there since.
    """
    if copy.is_symlink():
        return False
    try:
        with closing(pragmas.connected(copy, apsw.SQLITE_OPEN_READONLY)) as connection:
            same = migrate.made_at(connection) == migrate.made_at(database)
            unknown = False
            for table, id, created_at in _rows(connection):
                row = database.execute(f"SELECT created_at FROM {table} WHERE id = ?", (id,)).get
                if row == created_at and same:
                    return False
                unknown |= not same or row is not None or id > _highest_ever(database, table)
            return unknown
    except (apsw.NotADBError, apsw.CorruptError, apsw.SQLError):  # no whole copy, or none of ours
        return False
    except apsw.Error:  # it cannot be looked into now
        return True


def may_hold(copy: Path, made_at: str, erased: Mapping[str, int]) -> bool:
    """True if a copy is of the database that was made at this moment, and later than the first row that was erased:
    `erased` has the smallest id in each table. Ids only grow, whatever dates the rows have.
    """
    try:
        status = copy.stat()
        copy_made_at, highest = _highest_ids(copy, status.st_mtime_ns, status.st_size)
    except FileNotFoundError:
        return False
    except (apsw.NotADBError, apsw.SQLError):  # none of ours
        return False
    except apsw.Error:  # damaged, or it cannot be looked into now
        return True
    return copy_made_at == made_at and any(highest.get(table, 0) >= id for table, id in erased.items())


@lru_cache(maxsize=512)
def _highest_ids(copy: Path, _written: int, _size: int) -> tuple[str, dict[str, int]]:
    """Return when the database of a copy was made, and the highest id that each table ever had. A copy is opened once
    as long as it stays the same: many things may be purged one after the other."""
    with closing(pragmas.connected(copy, apsw.SQLITE_OPEN_READONLY)) as connection:
        rows = connection.execute("SELECT name, seq FROM sqlite_sequence")
        return migrate.made_at(connection), {str(name): int(str(seq)) for name, seq in rows}


def _rows(connection: apsw.Connection) -> Iterator[tuple[str, int, object]]:
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    for table in filter(names.__contains__, _TABLES):
        for id, created_at in connection.execute(f"SELECT id, created_at FROM {table}"):
            yield table, int(str(id)), created_at


def _highest_ever(connection: apsw.Connection, table: str) -> int:
    highest = connection.execute("SELECT max(seq) FROM sqlite_sequence WHERE name = ?", (table,)).get
    return int(highest or 0)
