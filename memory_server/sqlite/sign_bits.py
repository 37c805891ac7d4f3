"""Keeps the sign bits of all vectors in the process, by columns: numpy scans a million in 25 ms, SQL in 340.

Those of memories are a copy of the table `embedding_bits`; those of facts, turns, short-term memories and parts are
made from the vectors. The tables `bits_changes` and `vector_changes` list the rows that have changed, also by hand:
their triggers are plain SQL. Each of their rows has a random mark, so that a file which was restored, or another one in
its place, is never taken for the one that was read.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_server.call.places import Places
from memory_server.domain.embedding import Embedded, Vector
from memory_server.domain.memory import Filter
from memory_server.sqlite import bit_rows
from memory_server.sqlite.signs import Signs
from memory_server.sqlite.tx import Tx
from memory_server.storage.vectors import PARTS, TABLES

HELD_FROM = 2_000
"""A space with so many rows is not copied: they are read in 1 ms."""

PIECE = 100_000
"""Rows that are read at a time to fill the copy: about 0.1 s. SQL answers until all are there."""

AT_ONCE = 10_000
"""Rows that are Python objects at the same time: 3 MB."""

STRAYS = 20_000
"""Rows that may stand apart from the others of their project, before all are put in order anew: 0.3 s at a million."""

SPARE = 0.05
"""Share of the rows for which there is room beyond them: to move a full copy takes 30 ms at a million."""

MOST_CHANGES = 4_000
"""Changed rows that are read one by one; the file tells a few more. Beyond, all rows are read anew."""

_BLOCK = 131_072
"""Rows of a column that are compared at a time: they fit into the cache of a processor."""

MEMORIES = bit_rows.MemoryBits()

VECTOR_TABLES = (
    (PARTS.table, "part_id"),
    *(
        (table, tables.id)
        for kind, tables in TABLES.items()
        if kind is not Embedded.MEMORIES
        for table in tables.embedded.values()
    ),
)
"""Names of tables of vectors without bits in the file, with the column of the text's id."""

_GONE = -1
"""The project of a row that was deleted."""

_FAR = np.uint16(65_535)
"""More than any distance: that of a row which was deleted."""


class SignBits:
    """The copy of one table and space, shared by all threads of a process; the first call of `nearest` begins to read
    it.
    """

    def __init__(self, source: bit_rows.BitSource = MEMORIES) -> None:
        self._source = source
        self._turn = Places(1)
        """The thread that has it reads the file: that can take as long as another program keeps the file locked."""
        self._copy: _Copy | None = None
        self._few: dict[int, range] = {}
        """By space the ids of changes at which it surely has too few rows: a change adds one row at most."""

    def nearest(self, tx: Tx, space_id: int, query: Vector, filter: Filter, limit: int) -> Signs | None:
        """Return the signs of the `limit` vectors with the fewest different signs, in no order.

        Of vectors that differ as much, those with the smaller ids. None where SQL must answer: few rows, a copy that
        is not whole yet, a filter by tags or time, or a transaction that has changed the file itself.
        """
        if not _is_known(filter) or not self._turn.enter():
            return None
        try:
            copy = self._filled(tx, space_id, len(query))
            return None if copy is None else copy.nearest(query, filter, limit, self._source.visible(tx))
        finally:
            self._turn.leave()

    def fill(self, tx: Tx, space_id: int, dimensions: int) -> bool:
        """Read a piece more of the copy, unless a search does; true while there is more to read."""
        if not self._turn.enter(0):
            return False
        try:
            self._filled(tx, space_id, dimensions)
            return self._copy is not None and not self._copy.is_whole
        finally:
            self._turn.leave()

    def passing(
        self, tx: Tx, space_id: int, ids: NDArray[np.int64], filter: Filter
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
        """Return two arrays in the shape of `ids`: true for a memory that passes, and true for one that the copy lacks.

        It lacks those that wait for a vector. None where SQL must answer for all.
        """
        if not _is_known(filter) or not self._turn.enter():
            return None
        try:
            copy = self._renewed(tx, space_id)
            return None if copy is None or not copy.is_whole else copy.passing(ids, filter)
        finally:
            self._turn.leave()

    def _renewed(self, tx: Tx, space_id: int) -> "_Copy | None":
        """Return the copy, even if it is not whole, after reading what has changed; None where there is none."""
        if not tx.sees_only_committed:
            return None
        if self._copy is not None and (
            self._copy.space_id != space_id
            or not self._copy.renew(tx, bit_rows.last_change(tx, self._source))
        ):
            self._copy = None
        return self._copy

    def _filled(self, tx: Tx, space_id: int, dimensions: int) -> "_Copy | None":
        """Return the copy once it is whole, else None; each call reads a piece more of it."""
        if not tx.sees_only_committed:
            return None
        copy, last = self._renewed(tx, space_id), bit_rows.last_change(tx, self._source)
        if copy is None:
            if last[0] in self._few.get(space_id, ()):
                return None
            rows = bit_rows.count(tx, self._source.table, space_id, HELD_FROM)
            if rows <= HELD_FROM:
                self._few[space_id] = range(last[0], last[0] + HELD_FROM - rows + 1)
                return None
            copy = self._copy = _Copy(self._source, space_id, dimensions, last, rows)
        if not copy.is_whole:
            copy.fill(tx)
            if copy.is_whole and not copy.renew(tx, last):
                copy = self._copy = None
        return copy if copy and copy.is_whole else None


class _Copy:
    """The rows of a table, by columns; the first `_number` places of each column are in use.

    Once all rows are read, those of a project stand together. A row that was added or moved since then is a stray.
    Projects and types are codes: their number in `_names`. Bits are packed as `_in_columns` says.
    """

    def __init__(
        self, source: bit_rows.BitSource, space_id: int, dimensions: int, last: bit_rows.Change, rows: int
    ) -> None:
        self.space_id = space_id
        self._source = source
        self.is_whole = False
        self._last = last
        self._bytes = dimensions // 8
        self._names: dict[bytes, int] = {}
        self._number = 0
        self._read_to: tuple[bytes, int] = (b"", -1)
        room = _with_spare(rows)
        self._ids = np.zeros(room, np.int64)
        self._order = np.zeros(room, np.int64)
        """The places of the rows, in the order of their ids."""
        self._projects = np.zeros(room, np.int32)
        self._types = np.zeros(room, np.int32)
        self._importances = np.zeros(room, np.uint8)
        self._columns = np.zeros((-(-self._bytes // 8), room), np.uint64)
        self._together: dict[int, slice] = {}
        """By code the places of each project's rows, among the first `_in_order` places."""
        self._in_order = 0
        self._moved: set[int] = set()
        """Those of the first `_in_order` places whose row now belongs to another project."""

    # Filling

    def fill(self, tx: Tx) -> None:
        """Read the next rows of the table, in the order of its key."""
        for _ in range(0, PIECE // self._source.cost, AT_ONCE):
            rows = self._source.after(tx, self.space_id, self._read_to, AT_ONCE)
            self._append(rows)
            if len(rows) < AT_ONCE:
                self._arrange()
                self.is_whole = True
                return
            self._read_to = (rows[-1][1], rows[-1][0])

    def renew(self, tx: Tx, last: bit_rows.Change) -> bool:
        """Read the rows that were changed since the copy was read; false where it must be read anew."""
        if last == self._last:
            return True
        changed = bit_rows.changed_since(tx, self._source, self._last)
        if changed is None or len(changed) > MOST_CHANGES:
            return False
        if self.is_whole:
            self._put(np.array(changed, np.int64), self._source.of(tx, self.space_id, changed))
            self._last = last
        return True  # while it is read, what has changed is read at the end

    def _append(self, rows: Sequence[tuple[Any, ...]]) -> None:
        rows = [row for row in rows if len(row[4]) == self._bytes]
        start, end = self._number, self._number + len(rows)
        if end > len(self._ids):
            self._make_room(_with_spare(end))
        self._write(np.arange(start, end), rows)
        self._number = end

    def _write(self, places: NDArray[np.int64], rows: Sequence[tuple[Any, ...]]) -> None:
        if not rows:
            return
        ids, projects, types, importances, bits = zip(*rows, strict=True)
        names = self._names
        self._ids[places] = ids
        self._projects[places] = [names.setdefault(name, len(names)) for name in projects]
        self._types[places] = [names.setdefault(name, len(names)) for name in types]
        self._importances[places] = np.clip(importances, 0, 255)
        self._columns[:, places] = _in_columns(b"".join(bits), len(rows), self._bytes)

    def _put(self, changed: NDArray[np.int64], rows: Sequence[tuple[Any, ...]]) -> None:
        """Replace the rows of the changed memories by these; a memory without a row is gone."""
        places, is_present = self._places(changed)
        self._projects[places[is_present]] = _GONE
        rows = sorted(row for row in rows if len(row[4]) == self._bytes)
        places, is_present = self._places(np.array([row[0] for row in rows], np.int64))
        self._write(
            places[is_present], [row for row, present in zip(rows, is_present, strict=True) if present]
        )
        self._moved.update(filter(self._stands_apart, places[is_present].tolist()))
        new_rows = [row for row, present in zip(rows, is_present, strict=True) if not present]
        if new_rows:
            self._add(new_rows)
        if self._number - self._in_order + len(self._moved) > STRAYS:
            self._arrange()

    def _add(self, new_rows: Sequence[tuple[Any, ...]]) -> None:
        """Add rows of ascending ids that the copy lacks."""
        start = self._number
        self._append(new_rows)
        known_order, added = self._order[:start], np.arange(start, self._number)
        positions = np.searchsorted(self._ids[:start], self._ids[added], sorter=known_order)
        first_position = int(positions[0])  # mostly the end: to move all behind it takes 2 ms at a million
        self._order[first_position : self._number] = np.insert(
            known_order[first_position:], positions - first_position, added
        )

    def _stands_apart(self, place: int) -> bool:
        together = self._together.get(int(self._projects[place]), slice(0, 0))
        return place < self._in_order and not together.start <= place < together.stop

    def _places(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the places of these ids, and true for each id that has one; both in the shape of `ids`."""
        order = self._order[: self._number]
        positions = np.searchsorted(self._ids[: self._number], ids, sorter=order)
        is_present = positions < self._number
        places = np.zeros(len(ids), np.int64)
        places[is_present] = order[positions[is_present]]
        is_present[is_present] = self._ids[places[is_present]] == ids[is_present]
        return places, is_present

    def _arrange(self) -> None:
        """Sort the rows by project, then by id, and drop those of deleted memories.

        Of two rows with the same id the later one stays: the memory was moved while the table was read.
        """
        order = np.argsort(self._ids[: self._number], kind="stable")
        if not self._is_arranged(order):
            self._rearrange(order)
            order = np.argsort(self._ids[: self._number], kind="stable")
        self._in_order = self._number
        self._moved.clear()
        self._order[: self._number] = order
        projects = self._projects[: self._number]
        numbers = np.unique(projects)
        starts, ends = (np.searchsorted(projects, numbers, side).tolist() for side in ("left", "right"))
        self._together = {
            number: slice(start, end)
            for number, start, end in zip(numbers.tolist(), starts, ends, strict=True)
        }

    def _is_arranged(self, by_id: NDArray[np.int64]) -> bool:
        """True if the rows already stand as `_arrange` wants them, as after a reading without changes.

        `by_id` has the places in the order of their ids; shape (rows,).
        """
        ids, projects = self._ids[: self._number], self._projects[: self._number]
        if (projects == _GONE).any() or (projects[1:] < projects[:-1]).any():
            return False
        follows = (ids[1:] > ids[:-1]) | (projects[1:] > projects[:-1])
        ordered = ids[by_id]
        return bool(follows.all() and (ordered[1:] != ordered[:-1]).all())

    def _rearrange(self, by_id: NDArray[np.int64]) -> None:
        ids, projects = self._ids[: self._number], self._projects[: self._number]
        is_last = np.append(ids[by_id[1:]] != ids[by_id[:-1]], True)[: len(ids)]
        remaining = by_id[is_last & (projects[by_id] != _GONE)]
        remaining = remaining[np.argsort(projects[remaining], kind="stable")]
        for column in self._all():
            column[: len(remaining)] = column[remaining]
        self._number = len(remaining)

    def _make_room(self, rows: int) -> None:
        more = rows - len(self._ids)
        self._ids, self._order, self._projects, self._types, self._importances = (
            np.concatenate([column, np.zeros(more, column.dtype)])
            for column in (self._ids, self._order, self._projects, self._types, self._importances)
        )
        self._columns = np.concatenate(
            [self._columns, np.zeros((len(self._columns), more), np.uint64)], axis=1
        )

    def _all(self) -> Iterator[NDArray[Any]]:
        yield from (self._ids, self._projects, self._types, self._importances)
        yield from self._columns

    # Searching

    def nearest(self, query: Vector, filter: Filter, limit: int, visible: bit_rows.Visible | None) -> Signs:
        query_bits = _in_columns(np.packbits(query > 0, bitorder="little").tobytes(), 1, self._bytes)[:, 0]
        is_visible = None if visible is None else self._visible(visible)
        places: list[NDArray[np.int64]] = []
        distances: list[NDArray[np.uint16]] = []
        for rows in self._rows_of(filter):
            distances_of_rows = _distances(self._columns[:, rows], query_bits)
            distances_of_rows[~self._passes(rows, filter)] = _FAR
            if is_visible is not None:
                distances_of_rows[~is_visible[rows]] = _FAR
            best = _nearest(self._ids[rows], distances_of_rows, limit)
            places.append(best + rows.start if isinstance(rows, slice) else rows[best])
            distances.append(distances_of_rows[best])
        every = np.concatenate(places)
        chosen = every[_nearest(self._ids[every], np.concatenate(distances), limit)]
        words = np.ascontiguousarray(self._columns[:, chosen].T)
        return Signs(self._ids[chosen], words.view(np.uint8)[:, : self._bytes])

    def _rows_of(self, filter: Filter) -> "list[slice | NDArray[np.int64]]":
        """Return the places where the rows of a filter's project can be, no place twice."""
        if filter.project is None:
            return [slice(0, self._number)]
        project_code = self._names.get(filter.project.encode(), _GONE)
        together = self._together.get(project_code, slice(0, 0))
        apart = [place for place in self._moved if not together.start <= place < together.stop]
        return [together, slice(self._in_order, self._number), np.array(sorted(apart), np.int64)]

    def passing(self, ids: NDArray[np.int64], filter: Filter) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        places, is_present = self._places(ids)
        is_present[is_present] = self._projects[places[is_present]] != _GONE
        passing = np.zeros(len(ids), bool)
        passing[is_present] = self._passes(places[is_present], filter)
        return passing, ~is_present

    def _visible(self, visible: bit_rows.Visible) -> NDArray[np.bool_]:
        """Return true for each row that a person sees; shape (rows,)."""
        names = self._names if visible.projects is None else {name.encode() for name in visible.projects}
        codes = [code for name, code in self._names.items() if name and name in names]
        is_row_visible: NDArray[np.bool_] = np.isin(self._projects[: self._number], codes)
        for ids, is_visible in ((visible.hidden_ids, False), (visible.own_ids, True)):
            places, is_present = self._places(np.array(ids, np.int64))
            is_row_visible[places[is_present]] = is_visible
        return is_row_visible

    def _passes(self, rows: "slice | NDArray[np.int64]", filter: Filter) -> NDArray[np.bool_]:
        passing: NDArray[np.bool_] = self._projects[rows] != _GONE
        if filter.project is not None:
            passing &= self._projects[rows] == self._names.get(filter.project.encode(), _GONE - 1)
        if filter.type is not None:
            passing &= self._types[rows] == self._names.get(filter.type.value.encode(), _GONE - 1)
        if filter.min_importance is not None:
            passing &= self._importances[rows] >= filter.min_importance
        return passing


class TableBits:
    """A copy for each table of vectors that has no bits in the file, by its name."""

    def __init__(self) -> None:
        self.by_table = {table: SignBits(bit_rows.VectorBits(table, id)) for table, id in VECTOR_TABLES}


def copy_of(tx: Tx) -> SignBits | None:
    """Return the copy of memories that the process keeps; None where it keeps none, and SQL must answer."""
    return None if tx.copies is None else tx.copies.of(SignBits)


def copy_of_table(tx: Tx, table: str) -> SignBits | None:
    """Return the copy of a table of vectors that the process keeps; None where it keeps none."""
    return None if tx.copies is None else tx.copies.of(TableBits).by_table.get(table)


def _is_known(filter: Filter) -> bool:
    """True if a filter needs only columns that the copy has."""
    return not (filter.tags or filter.since or filter.until or filter.confirmed)


def _with_spare(rows: int) -> int:
    return int(rows * (1 + SPARE)) + 1_000


def _in_columns(bits: bytes, rows: int, length: int) -> NDArray[np.uint64]:
    """Pack `rows` rows of `length` bytes into an array of shape (words of 64 bits, rows), zeros behind the last
    byte.
    """
    wide = np.zeros((rows, -(-length // 8) * 8), np.uint8)
    wide[:, :length] = np.frombuffer(bits, np.uint8).reshape(rows, length)
    return wide.view(np.uint64).T


def _distances(columns: NDArray[np.uint64], query_bits: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """Count the bits in which each row differs from the query (Hamming distance).

    `columns` has the shape (words, rows), `query_bits` (words,), the result (rows,).
    """
    distances = np.zeros(columns.shape[1], np.uint16)
    for start in range(0, len(distances), _BLOCK):
        block = distances[start : start + _BLOCK]
        for column, bits in zip(columns, query_bits, strict=True):
            block += np.bitwise_count(column[start : start + _BLOCK] ^ bits)
    return distances


def _nearest(ids: NDArray[np.int64], distances: NDArray[np.uint16], limit: int) -> NDArray[np.int64]:
    """Return the places of the `limit` smallest distances, in no order; among equals those of the smaller ids.

    `ids` and `distances` have the shape (rows,). A row at the distance _FAR is left out.
    """
    if len(distances) <= limit:
        return np.flatnonzero(distances != _FAR)
    most = np.partition(distances, limit - 1)[limit - 1]
    nearer = np.flatnonzero(distances < most)
    equal = np.flatnonzero((distances == most) & (distances != _FAR))
    return np.concatenate([nearer, equal[np.argsort(ids[equal])][: limit - len(nearer)]])
