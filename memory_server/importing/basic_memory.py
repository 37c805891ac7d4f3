"""The Markdown notes of basic-memory: a header, prose, `- [category] observation #tag`, `- relation [[Note]]`.

A note is a memory with its prose. Each observation is one too and extends it. A relation is an edge between two notes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from memory_server.domain.exchange.records import EdgeRecord, MemoryRecord, Record, Refusal
from memory_server.importing import bullets, front
from memory_server.importing.opened import Format, Opened
from memory_server.importing.values import file_moment, filled, hashed, memory_type, moment, relation, texts

NAME = "basic-memory"

_OBSERVATION = re.compile(r"^\s*[-*]\s+\[([^\[\]]{2,})\]\s+(.+)$")
_RELATION = re.compile(r"^\s*[-*]\s+([^\[\]]*?)\s*\[\[([^\]]+)\]\](.*)$")
_TAG = re.compile(r"(?<!\S)#([\w/-]+)")


@dataclass(slots=True)
class _Note:
    """A note as it stands in its file; `names` are what others call it."""

    id: str
    title: str
    changed: str
    fields: dict[str, str]
    prose: list[str] = field(default_factory=list)
    observations: list[tuple[str, str]] = field(default_factory=list)
    relations: list[tuple[str, str]] = field(default_factory=list)

    @property
    def names(self) -> set[str]:
        return {name.casefold() for name in (self.id, self.title, self.id.rpartition("/")[2])}


def fits(opened: Opened) -> bool:
    if opened.is_folder:
        return any(_is_note(Opened(path)) for path in bullets.files(opened.path))
    return opened.path.suffix.lower() in bullets.ENDINGS and _is_note(opened)


def records(opened: Opened) -> Iterator[Record]:
    paths = list(bullets.files(opened.path)) if opened.is_folder else [opened.path]
    root = opened.path if opened.is_folder else opened.path.parent
    notes = [_note(Opened(path), root) for path in paths]
    ids = {name: note.id for note in notes for name in note.names}
    edges: list[EdgeRecord] = []
    for note in notes:
        yield from _memories(note, edges)
    for note in notes:
        for verb, target in note.relations:
            target_id = ids.get(target.casefold()) or ids.get(target.casefold().replace(" ", "-"))
            if target_id is None:
                yield Refusal(
                    f"relation {note.title} {verb} {target}", f"there is no note {target}", elsewhere=True
                )
            else:
                edges.append(EdgeRecord(note.id, target_id, relation(verb)))
    yield from edges


def _memories(note: _Note, edges: list[EdgeRecord]) -> Iterator[Record]:
    created_at = moment(note.fields.get("created")) or moment(note.fields.get("date")) or note.changed
    updated_at = moment(note.fields.get("modified")) or moment(note.fields.get("updated")) or note.changed
    tags = tuple(texts(note.fields.get("tags", "").strip("[]").replace('"', "").replace("'", "")))
    prose = "\n".join(note.prose).strip()
    base = MemoryRecord(
        note.id,
        f"{note.title}\n{prose}".strip()
        if not prose.startswith(f"# {note.title}")
        else prose.removeprefix("# "),
        memory_type(note.fields.get("type")),
        tags=tags,
        metadata=filled(note=note.title, type=note.fields.get("type")),
        created_at=created_at,
        updated_at=max(created_at, updated_at),
        created_by=NAME,
    )
    yield base
    for category, text in note.observations:
        id = hashed(note.id, category, text)
        yield MemoryRecord(
            id,
            f"{note.title}: {text}",
            memory_type(category),
            tags=tuple(dict.fromkeys([category, *_TAG.findall(text), *tags])),
            metadata=filled(note=note.title),
            created_at=created_at,
            updated_at=created_at,
            created_by=NAME,
        )
        edges.append(EdgeRecord(id, note.id, "extends"))


def _is_note(opened: Opened) -> bool:
    """A header of basic-memory names a permalink; else its observations or its relations tell."""
    header = front.FRONT.match(opened.head)
    if header and re.search(r"^permalink:", header[1], re.MULTILINE):
        return True
    lines = opened.head.splitlines()
    return bool(header) and any(map(_OBSERVATION.match, lines)) and any(map(_RELATION.match, lines))


def _note(opened: Opened, root: Path) -> _Note:
    fields, body = front.split(opened.text)
    path = opened.path.relative_to(root).with_suffix("").as_posix()
    note = _Note(
        fields.get("permalink") or path,
        fields.get("title") or opened.path.stem,
        file_moment(opened.path.stat().st_mtime),
        fields,
    )
    for line in body.splitlines():
        observation, related = _OBSERVATION.match(line), _RELATION.match(line)
        if related:
            note.relations.append((related[1].strip() or "relates_to", related[2].partition("|")[0].strip()))
        elif observation:
            note.observations.append((observation[1].strip(), observation[2].strip()))
        elif line.strip().casefold() not in ("## observations", "## relations"):
            note.prose.append(line.rstrip())
    return note


FORMAT = Format(NAME, "the notes of basic-memory", fits, records)
