"""Parses simple conditions: the JavaScript that most triggers are written in, as a tree.

Supported are `match_keys`, `match_keys_all`, `similar`; of `messages` `some`, `every`, `filter`, `find`, `slice`, `at`,
`length`, `map(…).join(…)`; parts, times and texts of `new Date()`; `conversation_id`, `participants.NAME`; literals and
lists of them; what is asked of texts; `&& || ! ?? ?:`, comparisons and arithmetic; `const x = …;` before the condition
and functions that return one. The whole source must be supported; whatever could mean anything else in JavaScript
raises NotSimple and is left to the worker.
"""

import re
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache

from memory_server.language.keys import RegexKey, clamped, distinct
from memory_server.language.keys import Scope as KeyScope
from memory_server.triggers import MOST_BYTES
from memory_server.triggers.simple import dates, texts, tree
from memory_server.triggers.simple.arguments import THRESHOLD, Arguments, Written, items_of, keys_of
from memory_server.triggers.simple.dates import Instant
from memory_server.triggers.simple.lists import (
    All,
    Asked,
    At,
    Bound,
    Every,
    Field,
    FindIndex,
    Found,
    IsThere,
    JoinedTexts,
    Kept,
    Let,
    Listing,
    ListSlot,
    MessageCount,
    MessageText,
    OfItems,
    OneOf,
    Optional,
    Picking,
    Sliced,
    SlotValue,
    Some,
)
from memory_server.triggers.simple.node import Node, depth, walk
from memory_server.triggers.simple.operators import joined, signed
from memory_server.triggers.simple.pattern import NotSimple
from memory_server.triggers.simple.scope import CONSTANTS, Bindings, Items, Scope, Thing, Word, bound, valued
from memory_server.triggers.simple.tokens import LINE_END, SURROGATE, unescaped
from memory_server.triggers.simple.values import NOTHING, NUMERIC, STRING, Operator

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

_STRENGTH = {"||": 1, "??": 1, "&&": 2} | {
    **dict.fromkeys(("===", "!==", "==", "!="), 3),
    **dict.fromkeys(("<", "<=", ">", ">="), 4),
    **dict.fromkeys("+-", 5),
    **dict.fromkeys("*/%", 6),
}
"""How strongly an operator binds its operands, as in JavaScript."""

_INHERITED = frozenset(
    "constructor hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toString valueOf".split()
)
"""Properties that every JavaScript object has, so that `participants.toString` is not a participant."""

_CALLED_AT_ONCE = re.compile(r"\s*(?:\(\s*\)[ \t]*=>|function\s*\(\s*\))")
"""The beginning of a function without parameters, after a bracket."""

_DECLARING = ("const", "let", "var")


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


class _Parser(Arguments):
    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.nested = 0
        self.names = Scope()
        self.slots = 0
        self.asking = 0
        """Callbacks around the current place."""

    def whole(self) -> Node:
        bindings = self.declarations()
        node = let(bindings, self.if_else() if self.peek().text == "if" else self.expression())
        while self.taken(";"):
            pass
        if self.peek().kind != "end" or depth(node) > MOST_DEEP:
            raise NotSimple("more than an expression")
        return node

    # Statements

    def declarations(self) -> Bindings:
        """`const x = …;` and the like; a `;` may be missing before a new line."""
        bindings: Bindings = []
        while self.peek().kind == "name" and self.peek().text in _DECLARING:
            self.take("name")
            while True:
                name = self.take("name")
                self.demand("=")
                thing = self.thing()
                self.names.declare(name, bound(thing, self.slots, bindings))
                self.slots += 1
                if not self.taken(","):
                    break
            self.end_statement()
        return bindings

    def end_statement(self) -> None:
        if self.taken(";"):
            return
        token = self.peek()
        ends = token.kind in ("name", "text", "number") and token.text not in ("in", "instanceof")
        if not ends or not self.on_a_new_line():
            raise NotSimple("no end of a statement")

    def if_else(self) -> Node:
        """`if (…) { one } else { other }`, whose value is that of the part which is run."""
        self.demand("if", "(")
        condition = self.expression()
        self.demand(")", "{")
        one = self.expression()
        self.taken(";")
        self.demand("}", "else", "{")
        other = self.expression()
        self.taken(";")
        self.demand("}")
        return tree.Conditional(condition, one, other)

    def block(self) -> Thing:
        """The body of a function after `{`: names, early returns, and what it returns."""
        outer, self.names = self.names, Scope(self.names)
        bindings = self.declarations()
        if self.peek().text == "if":
            self.demand("if", "(")
            condition = self.expression()
            self.demand(")")
            if self.taken("{"):
                early = self.returned()
                self.demand("}")
            else:
                early = self.returned()
            self.taken("else")
            thing: Thing = tree.Conditional(condition, valued(early), valued(self.rest()))
        else:
            thing = self.returned()
            self.demand("}")
        self.names = outer
        return let(bindings, valued(thing)) if bindings else thing

    def rest(self) -> Thing:
        """What follows an early return; `else` may have put it into braces."""
        if not self.taken("{"):
            return self.block()
        thing = self.returned()
        self.demand("}", "}")
        return thing

    def returned(self) -> Thing:
        self.demand("return")
        token = self.peek()
        if token.text in (";", "}") or self.on_a_new_line():
            raise NotSimple("nothing is returned")
        thing = self.thing()
        if not self.taken(";") and self.peek().text != "}":
            raise NotSimple("more than one value")
        return thing

    # Expressions

    def expression(self) -> Node:
        return valued(self.thing())

    def thing(self) -> Thing:
        """An expression, which may also be a list of messages, a message, a date or a list of literals."""
        thing = self.operation(1)
        if not self.taken("?"):
            return thing
        self.nest()
        one = self.expression()
        self.demand(":")
        other = self.expression()
        self.nested -= 1
        return tree.Conditional(valued(thing), one, other)

    def nest(self) -> None:
        self.nested += 1
        if self.nested > MOST_NESTED:
            raise NotSimple("nested too deep")

    def operation(self, weakest: int) -> Thing:
        self.nest()
        left = self.unary()
        links = 0
        seen: set[str] = set()
        while True:
            token = self.peek()
            strength = _STRENGTH.get(token.text, 0) if token.kind == "sign" else 0
            if strength < weakest:
                break
            links += strength > _STRENGTH["&&"]
            if links > MOST_DEEP:
                raise NotSimple("a chain too long")
            self.at = token.end
            seen.add(token.text)
            if "??" in seen and seen & {"||", "&&"}:
                raise NotSimple("an error of syntax")
            right = self.operation(3 if token.text == "??" else strength + 1)
            left = joined(token.text, left, right)
        self.nested -= 1
        return left

    def unary(self) -> Thing:
        signs: list[str] = []
        while (token := self.peek()).kind == "sign" and token.text in ("!", "-", "+"):
            if len(signs) == MOST_NESTED:
                raise NotSimple("too many signs")
            signs.append(token.text)
            self.at = token.end
        thing = self.postfix()
        for sign in reversed(signs):
            thing = tree.Not(valued(thing)) if sign == "!" else signed(sign, thing)
        return thing

    def postfix(self) -> Thing:
        thing = self.primary()
        subjects: list[Node] = []
        while True:
            if self.taken("?."):
                if isinstance(thing, Picking):
                    subjects.append(IsThere(thing))
                elif (
                    not isinstance(thing, Listing | Instant | Items | Word | RegexKey)
                    and thing.kinds & NOTHING
                ):
                    subjects.append(thing)
                thing = self.member(thing, self.take("name"))
            elif self.taken("."):
                thing = self.member(thing, self.take("name"))
            elif self.peek().text == "[" and self.peek().kind == "sign":
                self.demand("[")
                thing = self.place(thing)
                self.demand("]")
            else:
                break
        for subject in reversed(subjects):
            thing = Optional(subject, valued(thing))
        return thing

    def primary(self) -> Thing:
        self.at = self.skipped()
        if self.source.startswith("/", self.at):
            return self.regex()
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
            case "sign" if token.text == "[":
                return Items(self.literals())
            case _:
                raise NotSimple(f"at {self.at}")

    def in_brackets(self) -> Thing:
        if _CALLED_AT_ONCE.match(self.source, self.at):
            return self.called_at_once()
        inner = self.thing()
        self.demand(")")
        return inner

    def called_at_once(self) -> Thing:
        """`(() => …)()`, after the first bracket."""
        if self.taken("("):
            self.demand(")", "=>")
            result: Thing = self.block() if self.taken("{") else self.expression()
        else:
            self.demand("function", "(", ")", "{")
            result = self.block()
        self.demand(")", "(", ")")
        return result

    def named(self, name: str) -> Thing:
        known = self.names.find(name)
        if known is not None:
            return known
        if name in CONSTANTS:
            return tree.Literal(CONSTANTS[name])
        match name:
            case "new":
                return self.constructed()
            case "context" | "participants" | "Math" | "Date":
                return Word(name)
            case "messages":
                return All()
            case "conversation_id":
                return tree.ConversationId()
            case "Boolean":
                self.demand("(")
                node = self.expression()
                self.demand(")")
                return tree.Not(tree.Not(node))
            case "match_keys" | "match_keys_all" if not self.asking:
                return self.match(name)
            case "similar" if not self.asking:
                return self.similar()
            case _:
                raise NotSimple(name)

    def constructed(self) -> Thing:
        """What stands after `new`."""
        if self.peek().text == "RegExp":
            return self.constructed_regex()
        self.demand("Date", "(")
        if self.taken(")"):
            return dates.Now()
        is_text = self.peek().kind == "text"
        instant = dates.written(unescaped(self.take("text"))) if is_text else self.local_date()
        self.demand(")")
        if instant is None:
            raise NotSimple("another form of a date")
        return instant

    def local_date(self) -> Instant:
        """`new Date(2026, 6, 17, 9)`: the month counts from 0."""
        parts = [self.integer()]
        while self.taken(","):
            parts.append(self.integer())
        if not 2 <= len(parts) <= 6:
            raise NotSimple("another form of a date")
        year, month, day, hour, minute, second = [*parts, *(1, 0, 0, 0)[len(parts) - 2 :]]
        if not 1970 <= year <= 9998 or not 0 <= month <= 11:
            raise NotSimple("another form of a date")
        try:
            return dates.Local(datetime(year, month + 1, day, hour, minute, second))
        except ValueError:
            raise NotSimple("a date that is carried over") from None

    def member(self, thing: Thing, name: str) -> Thing:
        match thing:
            case Word(text="context") if name == "messages":
                return All()
            case Word(text="context") if name == "participants":
                return Word(name)
            case Word(text="context") if name == "conversation_id":
                return tree.ConversationId()
            case Word(text="participants") if name not in _INHERITED and not name.startswith("__"):
                return tree.Participant(name)
            case Word(text="Date") if name == "now":
                self.demand("(", ")")
                return dates.Time(dates.Now())
            case Word(text="Math") if name in set(tree.Rounding):
                self.demand("(")
                number = self.expression()
                self.demand(")")
                if not number.kinds <= NUMERIC:
                    raise NotSimple("no number")
                return tree.Rounded(tree.Rounding(name), number)
            case Word():
                raise NotSimple(name)
            case All() | Kept() | Sliced() | ListSlot():
                return self.of_list(thing, name)
            case At() | Found() | Bound():
                if name not in set(Field):
                    raise NotSimple(name)
                return MessageText(Field(name), thing)
            case dates.Now() | dates.Written() | dates.Local():
                return self.of_date(thing, name)
            case Items():
                return self.of_items(items_of(thing.written), name)
            case RegexKey():
                return self.test(thing, name)
            case _ if thing.kinds & STRING:
                return self.of_text(thing, name)
            case _:
                raise NotSimple(name)

    def place(self, thing: Thing) -> Thing:
        """What stands between `[` and `]` after a thing."""
        match thing:
            case Word(text="participants"):
                return self.member(thing, unescaped(self.take("text")))
            case All() | Kept() | Sliced() | ListSlot():
                index = self.expression()
                match index:
                    case tree.Literal(written=float(number)) if number >= 0 and number == int(
                        min(number, 2**31)
                    ):
                        return At(thing, int(number))
                    case tree.Arithmetic(
                        operator=Operator.MINUS,
                        left=MessageCount(listing=listing),
                        right=tree.Literal(written=float(number)),
                    ) if listing == thing and 1 <= number <= 2**31 and number == int(number):
                        return At(thing, -int(number))
            case _:
                pass
        raise NotSimple("another place")

    def of_date(self, instant: Instant, name: str) -> Thing:
        self.demand("(", ")")
        match name:
            case _ if name in set(dates.Part) and instant == dates.Now():
                return dates.DatePart(dates.Part(name))
            case "getTime" | "valueOf":
                return dates.Time(instant)
            case "toISOString":
                return dates.IsoText(instant)
            case "toDateString":
                return dates.DateText(instant)
            case _:
                raise NotSimple(name)

    def of_text(self, text: Node, name: str) -> Node:
        if name == "length":
            return texts.TextLength(text)
        self.demand("(")
        node: Node
        match name:
            case "toLowerCase":
                node = texts.Lower(text)
            case "toUpperCase":
                node = texts.Upper(text)
            case "trim":
                node = texts.Trimmed(text)
            case "includes" | "startsWith" | "endsWith":
                node = texts.Contains(texts.StringMethod(name), text, self.string())
            case "indexOf":
                node = texts.IndexOf(text, self.string())
            case "slice":
                begin = self.integer()
                node = texts.Cut(text, begin, self.integer() if self.taken(",") else None)
            case "substring" | "substr":
                begin, end = 0, 0
                begin = self.integer()
                self.demand(",")
                end = self.integer()
                if begin or end < 0:
                    raise NotSimple("a part that does not begin at 0")
                node = texts.Cut(text, 0, end)
            case "split":
                separator = unescaped(self.take("text"))
                self.demand(")", "[", "0")
                node = texts.Before(text, separator)
                self.demand("]")
                if not separator:
                    raise NotSimple("single characters")
                return node
            case "match":
                self.at = self.skipped()
                return self.matched(self.regex(), text)
            case _:
                raise NotSimple(name)
        self.demand(")")
        return node

    def matched(self, pattern: RegexKey, text: Node) -> Node:
        self.demand(")")
        return texts.Matches(pattern, text, as_list=True)

    def string(self) -> Node:
        node = self.expression()
        if node.kinds != STRING:
            raise NotSimple("no text")
        return node

    def test(self, pattern: RegexKey, name: str) -> Node:
        """`/regex/.test(text)`."""
        if name != "test":
            raise NotSimple(name)
        self.demand("(")
        text = self.expression()
        self.demand(")")
        if text.kinds != STRING:
            raise NotSimple("no text")
        return texts.Matches(pattern, text)

    # Lists

    def of_list(self, listing: Listing, name: str) -> Thing:
        if name == "length":
            return MessageCount(listing)
        self.demand("(")
        thing: Thing
        match name:
            case "some":
                thing = Some(listing, self.asked())
            case "every":
                thing = Every(listing, self.asked())
            case "filter":
                thing = Kept(listing, self.asked())
            case "find":
                thing = Found(listing, self.asked())
            case "findIndex":
                thing = FindIndex(listing, self.asked())
            case "at":
                thing = At(listing, self.integer())
            case "slice":
                begin = self.integer()
                thing = Sliced(listing, begin, self.integer() if self.taken(",") else None)
            case "map":
                asked = self.asked()
                self.demand(")", ".", "join", "(")
                separator = unescaped(self.take("text"))
                if asked.node.kinds != STRING:
                    raise NotSimple("no texts")
                thing = JoinedTexts(listing, asked, separator)
            case _:
                raise NotSimple(name)
        self.taken(",")
        self.demand(")")
        return thing

    def of_items(self, items: "tuple[str | float, ...]", name: str) -> Node:
        self.demand("(")
        node: Node
        if name == "includes":
            node = OneOf(items, self.expression())
        elif name in ("some", "every") and len({type(item) for item in items}) == 1:
            kind = tree.Literal(items[0]).kinds
            node = OfItems(items, self.asked(lambda slot: SlotValue(slot, kind)), name == "every")
        else:
            raise NotSimple(name)
        self.demand(")")
        return node

    def asked(self, name: Callable[[int], Thing] = Bound) -> Asked:
        """A callback with one parameter: `m => …`, `({ content }) => …`, `function (m) { … }`."""
        self.nest()
        self.asking += 1
        slot, self.slots = self.slots, self.slots + 1
        outer, self.names = self.names, Scope(self.names)
        made = name(slot)
        arrow = not (self.peek().text == "function" and self.peek().kind == "name")
        if not arrow:
            self.demand("function")
        bracket = self.taken("(")
        if bracket and isinstance(made, Bound) and self.taken("{"):
            self.parts(made)
        else:
            self.names.declare(self.take("name"), made)
        if bracket:
            self.demand(")")
        elif not arrow:
            raise NotSimple("no parameters")
        if arrow:
            if LINE_END.search(self.source, self.at, self.skipped()):
                raise NotSimple("no arrow on this line")
            self.demand("=>")
        if self.taken("{"):
            node = valued(self.block())
        elif arrow:
            node = self.expression()
        else:
            raise NotSimple("no body")
        self.names = outer
        self.asking -= 1
        self.nested -= 1
        return Asked(slot, node, sum(1 for _ in walk(node)))

    def parts(self, message: Bound) -> None:
        """`{ role, content }`, after its `{`."""
        while not self.taken("}"):
            name = self.take("name")
            if name not in set(Field):
                raise NotSimple(name)
            self.names.declare(name, MessageText(Field(name), message))
            if not self.taken(","):
                self.demand("}")
                break

    # Calls of match_keys and the like

    def match(self, name: str) -> Node:
        self.demand("(")
        listing = self.thing()
        if not isinstance(listing, Listing):
            raise NotSimple("no messages")
        self.demand(",")
        keys = distinct(keys_of(self.keys()))
        scope, depth = KeyScope.ANY, clamped(None)
        if self.another():
            scope = self.scope()
            if self.another():
                depth = self.depth()
                self.taken(",")
        self.demand(")")
        return (tree.MatchKeys if name == "match_keys" else tree.MatchAll)(keys, scope, depth, listing)

    def keys(self) -> tuple[Written, ...]:
        if self.taken("["):
            return self.literals()
        if self.peek().kind == "name" and self.peek().text != "new":
            match self.names.find(self.take("name")):
                case Items(written=written):
                    return written
                case RegexKey() as pattern:
                    return (pattern,)
                case tree.Literal(written=str(text)):
                    return (text,)
                case _:
                    raise NotSimple("no keys")
        return (self.written(),)

    def similar(self) -> Node:
        self.demand("(")
        if self.thing() != All():
            raise NotSimple("no messages")
        self.demand(",")
        text = unescaped(self.take("text"))
        threshold = THRESHOLD
        if self.another():
            threshold = self.number()
            self.taken(",")
        self.demand(")")
        return tree.Similar(text, threshold)


def let(bindings: Bindings, node: Node) -> Node:
    return Let(tuple(bindings), node) if bindings else node
