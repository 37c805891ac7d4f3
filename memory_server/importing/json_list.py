"""The values of a JSON list, one at a time: an account export of a GB takes no more memory than its longest value."""

import codecs
import json
import re
from collections.abc import Iterator
from typing import IO, Any

from memory_server.errors import Invalid

CHUNK = 1 << 20
"""Characters that are read at once."""

LARGEST = 64 << 20
"""Characters of a value that is read."""

_BLANK = re.compile(r"[ \t\r\n]*")


def values(file: IO[bytes], name: str) -> Iterator[Any]:
    """Yield the values of a list; nothing where the first one is no JSON: then the file is something else.

    Raises:
        Invalid: the list is damaged, has no end, or has a value that is too long.
    """
    text = _Text(file, name)
    if text.mark() != "[":
        return
    text.at += 1
    if text.mark() == "]":
        return
    try:
        value = text.value()
    except Invalid:
        return
    while True:
        yield value
        mark = text.mark()
        text.at += 1
        if mark == "]":
            return
        if mark != ",":
            raise text.damage("a comma is missing" if mark else "the end is missing")
        value = text.value()


class _Text:
    """The part of a file that is in memory, read from `at` on."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self.file, self.name = file, name
        self.decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self.buffer, self.at, self.passed = "", 0, 0

    def mark(self) -> str:
        """Return the next character that is no blank; '' at the end."""
        while True:
            blank = _BLANK.match(self.buffer, self.at)
            self.at = blank.end() if blank else self.at
            if self.at < len(self.buffer) or not self.more():
                return self.buffer[self.at : self.at + 1]

    def more(self) -> bool:
        """Read as much again as is left; False at the end of the file."""
        left = self.buffer[self.at :]
        data = self.file.read(max(CHUNK, len(left)))
        try:
            piece = self.decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            raise Invalid(f"{self.name} is not UTF-8: {error.reason}. Nothing was imported.") from error
        self.passed += self.at
        self.buffer, self.at = left + piece, 0
        return bool(data)

    def value(self) -> Any:
        """Return the next value. One that reaches to the end of what is in memory may go on."""
        self.mark()
        while True:
            try:
                value, end = _DECODER.raw_decode(self.buffer, self.at)
            except RecursionError:
                raise self.damage("it is nested too deeply") from None
            except ValueError as error:
                if len(self.buffer) - self.at > LARGEST:
                    raise self.damage(
                        f"a value has more than {LARGEST:,} characters, or none is there"
                    ) from error
                if not self.more():
                    raise self.damage("no whole value is there") from error
                continue
            if end < len(self.buffer):
                self.at = end
                return value
            if not self.more():
                raise self.damage("the end is missing")

    def damage(self, why: str) -> Invalid:
        return Invalid(
            f"{self.name} is damaged at character {self.passed + self.at:,}: {why}. Nothing was imported."
        )


_DECODER = json.JSONDecoder()
