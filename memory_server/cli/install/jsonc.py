"""Changes single members of a JSON text and leaves every other character as it is: comments, order, indents.

Also JSON with comments and trailing commas, as editors write it.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

_BLANK = re.compile(r"(?:[\s\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[-+.\w]+|[\[\]{},:]')
_NOTE = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\n]*?\*/)")
_INDENT = re.compile(r"\n([ \t]+)\S")


@dataclass(slots=True)
class Node:
    """A value of the text from `start` to `end`. `members` are those of an object by name, each with the place where
    its name begins; `items` are those of an array."""

    start: int
    end: int = 0
    value: Any = None
    members: dict[str, tuple[int, "Node"]] = field(default_factory=dict)
    items: list["Node"] = field(default_factory=list)


def parse(text: str) -> Any:
    """The value of a text; {} where it is blank.

    Raises:
        ValueError: it is not JSON, with or without comments.
    """
    return _read(text).value if text.strip("\ufeff \t\r\n") else {}


def get(text: str, path: Sequence[str]) -> Any:
    """The value at a path of names, None where there is none."""
    value = parse(text)
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def put(text: str, path: Sequence[str], value: Any) -> str:
    """The text with this value at a path; objects that are missing on the way are made."""
    if not text.strip("\ufeff \t\r\n"):
        text += "{}" + line_end(text)
    node = _read(text)
    for depth, name in enumerate(path):
        if not isinstance(node.value, dict):
            raise ValueError(f"{'.'.join(path[:depth]) or 'the file'} is not an object")
        if name not in node.members:
            for missing in reversed(path[depth + 1 :]):
                value = {missing: value}
            return _inserted(text, node, f"{_dump(name)}: ", value, depth + 1)
        node = node.members[name][1]
    if node.value == value:
        return text
    return text[: node.start] + _written(value, text, len(path)) + text[node.end :]


def append(text: str, path: Sequence[str], value: Any) -> str:
    """The text with one more item in the array at a path, which is made where it is missing."""
    items = get(text, path)
    if items is None:
        return put(text, path, [value])
    if not isinstance(items, list):
        raise ValueError(f"{'.'.join(path)} is not a list")
    return _inserted(text, _at(text, path), "", value, len(path) + 1)


def remove(text: str, path: Sequence[str], item: int | None = None) -> str:
    """The text without the member at a path, or without one item of the array there; and without what is empty then."""
    node = _at(text, path)
    if item is not None and len(node.items) > 1:
        children = [(child.start, child.end) for child in node.items]
        return _without(text, node, children, item)
    holder = _at(text, path[:-1])
    if len(holder.members) > 1 or len(path) == 1:
        children = [(start, child.end) for start, child in holder.members.values()]
        return _without(text, holder, children, list(holder.members).index(path[-1]))
    return remove(text, path[:-1])


def _at(text: str, path: Sequence[str]) -> Node:
    node = _read(text)
    for name in path:
        node = node.members[name][1]
    return node


def _inserted(text: str, holder: Node, name: str, value: Any, depth: int) -> str:
    """The text with one more member or item at the end of an object or array, in the style of the others."""
    unit, end = _unit(text), line_end(text)
    ends = [child.end for _, child in holder.members.values()] + [child.end for child in holder.items]
    lines = "\n" in text[holder.start : holder.end] or not ends
    new = name + (_written(value, text, depth) if lines else _dump(value))
    if not ends:
        return f"{text[: holder.start + 1]}{end}{unit * depth}{new}{end}{unit * (depth - 1)}{text[holder.end - 1 :]}"
    last = max(ends)
    gap = text[last : holder.end - 1]
    comma = _comma_after(gap)
    head, tail = (",", gap) if comma is None else (gap[:comma], gap[comma:])
    new += "," if comma else ""  # where the last has a comma behind it, so has the new one
    before = end + unit * depth if lines else " "
    comment = _NOTE.match(tail) if lines else None  # a comment on the line of the value before stays there
    note = comment[0] if comment else ""
    return f"{text[:last]}{head}{note}{before}{new}{tail[len(note) :]}{text[holder.end - 1 :]}"


def _without(text: str, holder: Node, children: list[tuple[int, int]], number: int) -> str:
    start, end = children[number]
    if number + 1 < len(children):
        return text[:start] + text[children[number + 1][0] :]
    comma = _comma_after(text[end : holder.end - 1])
    tail = text[end + (comma or 0) :]
    if not number:
        return text[: holder.start + 1] + tail[: holder.end - 1 - len(text)].strip() + text[holder.end - 1 :]
    before = children[number - 1][1]
    between = text[before:start]
    note = _NOTE.match(between[_comma_after(between) or 0 :])
    return f"{text[:before]}{',' if comma else ''}{note[0] if note else ''}{tail}"


def _comma_after(gap: str) -> int | None:
    """Return the end of a comma that follows a value, behind blanks and comments."""
    blank = _BLANK.match(gap)
    place = blank.end() if blank else 0
    return place + 1 if gap[place : place + 1] == "," else None


def line_end(text: str) -> str:
    """The end of the first line: lines that are added end so, and all others stay as they are."""
    return "\r\n" if text.partition("\n")[0].endswith("\r") else "\n"


def _unit(text: str) -> str:
    indent = _INDENT.search(text)
    return indent[1] if indent else "  "


def _written(value: Any, text: str, depth: int) -> str:
    """The value as lines of this text, in the style of its others."""
    unit = _unit(text)
    return json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", line_end(text) + unit * depth)


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _read(text: str) -> Node:
    reader = _Reader(text)
    node = reader.value()
    reader.blank()
    if reader.place < len(text):
        raise reader.wrong()
    return node


@dataclass(slots=True)
class _Reader:
    text: str
    place: int = 0

    def blank(self) -> None:
        blank = _BLANK.match(self.text, self.place)
        self.place = blank.end() if blank else self.place

    def wrong(self) -> ValueError:
        return ValueError(f"line {self.text.count(chr(10), 0, self.place) + 1} is not JSON")

    def token(self) -> str:
        self.blank()
        token = _TOKEN.match(self.text, self.place)
        if token is None:
            raise self.wrong()
        self.place = token.end()
        return token[0]

    def value(self) -> Node:
        self.blank()
        node = Node(self.place)
        token = self.token()
        match token:
            case "{":
                self._members(node)
            case "[":
                self._items(node)
            case "]" | "}" | "," | ":":
                raise self.wrong()
            case _:
                node.value = json.loads(token)
        node.end = self.place
        return node

    def _members(self, node: Node) -> None:
        while (name := self._next("}")) is not None:
            start = self.place - len(name)
            if not name.startswith('"') or self.token() != ":":
                raise self.wrong()
            child = self.value()
            node.members[json.loads(name)] = (start, child)
            self._comma("}")
        node.value = {name: child.value for name, (_, child) in node.members.items()}

    def _items(self, node: Node) -> None:
        while self._next("]", keep=True) is not None:
            node.items.append(self.value())
            self._comma("]")
        node.value = [child.value for child in node.items]

    def _next(self, end: str, keep: bool = False) -> str | None:
        """The next token, None at the end; `keep`: it is read again."""
        self.blank()
        before = self.place
        token = self.token()
        if token == end:
            return None
        if keep:
            self.place = before
        return token

    def _comma(self, end: str) -> None:
        self.blank()
        sign = self.text[self.place : self.place + 1]
        if sign == ",":
            self.place += 1
        elif sign != end:
            raise self.wrong()
