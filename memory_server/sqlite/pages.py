"""Reads rows from the pages of a damaged file, each page for itself: where SQLite gives up, the other pages are sound.

The format: https://www.sqlite.org/fileformat2.html
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from memory_server.sqlite.free_bytes import varint

MAGIC = b"SQLite format 3\x00"
USUAL_SIZE = 4096
LARGEST = 2**63 - 1

LEAF, INNER, INDEX_LEAF, INDEX_INNER = 0x0D, 0x05, 0x0A, 0x02
"""The kinds of pages: of a table by row id, and of an index or a table without row ids."""

_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
"""Bytes of a whole number by its type in a record."""


class DamagedError(Exception):
    """The bytes are not what they should be."""


class PageRow(NamedTuple):
    """A row as its page has it: the id is beside the values; a table without row ids has 0."""

    id: int
    values: tuple[object, ...]


class Gap(NamedTuple):
    """Ids of rows that cannot be read: above `low`, and up to `high`."""

    low: int
    high: int


@dataclass(slots=True)
class Pages:
    """The pages of a file. `visited` are those that belong to a tree that was read, or to the free ones."""

    data: bytes
    size: int = USUAL_SIZE
    reserved: int = 0
    version: int | None = None
    application: int | None = None
    visited: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, data: bytes) -> "Pages":
        """Read the header; where it is damaged, what is usual is taken instead."""
        pages = cls(data)
        size = int.from_bytes(data[16:18])
        size = 65_536 if size == 1 else size
        if data[:16] == MAGIC and size >= 512 and size & (size - 1) == 0:
            pages.size, pages.reserved = size, data[20]
            pages.version = int.from_bytes(data[60:64])
            pages.application = int.from_bytes(data[68:72])
            pages._visit_free(int.from_bytes(data[32:36]))
        return pages

    @property
    def count(self) -> int:
        return len(self.data) // self.size

    def rows(self, root: int, gaps: list[Gap], low: int = 0, high: int = LARGEST) -> Iterator[PageRow]:
        """Yield the rows of a tree; `gaps` gets the ids between which a page cannot be read."""
        try:
            page, at = self._enter(root)
            if page[at] in (INDEX_LEAF, INDEX_INNER):
                yield from self._index_rows(page, at, gaps)
            elif page[at] == LEAF:
                yield from self._leaf_rows(page, at, gaps, low, high)
            elif page[at] == INNER:
                for child, key in self._children(page, at, low, high):
                    yield from self.rows(child, gaps, low, key)
                    low = key
            else:
                raise DamagedError
        except (DamagedError, IndexError, struct.error):
            gaps.append(Gap(low, high))

    def strays(self) -> Iterator[list[PageRow]]:
        """Yield the rows of each page that no tree has: what led to it was damaged."""
        for number in range(2, self.count + 1):
            if number in self.visited or self._page(number)[0] != LEAF:
                continue
            gaps = list[Gap]()
            rows = list(self.rows(number, gaps))
            if rows:
                yield rows

    def _visit_free(self, trunk: int) -> None:
        """Pass over the free pages: what is on them was deleted."""
        while 1 < trunk <= self.count and trunk not in self.visited:
            self.visited.add(trunk)
            page = self._page(trunk)
            number = min(int.from_bytes(page[4:8]), self.size // 4 - 2)
            self.visited.update(struct.unpack_from(f">{number}I", page, 8))
            trunk = int.from_bytes(page[:4])

    def _page(self, number: int) -> bytes:
        if not 1 <= number <= self.count:
            raise DamagedError
        return self.data[(number - 1) * self.size : number * self.size]

    def _enter(self, number: int) -> tuple[bytes, int]:
        """Return a page of a tree, and where in it its header begins. No page is in two trees, or twice in one."""
        if number in self.visited:
            raise DamagedError
        page = self._page(number)
        self.visited.add(number)
        return page, 100 if number == 1 else 0

    def _cells(self, page: bytes, at: int) -> tuple[int, ...]:
        begin = at + (12 if page[at] in (INNER, INDEX_INNER) else 8)
        number = int.from_bytes(page[at + 3 : at + 5])
        if begin + 2 * number > self.size:
            raise DamagedError
        return struct.unpack_from(f">{number}H", page, begin)

    def _children(self, page: bytes, at: int, low: int, high: int) -> list[tuple[int, int]]:
        """Return the pages below a page, each with the highest id in it."""
        children = list[tuple[int, int]]()
        for cell in self._cells(page, at):
            key, _ = _varint(page, cell + 4)
            if not low <= key <= high:
                raise DamagedError
            children.append((int.from_bytes(page[cell : cell + 4]), key))
            low = key
        return [*children, (int.from_bytes(page[at + 8 : at + 12]), high)]

    def _leaf_rows(self, page: bytes, at: int, gaps: list[Gap], low: int, high: int) -> Iterator[PageRow]:
        for cell in self._cells(page, at):
            try:
                length, cell = _varint(page, cell)
                id, cell = _varint(page, cell)
                if not low < id <= high:
                    raise DamagedError
                yield PageRow(id, _record(self._payload(page, cell, length, self._usable - 35)))
            except (DamagedError, IndexError, struct.error, UnicodeDecodeError):
                gaps.append(Gap(low, high))

    def _index_rows(self, page: bytes, at: int, gaps: list[Gap]) -> Iterator[PageRow]:
        is_inner = page[at] == INDEX_INNER
        for cell in self._cells(page, at):
            try:
                if is_inner:
                    yield from self.rows(int.from_bytes(page[cell : cell + 4]), gaps)
                length, cell = _varint(page, cell + 4 * is_inner)
                most = (self._usable - 12) * 64 // 255 - 23
                yield PageRow(0, _record(self._payload(page, cell, length, most)))
            except (DamagedError, IndexError, struct.error, UnicodeDecodeError):
                gaps.append(Gap(0, LARGEST))
        if is_inner:
            yield from self.rows(int.from_bytes(page[at + 8 : at + 12]), gaps)

    @property
    def _usable(self) -> int:
        return self.size - self.reserved

    def _payload(self, page: bytes, cell: int, length: int, most: int) -> bytes:
        """Return the bytes of a record, of which a long one goes on in other pages; `most` stay in the first."""
        if length > len(self.data):
            raise DamagedError
        here = length
        if length > most:
            least = (self._usable - 12) * 32 // 255 - 23
            here = least + (length - least) % (self._usable - 4)
            here = least if here > most else here
        parts = [page[cell : cell + here]]
        left, following = length - here, int.from_bytes(page[cell + here : cell + here + 4])
        while left > 0:
            more, _ = self._enter(following)
            parts.append(more[4 : 4 + min(left, self._usable - 4)])
            left, following = left - len(parts[-1]), int.from_bytes(more[:4])
        payload = b"".join(parts)
        if len(payload) != length:
            raise DamagedError
        return payload


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of 1 to 9 bytes, which may be negative, and where it ends."""
    value, end = varint(data, at)
    return value - 2**64 if value > LARGEST else value, end


def _record(payload: bytes) -> tuple[object, ...]:
    end, at = _varint(payload, 0)
    if not 0 < end <= len(payload):
        raise DamagedError
    kinds = list[int]()
    while at < end:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    values = list[object]()
    for kind in kinds:
        value, end = _value(payload, end, kind)
        values.append(value)
    if end != len(payload):
        raise DamagedError
    return tuple(values)


def _value(payload: bytes, at: int, kind: int) -> tuple[object, int]:
    """Return the value of this kind, and where it ends."""
    if kind in (0, 8, 9):
        return (None if kind == 0 else kind - 8), at
    if kind in _INTEGERS:
        end = at + _INTEGERS[kind]
        return int.from_bytes(payload[at:end], signed=True), end
    if kind == 7:
        return struct.unpack_from(">d", payload, at)[0], at + 8
    if kind < 12:
        raise DamagedError
    end = at + (kind - 12) // 2
    value = payload[at:end]
    if end > len(payload):
        raise DamagedError
    return (value.decode() if kind % 2 else value), end
