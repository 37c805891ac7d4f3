"""The tools in this process, over a file system that notes what reaches the disk or says that it is full."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from memory_server import app
from memory_server.domain.caller import Caller
from memory_server.errors import MemoryServerError, Unavailable
from memory_server.mcp.tool import Tool
from memory_server.mcp.toolsets import toolsets
from memory_server.project import Project
from memory_server.services.erasure import ErasureService
from memory_server.settings import Settings
from torture.recording import RecordingFile, put
from torture.wire import Answer


@dataclass(frozen=True, slots=True)
class Event:
    """What happened to a file: a write, a change of its size, a flush (neither), or its removal."""

    file: str
    write: tuple[int, bytes] | None = None
    size: int | None = None
    removed: bool = False
    durable: bool = False
    """A flush, or a removal that is on disk once it is told."""


class _Noted(list[tuple[int, bytes] | None]):
    """Where a file notes its writes, put in one order with those of the other files."""

    def __init__(self, file: str, events: list[Event]) -> None:
        self.file = file
        self.events = events

    def append(self, write: tuple[int, bytes] | None) -> None:
        self.events.append(Event(self.file, write, durable=write is None))


class _File(RecordingFile):
    disk: "Disk"

    def xWrite(self, data: bytes, offset: int) -> None:
        if self.disk.is_full():
            raise apsw.FullError("no space left")
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:
        assert isinstance(self.writes, _Noted)
        self.writes.events.append(Event(self.writes.file, size=size))
        super().xTruncate(size)


class Disk(apsw.VFS):
    """The system's files, for as long as it is the default file system."""

    def __init__(self, is_full: Callable[[], bool]) -> None:
        self.events: list[Event] = []
        self.is_full = is_full
        self._base = apsw.vfs_names()[0]
        super().__init__("torture", self._base, makedefault=True)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        if not flags[0] & (apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_MAIN_JOURNAL):
            return apsw.VFSFile(self._base, name, flags)
        path = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        file = _File(self._base, name, flags)
        file.writes, file.disk = _Noted(Path(path).name, self.events), self
        return file

    def xDelete(self, filename: str, syncdir: bool) -> None:
        super().xDelete(filename, syncdir)
        self.events.append(Event(Path(filename).name, removed=True, durable=bool(syncdir)))


@contextmanager
def mounted(is_full: Callable[[], bool] = lambda: False) -> Iterator[Disk]:
    disk = Disk(is_full)
    try:
        yield disk
    finally:
        disk.unregister()


class Local:
    """The tools and the background work of a server, without its process and threads."""

    def __init__(self, db: Path) -> None:
        settings = Settings(db=db, embedder="hashing", project="torture")
        self.services = app.build(settings)
        self._erasure = ErasureService(self.services.database)
        self._tools: dict[str, Tool] = {
            tool.name: tool for tools in toolsets(self.services).values() for tool in tools
        }
        self._caller = Caller("torture", "torture", Project("torture", "torture"))

    def call(self, tool: str, arguments: dict[str, Any]) -> Answer:
        found = self._tools[tool]
        given = found._validated(found._understood(arguments))
        if found._declared.wants_caller:
            given["caller"] = self._caller
        try:
            content = found.carried_out(given)
        except MemoryServerError as error:
            return str(error)
        return content

    def work(self) -> str | None:
        """One round of the background work; why it failed."""
        try:
            self.services.queue.work()
            self.services.short_term.find_keywords()
            self._erasure.erase()
        except Unavailable as error:
            return str(error)
        return None

    def close(self) -> None:
        self.services.close()


@dataclass(slots=True)
class Content:
    """What a disk surely holds of a file, and what it may hold too; `there` says whether its name is on disk."""

    image: bytearray = field(default_factory=bytearray)
    unsynced: list[Event] = field(default_factory=list)
    there: bool = False
    removed: bool = False
    """Its name may be on disk, and may be not."""


def after_a_cut(events: list[Event], chance: random.Random) -> dict[str, bytes]:
    """The files that a power cut after these events may leave: any part of what was not flushed is missing or torn."""
    disk: dict[str, Content] = {}
    for event in events:
        content = disk.setdefault(event.file, Content())
        if content.removed and not event.removed:  # made anew
            content = disk[event.file] = Content()
        if event.removed:
            if event.durable:
                del disk[event.file]
            else:
                content.removed = True
        elif event.durable:
            for each in content.unsynced:
                _apply(content.image, each, None)
            content.unsynced.clear()
            content.there = True
        else:
            content.unsynced.append(event)
    reach = chance.choice([1.0, 0.9, 0.5, 0.1, 0.0])
    left = {}
    for name, content in disk.items():
        if (content.removed and chance.random() < 0.5) or (not content.there and chance.random() < 0.5):
            continue
        for each in content.unsynced:
            if chance.random() < reach:
                _apply(content.image, each, chance)
        left[name] = bytes(content.image)
    return left


def _apply(image: bytearray, event: Event, chance: random.Random | None) -> None:
    """`chance` None: as a whole."""
    if event.size is not None:
        del image[event.size :]
        image.extend(bytes(event.size - len(image)))
    if event.write is not None:
        offset, data = event.write
        image.extend(bytes(max(0, offset + len(data) - len(image))))
        if chance is None:
            image[offset : offset + len(data)] = data
        else:
            put(image, event.write, chance)
