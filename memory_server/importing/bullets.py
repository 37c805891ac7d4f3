"""Markdown that a person or an assistant keeps: CLAUDE.md, AGENTS.md, MEMORY.md.

Each item of a list and each paragraph is a memory, under its heading: `Code style: Use 4 spaces`. It has no date of its
own: that of the file counts. What is inside a git repository belongs to its project.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from memory_server.domain.exchange.records import MemoryRecord, Record
from memory_server.domain.memory import MemoryType
from memory_server.importing.opened import Format, Opened
from memory_server.importing.values import file_moment, filled, hashed, memory_type

NAME = "markdown"

ENDINGS = (".md", ".markdown", ".mdc")

_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*$")
_ITEM = re.compile(r"(\s*)(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?(.*)$")
_FENCE = re.compile(r"\s*(```|~~~)")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


@dataclass(slots=True)
class _Piece:
    """An item or a paragraph: its heading and its lines."""

    heading: str
    lines: list[str] = field(default_factory=list)
    item: bool = False


def fits(opened: Opened) -> bool:
    if opened.is_folder:
        return any(files(opened.path))
    return opened.path.suffix.lower() in ENDINGS


def files(folder: Path) -> Iterator[Path]:
    """The Markdown files of a folder, but for hidden ones."""
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.suffix.lower() in ENDINGS and path.is_file() and not hidden:
            yield path


def records(opened: Opened) -> Iterator[Record]:
    if opened.is_folder:
        for path in files(opened.path):
            yield from _of_file(Opened(path))
    else:
        yield from _of_file(opened)


def _of_file(opened: Opened) -> Iterator[Record]:
    project = repository(opened.path)
    changed = file_moment(opened.path.stat().st_mtime)
    contents: set[str] = set()
    for piece in _pieces(opened.text):
        text = "\n".join(piece.lines).strip()
        content = f"{piece.heading}: {text}" if piece.heading else text
        if not text or content in contents:
            continue
        contents.add(content)
        yield MemoryRecord(
            hashed(opened.place, content),
            content,
            memory_type(piece.heading, MemoryType.LEARNING),
            project=project,
            metadata=filled(file=opened.path.name, heading=piece.heading),
            created_at=changed,
            created_by=opened.path.name,
            place=f"{opened.place}#{piece.heading}",
        )


def repository(path: Path) -> str | None:
    """The root of the git repository that a file is in."""
    for folder in path.resolve().parents:
        if (folder / ".git").exists():
            return str(folder)
    return None


def _pieces(text: str) -> Iterator[_Piece]:
    """The items and paragraphs. What is indented below an item, and code, belongs to what stands before it."""
    heading, piece, fenced = "", _Piece(""), False
    for line in _FRONT.sub("", _COMMENT.sub("", text.replace("\r\n", "\n"))).split("\n"):
        fence = _FENCE.match(line)
        if fenced or fence:
            fenced = fenced != bool(fence)
            piece.lines.append(line)
            continue
        title, item = _HEADING.match(line), _ITEM.match(line)
        if title:
            yield piece
            heading = title[2] if len(title[1]) > 1 else ""
            piece = _Piece(heading)
        elif item and not (piece.item and item[1]):
            yield piece
            piece = _Piece(heading, [item[2]], item=True)
        elif not line.strip():
            if not piece.item:
                yield piece
                piece = _Piece(heading)
        elif piece.item and not line[0].isspace() and piece.lines and piece.lines[-1] == "":
            yield piece
            piece = _Piece(heading, [line])
        else:
            piece.lines.append(line.strip() if not piece.item or not item else line.rstrip())
    yield piece


FORMAT = Format(NAME, "Markdown", fits, records)
