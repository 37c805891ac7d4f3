"""Texts in simple conditions and what is asked of them."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from memory_server.language.keys import WHITE_SPACE, RegexKey, utf16
from memory_server.triggers.simple.node import Node, text_of
from memory_server.triggers.simple.scene import Scene
from memory_server.triggers.simple.values import (
    BOOLEAN,
    NUMBER,
    STRING,
    JsValue,
    Kind,
    Kinds,
    Special,
    Undecided,
)

_BLANK = re.compile(f"^[{WHITE_SPACE}]+|[{WHITE_SPACE}]+$")


@dataclass(frozen=True, slots=True)
class _OfText:
    text: Node

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.text,)


@dataclass(frozen=True, slots=True)
class Lower(_OfText):
    """A string in lower case."""

    kinds: ClassVar[Kinds] = STRING

    def value(self, scene: Scene) -> str:
        return text_of(self.text, scene, 10).lower()


@dataclass(frozen=True, slots=True)
class Upper(_OfText):
    """A string in upper case."""

    kinds: ClassVar[Kinds] = STRING

    def value(self, scene: Scene) -> str:
        return text_of(self.text, scene, 10).upper()


@dataclass(frozen=True, slots=True)
class Trimmed(_OfText):
    """A string without white space around it."""

    kinds: ClassVar[Kinds] = STRING

    def value(self, scene: Scene) -> str:
        return _BLANK.sub("", text_of(self.text, scene, 10))


@dataclass(frozen=True, slots=True)
class TextLength(_OfText):
    """How many UTF-16 units a string has."""

    kinds: ClassVar[Kinds] = NUMBER

    def value(self, scene: Scene) -> float:
        return float(len(utf16(text_of(self.text, scene, 50))))


@dataclass(frozen=True, slots=True)
class Cut(_OfText):
    """`.slice(begin, end)` with whole numbers."""

    begin: int
    end: int | None

    kinds: ClassVar[Kinds] = STRING

    def value(self, scene: Scene) -> str:
        text = text_of(self.text, scene, 50)
        if len(utf16(text)) != len(text):
            raise Undecided("a cut may part a character")
        return text[self.begin : self.end]


@dataclass(frozen=True, slots=True)
class Before(_OfText):
    """`.split(separator)[0]`."""

    separator: str

    kinds: ClassVar[Kinds] = STRING

    def value(self, scene: Scene) -> str:
        return text_of(self.text, scene, 10).partition(self.separator)[0]


class StringMethod(StrEnum):
    """JavaScript's methods that look for one string in another."""

    INCLUDES = "includes"
    STARTS = "startsWith"
    ENDS = "endsWith"


@dataclass(frozen=True, slots=True)
class Contains:
    """Whether a string contains another, character by character."""

    method: StringMethod
    text: Node
    part: Node

    kinds: ClassVar[Kinds] = BOOLEAN

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.text, self.part)

    def value(self, scene: Scene) -> bool:
        text, part = text_of(self.text, scene), text_of(self.part, scene)
        match self.method:
            case StringMethod.INCLUDES:
                return part in text
            case StringMethod.STARTS:
                return text.startswith(part)
            case StringMethod.ENDS:
                return text.endswith(part)


@dataclass(frozen=True, slots=True)
class IndexOf:
    """Where a string contains another, in UTF-16 units; -1 where it does not."""

    text: Node
    part: Node

    kinds: ClassVar[Kinds] = NUMBER

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.text, self.part)

    def value(self, scene: Scene) -> float:
        text, part = text_of(self.text, scene, 50), text_of(self.part, scene)
        return float(utf16(text).find(utf16(part)))


@dataclass(frozen=True, slots=True)
class Matches:
    """Whether a regular expression is found in a string. `as_list`: the value of `match`, a list or null."""

    pattern: RegexKey
    text: Node
    as_list: bool = False

    @property
    def kinds(self) -> Kinds:
        return frozenset({Kind.OBJECT, Kind.NULL}) if self.as_list else BOOLEAN

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.text,)

    def value(self, scene: Scene) -> JsValue:
        units = utf16(text_of(self.text, scene, 50))
        scene.work(self.pattern.cost(len(units)))
        found = self.pattern.search(units)
        if self.as_list:
            return Special.OBJECT if found else None
        return found
