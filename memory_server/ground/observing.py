"""Observes what a note names in a working tree."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory_server.ground.anchors import Anchor
from memory_server.ground.budget import Budget
from memory_server.ground.files import is_searched
from memory_server.ground.index import Listing
from memory_server.ground.lines import (
    LONGEST,
    MOST_LINES,
    Line,
    digest,
    is_defined,
    lines_matching,
    lines_with,
)
from memory_server.ground.mentions import Mentions, Pair, is_path, mentions, names_value
from memory_server.ground.tree import Source, Tree, around
from memory_server.ground.values import gives, holds, identifiers, may_hold, parts_of, pattern_of, words_of
from memory_server.project import address, repository

MOST_ANCHORS = 8
"""Anchors of a note."""

MOST_FILES = 3
"""Files in which a name may stand: one that stands in more anchors nothing."""

_NEAR = 3
"""Words of a value that are looked for in all files: of the first that stands beside it, only one file may have it."""

SECONDS = 1.0
"""CPU time of an observation, which runs in the background."""


def observe(
    text: str, folder: Path, *, read: Sequence[str] = (), seconds: float = SECONDS
) -> tuple[Anchor, ...]:
    """Return the anchors of a note that stand in the working tree of this folder now.

    `read` are files that the session has just read; they are looked at first, after those that the note names.
    """
    tree = around(folder)
    if tree is None:
        return ()
    main = repository.at(tree.root)
    note = mentions(text, main.remote() if main else None)
    if not (note.paths or note.names or note.plain or note.pairs):
        return ()
    observing = _Observation(tree, folder.resolve(), Budget(seconds), *tree.head(), note.plain)
    anchors = observing.anchors(note, read)
    return tuple(anchors[:MOST_ANCHORS])


@dataclass(frozen=True, slots=True)
class _Observation:
    tree: Tree
    folder: Path
    budget: Budget
    commit: str
    branch: str
    plain: tuple[str, ...] = ()

    def anchors(self, note: Mentions, read: Sequence[str]) -> list[Anchor]:
        """Return the anchors in the order of their worth: values, names, files in which nothing else was observed."""
        listing = self.tree.listing(self.budget)
        places = self._places(note.paths, listing)
        named = list(dict.fromkeys(path for paths in places.values() for path in paths))
        session = (self.tree.inside(self.folder / path) for path in read)
        values: dict[Pair, list[Anchor]] = {pair: [] for pair in note.pairs}
        names: dict[str, list[Anchor]] = {
            name: [] for name in (*note.names, *note.plain) if not places.get(name)
        }
        for path in dict.fromkeys((*named, *filter(None, session))):
            source = self.tree.read(path)
            if source is not None:
                self._observe(source, values, names, again=path in named)
        self._search(values, {name: names[name] for name in note.names if name in names}, listing)
        valued = [anchor for anchors in values.values() for anchor in anchors]
        valued_text = " ".join((*(anchor.value for anchor in valued), *(anchor.name for anchor in valued)))
        anchors = _distinct(
            (*valued, *(anchor for name in names if name not in valued_text for anchor in names[name]))
        )
        placed = {anchor.path for anchor in anchors}
        alone = [paths[0] for paths in places.values() if len(paths) == 1 and paths[0] not in placed]
        return [*anchors, *(self._anchor("", path, [], "") for path in dict.fromkeys(alone))]

    def _observe(
        self, source: Source, values: dict[Pair, list[Anchor]], names: dict[str, list[Anchor]], *, again: bool
    ) -> None:
        """Add the anchors of one file; `again`: for what stands in a file before it, too."""
        for pair, anchors in values.items():
            if again or not anchors:
                anchors += self._value(pair, source)
        for name, anchors in names.items():
            if again or not anchors:
                anchors += self._name(name, source)

    def _search(
        self, values: dict[Pair, list[Anchor]], names: dict[str, list[Anchor]], listing: Listing
    ) -> None:
        """Add anchors from all other files for what no named file holds, if the budget lasts for all files. Of a name
        they are in the files that define it, if any does.
        """
        pairs = [pair for pair, anchors in values.items() if not anchors and len(pair.forms[0]) > 1]
        near: dict[Pair, list[Anchor]] = {
            Pair(p.forms, (word,)): [] for p in pairs for word in p.words[:_NEAR]
        }
        new: dict[str, list[Anchor]] = {name: [] for name, anchors in names.items() if not anchors}
        ends = {name: parts_of(name)[-1] for name in new}
        defined: set[tuple[str, str]] = set()
        for path in filter(is_searched, listing.paths if near or new else ()):
            if self.budget.is_spent:
                return
            source = self.tree.read(path)
            if source is None:
                continue
            for pair, anchors in near.items():
                anchors += self._value(pair, source)
            for name in [name for name in new if source.may_hold(ends[name])]:
                new[name] += self._name(name, source)
                if len(new[name]) > MOST_FILES or len(lines_with(name, source.text)) > MOST_LINES:
                    del new[name]
                elif is_defined(ends[name], source.text):
                    defined.add((name, path))
        for name, anchors in new.items():
            names[name] += [anchor for anchor in anchors if (name, anchor.path) in defined] or anchors
        for pair in pairs:
            hits = next(filter(None, (near[Pair(pair.forms, (word,))] for word in pair.words[:_NEAR])), [])
            values[pair] = hits if len({anchor.path for anchor in hits}) == 1 else []

    def _name(self, name: str, source: Source) -> list[Anchor]:
        """Return the anchor of a name in a file: of `Class.method` the method, where the file has both; of a version or
        a quoted text the name to which a line gives it.
        """
        if name in self.plain and (owner := _owner(name, source.text)):
            return self._valued(owner, source, name)
        lines = lines_with(name, source.text)
        *_, owner, last = ["", "", *parts_of(name)]
        if not lines and owner and len(last) > 3 and lines_with(owner, source.text):
            name, lines = last, lines_with(last, source.text)
        return self._anchors(name, source, lines)

    def _value(self, pair: Pair, source: Source) -> list[Anchor]:
        """Return the anchors of a value in a file: of the nearest word that names a line with it."""
        for value in pair.forms:
            lines = _lines_of(value, source.text)
            for word in pair.words if lines else ():
                named = dict.fromkeys(filter(None, (_named_by(word, line.text, value) for line in lines)))
                if 0 < len(named) <= MOST_FILES:
                    return [anchor for name in named for anchor in self._valued(name, source, value)]
        return []

    def _valued(self, name: str, source: Source, value: str) -> list[Anchor]:
        """Return the anchor of a name with its value: the lines that give it are the first, then those that hold it."""
        lines = lines_with(name, source.text)
        lines.sort(key=lambda line: (not holds(line.text, value), not gives(line.text, name, value)))
        return self._anchors(name, source, lines, value)

    def _anchors(self, name: str, source: Source, lines: list[Line], value: str = "") -> list[Anchor]:
        if not lines or len(lines) > MOST_LINES or any(len(line.text) > LONGEST for line in lines):
            return []
        return [self._anchor(name, source.path, lines, value)]

    def _anchor(self, name: str, path: str, lines: list[Line], value: str) -> Anchor:
        digests = tuple(dict.fromkeys(digest(line.text) for line in lines))
        number = lines[0].number if lines else 0
        return Anchor(name, path, number, digests, value, self.commit, self.branch)

    def _places(self, texts: Sequence[str], listing: Listing) -> dict[str, list[str]]:
        """Return the files that each text may name; none where there are more than three."""
        ends = {text.rpartition("/")[2].casefold() for text in texts}
        candidates = (
            [path for path in listing.paths if path[path.rfind("/") + 1 :].casefold() in ends] if ends else []
        )
        return {text: self._files(text, candidates) for text in texts}

    def _files(self, text: str, candidates: Sequence[str]) -> list[str]:
        """Return the files that a path of a note names: from the folder, from the root, or by their last parts."""
        is_absolute = address.is_path(text)
        for path in (self.tree.inside(self.folder / text), None if is_absolute else text):
            same = [file for file in candidates if path and file.casefold() == path.casefold()]
            spelled = path if path in same else same[0] if len(same) == 1 else path
            if spelled and is_path(spelled) and self.tree.is_file(spelled):
                return [spelled]
        parts = text.strip("/").split("/")
        for first in range(len(parts) - 1) if is_absolute else (0,):
            end = "/" + "/".join(parts[first:]).casefold()
            ending = [
                path for path in candidates if f"/{path}".casefold().endswith(end) and self.tree.is_file(path)
            ]
            if ending:
                return ending if len(ending) <= MOST_FILES else []
        return []


def _lines_of(value: str, text: str) -> list[Line]:
    """Return the lines that hold a value."""
    if not may_hold(text, value):
        return []
    lines = lines_matching(pattern_of(value), text)
    return [line for line in lines if len(line.text) <= LONGEST and holds(line.text, value)]


def _owner(value: str, text: str) -> str:
    """Return the only identifier to which a line of a text gives a value."""
    lines = [line.text for line in _lines_of(value, text)]
    owners = {name for line in lines for name in identifiers(line) if gives(line, name, value)}
    return owners.pop() if len(owners) == 1 else ""


def _named_by(word: str, line: str, value: str) -> str:
    """Return the identifier of a line, outside of the value, that a word of a note names."""
    outside = re.sub(rf"""(["'`]){re.escape(value)}\1(?!\s*:)""", " ", line)
    return next((name for name in identifiers(outside) if names_value(name, words_of(name), word)), "")


def _distinct(anchors: Iterable[Anchor]) -> list[Anchor]:
    """Return the anchors without those of a name or of lines that an earlier one has."""
    distinct: dict[tuple[str, str], Anchor] = {}
    for anchor in anchors:
        copies = (
            a for a in distinct.values() if a.path == anchor.path and set(anchor.digests) <= set(a.digests)
        )
        if (anchor.path, anchor.name) not in distinct and not any(copies):
            distinct[anchor.path, anchor.name] = anchor
    return list(distinct.values())
