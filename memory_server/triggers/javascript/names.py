"""Finds in JavaScript the names that are used but not declared.

It reads tokens, not grammar. In doubt it takes a name as declared, because the result is only used for a warning.
"""

import re
from collections.abc import Iterator

from memory_server.triggers.reading import OPENING, SourceReading

_RESERVED = frozenset(
    """arguments as async await break case catch class const continue debugger default delete do else eval export
    extends false finally for from function get if import in instanceof let new null of return set static super
    switch this throw true try typeof undefined var void while with yield""".split()
)
"""Keywords and other words of the language, which are never taken for undeclared names."""

_BEFORE_CONDITION = frozenset("if while switch for with".split())
"""Words whose brackets contain no parameters."""

_ASSIGNING = frozenset(["=", "+=", "-=", "*=", "/=", "%="])
"""Operators that, after a name, count as its declaration."""


def undeclared(reading: SourceReading) -> dict[str, int]:
    """Return each name that is used and not declared, with the index of its first use in the source."""
    declared = _RESERVED | set(_declared(reading))
    first_uses: dict[str, int] = {}
    for index, token in enumerate(reading.tokens):
        if token.kind == "name" and token.text not in declared and _refers(reading, index):
            first_uses.setdefault(token.text, token.at)
    return first_uses


def _declared(reading: SourceReading) -> Iterator[str]:
    for index, token in enumerate(reading.tokens):
        following = reading.text(index + 1)
        if token.kind == "name":
            if token.text in ("let", "const", "var"):
                yield from _bound(reading, index + 1)
            elif token.text in ("class", "function"):
                yield reading.text(index + 1 + (following == "*"))
            elif following == "=>" or following in _ASSIGNING:
                yield token.text
        elif token.text == "(" and reading.text(index - 1) not in _BEFORE_CONDITION:
            end = reading.closing(index)
            if reading.text(end + 1) in ("=>", "{"):
                yield from reading.names_between(index, end)


def _bound(reading: SourceReading, index: int) -> Iterator[str]:
    """Yield the names that a declaration declares: those in its patterns, not those in the values assigned to them."""
    in_pattern = True
    for at in reading.outermost(index):
        token = reading.at(at)
        if token.text in (";", "of", "in", ")"):
            return
        if token.text in ("=", ","):
            in_pattern = token.text == ","
        elif in_pattern and token.kind == "sign" and token.text in OPENING:
            yield from reading.names_between(at, reading.closing(at))
        elif in_pattern and token.kind == "name":
            yield token.text


def _refers(reading: SourceReading, index: int) -> bool:
    """Return False for a property, a key, a label, a method and an operand of `typeof`: they refer to no variable."""
    before, after = reading.text(index - 1), reading.text(index + 1)
    if (
        before in (".", "?.", "typeof", "break", "continue", "function", "class")
        or reading.text(index)[0] in "#@"
    ):
        return False
    if after == ":" and before in ("", "{", ",", ";", "}"):
        return False
    return not (after == "(" and reading.text(reading.closing(index + 1) + 1) == "{")


def position(source: str, at: int) -> str:
    """An index of the source in words: `line 1, column 5`."""
    lines = re.split("\r\n|[\n\r\u2028\u2029]", source[:at])
    return f"line {len(lines)}, column {len(lines[-1]) + 1}"
