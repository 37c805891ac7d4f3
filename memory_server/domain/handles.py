"""Reads what a person or a model writes for one stored thing: `12`, `m12`, `t7`, `f current.task`, `w:NAME`."""

import re
from dataclasses import dataclass

from memory_server.domain import change
from memory_server.domain.change import LETTERS, Kind
from memory_server.domain.fact import Scope

FORMS = (
    "12 or m12 for a memory, t7 for a turn, s3 for a short-term memory, f:KEY for a fact, "
    "w:NAME for a long-term memory"
)
"""What can be written."""

_KINDS = {letter: kind for kind, letter in LETTERS.items()}

_WORDS = {
    **dict.fromkeys(("memory", "mem"), "m"),
    "turn": "t",
    **dict.fromkeys(("short-term memory", "short-term", "short_term"), "s"),
    "fact": "f",
    **dict.fromkeys(("long-term memory", "long-term", "long_term", "prompt", "reminder"), "w"),
}
"""The words for a kind, and its letter."""

_WORD = re.compile(rf"({'|'.join(sorted(_WORDS, key=len, reverse=True))})[ :#]+", re.IGNORECASE)
_NUMBERED = re.compile(r"#?([mtsig]?)[ :#]?(\d{1,18})")
_NAMED = re.compile(r"([fw])[ :](.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Handle:
    """One thing: a row by its id, or a fact or a long-term memory by its name. `scope` is a fact's, if it is given."""

    kind: Kind
    id: int = 0
    name: str = ""
    scope: Scope | None = None

    def __str__(self) -> str:
        return change.handle(self.kind, self.id, self.name, self.scope)


def read(text: str) -> Handle | None:
    """Read a handle, with or without its brackets; None where the text is none. A number alone is a memory."""
    text = text.strip()
    text = text[1:-1].strip() if text.startswith("[") and text.endswith("]") else text
    if word := _WORD.match(text):
        text = f"{_WORDS[word[1].lower()]}:{text[word.end() :]}"
    if numbered := _NUMBERED.fullmatch(text.lower()):
        return Handle(_KINDS[numbered[1] or "m"], id=int(numbered[2]))
    if named := _NAMED.fullmatch(text):
        return _named(_KINDS[named[1]], named[2].strip())
    return None


def _named(kind: Kind, name: str) -> Handle:
    scope, slash, key = name.partition("/")
    if kind is Kind.FACT and slash and key and scope in list(Scope):
        return Handle(kind, name=key, scope=Scope(scope))
    return Handle(kind, name=name)
