"""Markdown that a person or an assistant keeps: CLAUDE.md, AGENTS.md, MEMORY.md, and the notes of a vault.

Each item of a list, each paragraph and each row of a table is a memory, under its heading: `Code style: Use 4 spaces`.
That of a note stands under the name of the note too. Dates and tags are those of its header, or the date is that of the
file; `#tags` are tags, `[[links]]` edges to the notes of the same folder. What is inside a git repository belongs to
its project.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from memory_server.domain.exchange.records import EdgeRecord, MemoryRecord, Record
from memory_server.domain.memory import MemoryType
from memory_server.importing import front
from memory_server.importing.opened import Format, Opened, leads_out
from memory_server.importing.values import file_moment, filled, hashed, memory_type, moment, texts
from memory_server.language.text import fold

NAME = "markdown"

ENDINGS = (".md", ".markdown", ".mdc")

INSTRUCTIONS = frozenset("claude claude.local agents memory gemini readme copilot-instructions".split())
"""Names of files whose name says nothing of what stands in them."""

_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*$")
_ITEM = re.compile(r"(\s*)(?:[-*+]|\d+[.)])\s+(\[[ xX]\]\s+)?(.*)$")
_FENCE = re.compile(r"\s*(```|~~~)")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_ROW = re.compile(r"\s*\|(.*)\|\s*$")
_RULE = re.compile(r"[\s:|-]+$")
_TAG = re.compile(r"(?<![\w#&/])#([^\W\d][\w/-]{0,99})")
_LINK = re.compile(r"\[\[([^\[\]|#\n]{1,200})[^\[\]\n]{0,200}\]\]")

_DATES = ("created", "date", "created_at", "日期")
_CHANGED = ("modified", "updated", "updated_at", "last_modified")


@dataclass(slots=True)
class _Piece:
    """An item, a paragraph or a row of a table: its heading and its lines. `box` is the box of a task."""

    heading: str
    lines: list[str] = field(default_factory=list)
    item: bool = False
    box: str = ""


@dataclass(slots=True)
class _Note:
    """A file with its records, and the links of each, by its id."""

    path: Path
    records: list[MemoryRecord] = field(default_factory=list)
    links: dict[str, list[str]] = field(default_factory=dict)


def fits(opened: Opened) -> bool:
    if opened.is_folder:
        return any(files(opened.path))
    return opened.path.suffix.lower() in ENDINGS


def files(folder: Path) -> Iterator[Path]:
    """The Markdown files of a folder, but for hidden ones and for links out of it."""
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.suffix.lower() in ENDINGS and path.is_file() and not hidden and not leads_out(path, folder):
            yield path


def records(opened: Opened) -> Iterator[Record]:
    paths = files(opened.path) if opened.is_folder else [opened.path]
    first: dict[str, str] = {}
    links: list[tuple[str, str]] = []
    for path in paths:
        note = _note(Opened(path) if opened.is_folder else opened)
        if note.records:
            first.setdefault(fold(path.stem), note.records[0].id)
        yield from note.records
        links += [(id, name) for id, names in note.links.items() for name in names]
    for id, name in dict.fromkeys(links):
        target = first.get(fold(name.strip().rpartition("/")[2]))
        if target is not None and target != id:
            yield EdgeRecord(id, target)


def _note(opened: Opened) -> _Note:
    fields, body = front.split(opened.text.replace("\r\n", "\n"))
    body = _COMMENT.sub("", body)
    project = repository(opened.path)
    changed = file_moment(opened.path.stat().st_mtime)
    created_at = moment(*map(fields.get, _DATES)) or changed
    updated_at = moment(*map(fields.get, _CHANGED)) or changed
    tags = tuple(tag.lstrip("#") for tag in texts(fields.get("tags", "").strip("[]").replace('"', "")))
    more = {
        name: value for name, value in fields.items() if name not in (*_DATES, *_CHANGED, "tags") and value
    }
    subject = _subject(opened.path, body)
    note = _Note(opened.path)
    contents: set[str] = set()
    for piece in _pieces(body):
        text = "\n".join(piece.lines).strip()
        earlier_content = f"{piece.heading}: {text}" if piece.heading else text  # of version 0.1.0
        content = ": ".join(filter(None, (subject, piece.heading, piece.box + text)))
        if not text or content in contents:
            continue
        contents.add(content)
        id = hashed(opened.place, content)
        state = {"": (), "[ ] ": ("todo",)}.get(piece.box, ("done",))
        note.records.append(
            MemoryRecord(
                id,
                content,
                memory_type(piece.heading, MemoryType.LEARNING),
                project=project,
                tags=tuple(dict.fromkeys((*tags, *_TAG.findall(text), *state))),
                metadata=filled(file=opened.path.name, heading=piece.heading, **more),
                created_at=created_at,
                updated_at=max(created_at, updated_at),
                created_by=opened.path.name,
                also=(hashed(earlier_content),),
                place=f"{opened.place}#{piece.heading}",
            )
        )
        note.links[id] = _LINK.findall(text)
    return note


def _subject(path: Path, body: str) -> str:
    """Return what a note is about: its first heading, else its name; nothing of a file of instructions."""
    if fold(path.stem) in INSTRUCTIONS or path.suffix.lower() == ".mdc":
        return ""
    heading = re.search(r"^#\s+(.+?)\s*#*$", body, re.MULTILINE)
    return heading[1] if heading else path.stem


def repository(path: Path) -> str | None:
    """The root of the git repository that a file is in."""
    for folder in path.resolve().parents:
        if (folder / ".git").exists():
            return str(folder)
    return None


def _pieces(text: str) -> Iterator[_Piece]:
    """The items and paragraphs. What is indented below an item, and code, belongs to what stands before it."""
    heading, piece, fenced = "", _Piece(""), False
    columns: list[str] | None = None
    for line in text.split("\n"):
        fence, row = _FENCE.match(line), _ROW.match(line)
        if fenced or fence:
            fenced = fenced != bool(fence)
            piece.lines.append(line)
            continue
        if row and not piece.item:
            cells = [cell.strip() for cell in row[1].replace("\\|", "¦").split("|")]
            if columns is None:
                yield piece
                columns, piece = cells, _Piece(heading, [_row([], cells)])
            elif not _RULE.match(row[1]):
                piece = _Piece(heading)
                yield _Piece(heading, [_row(columns, cells)])
            continue
        if columns is not None:
            yield piece  # a table without rows: its head
            columns, piece = None, _Piece(heading)
        title, item = _HEADING.match(line), _ITEM.match(line)
        if title:
            yield piece
            heading = title[2] if len(title[1]) > 1 else ""
            piece = _Piece(heading)
        elif item and not (piece.item and item[1]):
            yield piece
            piece = _Piece(heading, [item[3]], item=True, box=_box(item[2]))
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


def _box(text: str | None) -> str:
    return "" if text is None else "[ ] " if " " in text.strip() else "[x] "


def _row(columns: list[str], cells: list[str]) -> str:
    """Return `Port: 5433; Host: db1`: the cells of a row under the names of their columns."""
    named = zip(columns + [""] * len(cells), cells, strict=False)
    return "; ".join(f"{name}: {cell}" if name else cell for name, cell in named if cell).replace("¦", "|")


FORMAT = Format(NAME, "Markdown", fits, records)
