"""A path that may be imported, and as much of it as tells what it is."""

import contextlib
import io
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import IO, Any

from memory_server.domain.exchange.records import Record, Refusal
from memory_server.errors import Invalid
from memory_server.importing import json_list
from memory_server.sqlite import foreign

HEAD = 65_536
"""Bytes from the start of a file that tell its format."""

MOST = 512 << 20
"""Bytes of JSON that a zip holds at most, unpacked, and bytes of a text. A text is read whole, and a small or sparse
file can hold more than the memory of a machine."""

LARGEST = 64 << 20
"""Bytes of one JSON object that is read. A list is read value by value."""

SMALL = 1 << 20
"""Bytes of a list that is read whole, in any coding; a larger one is UTF-8."""

_READ_OF_FOLDERS = (".md", ".markdown", ".json")
"""How the files end that are read of a folder."""

STANDARD_INPUT = "-"
"""The name of the file that holds what came from standard input."""

_HIGH = re.compile(rb"[\x80-\xff]")
_CHINESE = re.compile(rb"(?:[\x81-\xfe][\x40-\xfe]){2,}")


def decoded(data: bytes, whole: bool = True) -> str:
    """Return the text of bytes: UTF-8, UTF-16 with a mark, or Chinese in GBK. Of a part the last character may be cut.

    Raises:
        UnicodeDecodeError: it is none of these, and whole.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="strict" if whole else "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if not whole and error.start > len(data) - 4:
            return data[: error.start].decode("utf-8-sig")
        high = len(_HIGH.findall(data))
        chinese = sum(len(_HIGH.findall(run)) for run in _CHINESE.findall(data))
        if chinese > 0.8 * high:  # letters with accents stand alone, Chinese characters in rows
            with contextlib.suppress(UnicodeDecodeError):
                return data.decode("gb18030", errors="strict" if whole else "replace")
        if whole:
            raise
        return data.decode("utf-8-sig", errors="replace")


@dataclass(frozen=True)
class Opened:
    """A file or a folder; `member` is a file in the zip `archive`. What is read of it is read when it is asked for."""

    path: Path
    member: str = ""
    archive: zipfile.ZipFile | None = field(default=None, compare=False)

    @cached_property
    def is_folder(self) -> bool:
        return self.path.is_dir()

    @cached_property
    def place(self) -> str:
        """The whole path: what stands in this file is known by it. Standard input has none."""
        return STANDARD_INPUT if self.path.name == STANDARD_INPUT else str(self.path.resolve())

    @cached_property
    def head(self) -> str:
        """The first characters; nothing of a folder."""
        return "" if self.is_folder else decoded(self._read(HEAD), whole=False)

    @cached_property
    def tables(self) -> dict[str, list[str]]:
        """The tables of a SQLite file, each with its columns; none where it is another file."""
        if self.is_folder or not self.head.startswith("SQLite format 3"):
            return {}
        return foreign.tables(self.path)

    @cached_property
    def size(self) -> int:
        return self.archive.getinfo(self.member).file_size if self.archive else self.path.stat().st_size

    @property
    def text(self) -> str:
        """The whole file.

        Raises:
            Invalid: it is neither UTF-8 nor UTF-16 nor Chinese in GBK, or too large.
        """
        if self.size > MOST:
            raise Invalid(
                f"{self.path} holds {self.size:,} bytes, and {MOST:,} of a text are read at most. Split it."
            )
        try:
            return decoded(self._read())
        except UnicodeDecodeError as error:
            raise Invalid(
                f"{self.path} is not UTF-8: {error.reason} at byte {error.start}. Nothing was imported."
            ) from error

    @property
    def lines(self) -> Iterator[str]:
        """The lines of the file; a large one is UTF-8, and read while it is gone through."""
        if self.size <= SMALL:
            yield from io.StringIO(self.text)
            return
        with self._open() as file:
            for line in iter(partial(file.readline, LARGEST), b""):
                yield line.decode("utf-8", errors="surrogateescape").removeprefix("\ufeff")

    def _read(self, most: int = -1) -> bytes:
        with self._open() as file:
            try:
                return file.read(most)
            except OSError as error:
                raise Invalid(
                    f"{self.path} cannot be read: {error.strerror}. Nothing was imported."
                ) from error

    def _open(self) -> AbstractContextManager[IO[bytes]]:
        if self.archive is None:
            return self.path.open("rb")
        return _unpacked(self.path, self.archive, self.member)

    @property
    def name(self) -> str:
        """The name in the zip, or the whole path, with slashes."""
        return self.member or self.path.as_posix()

    @cached_property
    def is_zip(self) -> bool:
        return not self.is_folder and not self.member and zipfile.is_zipfile(self.path)

    @cached_property
    def files(self) -> list["Opened"]:
        """The files of a folder, or of a zip, by name; of another file itself."""
        if self.is_folder:
            paths = [path for path in sorted(self.path.iterdir()) if path.is_file()]
            return [Opened(path) for path in paths if not leads_out(path, self.path)]
        if not self.is_zip:
            return [self]
        try:
            archive = zipfile.ZipFile(self.path)
        except zipfile.BadZipFile as error:
            raise Invalid(f"{self.path} is a damaged zip: {error}.") from error
        size = sum(entry.file_size for entry in archive.infolist() if entry.filename.endswith(".json"))
        if size > MOST:  # of no file more than its `file_size` is unpacked
            raise Invalid(
                f"{self.path} holds {size:,} bytes of JSON, and {MOST:,} are read from a zip at most. "
                "Unpack it, then import the folder."
            )
        names = sorted(name for name in archive.namelist() if not name.endswith("/"))
        return [Opened(self.path, name, archive) for name in names]

    @property
    def outside(self) -> Iterator[Refusal]:
        """Yield the links of a folder to files elsewhere, which are not read: the person has named the folder."""
        for path in sorted(self.path.rglob("*")) if self.is_folder else ():
            name = path.relative_to(self.path)
            hidden = any(part.startswith(".") for part in name.parts)
            if path.suffix.lower() in _READ_OF_FOLDERS and not hidden and leads_out(path, self.path):
                yield Refusal(str(name), f"leads out of the folder, to {path.resolve()}", elsewhere=True)

    @cached_property
    def first(self) -> dict[str, Any]:
        """The first line that is a JSON object; empty where the first line is none."""
        line = next(filter(str.strip, self.head.splitlines()), "")
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}

    @cached_property
    def json(self) -> dict[str, Any] | None:
        """The file as one JSON object; None where it is none.

        Raises:
            Invalid: it is too large.
        """
        if (
            self.is_folder or not self._starts_as("{") or (self.first and self.size > HEAD)
        ):  # that is a line of many
            return None
        if self.size > LARGEST:
            raise Invalid(
                f"{self.path} holds {self.size:,} bytes, and {LARGEST:,} of one JSON object are read at most. Split it."
            )
        try:
            value: dict[str, Any] = json.loads(self.text)
        except (ValueError, RecursionError):
            return None
        return value

    @property
    def values(self) -> Iterator[Any] | None:
        """The values of a JSON list; None where the file is none. A large list is read while it is gone through, and
        raises Invalid where it is damaged.
        """
        if self.is_folder or not self._starts_as("["):
            return None
        if self.size > SMALL:
            return self._streamed()
        try:
            values: list[Any] = json.loads(self.text)
        except (ValueError, RecursionError):
            return None
        return iter(values)

    def _streamed(self) -> Iterator[Any]:
        with self._open() as file:
            yield from json_list.values(file, self.name)

    def _starts_as(self, mark: str) -> bool:
        return self.head.lstrip().startswith(mark)

    @property
    def items(self) -> Iterator[dict[str, Any]]:
        """The objects of a JSON list."""
        return (value for value in self.values or () if isinstance(value, dict))

    def records(self, sql: str, name: str, record: Callable[[dict[str, Any]], Record]) -> Iterator[Record]:
        """Make a record of each row of a statement; refuse one that is no UTF-8, by `name` with its number."""
        for row in foreign.rows(self.path, sql):
            if foreign.UNREADABLE in row:
                yield Refusal(name.format(row[foreign.UNREADABLE]), "is not UTF-8")
            else:
                yield record(row)

    def has(self, **columns: str) -> bool:
        """True for a SQLite file with these tables, each with these columns (names with spaces between them)."""
        return all(
            table in self.tables and set(names.split()) <= set(self.tables[table])
            for table, names in columns.items()
        )


def leads_out(path: Path, folder: Path) -> bool:
    """True for a link in a folder to what lies elsewhere."""
    return path.is_symlink() and not path.resolve().is_relative_to(folder.resolve())


@contextmanager
def _unpacked(path: Path, archive: zipfile.ZipFile, member: str) -> Iterator[IO[bytes]]:
    """A file in the zip at a path, unpacked while it is read.

    Raises:
        Invalid: it is encrypted, damaged, or packed in an unknown way.
    """
    try:
        with archive.open(member) as packed:
            yield packed
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise Invalid(
            f"{member} in {path} cannot be unpacked: {error}. Unpack it, then import the folder."
        ) from error


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its name for `--from`, what program writes it, whether a path has it, and the records of a path."""

    name: str
    title: str
    fits: Callable[[Opened], bool]
    records: Callable[[Opened], Iterator[Record]]
