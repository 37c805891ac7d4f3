"""Compares a text with memories: those that say the same, are close to it, or may be replaced by it.

The constants were chosen on labelled pairs in both languages: `scripts/lab/quality/restated.py` prints the figures.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from memory_server.domain import differences, updates
from memory_server.domain.consolidation import Likeness, Text, compare, jaccard
from memory_server.domain.embedding import Space, Vector
from memory_server.domain.memory import Memory, MemoryId, MemoryType, Passage, Similar
from memory_server.domain.updates import Aligned, TextPair
from memory_server.domain.wording import overlap

MOST = 5
"""Memories at most that are named as similar."""

OVERLAP = 0.4
"""What shared words add to the cosine: with them the memory that a note updates comes first for 87 % of notes, without
for 83 %."""

ALIKE = 0.45
"""Cosine and shared words from which on a memory is named. Of two notes about different things 1 in 500 has that."""

BEHIND = 0.25
"""How far behind the most alike memory another one is still named."""

ACROSS, ACROSS_CHANGED = 0.36, 0.22
"""The same as ALIKE for texts in another language, which share no words but names; and where the new one tells of a
change."""

BEHIND_ACROSS, MOST_ACROSS = 0.1, 2
"""The same as BEHIND and MOST for them."""

MEASURED = "bundled"
"""The provider of the embedder with which ALIKE was measured: other models have other cosines for the same texts."""


@dataclass(frozen=True)
class Peer:
    """A memory, a fact or a turn that may be close to a text; `cosine` None: it is not known. `vectors`: see
    `updates.Pair`."""

    memory: Memory | Passage
    text: Text
    cosine: float | None = None
    vectors: tuple[Vector, Vector] | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """`twin` says the same and may be merged with the text; `restated` says the same, and may not.

    `similar` are the most alike first; `maybe_replaced` is one that the text may replace, if any.
    """

    twin: Memory | None = None
    restated: Memory | Passage | None = None
    similar: tuple[Similar, ...] = ()
    maybe_replaced: tuple[MemoryId | str, ...] = ()


@dataclass(frozen=True)
class _Candidate:
    draft: Text
    peer: Peer

    @cached_property
    def likeness(self) -> Likeness:
        return compare(self.draft, self.peer.text)

    @cached_property
    def alike(self) -> float:
        """The cosine, or the share of words where that is more, and what shared words add."""
        words = jaccard(self.draft.words, self.peer.text.words)
        return max(self.peer.cosine or 0.0, words) + OVERLAP * overlap(
            self.draft.wording, self.peer.text.wording
        )

    @cached_property
    def aligned(self) -> Aligned:
        return (
            updates.aligned(self.peer.text.wording, self.draft.wording) if not self.across else updates.UNLIKE
        )

    @cached_property
    def part(self) -> str:
        """The clauses of the memory that the text may replace, where it leaves others as they are."""
        return "" if self.across else differences.part(self.peer.text, self.draft)

    @cached_property
    def across(self) -> bool:
        """True if the two are in different languages."""
        return self.draft.language != self.peer.text.language

    @property
    def is_close(self) -> bool:
        least = ALIKE
        if self.across:
            least = ACROSS_CHANGED if self.draft.wording.cues.change else ACROSS
        return self.likeness is not Likeness.DIFFERENT or (
            self.peer.cosine is not None and self.alike >= least
        )


def comparable(space: Space) -> bool:
    """True if cosines of this space tell that two texts are close."""
    return space.provider == MEASURED


def compared(draft: Text, type: MemoryType | None, peers: Sequence[Peer]) -> Compared:
    """Compare a text with what its project has. Its twin is a memory of its type, and no memory supersedes the twin."""
    candidates = [_Candidate(draft, peer) for peer in peers]
    restated = [
        candidate.peer.memory for candidate in candidates if candidate.likeness is Likeness.RESTATEMENT
    ]
    twin = next(
        (
            memory
            for memory in restated
            if isinstance(memory, Memory) and memory.type is type and memory.superseded_by is None
        ),
        None,
    )
    # The others share some words only: how alike they are need not be known.
    near = [
        candidate
        for candidate in candidates
        if candidate.peer.cosine is not None or candidate.likeness is not Likeness.DIFFERENT
    ]
    close = [
        candidate
        for candidate in near
        if candidate.is_close
        and candidate.peer.memory != twin
        and (candidate.peer.memory.superseded_by is None or candidate.likeness is Likeness.RESTATEMENT)
    ]
    close.sort(key=lambda candidate: (candidate.likeness is not Likeness.RESTATEMENT, -candidate.alike))
    named = _named(close)
    replaced = None if restated else _replaced(named, near)
    return Compared(
        twin,
        next((memory for memory in restated if memory != twin), None),
        tuple(_similar(candidate, replaced) for candidate in named),
        () if replaced is None or replaced.part else (replaced.peer.memory.id,),
    )


def _named(close: Sequence[_Candidate]) -> list[_Candidate]:
    """The most alike in the language of the text and in others, best first."""
    across = _near_the_best([candidate for candidate in close if candidate.across], BEHIND_ACROSS)[
        :MOST_ACROSS
    ]
    near = _near_the_best([candidate for candidate in close if not candidate.across], BEHIND)
    chosen = {id(candidate) for candidate in (*near[: MOST - len(across)], *across)}
    return [candidate for candidate in close if id(candidate) in chosen]


def _near_the_best(close: Sequence[_Candidate], behind: float) -> list[_Candidate]:
    least = max((candidate.alike for candidate in close), default=0.0) - behind
    return [
        candidate
        for candidate in close
        if candidate.likeness is not Likeness.DIFFERENT or candidate.alike >= least
    ]


def _similar(candidate: _Candidate, replaced: _Candidate | None) -> Similar:
    memory, text = candidate.peer.memory, candidate.peer.text
    if candidate.likeness is Likeness.RESTATEMENT:
        return Similar(memory)
    differs = differences.told(text, candidate.draft, candidate.aligned)
    return Similar(memory, differs, candidate.part if candidate is replaced else "")


def _replaced(named: Sequence[_Candidate], all: Sequence[_Candidate]) -> _Candidate | None:
    """The memory, fact or turn that the text most probably updates, if any is likely."""
    best, most = None, 0.0
    for candidate in named:
        similarities = [
            rival.alike for rival in all if rival is not candidate and rival.across == candidate.across
        ]
        lead = candidate.alike - max(similarities, default=0.0)
        old, new, aligned = candidate.peer.text.wording, candidate.draft.wording, candidate.aligned
        if candidate.part:
            old = Text(candidate.part, candidate.draft.segment).wording
            aligned = updates.aligned(old, new)
        pair = TextPair(
            old, new, candidate.peer.cosine, lead, aligned, candidate.peer.vectors, candidate.across
        )
        chance = updates.probability(pair)
        if chance >= max(pair.least, most):
            best, most = candidate, chance
    return best
