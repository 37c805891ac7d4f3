"""Decides whether a statement corrects a text: it has another value of the same kind, and speaks of the same thing."""

import re
from collections.abc import Mapping

from memory_server.domain.learning import words
from memory_server.language.text import has_han

SUBJECT = 0.6
"""Share of the words of a statement, its values left out, that the corrected text has."""

_DAYS = (
    "monday tuesday wednesday thursday friday saturday sunday "
    "montag dienstag mittwoch donnerstag freitag samstag sonntag"
)
_MONTHS = "january february march april may june july august september october november december"
_COUNTS = "one two three four five six seven eight nine ten eleven twelve"

_CLOSED = {
    word: kind
    for kind, text in (("day", _DAYS), ("month", _MONTHS), ("count", _COUNTS))
    for word in text.split()
}

_VALUE = re.compile(
    r"(?P<number>\d+(?:[.:,]\d+)*)|(?:\b(?:use[sd]?|using)\s|用(?:的是)?\s?)(?P<used>[A-Za-z][\w.+-]*\b)"
    r"|(?:\b(?:called|named|heißt)\s|叫\s?)(?P<name>[A-Za-z][\w-]*|[\u4e00-\u9fff]{2,3})"
    r"|(?P<word>[^\W\d_\u4e00-\u9fff]+)"
)


def values(text: str) -> dict[str, str]:
    """Return the values in a text, each with its kind: numbers of one shape, days, months, names, what is used."""
    kinds: dict[str, str] = {}
    for match in _VALUE.finditer(text):
        kind, value = match.lastgroup or "", match[match.lastgroup or 0]
        small = value.casefold()
        if kind == "number":
            kinds[small] = "time" if ":" in value else f"number of {max(3, len(value))}"
        elif kind in ("used", "name"):
            kinds[small] = kind
        elif closed := _CLOSED.get(small) or _CLOSED.get(small.removesuffix("s")):
            kinds[small.removesuffix("s") if small.removesuffix("s") in _CLOSED else small] = closed
        elif value[0].isupper() and re.search(r"[^.!?:]\s\Z", text[: match.start()]):
            kinds[small] = "Name"
    return kinds


def corrected(statement: str, text: str, turn: str, *, shown: bool = False) -> str | None:
    """Return the value of a text that a statement corrects; None where it corrects none.

    They speak of the same thing where the text has the words of the statement; or, where that has none besides its
    values, where the `turn` before it holds the value. Of a text in another language that was `shown`, it is enough
    that the statement denies the value.
    """
    new, old = values(statement), values(text)
    fresh = {value: kind for value, kind in new.items() if value not in text.casefold()}
    replaced = [
        value for value, kind in old.items() if kind in fresh.values() and _is_free(value, statement, new)
    ]
    if not fresh or len(replaced) != 1:
        return None
    if shown and replaced[0] in new and has_han(statement) != has_han(text):
        return replaced[0]
    subject = words(statement) - set(fresh) - set(replaced)
    if not subject:
        return replaced[0] if replaced[0] in values(turn) else None
    return replaced[0] if len(subject & words(text)) >= SUBJECT * len(subject) else None


def _is_free(value: str, statement: str, new: Mapping[str, str]) -> bool:
    """True if the statement does not state the value: it has it nowhere, or denies it."""
    if value not in new:
        return True
    return (
        re.search(rf"(?:\bnot|n['’]t|nicht|kein\w*|不是|不叫)\s*{re.escape(value)}", statement.casefold())
        is not None
    )
