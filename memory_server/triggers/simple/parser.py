"""Parses simple conditions: the JavaScript that most triggers are written in, as a tree.

Supported are `match_keys`, `match_keys_all`, `similar`, `messages.some(m => …)`, `messages.length`, parts of
`new Date()`, `conversation_id`, `participants.NAME`, literals, `includes` and its like on texts, `/regex/.test(text)`,
`&& || !`, comparisons and arithmetic. The whole source must be supported; whatever could mean anything else in
JavaScript raises NotSimple and is left to the worker.
"""

import math
import re
from enum import Enum
from functools import lru_cache

from memory_server.language.keys import Key, RegexKey, Scope, clamped, distinct, words_key
from memory_server.triggers import MOST_BYTES
from memory_server.triggers.simple import tree
from memory_server.triggers.simple.pattern import NotSimple, translate
from memory_server.triggers.simple.tokens import LINE_END, SURROGATE, Tokens, unescaped
from memory_server.triggers.simple.tree import Node
from memory_server.triggers.simple.values import (
    NUMERIC,
    STRING,
    Comparison,
    JsValue,
    Operator,
    Special,
    comparable,
)

MOST_NESTED = 40
"""Brackets and signs inside one another; the parser calls itself for each. A choice, far below Python's own limit."""

MOST_DEEP = 100
"""Levels of a tree and links of a chain such as `1 + 1 + 1`: evaluation calls itself for each. A choice."""

MOST_CACHED = 16_384
"""Short sources whose tree is cached, so that a search does not parse them again; more than a large store has."""

CACHED_CHARACTERS = 512
"""Characters of a short source. Of longer ones only MOST_LONG are cached, so that the cache stays small."""

MOST_LONG = 64
"""Long sources whose tree is cached."""

THRESHOLD = 0.4
"""The least similarity (cosine) for `similar` to be true, unless the trigger gives another. Measured with the bundled
embedder: two messages on one subject have 0.36 to 0.76, across languages too; others seldom reach 0.3, but short
messages of the same form do: `I am happy` and `I am lost` have 0.40."""

_STRENGTH = {"||": 1, "&&": 2} | {
    **dict.fromkeys(("===", "!==", "==", "!="), 3),
    **dict.fromkeys(("<", "<=", ">", ">="), 4),
    **dict.fromkeys("+-", 5),
    **dict.fromkeys("*/%", 6),
}
"""How strongly an operator binds its operands, as in JavaScript."""

_CONSTANTS: dict[str, JsValue] = {
    "true": True,
    "false": False,
    "null": None,
    "undefined": Special.UNDEFINED,
    "NaN": math.nan,
    "Infinity": math.inf,
}
"""Names that JavaScript gives a constant value."""

_PARAMETERS = frozenset("msg message entry item each element said it x".split())
"""Names, besides single letters, that the message in `some` may have: none of them means anything else here."""

_INHERITED = frozenset(
    "constructor hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toString valueOf".split()
)
"""Properties that every JavaScript object has, so that `participants.toString` is not a participant."""


class _Thing(Enum):
    """What a name stands for that is not a value by itself."""

    CONTEXT = "context"
    MESSAGES = "messages"
    PARTICIPANTS = "participants"
    MESSAGE = "message"
    DATE = "date"


def parse(source: str) -> Node | None:
    """The tree of a source; None if it is not a simple condition."""
    return (_cached if len(source) <= CACHED_CHARACTERS else _cached_long)(source)


def _parsed(source: str) -> Node | None:
    if len(source) > MOST_BYTES or SURROGATE.search(source):
        return None
    try:
        return _Parser(source).whole()
    except NotSimple:
        return None


_cached = lru_cache(maxsize=MOST_CACHED)(_parsed)
_cached_long = lru_cache(maxsize=MOST_LONG)(_parsed)


class _Parser(Tokens):
    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.nested = 0
        self.parameter: str | None = None
        """The name of the message inside `some`."""

    def whole(self) -> Node:
        node = self.expression()
        while self.taken(";"):
            pass
        if self.peek().kind != "end" or tree.depth(node) > MOST_DEEP:
            raise NotSimple("more than an expression")
        return node

    # Expressions

    def expression(self, weakest: int = 1) -> Node:
        self.nested += 1
        if self.nested > MOST_NESTED:
            raise NotSimple("nested too deep")
        left = self.unary()
        links = 0
        while True:
            token = self.peek()
            strength = _STRENGTH.get(token.text, 0) if token.kind == "sign" else 0
            if strength < weakest:
                break
            links += strength > _STRENGTH["&&"]
            if links > MOST_DEEP:
                raise NotSimple("a chain too long")
            self.at = token.end
            left = joined(token.text, left, self.expression(strength + 1))
        self.nested -= 1
        return left

    def unary(self) -> Node:
        signs: list[str] = []
        while (token := self.peek()).kind == "sign" and token.text in ("!", "-", "+"):
            if len(signs) == MOST_NESTED:
                raise NotSimple("too many signs")
            signs.append(token.text)
            self.at = token.end
        node = self.postfix()
        for sign in reversed(signs):
            node = tree.Not(node) if sign == "!" else signed(sign, node)
        return node

    def postfix(self) -> Node:
        base = self.primary()
        while True:
            if self.taken(".") or self.taken("?."):
                base = self.member(base, self.take("name"))
            elif base is _Thing.PARTICIPANTS and self.taken("["):
                base = self.member(base, unescaped(self.take("text")))
                self.demand("]")
            else:
                break
        if isinstance(base, _Thing):
            raise NotSimple("no value")
        return base

    def primary(self) -> "Node | _Thing":
        self.at = self.skipped()
        if self.source.startswith("/", self.at):
            return self.test()
        token = self.peek()
        self.at = token.end
        match token.kind:
            case "number":
                return tree.Literal(float(token.text))
            case "text":
                return tree.Literal(unescaped(token.text))
            case "name":
                return self.named(token.text)
            case "sign" if token.text == "(":
                return self.in_brackets()
            case _:
                raise NotSimple(f"at {self.at}")

    def in_brackets(self) -> "Node | _Thing":
        begin = self.at
        if self.peek().text == "new":
            self.take("name")
            date = self.date()
            if self.taken(")"):
                return date
            self.at = begin
        inner = self.expression()
        self.demand(")")
        return inner

    def named(self, name: str) -> "Node | _Thing":
        if name in _CONSTANTS:
            return tree.Literal(_CONSTANTS[name])
        if name == "new":
            return self.date()
        if self.parameter is not None:
            if name == self.parameter:
                return _Thing.MESSAGE
            raise NotSimple("inside some")
        match name:
            case "context" | "messages" | "participants":
                return _Thing(name)
            case "conversation_id":
                return tree.ConversationId()
            case "match_keys" | "match_keys_all":
                return self.match(name)
            case "similar":
                return self.similar()
            case _:
                raise NotSimple(name)

    def date(self) -> _Thing:
        self.demand("Date", "(", ")")
        return _Thing.DATE

    def member(self, base: "Node | _Thing", name: str) -> "Node | _Thing":
        match base, name:
            case _Thing.CONTEXT, "messages" | "participants":
                return _Thing(name)
            case _Thing.CONTEXT, "conversation_id":
                return tree.ConversationId()
            case _Thing.MESSAGES, "length":
                return tree.MessageCount()
            case _Thing.MESSAGES, "some":
                return self.some()
            case _Thing.PARTICIPANTS, _ if name not in _INHERITED and not name.startswith("__"):
                return tree.Participant(name)
            case _Thing.MESSAGE, "content" | "role":
                return tree.MessageText(tree.Field(name))
            case _Thing.DATE, _ if name in set(tree.Part):
                self.demand("(", ")")
                return tree.DatePart(tree.Part(name))
            case _Thing(), _:
                raise NotSimple(name)
            case _ if base.kinds == STRING:
                return self.of_text(base, name)
            case _:
                raise NotSimple(name)

    def of_text(self, text: Node, name: str) -> Node:
        match name:
            case "length":
                return tree.TextLength(text)
            case "toLowerCase":
                self.demand("(", ")")
                return tree.Lower(text)
            case "includes" | "startsWith" | "endsWith":
                self.demand("(")
                part = unescaped(self.take("text"))
                self.demand(")")
                return tree.Contains(tree.StringMethod(name), text, part)
            case _:
                raise NotSimple(name)

    def test(self) -> Node:
        """`/regex/.test(text)`."""
        pattern = self.regex()
        self.demand(".", "test", "(")
        text = self.expression()
        self.demand(")")
        if text.kinds != STRING:
            raise NotSimple("no text")
        return tree.Matches(pattern, text)

    def some(self) -> Node:
        """`.some(m => condition)`."""
        self.demand("(")
        bracket = self.taken("(")
        name = self.take("name")
        if bracket:
            self.demand(")")
        if name not in _PARAMETERS and not re.fullmatch("[a-zA-Z]", name):
            raise NotSimple("a name that may mean something else")
        if LINE_END.search(self.source, self.at, self.skipped()):
            raise NotSimple("no arrow on this line")
        self.demand("=>")
        self.parameter = name
        condition = self.expression()
        self.parameter = None
        self.taken(",")
        self.demand(")")
        return tree.some(condition)

    # Calls of match_keys and the like

    def match(self, name: str) -> Node:
        self.demand("(")
        self.messages()
        self.demand(",")
        keys = distinct(self.keys())
        scope, depth = Scope.ANY, clamped(None)
        if self.another():
            scope = self.scope()
            if self.another():
                depth = self.depth()
                self.taken(",")
        self.demand(")")
        return (tree.MatchKeys if name == "match_keys" else tree.MatchAll)(keys, scope, depth)

    def similar(self) -> Node:
        self.demand("(")
        self.messages()
        self.demand(",")
        text = unescaped(self.take("text"))
        threshold = THRESHOLD
        if self.another():
            threshold = self.number()
            self.taken(",")
        self.demand(")")
        return tree.Similar(text, threshold)

    def another(self) -> bool:
        """Whether another argument follows."""
        return self.taken(",") and self.peek().text != ")"

    def messages(self) -> None:
        if self.peek().text == "context":
            self.demand("context", ".")
        self.demand("messages")

    def keys(self) -> list[Key]:
        if not self.taken("["):
            return [self.key()]
        keys: list[Key] = []
        while not self.taken("]"):
            keys.append(self.key())
            if not self.taken(","):
                self.demand("]")
                break
        return keys

    def key(self) -> Key:
        self.at = self.skipped()
        if self.source.startswith("/", self.at):
            return self.regex()
        if self.peek().text == "new":
            return self.constructed_regex()
        return words_key(unescaped(self.take("text")))

    def constructed_regex(self) -> RegexKey:
        """`new RegExp('text', 'flags')`."""
        self.demand("new", "RegExp", "(")
        source, flags = unescaped(self.take("text")), ""
        if self.another():
            flags = unescaped(self.take("text"))
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


def signed(sign: str, node: Node) -> Node:
    """A sign before a number becomes a factor, which keeps -0 and 0 different, as JavaScript does."""
    factor = -1.0 if sign == "-" else 1.0
    if isinstance(node, tree.Literal) and isinstance(node.written, float):
        return tree.Literal(factor * node.written)
    if not node.kinds <= NUMERIC:
        raise NotSimple("a sign before no number")
    return tree.Arithmetic(Operator.TIMES, tree.Literal(factor), node)


def joined(sign: str, left: Node, right: Node) -> Node:
    """The node for two values with an operator between them."""
    if sign == "||":
        return tree.Or((*(left.operands if isinstance(left, tree.Or) else (left,)), right))
    if sign == "&&":
        return tree.And((*(left.operands if isinstance(left, tree.And) else (left,)), right))
    if sign in set(Comparison):
        comparison = Comparison(sign)
        if not comparable(comparison, left.kinds, right.kinds):
            raise NotSimple("kinds that JavaScript converts")
        return tree.Compare(comparison, left, right)
    if not left.kinds | right.kinds <= NUMERIC:
        raise NotSimple("a sum of no numbers")
    return tree.Arithmetic(Operator(sign), left, right)
