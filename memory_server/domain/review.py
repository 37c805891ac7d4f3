"""Findings: things of a project that somebody should look at again, and memories that say the same."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from memory_server.domain.consolidation import Likeness, Text, compare
from memory_server.domain.memory import Memory
from memory_server.errors import Problem
from memory_server.language.text import Segment


class ReviewKind(IntEnum):
    """Kinds of findings, the most urgent first."""

    CONTRADICTION = 0
    CHANGED_GROUND = 1
    DUPLICATE = 2
    STALE_TASK = 3
    UNUSED_TRIGGER = 4
    OPEN_QUESTION = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to look at. `refs` are the handles of what it is about, as `m12`; the hints of `problem` mend it."""

    kind: ReviewKind
    refs: tuple[str, ...]
    problem: Problem


def spread(findings: Sequence[Finding]) -> list[Finding]:
    """The first of each kind, then the second of each: so that none takes the room of the others."""
    ranks: defaultdict[ReviewKind, int] = defaultdict(int)
    ranked = []
    for finding in findings:
        ranked.append((ranks[finding.kind], finding.kind, finding))
        ranks[finding.kind] += 1
    return [finding for _, _, finding in sorted(ranked, key=lambda ranked_finding: ranked_finding[:2])]


def duplicates(memories: Sequence[Memory], segment: Segment) -> Iterator[tuple[Memory, Memory]]:
    """Pairs that say the same: the memory to keep, and its duplicate. No memory is a duplicate twice.

    The memory with more importance is kept, then that with more accesses, then the older one. Only texts with the same
    numbers can say the same, so each is compared with those.
    """
    by_numbers: defaultdict[tuple[str, ...], list[tuple[Memory, Text]]] = defaultdict(list)
    for memory in sorted(memories, key=lambda memory: (-memory.importance, -memory.access_count, memory.id)):
        text = Text(memory.content, segment)
        alike = by_numbers[tuple(text.digits)]
        same = next(
            (peer for peer, peer_text in alike if compare(text, peer_text) is Likeness.RESTATEMENT), None
        )
        if same is None:
            alike.append((memory, text))
        else:
            yield same, memory
