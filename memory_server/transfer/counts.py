"""The words for how many records of which kind met which fate."""

import re
from collections import Counter
from collections.abc import Mapping

from memory_server.domain.change import UNDONE, Change, ChangeAction, Kind
from memory_server.language import catalogue
from memory_server.language.catalogue import word
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


_KINDS, _FATES = "|".join(KINDS.values()), "|".join(WORDS.values())
_AND = re.compile(rf"(?:(; )(?=(?:{_KINDS}): )|, (?=(?:{_FATES}) \d))")
_KIND = re.compile(rf"(: |(?<![^\s；]))({_KINDS}): (?=(?:{_FATES}) \d)")
_FATE = re.compile(rf"(?<![^：、])({_FATES})(?= \d)")


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


def in_chinese(line: str) -> str:
    """Return the counts of a line such as `memories: added 12, updated 1; edges: added 3` in Chinese."""
    line = _AND.sub(lambda match: "；" if match[1] else "、", line)
    line = _KIND.sub(lambda match: f"{'：' if match[1] else ''}{word(match[2])}：", line)
    line = _FATE.sub(lambda match: word(match[1]), line)
    return line.removesuffix(UNDONE) + word(UNDONE) if line.endswith(UNDONE) else line


def change_in_chinese(change: Change) -> str:
    """Return the text of a change with what is ours of it in Chinese: a relation, and counts."""
    if change.action in (ChangeAction.CONNECTED, ChangeAction.DISCONNECTED):
        return catalogue.connection(change.text)
    if change.kind is Kind.FORGETTING:
        choice, _, number = change.text.rpartition(": ")
        return f"{choice}：{catalogue.chinese(number)}"
    return in_chinese(change.text) if change.kind is Kind.IMPORT else change.text
