"""Simple conditions written as JSON: the same tree as from JavaScript. The text starts with `{"`.

    {"match_keys": ["birthday", {"regex": "deadlines?", "flags": "i"}], "scope": "user", "depth": 6}   a number
    {"match_keys_all": ["project", "deadline"], "scope": "any", "depth": 4}
    {"similar": "let us plan a party", "threshold": 0.4}
    {"and": [...]}, {"or": [...]}, {"not": X}
    {"===": [X, Y]}, and in the same way `!== < <= > >=` and `+ - * / %`
    {"get": NAME}     messages.length, conversation_id, participants.NAME, date.year, date.month (1-12), date.day,
                      date.weekday (0 is Sunday), date.hour, date.minute, date.second
    {"some": X}       whether X is true for a message; inside it {"get": "message.content"} and {"get": "message.role"}
    {"includes": [X, "text"]}, and in the same way `startsWith`, `endsWith`; {"toLowerCase": X}, {"length": X}
    {"test": [{"regex": "...", "flags": "i"}, X]}

X and Y are conditions, or true, false, null, numbers and strings. For example, in July if tea was mentioned:
`{"and": [{"match_keys": ["tea"]}, {"===": [{"get": "date.month"}, 7]}]}`.
"""

import json
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NoReturn

from memory_server.errors import TriggerRejected
from memory_server.language.keys import Key, RegexKey, Scope, clamped, distinct, words_key
from memory_server.triggers import MOST_BYTES
from memory_server.triggers.simple import tree
from memory_server.triggers.simple.parser import (
    CACHED_CHARACTERS,
    MOST_CACHED,
    MOST_LONG,
    MOST_NESTED,
    THRESHOLD,
)
from memory_server.triggers.simple.pattern import NotSimple, translate
from memory_server.triggers.simple.tree import Node
from memory_server.triggers.simple.values import NUMERIC, STRING, Comparison, Operator, comparable

_BEGIN = re.compile(r'\s*\{\s*(?:"|\})')
"""How a JSON trigger starts."""

_OPTIONS = {
    "match_keys": {"scope", "depth"},
    "match_keys_all": {"scope", "depth"},
    "similar": {"threshold"},
}
"""The options that stand beside a name in the same object."""

_DATE = {
    "year": tree.Part.YEAR,
    "day": tree.Part.DAY,
    "weekday": tree.Part.WEEKDAY,
    "hour": tree.Part.HOUR,
    "minute": tree.Part.MINUTE,
    "second": tree.Part.SECOND,
}
"""Parts of a date in JSON; the month is not here, because it counts from 1."""

_COMPARISONS = {str(sign): sign for sign in Comparison if sign not in (Comparison.EQUAL, Comparison.UNEQUAL)}
"""Comparisons in JSON: those that do not convert values."""

_OPERATORS = {str(sign): sign for sign in Operator}
"""Arithmetic in JSON, the same as in JavaScript."""


def is_json(source: str) -> bool:
    """Whether a trigger is meant as JSON: no useful JavaScript starts with a brace and a quotation mark."""
    return _BEGIN.match(source) is not None


def parse_json(source: str) -> Node:
    """The tree of a condition in JSON.

    Raises:
        TriggerRejected: a part is wrong; the text names it.
    """
    return (_cached if len(source) <= CACHED_CHARACTERS else _cached_long)(source)


def _parsed(source: str) -> Node:
    if len(source) > MOST_BYTES:
        raise TriggerRejected(f"The trigger is longer than {MOST_BYTES} bytes.")
    try:
        value = json.loads(source, object_pairs_hook=_object, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise TriggerRejected(f"Not JSON at {error.lineno}:{error.colno}: {error.msg}.") from None
    except RecursionError:
        raise TriggerRejected("The JSON is nested too deep.") from None
    except ValueError as error:
        raise TriggerRejected(f"Not JSON: {error}.") from None
    return _Reader().node(value, "the condition", 0)


_cached = lru_cache(maxsize=MOST_CACHED)(_parsed)
_cached_long = lru_cache(maxsize=MOST_LONG)(_parsed)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise ValueError(f"an object has the same name twice: {_shown(', '.join(names))}")
    return dict(pairs)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _wrong(path: str, what: str) -> NoReturn:
    raise TriggerRejected(f"In {path}: {what}.")


def _shown(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}…"


class _Reader:
    def __init__(self) -> None:
        self.inside_some = False

    def node(self, value: Any, path: str, depth: int) -> Node:
        if depth > MOST_NESTED:
            _wrong(path, "nested too deep")
        match value:
            case None | bool():
                return tree.Literal(value)
            case int() | float():
                return tree.Literal(_number(value, path))
            case str():
                return tree.Literal(_text(value, path))
            case dict():
                return self.condition(value, path, depth + 1)
            case _:
                _wrong(path, 'a list is not a condition; write {"and": [...]} or {"or": [...]}')

    def condition(self, value: dict[str, Any], path: str, depth: int) -> Node:
        names = [name for name in value if name in self.forms()]
        if len(names) != 1:
            known = ", ".join(self.forms())
            _wrong(path, f"exactly one of {known} is needed, not {_shown(', '.join(value) or 'nothing')}")
        name = names[0]
        options = {other: value[other] for other in value if other != name}
        for other in options:
            if other not in _OPTIONS.get(name, ()):
                _wrong(path, f"{name} has no option {_shown(repr(other))}")
        inner = f"{path}, {name}"
        return self.forms()[name](name, value[name], options, inner, depth)

    def forms(self) -> dict[str, Callable[[str, Any, dict[str, Any], str, int], Node]]:
        return {
            "and": self.several,
            "or": self.several,
            "not": self.negated,
            "match_keys": self.match,
            "match_keys_all": self.match,
            "similar": self.similar,
            "get": self.get,
            "some": self.some,
            **dict.fromkeys(_COMPARISONS, self.comparison),
            **dict.fromkeys(_OPERATORS, self.arithmetic),
            **dict.fromkeys(("includes", "startsWith", "endsWith"), self.contains),
            "toLowerCase": self.of_text,
            "length": self.of_text,
            "test": self.test,
        }

    def several(self, name: str, value: Any, _: dict[str, Any], path: str, depth: int) -> Node:
        if not isinstance(value, list) or not value:
            _wrong(path, "a list of conditions is needed")
        nodes = tuple(self.node(part, f"{path}[{index}]", depth) for index, part in enumerate(value))
        return tree.And(nodes) if name == "and" else tree.Or(nodes)

    def negated(self, _name: str, value: Any, _: dict[str, Any], path: str, depth: int) -> Node:
        return tree.Not(self.node(value, path, depth))

    def match(self, name: str, value: Any, options: dict[str, Any], path: str, _depth: int) -> Node:
        if self.inside_some:
            _wrong(path, "it looks at all messages, so it cannot be used inside some")
        if not isinstance(value, list):
            _wrong(path, "a list of keys is needed")
        keys = distinct(_key(key, f"{path}[{index}]") for index, key in enumerate(value))
        scope = options.get("scope", "any")
        if scope not in list(Scope):
            _wrong(path, f"scope must be one of {', '.join(Scope)}, not {_shown(repr(scope))}")
        depth = options.get("depth")
        if depth is not None and (not isinstance(depth, int) or isinstance(depth, bool) or depth < 1):
            _wrong(path, f"depth must be a whole number of messages, 1 or more, not {_shown(repr(depth))}")
        clamp = clamped(None if depth is None else _number(depth, path))
        return (tree.MatchKeys if name == "match_keys" else tree.MatchAll)(keys, Scope(scope), clamp)

    def similar(self, _name: str, value: Any, options: dict[str, Any], path: str, _depth: int) -> Node:
        if self.inside_some:
            _wrong(path, "it looks at all messages, so it cannot be used inside some")
        threshold = options.get("threshold", THRESHOLD)
        if isinstance(threshold, bool) or not isinstance(threshold, int | float):
            _wrong(path, f"threshold must be a number, not {_shown(repr(threshold))}")
        return tree.Similar(_text(value, path), _number(threshold, path))

    def get(self, _name: str, value: Any, _: dict[str, Any], path: str, _depth: int) -> Node:
        match str(value).split(".", 1):
            case ["messages", "length"]:
                return tree.MessageCount()
            case ["conversation_id"]:
                return tree.ConversationId()
            case ["participants", name]:
                return tree.Participant(name)
            case ["date", "month"]:
                return tree.Arithmetic(Operator.PLUS, tree.DatePart(tree.Part.MONTH), tree.Literal(1.0))
            case ["date", part] if part in _DATE:
                return tree.DatePart(_DATE[part])
            case ["message", "content" | "role" as field] if self.inside_some:
                return tree.MessageText(tree.Field(field))
            case ["message", "content" | "role"]:
                _wrong(path, f"{value} is available only inside some")
            case _:
                dates = ", ".join(f"date.{part}" for part in ("month", *_DATE))
                _wrong(
                    path,
                    f"{value!r} is unknown; use messages.length, conversation_id, participants.NAME, {dates}",
                )

    def some(self, _name: str, value: Any, _: dict[str, Any], path: str, depth: int) -> Node:
        if self.inside_some:
            _wrong(path, "some cannot be used inside some")
        self.inside_some = True
        node = self.node(value, path, depth)
        self.inside_some = False
        return tree.some(node)

    def comparison(self, name: str, value: Any, _: dict[str, Any], path: str, depth: int) -> Node:
        left, right = self.pair(value, path, depth)
        if not comparable(_COMPARISONS[name], left.kinds, right.kinds):
            _wrong(path, "both values must be numbers, or both strings")
        return tree.Compare(_COMPARISONS[name], left, right)

    def arithmetic(self, name: str, value: Any, _: dict[str, Any], path: str, depth: int) -> Node:
        left, right = self.pair(value, path, depth)
        if not left.kinds | right.kinds <= NUMERIC:
            _wrong(path, "two numbers are needed")
        return tree.Arithmetic(_OPERATORS[name], left, right)

    def pair(self, value: Any, path: str, depth: int) -> tuple[Node, Node]:
        if not isinstance(value, list) or len(value) != 2:
            _wrong(path, "a list of two values is needed")
        return self.node(value[0], f"{path}[0]", depth), self.node(value[1], f"{path}[1]", depth)

    def contains(self, name: str, value: Any, _: dict[str, Any], path: str, depth: int) -> Node:
        if not isinstance(value, list) or len(value) != 2:
            _wrong(path, "a list of two is needed: where to look, and a string")
        return tree.Contains(
            tree.StringMethod(name), self.text(value[0], f"{path}[0]", depth), _text(value[1], f"{path}[1]")
        )

    def of_text(self, name: str, value: Any, _: dict[str, Any], path: str, depth: int) -> Node:
        text = self.text(value, path, depth)
        return tree.Lower(text) if name == "toLowerCase" else tree.TextLength(text)

    def test(self, _name: str, value: Any, _: dict[str, Any], path: str, depth: int) -> Node:
        if not isinstance(value, list) or len(value) != 2:
            _wrong(path, "a list of two is needed: a regex, and where to look")
        return tree.Matches(_pattern(value[0], f"{path}[0]"), self.text(value[1], f"{path}[1]", depth))

    def text(self, value: Any, path: str, depth: int) -> Node:
        node = self.node(value, path, depth)
        if node.kinds != STRING:
            _wrong(path, "a string is needed")
        return node


def _key(value: Any, path: str) -> Key:
    return words_key(_text(value, path)) if isinstance(value, str) else _pattern(value, path)


def _pattern(value: Any, path: str) -> RegexKey:
    if not isinstance(value, dict) or not set(value) <= {"regex", "flags"} or "regex" not in value:
        _wrong(path, 'a string or {"regex": "...", "flags": "i"} is needed')
    source, flags = _text(value["regex"], path), _text(value.get("flags", ""), path)
    try:
        return translate(source, flags)
    except NotSimple:
        _wrong(
            path,
            f"{_shown(f'/{source}/{flags}')} is too complex for a condition in JSON; write the trigger as JavaScript",
        )


def _text(value: Any, path: str) -> str:
    if not isinstance(value, str):
        _wrong(path, f"a string is needed, not {_shown(json.dumps(value))}")
    try:
        value.encode()
    except UnicodeEncodeError:
        _wrong(path, "the string contains a lone surrogate")
    return value


def _number(value: float, path: str) -> float:
    try:
        return float(value)
    except OverflowError:
        _wrong(path, "the number is too large")
