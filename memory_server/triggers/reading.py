"""Reads the JavaScript of a trigger: its tokens with their brackets, and the mistakes that are found in it.

It reads tokens, not grammar. Of a long source it reads nothing: its time could grow with the square of the length.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Self

MOST_CHARACTERS = 4000
"""The longest source that is read, in characters. A choice: it bounds the time, which may be quadratic."""

MOST_TOKENS = 1000
"""The most tokens of a source that is read; for the same reason."""

_TOKEN = re.compile(
    r"(?P<space>(?:\s|//[^\n\r\u2028\u2029]*|/\*[\s\S]*?\*/)+)"
    r"|(?P<text>'(?:[^'\\\n\r]|\\[\s\S])*'|\"(?:[^\"\\\n\r]|\\[\s\S])*\")"
    r"|(?P<number>\.?\d(?:[\w.]|(?<=[eE])[+-])*)"
    r"|(?P<name>[#@]?[^\W\d][\w$]*|[#@]?\$[\w$]*)"
    r"|(?P<sign>\.\.\.|\?\.(?!\d)|=>|[=!]==?|[<>*&|?+-]+=?|[-+*/%^]=|[\s\S])"
)
"""One token of JavaScript, except regular expressions and templates."""

_REGEX = re.compile(r"/(?![*/])(?:[^\\/\[\n\r]|\\[^\n\r]|\[(?:[^\]\\\n\r]|\\[^\n\r])*\])+/[a-z]*")
"""A regular expression literal."""

_TEMPLATE = re.compile(r"(?:[^`\\$]|\\[\s\S]|\$(?!\{))*(?P<end>`|\$\{|$)")
"""The text of a template up to its end or its next `${`."""

_BEFORE_VALUE = frozenset(
    "return typeof case in of delete void throw new else do instanceof yield await".split()
)
"""Words after which `/` starts a regular expression."""

OPENING, _CLOSING = "([{", ")]}"

COMPARISONS = frozenset(["==", "===", "!=", "!==", "<", "<=", ">", ">="])
EQUALITIES = frozenset(["==", "===", "!=", "!=="])
RELATIONS = frozenset(["<", "<=", ">", ">="])


@dataclass(frozen=True, slots=True)
class SourceToken:
    """`kind` is text, number, name, regex, template or sign; `at` is the index where it begins."""

    kind: str
    text: str
    at: int


_NOTHING = SourceToken("end", "", 0)
"""Before the first token and after the last one."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A mistake for certain."""

    text: str


@dataclass(frozen=True, slots=True)
class Warned:
    """Perhaps a mistake."""

    text: str


Mistake = Refused | Warned


@dataclass(frozen=True)
class SourceReading:
    """A source and its tokens; none of one that is too long to be read."""

    source: str
    tokens: tuple[SourceToken, ...]

    @classmethod
    def of(cls, source: str) -> Self:
        tokens = tuple(_scan(source)) if len(source) <= MOST_CHARACTERS else ()
        return cls(source, tokens if len(tokens) <= MOST_TOKENS else ())

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def pairs(self) -> dict[int, int]:
        """For each bracket the index of the one that it belongs to."""
        pairs: dict[int, int] = {}
        opened: list[int] = []
        for index, token in enumerate(self.tokens):
            if token.kind != "sign":
                continue
            if token.text in OPENING:
                opened.append(index)
            elif token.text in _CLOSING and opened:
                begin = opened.pop()
                pairs[begin], pairs[index] = index, begin
        return pairs

    def closing(self, index: int) -> int:
        """Return the index of the token that closes the bracket at `index`; of the last token if none does."""
        return self.pairs.get(index, len(self.tokens) - 1)

    def outermost(self, begin: int, end: int | None = None) -> Iterator[int]:
        """Yield the indexes from `begin` to before `end`, but none inside of brackets that open there."""
        while begin < (len(self.tokens) if end is None else end):
            yield begin
            begin = max(begin, self.pairs.get(begin, begin)) + 1

    def at(self, index: int) -> SourceToken:
        return self.tokens[index] if 0 <= index < len(self.tokens) else _NOTHING

    def text(self, index: int) -> str:
        """The text of a token, but nothing for a literal: a quoted `(` is no bracket."""
        token = self.at(index)
        return token.text if token.kind in ("sign", "name") else ""

    def follows(self, index: int, *texts: str) -> bool:
        """Return True where these tokens stand from an index on; `.` stands for `?.` too."""
        return all(
            self.text(index + step) == text or (text == "." and self.text(index + step) == "?.")
            for step, text in enumerate(texts)
        )

    def named(self, *names: str) -> Iterator[int]:
        """The indexes of these names."""
        return (
            index for index, token in enumerate(self.tokens) if token.kind == "name" and token.text in names
        )

    def names_between(self, begin: int, end: int) -> Iterator[str]:
        return (token.text for token in self.tokens[begin:end] if token.kind == "name")

    def is_property(self, index: int) -> bool:
        return self.text(index - 1) in (".", "?.")

    def literal(self, index: int) -> str | None:
        """The text of a string literal, without its quotes and with its escapes."""
        token = self.at(index)
        return token.text[1:-1] if token.kind == "text" else None

    def chain_end(self, index: int) -> int:
        """The index after the member accesses and calls that follow the value which ends before `index`."""
        while True:
            if self.text(index) in (".", "?.") and self.at(index + 1).kind == "name":
                index += 2
            elif self.text(index) == "?." or self.text(index) in ("(", "["):
                opening = index + (self.text(index) == "?.")
                if opening not in self.pairs:
                    return index
                index = self.pairs[opening] + 1
            else:
                return index

    def chain_begin(self, index: int) -> int:
        """The index where the value begins that the token at `index` is the last of: `new Date().getDay()` at `new`."""
        while True:
            if self.text(index) in (")", "]"):
                opening = self.pairs.get(index, 0)
                callee = self.at(opening - 1)
                if not (callee.kind == "name" or self.text(opening - 1) in (")", "]", "?.")):
                    return opening
                if callee.kind == "name" and callee.text in _WORDS:
                    return opening
                index = opening - 1
                if self.text(index) == "?.":
                    index -= 1
            elif self.is_property(index):
                index -= 2
            else:
                return index - 1 if self.text(index - 1) == "new" else index

    def cut(self, begin: int, end: int) -> str:
        """Return the source of the tokens from `begin` to before `end`."""
        tokens = self.tokens[begin:end]
        return self.source[tokens[0].at : tokens[-1].at + len(tokens[-1].text)] if tokens else ""

    def shown(self, begin: int, end: int) -> str:
        """Return a short form of that source, in one line."""
        text = " ".join(self.cut(begin, end).split())
        return text if len(text) <= 60 else f"{text[:60]}…"


_WORDS = frozenset("if while for switch return typeof in of case && || !".split())
"""Words before a bracket that call nothing."""


def _scan(source: str) -> Iterator[SourceToken]:
    at = 0
    last = SourceToken("sign", "", 0)
    open_braces: list[str] = []
    while at < len(source):
        match = _REGEX.match(source, at) if source[at] == "/" and _value_may_follow(last) else None
        kind = "regex"
        if match is None:
            match = _TOKEN.match(source, at)
            if match is None:
                return
            kind = str(match.lastgroup)
        text = match[0]
        if text == "{":
            open_braces.append("{")
        in_template = text == "`" or (text == "}" and open_braces and open_braces.pop() == "`")
        begin, at = at, match.end()
        if in_template:
            part = _TEMPLATE.match(source, at)
            at = part.end() if part else len(source)
            kind = "template"
            if part and part["end"] == "${":
                open_braces.append("`")
                kind, text = "sign", ","  # what follows is a value
        if kind != "space":
            last = SourceToken(kind, text, begin)
            yield last


def _value_may_follow(last: SourceToken) -> bool:
    if last.kind == "sign":
        return last.text not in (")", "]")
    return last.kind == "name" and last.text in _BEFORE_VALUE
