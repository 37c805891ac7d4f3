"""The sign bits of all memories, held in the process by columns: numpy looks through a million in 25 ms, SQL in 340.

They are a copy of the table `embedding_bits`. The table `bits_changes` tells which of its rows have changed, whoever
changed them, also by hand: its triggers are plain SQL. Each of its rows has a random mark, so that a file which was
restored, or another one in its place, is never taken for the one that was read.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_server.call.places import Places
from memory_server.domain.embedding import Vector
from memory_server.domain.memory import Filter
from memory_server.sqlite import bit_rows
from memory_server.sqlite.tx import Tx

HELD_FROM = 2_000
"""Rows of a space from which on they are held: fewer are read in 1 ms."""

PIECE = 100_000
"""Rows that one search reads at most to fill the copy: about 0.1 s. SQL answers until all are there."""

AT_ONCE = 10_000
"""Rows that are Python objects at the same time: 3 MB."""

STRAYS = 20_000
"""Rows that may stand apart from the others of their project, before all are put in order anew: 0.3 s at a million."""

SPARE = 0.05
"""Share of the rows for which there is room beyond them: to move a full copy takes 30 ms at a million."""

MOST_CHANGES = 4_000
"""Changed rows that are read one by one; `bits_changes` keeps a few more. Beyond, all rows are read anew."""

_BLOCK = 131_072
"""Rows of a column that are compared at a time: they fit into the cache of a processor."""

_GONE = -1
"""The project of a row that was deleted."""

_FAR = np.uint16(65_535)
"""More than any distance: that of a row which was deleted."""


class SignBits:
    """The copy for one space, for all threads of a process. Nothing is read before somebody asks for the nearest."""

    def __init__(self) -> None:
        self._turn = Places(1)
        """Who has it reads the file: that can take as long as another program keeps the file locked."""
        self._held: _Held | None = None
        self._few: dict[int, range] = {}
        """Of each space the changes up to which it has too few rows: each one adds a row at most."""

    def nearest(
        self, tx: Tx, space_id: int, query: Vector, wanted: Filter, limit: int
    ) -> NDArray[np.int64] | None:
        """The ids of the memories with the fewest different signs, at most `limit`: the smaller id first among equals.

        None where SQL must answer: few rows, a copy that is not whole yet, a filter by tags or time, or a
        transaction that has changed the file itself.
        """
        if not _is_known(wanted) or not self._turn.enter():
            return None
        try:
            held = self._filled(tx, space_id, len(query))
            return None if held is None else held.nearest(query, wanted, limit, bit_rows.seen(tx))
        finally:
            self._turn.leave()

    def passing(
        self, tx: Tx, space_id: int, ids: NDArray[np.int64], wanted: Filter
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
        """Which of these memories a filter lets pass, and which are not known here, as those that wait for a vector.

        None where SQL must answer for all.
        """
        if not _is_known(wanted) or not self._turn.enter():
            return None
        try:
            held = self._renewed(tx, space_id)
            return None if held is None or not held.is_whole else held.passing(ids, wanted)
        finally:
            self._turn.leave()

    def _renewed(self, tx: Tx, space_id: int) -> "_Held | None":
        """The copy, as this transaction sees the file, as far as it is filled."""
        if not tx.sees_only_committed:
            return None
        if self._held is not None and (
            self._held.space_id != space_id or not self._held.renew(tx, bit_rows.last_change(tx))
        ):
            self._held = None
        return self._held

    def _filled(self, tx: Tx, space_id: int, dimensions: int) -> "_Held | None":
        """The copy once it is whole; with each call it gets a piece more."""
        if not tx.sees_only_committed:
            return None
        held, last = self._renewed(tx, space_id), bit_rows.last_change(tx)
        if held is None:
            if last[0] in self._few.get(space_id, ()):
                return None
            rows = bit_rows.count(tx, space_id, HELD_FROM)
            if rows <= HELD_FROM:
                self._few[space_id] = range(last[0], last[0] + HELD_FROM - rows + 1)
                return None
            held = self._held = _Held(space_id, dimensions, last, rows)
        if not held.is_whole:
            held.fill(tx)
            if held.is_whole and not held.renew(tx, last):
                held = self._held = None
        return held if held and held.is_whole else None


class _Held:
    """The rows. Those of a project stand together once all are there; what was added or moved since then is a stray."""

    def __init__(self, space_id: int, dimensions: int, last: bit_rows.Change, rows: int) -> None:
        self.space_id = space_id
        self.is_whole = False
        self._last = last
        self._bytes = dimensions // 8
        self._names: dict[bytes, int] = {}
        self._number = 0
        self._read_to: tuple[bytes, int] = (b"", -1)
        room = _with_spare(rows)
        self._ids = np.zeros(room, np.int64)
        self._order = np.zeros(room, np.int64)
        """The places of the rows, by ascending id."""
        self._projects = np.zeros(room, np.int32)
        self._types = np.zeros(room, np.int32)
        self._importances = np.zeros(room, np.uint8)
        self._columns = np.zeros((-(-self._bytes // 8), room), np.uint64)
        self._together: dict[int, slice] = {}
        """Where the rows of each project stand together, among the first `_in_order`."""
        self._in_order = 0
        self._moved: set[int] = set()
        """The places among these whose project is another one now."""

    # Reading

    def fill(self, tx: Tx) -> None:
        """Read the next rows of the table, in the order of its key."""
        for _ in range(0, PIECE, AT_ONCE):
            rows = bit_rows.after(tx, self.space_id, self._read_to, AT_ONCE)
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
        changed = bit_rows.changed_since(tx, self._last)
        if changed is None or len(changed) > MOST_CHANGES:
            return False
        if self.is_whole:
            self._put(np.array(changed, np.int64), bit_rows.of(tx, self.space_id, changed))
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
        """Let the rows of changed memories be these."""
        places, there = self._places(changed)
        self._projects[places[there]] = _GONE
        rows = sorted(row for row in rows if len(row[4]) == self._bytes)
        places, there = self._places(np.array([row[0] for row in rows], np.int64))
        self._write(places[there], [row for row, known in zip(rows, there, strict=True) if known])
        self._moved.update(filter(self._stands_apart, places[there].tolist()))
        new = [row for row, known in zip(rows, there, strict=True) if not known]
        if new:
            self._add(new)
        if self._number - self._in_order + len(self._moved) > STRAYS:
            self._arrange()

    def _add(self, new: Sequence[tuple[Any, ...]]) -> None:
        """Add rows of ascending ids that are not there yet."""
        start = self._number
        self._append(new)
        known, added = self._order[:start], np.arange(start, self._number)
        where = np.searchsorted(self._ids[:start], self._ids[added], sorter=known)
        least = int(where[0])  # mostly the end: to move all behind it takes 2 ms at a million
        self._order[least : self._number] = np.insert(known[least:], where - least, added)

    def _stands_apart(self, place: int) -> bool:
        together = self._together.get(int(self._projects[place]), slice(0, 0))
        return place < self._in_order and not together.start <= place < together.stop

    def _places(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Where these ids are, and which of them are there at all."""
        order = self._order[: self._number]
        found = np.searchsorted(self._ids[: self._number], ids, sorter=order)
        there = found < self._number
        places = np.zeros(len(ids), np.int64)
        places[there] = order[found[there]]
        there[there] = self._ids[places[there]] == ids[there]
        return places, there

    def _arrange(self) -> None:
        """Let the rows of each project stand together, by ascending id, without those that have gone.

        Of two with an id the later one stays: a memory that was moved while the table was read.
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
        """So the table gives them, where nothing was changed while it was read: then nothing is copied."""
        ids, projects = self._ids[: self._number], self._projects[: self._number]
        if (projects == _GONE).any() or (projects[1:] < projects[:-1]).any():
            return False
        follows = (ids[1:] > ids[:-1]) | (projects[1:] > projects[:-1])
        ordered = ids[by_id]
        return bool(follows.all() and (ordered[1:] != ordered[:-1]).all())

    def _rearrange(self, by_id: NDArray[np.int64]) -> None:
        ids, projects = self._ids[: self._number], self._projects[: self._number]
        last = np.append(ids[by_id[1:]] != ids[by_id[:-1]], True)[: len(ids)]
        kept = by_id[last & (projects[by_id] != _GONE)]
        kept = kept[np.argsort(projects[kept], kind="stable")]
        for column in self._all():
            column[: len(kept)] = column[kept]
        self._number = len(kept)

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

    # Asking

    def nearest(
        self, query: Vector, wanted: Filter, limit: int, seen: bit_rows.Seen | None
    ) -> NDArray[np.int64]:
        asked = _in_columns(np.packbits(query > 0, bitorder="little").tobytes(), 1, self._bytes)[:, 0]
        is_seen = None if seen is None else self._seen(seen)
        ids: list[NDArray[np.int64]] = []
        distances: list[NDArray[np.uint16]] = []
        for rows in self._rows_of(wanted):
            found = _distances(self._columns[:, rows], asked)
            found[~self._passing(rows, wanted)] = _FAR
            if is_seen is not None:
                found[~is_seen[rows]] = _FAR
            of_rows = self._ids[rows]
            best = _nearest(of_rows, found, limit)
            ids.append(of_rows[best])
            distances.append(found[best])
        every = np.concatenate(ids)
        return every[_nearest(every, np.concatenate(distances), limit)]

    def _rows_of(self, wanted: Filter) -> "list[slice | NDArray[np.int64]]":
        """Where the rows that a filter lets pass can be, each place once."""
        if wanted.project is None:
            return [slice(self._number)]
        number = self._names.get(wanted.project.encode(), _GONE)
        together = self._together.get(number, slice(0, 0))
        apart = [place for place in self._moved if not together.start <= place < together.stop]
        return [together, slice(self._in_order, self._number), np.array(sorted(apart), np.int64)]

    def passing(self, ids: NDArray[np.int64], wanted: Filter) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        places, there = self._places(ids)
        there[there] = self._projects[places[there]] != _GONE
        passing = np.zeros(len(ids), bool)
        passing[there] = self._passing(places[there], wanted)
        return passing, ~there

    def _seen(self, seen: bit_rows.Seen) -> NDArray[np.bool_]:
        """Which rows a person sees."""
        names = self._names if seen.projects is None else {each.encode() for each in seen.projects}
        codes = [code for name, code in self._names.items() if name and name in names]
        found: NDArray[np.bool_] = np.isin(self._projects[: self._number], codes)
        for ids, is_seen in ((seen.hidden, False), (seen.own, True)):
            places, there = self._places(np.array(ids, np.int64))
            found[places[there]] = is_seen
        return found

    def _passing(self, rows: "slice | NDArray[np.int64]", wanted: Filter) -> NDArray[np.bool_]:
        passing: NDArray[np.bool_] = self._projects[rows] != _GONE
        if wanted.project is not None:
            passing &= self._projects[rows] == self._names.get(wanted.project.encode(), _GONE - 1)
        if wanted.type is not None:
            passing &= self._types[rows] == self._names.get(wanted.type.value.encode(), _GONE - 1)
        if wanted.min_importance is not None:
            passing &= self._importances[rows] >= wanted.min_importance
        return passing


def held_by(tx: Tx) -> SignBits | None:
    """The sign bits that the process keeps; None where the file alone is to answer."""
    return None if tx.copies is None else tx.copies.of(SignBits)


def _is_known(wanted: Filter) -> bool:
    """Whether a filter asks only for what the copy has of each memory."""
    return not (wanted.tags or wanted.since or wanted.until)


def _with_spare(rows: int) -> int:
    return int(rows * (1 + SPARE)) + 1_000


def _in_columns(bits: bytes, rows: int, length: int) -> NDArray[np.uint64]:
    """The bits of rows of so many bytes: 64 of each row in a column, zeros behind the last."""
    wide = np.zeros((rows, -(-length // 8) * 8), np.uint8)
    wide[:, :length] = np.frombuffer(bits, np.uint8).reshape(rows, length)
    return wide.view(np.uint64).T


def _distances(columns: NDArray[np.uint64], asked: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """In how many bits each row differs (Hamming distance)."""
    found = np.zeros(columns.shape[1], np.uint16)
    for start in range(0, len(found), _BLOCK):
        block = found[start : start + _BLOCK]
        for column, bits in zip(columns, asked, strict=True):
            block += np.bitwise_count(column[start : start + _BLOCK] ^ bits)
    return found


def _nearest(ids: NDArray[np.int64], distances: NDArray[np.uint16], limit: int) -> NDArray[np.int64]:
    """The places of the smallest distances, in no order; among equals of the smaller id. None that is _FAR."""
    if len(distances) <= limit:
        return np.flatnonzero(distances != _FAR)
    most = np.partition(distances, limit - 1)[limit - 1]
    nearer = np.flatnonzero(distances < most)
    equal = np.flatnonzero((distances == most) & (distances != _FAR))
    return np.concatenate([nearer, equal[np.argsort(ids[equal])][: limit - len(nearer)]])
