"""The tree of a simple condition.

Every node has a `value` in a scene, equal to the value in JavaScript, and the `kinds` of value that it can have.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from memory_server.language.keys import Key, RegexKey, Scope, all_found, utf16
from memory_server.triggers.simple.scene import STEP, Scene
from memory_server.triggers.simple.values import (
    ANY,
    BOOLEAN,
    NUMBER,
    STRING,
    Comparison,
    JsValue,
    Kind,
    Kinds,
    Operator,
    Special,
    Undecided,
    calculated,
    compared,
    kind_of,
    number_of,
    truthy,
)


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal value."""

    written: JsValue

    @property
    def kinds(self) -> Kinds:
        return frozenset({kind_of(self.written)})

    def value(self, _scene: Scene) -> JsValue:
        return self.written


@dataclass(frozen=True, slots=True)
class MatchKeys:
    """How many of the keys are found in the recent messages of a scope, summed over messages."""

    keys: tuple[Key, ...]
    scope: Scope
    depth: int | None

    kinds: ClassVar[Kinds] = NUMBER

    def value(self, scene: Scene) -> float:
        picked = scene.picked(self.scope, self.depth)
        scene.look(self.keys, picked.said, picked.characters)
        return float(sum(key.found(said) for said in picked.said for key in self.keys))


@dataclass(frozen=True, slots=True)
class MatchAll:
    """Whether each of the keys is found in the recent messages of a scope, joined."""

    keys: tuple[Key, ...]
    scope: Scope
    depth: int | None

    kinds: ClassVar[Kinds] = BOOLEAN

    def value(self, scene: Scene) -> bool:
        picked = scene.picked(self.scope, self.depth)
        if not picked.said:
            return False
        scene.look(self.keys, (picked.joined,), picked.characters)
        return all_found(picked.joined, self.keys)


@dataclass(frozen=True, slots=True)
class Similar:
    """Whether one of the recent messages is close in meaning to a text; false without an embedder."""

    text: str
    threshold: float

    kinds: ClassVar[Kinds] = BOOLEAN

    def value(self, scene: Scene) -> bool:
        nearness = scene.nearness(self.text)
        if nearness is None and scene.messages:
            scene.notes.append("similar() is false because there is no embedder")
        return nearness is not None and nearness >= self.threshold


class Part(StrEnum):
    """A part of the date, by JavaScript's getter; months and days of the week (from Sunday) count from 0."""

    YEAR = "getFullYear"
    MONTH = "getMonth"
    DAY = "getDate"
    WEEKDAY = "getDay"
    HOUR = "getHours"
    MINUTE = "getMinutes"
    SECOND = "getSeconds"


@dataclass(frozen=True, slots=True)
class DatePart:
    """A part of the local date and time."""

    part: Part

    kinds: ClassVar[Kinds] = NUMBER

    def value(self, scene: Scene) -> float:
        now = scene.now
        match self.part:
            case Part.YEAR:
                return float(now.year)
            case Part.MONTH:
                return float(now.month - 1)
            case Part.DAY:
                return float(now.day)
            case Part.WEEKDAY:
                return float(now.isoweekday() % 7)
            case Part.HOUR:
                return float(now.hour)
            case Part.MINUTE:
                return float(now.minute)
            case Part.SECOND:
                return float(now.second)


@dataclass(frozen=True, slots=True)
class MessageCount:
    """How many messages there are."""

    kinds: ClassVar[Kinds] = NUMBER

    def value(self, scene: Scene) -> float:
        return float(len(scene.messages))


@dataclass(frozen=True, slots=True)
class ConversationId:
    """The conversation's id."""

    kinds: ClassVar[Kinds] = STRING

    def value(self, scene: Scene) -> str:
        return scene.conversation_id


@dataclass(frozen=True, slots=True)
class Participant:
    """The value given for a participant: any JSON value."""

    name: str

    kinds: ClassVar[Kinds] = ANY

    def value(self, scene: Scene) -> JsValue:
        match scene.participants.get(self.name, Special.UNDEFINED):
            case float() as value if not math.isfinite(value):
                return None  # as JSON.stringify writes what JSON cannot hold
            case bool() | float() | str() | None | Special.UNDEFINED as value:
                return value
            case int() as value if abs(value) <= 2**53:
                return float(value)
            case int():
                raise Undecided("a participant's number is too long")
            case _:
                return Special.OBJECT


class Field(StrEnum):
    CONTENT = "content"
    ROLE = "role"


@dataclass(frozen=True, slots=True)
class MessageText:
    """The content or role of the message that `some` is testing."""

    field: Field

    kinds: ClassVar[Kinds] = STRING

    def value(self, scene: Scene) -> str:
        if scene.current is None:
            raise Undecided("there is no message outside some")
        text = scene.current.text if self.field is Field.CONTENT else scene.current.role
        scene.work(len(text))
        return text


@dataclass(frozen=True, slots=True)
class Lower:
    """A string in lower case."""

    text: "Node"

    kinds: ClassVar[Kinds] = STRING

    def value(self, scene: Scene) -> str:
        return text_of(self.text, scene, 10).lower()


@dataclass(frozen=True, slots=True)
class TextLength:
    """How many UTF-16 units a string has."""

    text: "Node"

    kinds: ClassVar[Kinds] = NUMBER

    def value(self, scene: Scene) -> float:
        return float(len(utf16(text_of(self.text, scene, 50))))


class StringMethod(StrEnum):
    """JavaScript's methods that look for one string in another."""

    INCLUDES = "includes"
    STARTS = "startsWith"
    ENDS = "endsWith"


@dataclass(frozen=True, slots=True)
class Contains:
    """Whether a string contains another, character by character."""

    method: StringMethod
    text: "Node"
    part: str

    kinds: ClassVar[Kinds] = BOOLEAN

    def value(self, scene: Scene) -> bool:
        text = text_of(self.text, scene)
        match self.method:
            case StringMethod.INCLUDES:
                return self.part in text
            case StringMethod.STARTS:
                return text.startswith(self.part)
            case StringMethod.ENDS:
                return text.endswith(self.part)


@dataclass(frozen=True, slots=True)
class Matches:
    """Whether a regular expression is found in a string."""

    pattern: RegexKey
    text: "Node"

    kinds: ClassVar[Kinds] = BOOLEAN

    def value(self, scene: Scene) -> bool:
        units = utf16(text_of(self.text, scene, 50))
        scene.work(self.pattern.cost(len(units)))
        return self.pattern.search(units)


@dataclass(frozen=True, slots=True)
class Some:
    """Whether a condition is true for at least one message; `size` is its number of nodes."""

    condition: "Node"
    size: int

    kinds: ClassVar[Kinds] = BOOLEAN

    def value(self, scene: Scene) -> bool:
        return self.witness(scene) is not None

    def witness(self, scene: Scene) -> int | None:
        """The index of the first message for which the condition is true; None if there is none."""
        try:
            for index, message in enumerate(scene.messages):
                scene.current = message
                scene.work(STEP * self.size)
                if truthy(self.condition.value(scene)):
                    return index
        finally:
            scene.current = None
        return None


@dataclass(frozen=True, slots=True)
class Not:
    """The negation."""

    operand: "Node"

    kinds: ClassVar[Kinds] = BOOLEAN

    def value(self, scene: Scene) -> bool:
        return not truthy(self.operand.value(scene))


@dataclass(frozen=True, slots=True)
class And:
    """The first value that is not true, else the last."""

    operands: tuple["Node", ...]

    @property
    def kinds(self) -> Kinds:
        return frozenset[Kind]().union(*(operand.kinds for operand in self.operands))

    def value(self, scene: Scene) -> JsValue:
        value: JsValue = True
        for operand in self.operands:
            value = operand.value(scene)
            if not truthy(value):
                break
        return value


@dataclass(frozen=True, slots=True)
class Or:
    """The first value that is true, else the last."""

    operands: tuple["Node", ...]

    @property
    def kinds(self) -> Kinds:
        return frozenset[Kind]().union(*(operand.kinds for operand in self.operands))

    def value(self, scene: Scene) -> JsValue:
        value: JsValue = False
        for operand in self.operands:
            value = operand.value(scene)
            if truthy(value):
                break
        return value


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison of two values."""

    operator: Comparison
    left: "Node"
    right: "Node"

    kinds: ClassVar[Kinds] = BOOLEAN

    def value(self, scene: Scene) -> bool:
        left, right = self.left.value(scene), self.right.value(scene)
        if isinstance(left, str) and isinstance(right, str):
            scene.work(50 * min(len(left), len(right)))
        return compared(self.operator, left, right)


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """A calculation with two numbers."""

    operator: Operator
    left: "Node"
    right: "Node"

    kinds: ClassVar[Kinds] = NUMBER

    def value(self, scene: Scene) -> float:
        return calculated(
            self.operator, number_of(self.left.value(scene)), number_of(self.right.value(scene))
        )


Node = (
    Literal | MatchKeys | MatchAll | Similar | DatePart | MessageCount | ConversationId | Participant | MessageText
    | Lower | TextLength | Contains | Matches | Some | Not | And | Or | Compare | Arithmetic
)  # fmt: skip


def text_of(node: Node, scene: Scene, work: int = 1) -> str:
    """The value of a node whose kind is string; `work` units are counted for each of its characters."""
    value = node.value(scene)
    if not isinstance(value, str):
        raise Undecided("a string is needed")
    scene.work(len(value) * work)
    return value


def children(node: Node) -> tuple[Node, ...]:
    match node:
        case And() | Or():
            return node.operands
        case Compare() | Arithmetic():
            return (node.left, node.right)
        case Not():
            return (node.operand,)
        case Some():
            return (node.condition,)
        case Lower() | TextLength() | Contains() | Matches():
            return (node.text,)
        case _:
            return ()


def depth(node: Node) -> int:
    """The depth of a tree, found without recursion: a long chain of sums may be deeper than Python's stack."""
    deepest, level = 0, [node]
    while level:
        deepest += 1
        level = [child for parent in level for child in children(parent)]
    return deepest


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it."""
    yield node
    for child in children(node):
        yield from walk(child)


def some(condition: Node) -> Some:
    return Some(condition, sum(1 for _ in walk(condition)))
