"""Overwrites the free bytes of a database file in place: deleted text is then no longer in the file.

SQLite's `secure_delete` overwrites deleted rows, but pages whose rows have moved keep copies of them in their unused
middle. Here only bytes that belong to no row are written, so each state between is a whole file, also without its
journal: a kill or a power cut at any moment does no harm. The file is reached through SQLite's own handle, because to
open and close it by other means drops the locks of the whole process.
"""

import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

import apsw

from memory_server.sqlite.free_bytes import HEADER, Layout, Range, Scan, Unexpected, leaves
from memory_server.sqlite.waiting import nap

CHUNK = 256
"""Pages that are looked at while no other process can commit: a few milliseconds."""

LOOKS = 2
"""Scans of the file while others may write in between; after these, writers wait until the erasing is done."""

_FULL_SYNC = 3
"""`SQLITE_SYNC_FULL`: on macOS it also empties the cache of the disk."""

Locked = Callable[[], AbstractContextManager[None]]


class _Changed(Exception):
    """Another process has written meanwhile."""


class FileSystem(apsw.VFS):
    """The system's own files; keeps the handle of the database that is opened through it."""

    database: apsw.VFSFile

    def __init__(self, base: str = "") -> None:
        self.name = f"memory-server-{uuid.uuid4().hex}"
        self._base = base
        super().__init__(self.name, base)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        file = apsw.VFSFile(self._base, name, flags)
        if flags[0] & apsw.SQLITE_OPEN_MAIN_DB:
            self.database = file
        return file


@contextmanager
def opened(connect: Callable[[str], apsw.Connection]) -> Iterator["Eraser"]:
    """Yield an eraser of the database to which `connect` opens a connection, through the file system of the name it
    gets.
    """
    through = FileSystem()
    try:
        connection = connect(through.name)
        try:
            yield Eraser(connection, through.database)
        finally:
            connection.close()
    finally:
        through.unregister()


@dataclass(frozen=True, slots=True)
class Eraser:
    """A connection that serves erasing alone, and the file handle below it."""

    connection: apsw.Connection
    file: apsw.VFSFile

    def erase(self) -> int:
        """Overwrite every free byte; return how many bytes were written.

        Raises:
            Unexpected: the file is laid out in another way than ours are. Nothing was written.
        """
        for _ in range(LOOKS):
            try:
                return self._erase_if_unchanged()
            except _Changed:
                pass
        with self._transaction("BEGIN IMMEDIATE"):  # others can still read
            header = self._header()
            free_ranges = self._look(header, nullcontext)
            self._shut_out_readers()
            return self._write(header, free_ranges)

    def _erase_if_unchanged(self) -> int:
        """Scan while others may read and write, and overwrite the free bytes if nobody has written since."""
        with self._transaction("BEGIN"):
            header = self._header()
        free_ranges = self._look(header, lambda: self._unchanged(header))
        if not free_ranges:
            return 0
        with self._transaction("BEGIN EXCLUSIVE"):
            if self._header() != header:
                raise _Changed
            return self._write(header, free_ranges)

    def _look(self, header: bytes, locked: Locked) -> list[Range]:
        """Return the ranges of free bytes that are not zero, as the header of each page shows them."""
        with locked():
            layout = Layout.read(header, self.file.xFileSize())
            free, trunk_ranges = self._free_pages(layout)
        scan = Scan(layout, free, trunk_ranges)
        size = layout.page_size
        try:
            for first in range(0, layout.pages, CHUNK):
                with locked():
                    pages = self.file.xRead(min(CHUNK, layout.pages - first) * size, first * size)
                for place in range(0, len(pages), size):
                    scan.at(first + place // size + 1, pages[place : place + size])
            tails = list(scan.tails())
            for first in range(0, len(tails), CHUNK):
                with locked():
                    for start, end in tails[first : first + CHUNK]:
                        if self.file.xRead(end - start, start).strip(b"\0"):
                            scan.free_ranges.append((start, end))
        except IndexError as error:
            raise Unexpected("a cell lies outside of its page") from error
        return scan.free_ranges

    def _free_pages(self, layout: Layout) -> tuple[set[int], list[Range]]:
        """Return the leaves of the list of free pages, and the unused bytes of its trunks that are not zero."""
        free: set[int] = set()
        free_ranges: list[Range] = []
        trunk, trunks = layout.first_trunk, 0
        while trunk:
            trunks += 1
            if trunks > layout.pages or trunk > layout.pages:
                raise Unexpected("the list of free pages is damaged")
            start = (trunk - 1) * layout.page_size
            page = self.file.xRead(layout.page_size, start)
            trunk, pages, (first, last) = leaves(page, layout)
            free.update(pages)
            if page[first:last].strip(b"\0"):
                free_ranges.append((start + first, start + last))
        return free, free_ranges

    def _write(self, header: bytes, free_ranges: list[Range]) -> int:
        """Under an exclusive lock: first the file change counter, which lets every other connection drop its pages.

        They hold the old free bytes, and a page that is written again would bring them back. Counter first: a kill
        after it costs the others a read, a kill before it would leave them their pages.
        """
        if not free_ranges:
            return 0
        counter = ((int.from_bytes(header[24:28]) + 1) & 0xFFFFFFFF).to_bytes(4)
        # The counter, and at 92 the one for which the size in the header is valid (sections 1.3.6 and 1.3.16), at once.
        self.file.xWrite(counter + header[28:92] + counter, 24)
        for start, end in free_ranges:
            self.file.xWrite(bytes(end - start), start)
        self.file.xSync(_FULL_SYNC)
        return sum(end - start for start, end in free_ranges)

    def _shut_out_readers(self) -> None:
        """Make the lock of a write transaction an exclusive one; its end takes away both."""
        tries = 0
        while True:
            try:
                self.file.xLock(apsw.SQLITE_LOCK_EXCLUSIVE)
            except apsw.BusyError:
                tries += 1
                if not nap(tries):
                    raise
            else:
                return

    def _header(self) -> bytes:
        return self.file.xRead(HEADER, 0)

    @contextmanager
    def _unchanged(self, header: bytes) -> Iterator[None]:
        """Let nobody commit in the block; raises _Changed if somebody has since the header was read."""
        with self._transaction("BEGIN"):
            if self._header() != header:
                raise _Changed
            yield

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        """Hold the lock of a transaction that writes nothing."""
        self.connection.execute(begin)
        try:
            # BEGIN alone locks nothing.
            self.connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            yield
        finally:
            self.connection.execute("ROLLBACK")
