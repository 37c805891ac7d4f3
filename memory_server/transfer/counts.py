"""The words for how many records of which kind met which fate."""

from collections import Counter
from collections.abc import Mapping

from memory_server.transfer.taking.run import Outcome

WORDS = {
    Outcome.ADDED: "added",
    Outcome.UPDATED: "updated",
    Outcome.ENDED: "ended",
    Outcome.PRESENT: "there already",
    Outcome.DUPLICATE: "said already",
    Outcome.DELETED: "deleted here",
    Outcome.CHANGED_HERE: "changed here",
    Outcome.SECRET: "left out: secrets",
    Outcome.REFUSED: "left out",
}

KINDS = {
    "memory": "memories",
    "edge": "edges",
    "fact": "facts",
    "turn": "turns",
    "digest": "digests",
    "use": "uses",
    "question": "open questions",
    "project": "projects",
    "conversation": "conversations",
    "short_term": "short-term memories",
    "long_term": "long-term memories",
    "space": "models",
    "deleted": "deletions",
    "refused": "unreadable",
}

CHANGING = (Outcome.ADDED, Outcome.UPDATED, Outcome.ENDED, Outcome.DUPLICATE)
"""The fates of what an event undoes."""


def of_kind(kind: str, counts: Mapping[Outcome, int]) -> str:
    """Return `memories: added 12, updated 1`."""
    words = (f"{word} {counts[outcome]:,}" for outcome, word in WORDS.items() if counts[outcome])
    return f"{KINDS[kind]}: {', '.join(words)}"


def of_event(counts: Mapping[str, Counter[Outcome]]) -> str:
    """Return `memories: added 12, updated 1; edges: added 3`: what was changed."""
    changed = {
        kind: Counter({outcome: counts[kind][outcome] for outcome in CHANGING})
        for kind in KINDS
        if kind in counts
    }
    return "; ".join(of_kind(kind, counter) for kind, counter in changed.items() if counter.total())
