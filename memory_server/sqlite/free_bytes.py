"""Finds the bytes of a database file that belong to nothing; https://sqlite.org/fileformat2.html describes its pages.

The letters (B-tree 1.6 and so on) are the sections of that document.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from struct import Struct

HEADER = 100
"""Bytes of the header at the start of page 1 (section 1.3)."""

MOST_PAGES = 1 << 25
"""From here on the number that an overflow page begins with could be taken for the type of a b-tree page; 128 GB."""

_INTERIOR_INDEX, _INTERIOR_TABLE, _LEAF_INDEX, _LEAF_TABLE = 2, 5, 10, 13

_LAYOUT = Struct(">HBBBBBB")
_PAGE = Struct(">HHHB")
_FREEBLOCK = Struct(">HH")
_TWO = Struct(">II")

Range = tuple[int, int]
"""The first byte, and the first byte behind the last one."""


class Unexpected(Exception):
    """The file is not laid out as expected: its free bytes are not known."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a file, as its header states it (section 1.3)."""

    page_size: int
    usable: int
    """Bytes of a page without those that extensions reserve at its end."""
    pages: int
    first_trunk: int
    """The first page of the list of free pages; 0: there is none."""

    @classmethod
    def read(cls, header: bytes, size: int) -> "Layout":
        """Read the header; raises Unexpected for a write-ahead log, pointer maps, or another size than the header
        states.
        """
        page_size, write_version, read_version, reserved, *fractions = _LAYOUT.unpack_from(header, 16)
        page_size = 65536 if page_size == 1 else page_size
        pages = int.from_bytes(header[28:32])
        if not header.startswith(b"SQLite format 3\0") or fractions != [64, 32, 32]:
            raise Unexpected("it has no header of SQLite")
        if (write_version, read_version) != (1, 1):
            raise Unexpected("it has a write-ahead log")
        if int.from_bytes(header[52:56]):
            raise Unexpected("it is vacuumed as it goes")
        if header[24:28] != header[92:96] or pages * page_size != size or pages >= MOST_PAGES:
            raise Unexpected("its size is not that of its pages")
        return cls(page_size, page_size - reserved, pages, int.from_bytes(header[32:36]))


@dataclass(slots=True)
class Scan:
    """A scan of all pages of a file, in order. Its result is true as long as no page changes."""

    layout: Layout
    free: set[int]
    """The pages of the list of free pages, without its trunks."""
    free_ranges: list[Range] = field(default_factory=list)
    """Free bytes that are not zero, as places in the file."""
    _chains: list[Range] = field(default_factory=list)
    """The first page of each overflow chain, and how many bytes of a row the chain holds."""
    _next: dict[int, int] = field(default_factory=dict)
    """The page that follows in a chain."""

    def at(self, number: int, page: bytes) -> None:
        """Look at a page."""
        start = (number - 1) * self.layout.page_size
        if number in self.free:
            ranges: Iterator[Range] = iter([(0, self.layout.usable)])
        elif page[HEADER if number == 1 else 0] in (
            _INTERIOR_INDEX,
            _INTERIOR_TABLE,
            _LEAF_INDEX,
            _LEAF_TABLE,
        ):
            ranges = self._of_tree(number, page)
        else:
            self._next[number] = int.from_bytes(page[:4])
            return
        for first, last in ranges:
            if page[first:last].strip(b"\0"):
                self.free_ranges.append((start + first, start + last))

    def tails(self) -> Iterator[Range]:
        """Yield the bytes behind the last byte of a row in the last page of each overflow chain (section 1.6.2)."""
        capacity = self.layout.usable - 4
        for first, length in self._chains:
            number = first
            while length > capacity:
                number, length = self._next.get(number, 0), length - capacity
            if self._next.get(number) != 0:
                raise Unexpected(f"the overflow chain of page {first} ends too early or too late")
            if length < capacity:
                start = (number - 1) * self.layout.page_size
                yield start + 4 + length, start + self.layout.usable

    def _of_tree(self, number: int, page: bytes) -> Iterator[Range]:
        """Yield the gap between the cell pointers and the cells, and the inside of each freeblock (section 1.6).

        Fragments are not looked for: one has at most three bytes, too few for a word.
        """
        usable = self.layout.usable
        start = HEADER if number == 1 else 0
        kind = page[start]
        block, cells, content, _ = _PAGE.unpack_from(page, start + 1)
        content = content or 65536
        pointers = start + (12 if kind in (_INTERIOR_INDEX, _INTERIOR_TABLE) else 8)
        gap = pointers + 2 * cells
        if not gap <= content <= usable:
            raise Unexpected(f"the cells of page {number} lie outside of it")
        yield gap, content
        while block:
            if not content <= block <= usable - 4:
                raise Unexpected(f"a freeblock of page {number} lies outside of it")
            after, size = _FREEBLOCK.unpack_from(page, block)
            if not 4 <= size <= usable - block or (after and after < block + size):
                raise Unexpected(f"a freeblock of page {number} reaches into another")
            yield block + 4, block + size
            block = after
        if kind != _INTERIOR_TABLE:
            self._note_chains(page, kind, memoryview(page)[pointers:gap])

    def _note_chains(self, page: bytes, kind: int, pointers: memoryview) -> None:
        """Note the overflow chains of a page's rows: of those with more bytes than section 1.6 allows in a page."""
        usable = self.layout.usable
        most = usable - 35 if kind == _LEAF_TABLE else (usable - 12) * 64 // 255 - 23
        least = (usable - 12) * 32 // 255 - 23
        skip = 4 if kind == _INTERIOR_INDEX else 0
        for high, low in zip(pointers[::2], pointers[1::2], strict=True):
            place = (high << 8 | low) + skip
            if page[place] < 0x80:  # fewer than 128 bytes: by far the most
                continue
            length, place = varint(page, place)
            if length <= most:
                continue
            if kind == _LEAF_TABLE:
                _, place = varint(page, place)
            local = least + (length - least) % (usable - 4)
            if local > most:
                local = least
            self._chains.append((int.from_bytes(page[place + local : place + local + 4]), length - local))


def leaves(trunk: bytes, layout: Layout) -> tuple[int, list[int], Range]:
    """Read a trunk page of the list of free pages (section 1.5): the next trunk, the leaves, and the unused bytes."""
    after, count = _TWO.unpack_from(trunk)
    if 4 * count + 8 > layout.usable:
        raise Unexpected("the list of free pages is damaged")
    pages = [int.from_bytes(trunk[place : place + 4]) for place in range(8, 8 + 4 * count, 4)]
    return after, pages, (8 + 4 * count, layout.usable)


def varint(page: bytes, place: int) -> tuple[int, int]:
    """Read a number of variable length (section 1.6); return it and the place behind it."""
    value = 0
    for end in range(place, place + 8):
        value = value << 7 | page[end] & 0x7F
        if page[end] < 0x80:
            return value, end + 1
    return value << 8 | page[place + 8], place + 9
