"""What of a project somebody should look at again: the kinds of findings, and memories that say the same."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from memory_server.domain.consolidation import Likeness, Text, compare, prepare
from memory_server.domain.memory import Memory
from memory_server.errors import Problem
from memory_server.language.text import Segment


class Kind(IntEnum):
    """What is found, the most urgent first."""

    CONTRADICTION = 0
    DUPLICATE = 1
    STALE_TASK = 2
    UNUSED_TRIGGER = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to look at. `refs` are the handles of what it is about, as `m12`; the hints of `problem` mend it."""

    kind: Kind
    refs: tuple[str, ...]
    problem: Problem


def spread(findings: Sequence[Finding]) -> list[Finding]:
    """The first of each kind, then the second of each: so that none takes the room of the others."""
    ranks: defaultdict[Kind, int] = defaultdict(int)
    ranked = []
    for each in findings:
        ranked.append((ranks[each.kind], each.kind, each))
        ranks[each.kind] += 1
    return [each for _, _, each in sorted(ranked, key=lambda found: found[:2])]


def duplicates(memories: Sequence[Memory], segment: Segment) -> Iterator[tuple[Memory, Memory]]:
    """Pairs that say the same: the one to keep, and the other one. No memory is the other one twice.

    What has more importance, then more accesses, then is older, is kept. Only texts with the same numbers can say the
    same, so each is compared with those.
    """
    kept: defaultdict[tuple[str, ...], list[tuple[Memory, Text]]] = defaultdict(list)
    for memory in sorted(memories, key=lambda each: (-each.importance, -each.access_count, each.id)):
        text = prepare(memory.content, segment)
        alike = kept[tuple(text.digits)]
        same = next((each for each, other in alike if compare(text, other) is Likeness.RESTATEMENT), None)
        if same is None:
            alike.append((memory, text))
        else:
            yield same, memory
