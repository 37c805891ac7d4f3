"""The Markdown notes of basic-memory: a header, prose, `- [category] observation #tag`, `- relation [[Note]]`.

A note is a memory with all of its text but the observations. Each observation is one too and extends it. A relation, or
a link in the text, is an edge between two notes; a note that is linked before it is written has none yet.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from memory_server.domain.exchange.records import EdgeRecord, MemoryRecord, Record
from memory_server.importing import bullets, front
from memory_server.importing.opened import Format, Opened
from memory_server.importing.values import file_moment, filled, hashed, memory_type, moment, relation, texts

NAME = "basic-memory"

_OBSERVATION = re.compile(r"^\s*[-*+]\s+\[([^\[\]()]{2,}|[^\W_xX])\]\s+(.+)$")
_CLOCK = re.compile(r"[\d:., -]+")
"""A category that is a time: the line is of a recording."""
_RELATION = re.compile(
    r"""^\s*[-*+]\s+(?:"([^"]+)"|'([^']+)'|([^\s\[\]]+))\s*\[\[([^\[\]]+)\]\](?:\s*\(.*\))?\s*$"""
)
_LINK = re.compile(r"\[\[([^\[\]\n]{1,200})\]\]")
_FENCE = re.compile(r"\s*(```|~~~)")
_BLANK = re.compile(r"\n{3,}")
_OWN_FIELDS = frozenset("title type permalink tags created date modified updated".split())
_TAG = re.compile(r"(?<!\S)#([\w/-]+)")


@dataclass(slots=True)
class _Note:
    """A note as it stands in its file, `place`; `names` are what others call it."""

    id: str
    title: str
    path: str
    place: str
    changed: str
    fields: dict[str, str]
    prose: list[str] = field(default_factory=list)
    observations: list[tuple[str, str]] = field(default_factory=list)
    relations: list[tuple[str, str]] = field(default_factory=list)

    @property
    def names(self) -> set[str]:
        own_names = (self.id, self.title, self.id.partition("/")[2], self.id.rpartition("/")[2], self.path)
        return {name.casefold() for name in own_names}


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
            name = re.split(r"[|#]", target)[0].strip().casefold()
            target_id = ids.get(name) or ids.get(name.replace(" ", "-"))
            if target_id is not None and target_id != note.id:
                edges.append(EdgeRecord(note.id, target_id, relation(verb)))
    yield from dict.fromkeys(edges)


def _memories(note: _Note, edges: list[EdgeRecord]) -> Iterator[Record]:
    created_at = moment(note.fields.get("created"), note.fields.get("date")) or note.changed
    updated_at = moment(note.fields.get("modified"), note.fields.get("updated")) or note.changed
    tags = tuple(texts(note.fields.get("tags", "").strip("[]").replace('"', "").replace("'", "")))
    prose = _BLANK.sub("\n\n", "\n".join(note.prose)).strip()
    more = {name: value for name, value in note.fields.items() if name not in _OWN_FIELDS}
    base = MemoryRecord(
        note.id,
        f"{note.title}\n{prose}".strip()
        if not prose.startswith(f"# {note.title}")
        else prose.removeprefix("# "),
        memory_type(note.fields.get("type")),
        tags=tags,
        metadata=filled(**{**more, "note": note.title, "type": note.fields.get("type")}),
        created_at=created_at,
        updated_at=max(created_at, updated_at),
        created_by=NAME,
        place=note.place,
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
            place=f"{note.place}#{category}",
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
        path,
        opened.place,
        file_moment(opened.path.stat().st_mtime),
        fields,
    )
    is_code = False
    for line in body.splitlines():
        is_fence = bool(_FENCE.match(line))
        observation, related = _OBSERVATION.match(line), _RELATION.match(line)
        if is_code or is_fence:
            is_code = is_code != is_fence
            note.prose.append(line.rstrip())
        elif observation and not _CLOCK.fullmatch(observation[1]):
            note.observations.append((observation[1].strip(), observation[2].strip()))
        elif line.strip().casefold() != "## observations":
            verb = next(filter(None, related.groups()), "") if related else "links_to"
            note.relations += [(verb, target) for target in _LINK.findall(line)]
            note.prose.append(line.rstrip())
    return note


FORMAT = Format(NAME, "the notes of basic-memory", fits, records)
