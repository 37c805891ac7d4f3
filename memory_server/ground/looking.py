"""Looks whether the lines of anchors stand in the working tree of a folder."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from memory_server.ground.anchors import Anchor, State, Verdict
from memory_server.ground.budget import Budget
from memory_server.ground.following import candidates, renamed
from memory_server.ground.index import Listing
from memory_server.ground.lines import Line, difference, has_conflict, lines_with, missing
from memory_server.ground.tree import Source, Tree, around
from memory_server.ground.values import holds, values_in

LONGEST = 120
"""Characters of a line that are told."""

SECONDS = 0.03
"""CPU time of a look: nobody notices it before an answer."""


def look(anchors: Sequence[Anchor], folder: Path, *, seconds: float = SECONDS) -> tuple[Verdict, ...]:
    """Return the verdict on every anchor, in their order. Where the folder is in no repository, return none."""
    budget = Budget(seconds)
    tree = around(folder) if anchors else None
    if tree is None:
        return ()
    commit, branch = tree.head()
    looking = _Look(tree, budget, commit, branch)
    first = {anchor: looking.in_its_file(anchor) for anchor in dict.fromkeys(anchors)}
    lost = [anchor for anchor, verdict in first.items() if verdict is None]
    verdicts = {**first, **looking.elsewhere(lost)}
    return tuple(verdicts[anchor] or looking.unknown(anchor) for anchor in anchors)


@dataclass(frozen=True, slots=True)
class _Look:
    tree: Tree
    budget: Budget
    commit: str
    branch: str
    _sources: dict[str, Source | None] = field(default_factory=dict)

    def unknown(self, anchor: Anchor) -> Verdict:
        return self._verdict(anchor, State.UNKNOWN, anchor.path, anchor.line)

    def in_its_file(self, anchor: Anchor) -> Verdict | None:
        """Return the verdict on an anchor that its own file gives; None where the file or the name is not there."""
        if self.budget.is_spent:
            return self.unknown(anchor)
        if not anchor.name:
            if not self.tree.exists(anchor.path):
                return None
            is_inside = self.tree.is_inside(anchor.path.rpartition("/")[0])
            return self._verdict(anchor, State.SAME, anchor.path, 0) if is_inside else self.unknown(anchor)
        if anchor.path not in self._sources:
            self._sources[anchor.path] = self.tree.read(anchor.path)
        source = self._sources[anchor.path]
        if source is None:
            return self.unknown(anchor) if self.tree.exists(anchor.path) else None
        lines = lines_with(anchor.name, source.text)
        if lines and not missing(anchor.digests, lines):
            return self._standing(anchor, source, lines)
        if has_conflict(source.text):
            return self.unknown(anchor)
        return self._changed(anchor, source, lines) if lines else None

    def elsewhere(self, anchors: Sequence[Anchor]) -> dict[Anchor, Verdict]:
        """Look in the other files for anchors whose file or name is not where it was."""
        if not anchors:
            return {}
        listing = self.tree.listing(self.budget)
        verdicts = {anchor: self._file(anchor, listing) for anchor in anchors if not anchor.name}
        names = [anchor for anchor in anchors if anchor.name]
        verdicts.update({anchor: self.unknown(anchor) for anchor in names if anchor.path in listing.absent})
        searched = [anchor for anchor in names if anchor not in verdicts]
        return {**verdicts, **self._search(searched, listing)}

    def _file(self, anchor: Anchor, listing: Listing) -> Verdict:
        """Return the verdict on a file that is not where it was."""
        if anchor.path in listing.absent or not listing.whole:
            return self.unknown(anchor)
        path = renamed(anchor.path, [path for path in listing.paths if path != anchor.path], self.tree.exists)
        return self._verdict(anchor, State.MOVED if path else State.GONE, path or anchor.path, 0)

    def _search(self, anchors: Sequence[Anchor], listing: Listing) -> dict[Anchor, Verdict]:
        """Read the other files, the likeliest first, until all lines stand somewhere or the budget is over."""
        changed: dict[Anchor, list[tuple[Source, list[Line]]]] = {anchor: [] for anchor in anchors}
        moved: dict[Anchor, Verdict] = {}
        is_proved = listing.whole
        for path in candidates(anchors, listing, self.tree):
            lost = [anchor for anchor in anchors if anchor not in moved]
            if not lost:
                break
            if self.budget.is_spent:
                is_proved = False
                break
            source = self.tree.read(path)
            if source is None:
                continue
            for anchor in (anchor for anchor in lost if source.may_hold(anchor.name)):
                lines = lines_with(anchor.name, source.text)
                observed = anchor.digests[:1] if anchor.value else anchor.digests
                if lines and not missing(observed, lines):
                    moved[anchor] = self._standing(anchor, source, lines)
                elif lines:
                    changed[anchor].append((source, lines))
        return {
            anchor: moved.get(anchor) or self._lost(anchor, changed[anchor], is_proved) for anchor in anchors
        }

    def _lost(self, anchor: Anchor, places: list[tuple[Source, list[Line]]], is_proved: bool) -> Verdict:
        """Return the verdict on a name of which no file has all lines. Where files are left that were not read, it
        takes a file that has some of them to say that they have changed.
        """
        if not is_proved:
            count = len(anchor.digests)
            places = [place for place in places if len(missing(anchor.digests, place[1])) < count]
            if not places:
                return self.unknown(anchor)
        if not places:
            return self._verdict(anchor, State.GONE, anchor.path, 0)
        verdicts = [self._changed(anchor, source, lines) for source, lines in places]
        return min(verdicts, key=lambda verdict: min(difference(old, verdict.text) for old in anchor.digests))

    def _standing(self, anchor: Anchor, source: Source, lines: list[Line]) -> Verdict:
        """Return the verdict on observed lines that all stand in this file."""
        observed = [line for line in lines if not missing(anchor.digests[:1], [line])]
        number = min((line.number for line in observed), key=lambda number: abs(number - anchor.line))
        is_same = source.path == anchor.path and number == anchor.line
        return self._verdict(anchor, State.SAME if is_same else State.MOVED, source.path, number)

    def _changed(self, anchor: Anchor, source: Source, lines: list[Line]) -> Verdict:
        """Return the verdict on a name that stands in this file, but not on all of the observed lines. Where it still
        stands with the value of the note, it takes the same line with another value to say that it has changed.
        """
        line = self._successor(anchor, lines)
        standing = [line for line in lines if anchor.value and holds(line.text, anchor.value)]
        if standing and (line is None or line in standing or difference(anchor.digests[0], line.text) > 0):
            number = min((line.number for line in standing), key=lambda number: abs(number - anchor.line))
            is_same = source.path == anchor.path and number == anchor.line
            return self._verdict(anchor, State.SAME if is_same else State.MOVED, source.path, number)
        if line is None:
            return self._verdict(
                anchor, State.CHANGED, source.path, lines[0].number, modified=source.modified
            )
        text = cut(line.text)
        return self._verdict(anchor, State.CHANGED, source.path, line.number, text, source.modified)

    def _successor(self, anchor: Anchor, lines: list[Line]) -> Line | None:
        """Return the line that replaced an observed one: one with another value of the same kind, the most alike, the
        nearest. Return None where a line was only taken out.
        """
        new = [line for line in lines if len(missing(anchor.digests, [line])) == len(anchor.digests)]
        lost = missing(anchor.digests, lines)
        lost = lost[:1] if anchor.value else lost

        def rank(line: Line) -> tuple[bool, int, int]:
            has_value = not anchor.value or bool(values_in(line.text, like=anchor.value))
            return (
                not has_value,
                min(difference(old, line.text) for old in lost),
                abs(line.number - anchor.line),
            )

        return min(new, key=rank, default=None)

    def _verdict(
        self, anchor: Anchor, state: State, path: str, line: int, text: str = "", modified: float = 0.0
    ) -> Verdict:
        return Verdict(anchor, state, path, line, text, self.commit, self.branch, modified)


def cut(text: str) -> str:
    """Return a line without what cannot be printed, cut to the length that is told."""
    text = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
