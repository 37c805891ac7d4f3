"""The memories that Claude Code writes for itself: a folder for each project, one fact a file, and an index.

A file is one memory, its reasons with it (`**Why:**`, `**How to apply:**`), and `[[name]]` an edge. Its id is its path,
so that a file that changes changes the memory. The form is that of the system prompt of Claude Code 2.1.330. The index,
MEMORY.md, says nothing of its own.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from memory_server.domain.exchange.records import EdgeRecord, MemoryRecord, Record, Refusal
from memory_server.domain.memory import MemoryType
from memory_server.errors import Invalid
from memory_server.importing import front, transcripts
from memory_server.importing.opened import Format, Opened
from memory_server.importing.values import file_moment, filled
from memory_server.language.sentences import ended
from memory_server.language.text import fold

NAME = "claude-code"

TYPES = {
    "user": MemoryType.PREFERENCE,
    "feedback": MemoryType.PREFERENCE,
    "project": MemoryType.DECISION,
    "reference": MemoryType.LEARNING,
}
"""Who the user is, how to work, what is going on and why, and where something is found."""

INDEX = "MEMORY.md"

_LINK = re.compile(r"\[\[([^\[\]\n]{1,200})\]\]")

_FIRST = 50
"""Lines of a transcript in which the folder of its project is looked for."""


@dataclass(frozen=True, slots=True)
class _Memory:
    file: Opened
    fields: dict[str, str]
    body: str

    @property
    def name(self) -> str:
        return self.fields.get("name") or self.file.path.stem


def fits(opened: Opened) -> bool:
    """True for a folder or a file with a header whose type is one of Claude Code's."""
    fields = (_read(file.head)[0] for file in _files(opened) if file.path.name != INDEX)
    return any("name" in of_file and of_file.get("type") in TYPES for of_file in fields)


def records(opened: Opened) -> Iterator[Record]:
    memories = []
    for file in _files(opened):
        if file.path.name == INDEX:
            continue
        try:
            memories.append(_Memory(file, *_read(file.text)))
        except Invalid as error:
            yield Refusal(file.path.name, error.problem.text)
    ids = {fold(memory.name): _id(memory) for memory in memories}
    folder = opened.path if opened.is_folder else opened.path.parent
    project = _project(folder)
    for memory in memories:
        if memory.body or memory.fields.get("description"):
            yield _record(memory, project)
    for memory in memories:
        for name in dict.fromkeys(map(fold, _LINK.findall(memory.body))):
            if name in ids and ids[name] != _id(memory):
                yield EdgeRecord(_id(memory), ids[name])


def _record(memory: _Memory, project: str | None) -> MemoryRecord:
    description, kind = memory.fields.get("description", ""), memory.fields.get("type", "")
    changed = file_moment(memory.file.path.stat().st_mtime)
    return MemoryRecord(
        _id(memory),
        _content(memory.fields, memory.body),
        TYPES.get(kind, MemoryType.LEARNING),
        project=None if kind == "user" else project,
        tags=(kind,) if kind in TYPES else (),
        metadata=filled(file=memory.file.path.name, name=memory.name, description=description),
        created_at=changed,
        updated_at=changed,
        created_by=NAME,
    )


def content(text: str) -> str:
    """Return what the memory of a file says."""
    return _content(*_read(text))


def _content(fields: dict[str, str], body: str) -> str:
    """Return the body, behind the description where it does not say that."""
    description = fields.get("description", "")
    return body if fold(description) in fold(body) else f"{ended(description)}\n{body}".strip()


def _id(memory: _Memory) -> str:
    return str(memory.file.path.resolve())[-500:]


def _files(opened: Opened) -> list[Opened]:
    return [file for file in opened.files if file.path.suffix == ".md" and not file.member]


def _read(text: str) -> tuple[dict[str, str], str]:
    """Return the fields of a header, and what follows it."""
    fields, body = front.split(text)
    return fields, body.strip()


def _project(folder: Path) -> str | None:
    """Return the folder of the project: the transcripts beside that of its memories name it."""
    for path in islice(sorted(folder.parent.glob("*.jsonl"), reverse=True), 3):
        for _, entry in islice(transcripts.entries(path, 0), _FIRST):
            if isinstance(entry.get("cwd"), str):
                return str(entry["cwd"])
    return None


FORMAT = Format(NAME, "memories of Claude Code", fits, records)
