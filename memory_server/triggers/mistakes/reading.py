"""A source as tokens with their brackets, and the steps that all subjects need."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from memory_server.triggers.javascript.names import Token, tokens_of

_OPENING, _CLOSING = "([{", ")]}"

COMPARISONS = frozenset(["==", "===", "!=", "!==", "<", "<=", ">", ">="])
EQUALITIES = frozenset(["==", "===", "!=", "!=="])
RELATIONS = frozenset(["<", "<=", ">", ">="])

_NOTHING = Token("end", "", 0)
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
class Reading:
    """The tokens of a source; of one that is too long to be read, none."""

    source: str
    tokens: tuple[Token, ...]

    @classmethod
    def of(cls, source: str) -> Self:
        return cls(source, tuple(tokens_of(source)))

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def pairs(self) -> dict[int, int]:
        """For each bracket the index of the one that it belongs to."""
        found: dict[int, int] = {}
        opened: list[int] = []
        for index, token in enumerate(self.tokens):
            if token.kind != "sign":
                continue
            if token.text in _OPENING:
                opened.append(index)
            elif token.text in _CLOSING and opened:
                begin = opened.pop()
                found[begin], found[index] = index, begin
        return found

    def at(self, index: int) -> Token:
        return self.tokens[index] if 0 <= index < len(self.tokens) else _NOTHING

    def text(self, index: int) -> str:
        """The text of a token, but nothing for a literal: a quoted `(` is no bracket."""
        token = self.at(index)
        return token.text if token.kind in ("sign", "name") else ""

    def follows(self, index: int, *texts: str) -> bool:
        """Whether these tokens stand from an index on; `.` stands for `?.` too."""
        return all(
            self.text(index + step) == text or (text == "." and self.text(index + step) == "?.")
            for step, text in enumerate(texts)
        )

    def named(self, *names: str) -> Iterator[int]:
        """The indexes of these names."""
        return (
            index for index, token in enumerate(self.tokens) if token.kind == "name" and token.text in names
        )

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

    def shown(self, begin: int, end: int) -> str:
        """The source of the tokens from `begin` to before `end`, in one line."""
        last = self.tokens[min(end, len(self.tokens)) - 1]
        text = " ".join(self.source[self.tokens[begin].at : last.at + len(last.text)].split())
        return text if len(text) <= 60 else f"{text[:60]}…"


_WORDS = frozenset("if while for switch return typeof in of case && || !".split())
"""Words before a bracket that call nothing."""
