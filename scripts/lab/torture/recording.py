"""Notes what is written to the main file while it is erased, and writes some of it as a power cut does."""

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from memory_server.sqlite import erasing

SECTOR = 512
"""Bytes that a disk writes whole or not at all."""

Write = tuple[int, bytes]
"""The offset of what was written, and its bytes."""


class RecordingFile(apsw.VFSFile):
    """Notes what is written, takes its time, and fails at one of the writes where it is told to."""

    writes: list[Write | None]
    fail_at: int | None = None
    pause: float = 0.0

    def xWrite(self, data: bytes, offset: int) -> None:
        if self.fail_at == len(self.writes):
            raise apsw.FullError("no space left")
        time.sleep(self.pause)
        self.writes.append((offset, bytes(data)))
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        self.writes.append(None)
        super().xSync(flags)


@contextmanager
def recorded(fail_at: int | None = None, pause: float = 0.0) -> Iterator[list[Write | None]]:
    """Collects what erasing writes to the main file, in order; None where it is flushed."""
    writes: list[Write | None] = []

    class Recording(erasing.FileSystem):
        def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
            if not flags[0] & apsw.SQLITE_OPEN_MAIN_DB:
                return super().xOpen(name, flags)
            file = RecordingFile("", name, flags)
            file.writes, file.fail_at, file.pause = writes, fail_at, pause
            self.database = file
            return file

    usual = erasing.FileSystem
    erasing.FileSystem = Recording  # type: ignore[misc]
    try:
        yield writes
    finally:
        erasing.FileSystem = usual  # type: ignore[misc]


def put(image: bytearray, write: Write, chance: random.Random) -> None:
    """Write it, or only some of its sectors."""
    offset, data = write
    torn = chance.random() < 0.3
    place = 0
    while place < len(data):
        end = min(len(data), (offset + place) // SECTOR * SECTOR + SECTOR - offset)
        if not torn or chance.random() < 0.5:
            image[offset + place : offset + end] = data[place:end]
        place = end
