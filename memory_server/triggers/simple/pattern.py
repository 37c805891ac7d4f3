"""Translates those regular expressions of JavaScript that mean the same in Python and take bounded time.

Supported are literals, classes, groups, alternatives, `. ^ $ \\b \\d \\w \\s`, the flags `g i m s`, and quantifiers: on
single characters any, but at most one without an upper bound on each path; on groups only `?`. They are matched against
UTF-16 units, as JavaScript does without the flag `u`. Everything else is left to JavaScript.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import NoReturn

from memory_server.language.keys import WHITE_SPACE, RegexKey, utf16

MOST_CHARACTERS = 1000
"""Characters of an expression. A choice, as the next three: what exceeds them runs in the worker, under its limits."""

MOST_REPEATS = 50
"""The largest number in a quantifier such as `{2,50}`."""

MOST_WORK = 20_000
"""Paths through an expression times characters per path: the most steps that it may take at one index of a text."""

MOST_GROUPS = 20
"""Groups inside one another; the reader calls itself for each."""

_LINE_ENDS = "\\n\\r\\u2028\\u2029"
"""What ends a line in JavaScript, as a character class; `.` does not match it."""

_ESCAPED = {"t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"}
_SETS = {"d": "0-9", "w": "A-Za-z0-9_", "s": WHITE_SPACE}
"""The characters of a set in JavaScript, as a character class."""

_NOT_SETS = {"D": "0-9", "W": "A-Za-z0-9_", "S": WHITE_SPACE}
"""The characters that a negated set excludes."""

_IN_CLASS = {"d": "\\d", "D": "\\D", "w": "\\w", "W": "\\W", "s": WHITE_SPACE}
"""Sets inside a character class."""

_PUNCTUATION = frozenset("^$\\.*+?()[]{}|/-'\"`~!@#%&=:;<>, ")
"""Characters that stand for themselves after a backslash."""

_QUANTIFIER = re.compile(r"(?:([*+?])|\{(\d{1,4})(?:(,)(\d{1,4})?)?\})(\??)")
_CASELESS = frozenset("Lo Cs Nd Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs".split())
"""Unicode categories without upper and lower case."""

_HEXADECIMAL = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})")


class NotSimple(Exception):
    """The source is no simple condition here; it is left to JavaScript."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A translated part: its number of paths, the most characters it matches, and its unbounded quantifiers."""

    python: str
    ways: int = 1
    width: int = 0
    unbounded: int = 0

    def then(self, other: "_Piece") -> "_Piece":
        return _Piece(
            self.python + other.python,
            self.ways * other.ways,
            self.width + other.width,
            self.unbounded + other.unbounded,
        ).within_bounds()

    def within_bounds(self) -> "_Piece":
        if self.ways * max(1, self.width) > MOST_WORK or self.unbounded > 1:
            raise NotSimple("too many ways")
        return self


def translate(source: str, flags: str = "") -> RegexKey:
    """The expression as a key.

    Raises:
        NotSimple: it may mean something else in Python, may take long, or is not a regular expression.
    """
    if len(source) > MOST_CHARACTERS or not set(flags) <= set("gims") or len(set(flags)) < len(flags):
        raise NotSimple("length or flags")
    reader = _Reader(utf16(source), flags)
    whole = reader.alternatives(0)
    if reader.at < len(reader.source):
        raise NotSimple("an unmatched bracket")
    compiled = re.compile(whole.python, re.ASCII | (re.IGNORECASE if "i" in flags else 0))
    return RegexKey(source, flags, compiled, whole.unbounded > 0, whole.ways * max(1, whole.width))


class _Reader:
    def __init__(self, source: str, flags: str) -> None:
        self.source = source
        self.at = 0
        self.ignores_case = "i" in flags
        self.any = "[\\s\\S]" if "s" in flags else f"[^{_LINE_ENDS}]"
        self.begin = f"(?:\\A|(?<=[{_LINE_ENDS}]))" if "m" in flags else "\\A"
        self.end = f"(?:\\Z|(?=[{_LINE_ENDS}]))" if "m" in flags else "\\Z"

    def peek(self) -> str:
        return self.source[self.at : self.at + 1]

    def take(self) -> str:
        character = self.peek()
        if not character:
            self.fail()
        self.at += 1
        return character

    def fail(self) -> NoReturn:
        raise NotSimple(f"at {self.at}")

    def alternatives(self, depth: int) -> _Piece:
        if depth > MOST_GROUPS:
            self.fail()
        branches = [self.sequence(depth)]
        while self.peek() == "|":
            self.at += 1
            branches.append(self.sequence(depth))
        if len(branches) == 1:
            return branches[0]
        return _Piece(
            "(?:" + "|".join(branch.python for branch in branches) + ")",
            sum(branch.ways for branch in branches),
            max(branch.width for branch in branches),
            max(branch.unbounded for branch in branches),
        ).within_bounds()

    def sequence(self, depth: int) -> _Piece:
        whole = _Piece("")
        while self.peek() not in ("", "|", ")"):
            whole = whole.then(self.term(depth))
        return whole

    def term(self, depth: int) -> _Piece:
        character = self.take()
        match character:
            case "^":
                return self.unquantified(self.begin)
            case "$":
                return self.unquantified(self.end)
            case "(":
                return self.group(depth)
            case "\\" if self.peek() == "b":
                self.at += 1
                return self.unquantified("\\b")
            case "\\":
                return self.quantified(self.escape())
            case "[":
                return self.quantified(self.character_class())
            case ".":
                return self.quantified(self.any)
            case "*" | "+" | "?" | "{" | "}" | "]":
                self.fail()
        return self.quantified(re.escape(self.literal(character)))

    def literal(self, character: str) -> str:
        """Refuses letters with case beyond ASCII: the two languages, and versions of Unicode, fold them differently."""
        if self.ignores_case and not character.isascii() and not _is_caseless(character):
            self.fail()
        return character

    def escape(self) -> str:
        character = self.take()
        if character in _SETS:
            return f"[{_SETS[character]}]"
        if character in _NOT_SETS:
            return f"[^{_NOT_SETS[character]}]"
        return re.escape(self.escaped(character))

    def escaped(self, character: str) -> str:
        """The one character that an escape stands for."""
        if character in _ESCAPED:
            return _ESCAPED[character]
        if character in _PUNCTUATION:
            return character
        code = _HEXADECIMAL.match(self.source, self.at - 1)
        if code is None:
            self.fail()
        self.at = code.end()
        return self.literal(chr(int(code[1] or code[2], 16)))

    def character_class(self) -> str:
        negated = self.peek() == "^"
        self.at += negated
        items: list[str] = []
        while self.peek() != "]":
            items.append(self.class_item())
        self.at += 1
        if not items:
            self.fail()
        return f"[{'^' if negated else ''}{''.join(items)}]"

    def class_item(self) -> str:
        first = self.class_character()
        if self.peek() != "-" or self.source[self.at + 1 : self.at + 2] == "]":
            return first if len(first) > 1 else re.escape(first)
        self.at += 1
        last = self.class_character()
        if len(first) > 1 or len(last) > 1 or first > last:
            self.fail()
        if self.ignores_case and not last.isascii() and not "\u3040" <= first <= last <= "\u9fff":
            self.fail()
        return f"{re.escape(first)}-{re.escape(last)}"

    def class_character(self) -> str:
        """One character, or several that stand for a set such as `\\d`."""
        character = self.take()
        if character != "\\":
            return self.literal(character)
        character = self.take()
        return _IN_CLASS[character] if character in _IN_CLASS else self.escaped(character)

    def group(self, depth: int) -> _Piece:
        if self.peek() == "?":
            self.at += 1
            if self.take() != ":":
                self.fail()
        inner = self.alternatives(depth + 1)
        if self.take() != ")":
            self.fail()
        whole = _Piece(f"(?:{inner.python})", inner.ways, inner.width, inner.unbounded)
        quantifier = self.quantifier()
        if quantifier is None:
            return whole
        if quantifier[1] != "?":
            self.fail()
        return _Piece(whole.python + "?", whole.ways + 1, whole.width, whole.unbounded).within_bounds()

    def quantifier(self) -> re.Match[str] | None:
        found = _QUANTIFIER.match(self.source, self.at)
        if found is not None:
            self.at = found.end()
        return found

    def unquantified(self, python: str) -> _Piece:
        if self.peek() and self.peek() in "*+?{":
            self.fail()
        return _Piece(python)

    def quantified(self, python: str) -> _Piece:
        quantifier = self.quantifier()
        if quantifier is None:
            return _Piece(python, width=1)
        sign, least, comma, most, _lazy = quantifier.groups()
        if sign == "?":
            return _Piece(python + "?", ways=2, width=1)
        if sign or (comma and not most):
            if least is not None and int(least) > MOST_REPEATS:
                self.fail()
            return _Piece(python + (sign or f"{{{least},}}"), width=1 + int(least or 0), unbounded=1)
        low, high = int(least), int(most or least)
        if not low <= high <= MOST_REPEATS:
            self.fail()
        return _Piece(f"{python}{{{low},{high}}}", ways=high - low + 1, width=high).within_bounds()


def _is_caseless(character: str) -> bool:
    return (
        unicodedata.category(character) in _CASELESS and character.upper() == character == character.lower()
    )
