"""A correction in the file of a client's memory: one line at its end, in the place of the one before. All other bytes
stay.
"""

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from memory_server.errors import Invalid
from memory_server.sqlite import temporary

_LINE = re.compile(r"^\*\*Correction from memory-server, [^\r\n]*(\r?\n)?\Z", re.MULTILINE)

_OVER = "What this file says no longer holds."


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A text as it was read, and what tells whether its file has changed since."""

    path: Path
    text: str
    encoding: str
    status: os.stat_result

    def replace(self, text: str) -> None:
        """Put a text in the place of the one that was read, with the same permissions.

        Raises:
            Invalid: the file has changed since, or cannot be written.
        """
        try:
            with temporary.file(self.path) as unfinished:
                with unfinished.open("wb") as file:
                    file.write(text.encode(self.encoding))
                    file.flush()
                    os.fsync(file.fileno())
                unfinished.chmod(stat.S_IMODE(self.status.st_mode))
                if _known_by(self.path.lstat()) != _known_by(self.status):
                    raise Invalid("it has changed since it was read")
                unfinished.replace(self.path)
        except OSError as error:
            raise Invalid(f"it cannot be written: {error.strerror}") from error


def read(path: Path, folder: Path) -> ReadFile:
    """Read a file of a folder, or the file that was imported itself.

    Raises:
        Invalid: a link leads to it, or it cannot be read.
    """
    if path.resolve() != path or folder not in (path, path.parent):
        raise Invalid(f"it is not in {folder}, or a link leads to it")
    try:
        with path.open("rb") as file:
            status, data = os.fstat(file.fileno()), file.read()
    except OSError as error:
        raise Invalid(f"it cannot be read: {error.strerror}") from error
    text, encoding = _decoded(data)
    return ReadFile(path, text, encoding, status)


def without(text: str) -> str:
    """Return a text without the correction at its end."""
    line = _LINE.search(text)
    if line is None:
        return text
    before = _shortened(text[: line.start()])
    return before if line[1] else _shortened(before)


def line_of(text: str) -> str:
    """Return the correction at the end of a text, '' where there is none."""
    line = _LINE.search(text)
    return line[0].strip() if line else ""


def with_line(text: str, line: str) -> str:
    """Return a text with a correction behind it. `without` takes back exactly that."""
    newline = "\r\n" if "\r\n" in text else "\n"
    if text.endswith("\n"):
        return f"{text}{newline}{line}{newline}"
    return f"{text}{newline}{newline}{line}"


def correction(before: str, now: str | None, day: str) -> str:
    """Return the line that says what is true now instead of a text, None: nothing of it; '' where both say the same."""
    if now is None:
        return f"**Correction from memory-server, {day}:** {_OVER}"
    added_lines, lost_lines = _lines_without(now, before), _lines_without(before, now)
    if not (added_lines or lost_lines):
        return ""
    says = " ".join(added_lines) if added_lines else f"This no longer holds: {' '.join(lost_lines)}"
    return f"**Correction from memory-server, {day}:** {says}"


def _lines_without(text: str, base: str) -> list[str]:
    base_lines = {line.strip() for line in base.splitlines()}
    return [line.strip() for line in text.splitlines() if line.strip() and line.strip() not in base_lines]


def _shortened(text: str) -> str:
    """Return a text without the line end behind it."""
    return text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text


def _decoded(data: bytes) -> tuple[str, str]:
    """Return a text that encodes to the same bytes, with its mark, and the encoding."""
    marks = {b"\xff\xfe": ("utf-16-le",), b"\xfe\xff": ("utf-16-be",)}
    for encoding in marks.get(data[:2], ("utf-8", "gb18030")):
        try:
            text = data.decode(encoding)
            if text.encode(encoding) == data:
                return text, encoding
        except UnicodeError:
            continue
    raise Invalid("its encoding is not known")


def _known_by(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
