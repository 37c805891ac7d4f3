"""Reads the arguments of `match_keys`, `match_keys_all` and `similar`, and lists of literals."""

import math

from memory_server.language.keys import Key, RegexKey, Scope, clamped, words_key
from memory_server.triggers.simple.lists import Item
from memory_server.triggers.simple.pattern import NotSimple, translate
from memory_server.triggers.simple.tokens import Tokens, unescaped

THRESHOLD = 0.4
"""The least similarity (cosine) for `similar` to be true, unless the trigger gives another. Measured with the bundled
embedder: two messages on one subject have 0.36 to 0.76, across languages too; others seldom reach 0.3, but short
messages of the same form do: `I am happy` and `I am lost` have 0.40."""

Written = str | float | RegexKey
"""A literal in a list."""


class Arguments(Tokens):
    def another(self) -> bool:
        """Whether another argument follows."""
        return self.taken(",") and self.peek().text != ")"

    def literals(self) -> tuple[Written, ...]:
        """A list of literals, after its `[`."""
        found: list[Written] = []
        while not self.taken("]"):
            found.append(self.written())
            if not self.taken(","):
                self.demand("]")
                break
        return tuple(found)

    def written(self) -> Written:
        self.at = self.skipped()
        if self.source.startswith("/", self.at):
            return self.regex()
        match self.peek().kind, self.peek().text:
            case "text", _:
                return unescaped(self.take("text"))
            case "name", "new":
                self.demand("new")
                return self.constructed_regex()
            case _:
                return self.number()

    def constructed_regex(self) -> RegexKey:
        """`RegExp('text', 'flags')`, after `new`."""
        self.demand("RegExp", "(")
        source, flags = unescaped(self.take("text")), ""
        if self.another():
            flags = unescaped(self.take("text"))
            self.taken(",")
        self.demand(")")
        return translate(source or "(?:)", flags)

    def scope(self) -> Scope:
        if self.peek().text in ("undefined", "null"):
            self.take("name")
            return Scope.ANY
        text = unescaped(self.take("text"))
        if text not in set(Scope):
            raise NotSimple("an unknown scope")
        return Scope(text)

    def depth(self) -> int | None:
        if self.peek().text in ("undefined", "null", "NaN"):
            self.take("name")
            return clamped(None)
        return clamped(self.number())

    def number(self) -> float:
        sign = -1.0 if self.taken("-") else 1.0
        if self.peek().text == "Infinity":
            self.take("name")
            return sign * math.inf
        return sign * float(self.take("number"))

    def integer(self) -> int:
        number = self.number()
        if not math.isfinite(number) or number != int(number) or abs(number) > 2**31:
            raise NotSimple("no whole number")
        return int(number)


def keys_of(written: tuple[Written, ...]) -> list[Key]:
    """Literals as keys.

    Raises:
        NotSimple: a number is among them.
    """
    keys: list[Key] = []
    for each in written:
        if isinstance(each, float):
            raise NotSimple("a number is no key")
        keys.append(words_key(each) if isinstance(each, str) else each)
    return keys


def items_of(written: tuple[Written, ...]) -> tuple[Item, ...]:
    """Literals as values.

    Raises:
        NotSimple: a regular expression is among them.
    """
    items: list[Item] = []
    for each in written:
        if isinstance(each, RegexKey):
            raise NotSimple("an object")
        items.append(each)
    return tuple(items)
