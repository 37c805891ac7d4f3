"""Plain text: each paragraph is a memory."""

import re
from collections.abc import Iterator

from memory_server.domain.exchange.records import MemoryRecord, Record
from memory_server.importing.opened import STANDARD_INPUT, Format, Opened
from memory_server.importing.values import file_moment, filled, hashed

NAME = "text"


def fits(opened: Opened) -> bool:
    """True for a text file, and for text from standard input that is nothing else."""
    named_so = opened.path.suffix.lower() in (".txt", ".text") or opened.path.name == STANDARD_INPUT
    is_text = named_so and not opened.is_folder and "\0" not in opened.head
    return is_text and bool(opened.head.strip()) and not opened.head.lstrip().startswith(("{", "["))


def records(opened: Opened) -> Iterator[Record]:
    changed = file_moment(opened.path.stat().st_mtime)
    paragraphs = re.split(r"\n[ \t]*\n", opened.text.replace("\r\n", "\n"))
    for text in dict.fromkeys(filter(None, map(str.strip, paragraphs))):
        yield MemoryRecord(
            hashed(opened.place, text),
            text,
            metadata=filled(file=opened.path.name),
            created_at=changed,
            created_by=opened.path.name,
            place=opened.place,
        )


FORMAT = Format(NAME, "plain text", fits, records)
