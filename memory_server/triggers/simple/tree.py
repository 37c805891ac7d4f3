"""The nodes of a simple condition, except those of lists, texts and dates."""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from memory_server.language.keys import Key, Scope, all_found, recent
from memory_server.triggers.simple.lists import ALL, All, Listing
from memory_server.triggers.simple.node import Leaf, Node
from memory_server.triggers.simple.scene import STEP, Picked, Scene
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
class Literal(Leaf):
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
    listing: Listing = ALL

    kinds: ClassVar[Kinds] = NUMBER

    @property
    def children(self) -> tuple[Node, ...]:
        return self.listing.nodes

    def value(self, scene: Scene) -> float:
        picked = self.picked(scene)
        scene.look(self.keys, picked.said, picked.characters)
        found = 0
        for said in picked.said:
            for key in self.keys:
                if key.found(said):
                    found += 1
        return float(found)

    def picked(self, scene: Scene) -> Picked:
        return _picked(self.listing, self.scope, self.depth, scene)


@dataclass(frozen=True, slots=True)
class MatchAll:
    """Whether each of the keys is found in the recent messages of a scope, joined."""

    keys: tuple[Key, ...]
    scope: Scope
    depth: int | None
    listing: Listing = ALL

    kinds: ClassVar[Kinds] = BOOLEAN

    @property
    def children(self) -> tuple[Node, ...]:
        return self.listing.nodes

    def value(self, scene: Scene) -> bool:
        picked = self.picked(scene)
        if not picked.said:
            return False
        scene.look(self.keys, (picked.joined,), picked.characters)
        return all_found(picked.joined, self.keys)

    def picked(self, scene: Scene) -> Picked:
        return _picked(self.listing, self.scope, self.depth, scene)


def _picked(listing: Listing, scope: Scope, depth: int | None, scene: Scene) -> Picked:
    if isinstance(listing, All):
        return scene.picked(scope, depth)
    said = listing.said(scene)
    scene.work(STEP * len(said))
    return Picked(tuple(recent(said, scope, depth)))


@dataclass(frozen=True, slots=True)
class Similar(Leaf):
    """Whether one of the recent messages is close in meaning to a text; false without an embedder."""

    text: str
    threshold: float

    kinds: ClassVar[Kinds] = BOOLEAN

    def value(self, scene: Scene) -> bool:
        nearness = scene.nearness(self.text)
        if nearness is None and scene.messages:
            scene.notes.append("similar() is false because there is no embedder")
        return nearness is not None and nearness >= self.threshold


@dataclass(frozen=True, slots=True)
class ConversationId(Leaf):
    """The conversation's id."""

    kinds: ClassVar[Kinds] = STRING

    def value(self, scene: Scene) -> str:
        return scene.conversation_id


@dataclass(frozen=True, slots=True)
class Participant(Leaf):
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


@dataclass(frozen=True, slots=True)
class Not:
    """The negation."""

    operand: Node

    kinds: ClassVar[Kinds] = BOOLEAN

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.operand,)

    def value(self, scene: Scene) -> bool:
        return not truthy(self.operand.value(scene))


@dataclass(frozen=True, slots=True)
class And:
    """The first value that is not true, else the last."""

    operands: tuple[Node, ...]

    @property
    def kinds(self) -> Kinds:
        return frozenset[Kind]().union(*(operand.kinds for operand in self.operands))

    @property
    def children(self) -> tuple[Node, ...]:
        return self.operands

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

    operands: tuple[Node, ...]

    @property
    def kinds(self) -> Kinds:
        return frozenset[Kind]().union(*(operand.kinds for operand in self.operands))

    @property
    def children(self) -> tuple[Node, ...]:
        return self.operands

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
    left: Node
    right: Node

    kinds: ClassVar[Kinds] = BOOLEAN

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.left, self.right)

    def value(self, scene: Scene) -> bool:
        left, right = self.left.value(scene), self.right.value(scene)
        if isinstance(left, str) and isinstance(right, str):
            scene.work(50 * min(len(left), len(right)))
        return compared(self.operator, left, right)


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """A calculation with two numbers."""

    operator: Operator
    left: Node
    right: Node

    kinds: ClassVar[Kinds] = NUMBER

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.left, self.right)

    def value(self, scene: Scene) -> float:
        return calculated(
            self.operator, number_of(self.left.value(scene)), number_of(self.right.value(scene))
        )


@dataclass(frozen=True, slots=True)
class Conditional:
    """`condition ? one : other`."""

    condition: Node
    one: Node
    other: Node

    @property
    def kinds(self) -> Kinds:
        return self.one.kinds | self.other.kinds

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.condition, self.one, self.other)

    def value(self, scene: Scene) -> JsValue:
        return (self.one if truthy(self.condition.value(scene)) else self.other).value(scene)


@dataclass(frozen=True, slots=True)
class Nullish:
    """`left ?? right`."""

    left: Node
    right: Node

    @property
    def kinds(self) -> Kinds:
        return self.left.kinds | self.right.kinds

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.left, self.right)

    def value(self, scene: Scene) -> JsValue:
        value = self.left.value(scene)
        return self.right.value(scene) if value in (None, Special.UNDEFINED) else value


class Rounding(StrEnum):
    """Functions of `Math` with one number."""

    FLOOR = "floor"
    CEIL = "ceil"
    ABS = "abs"


@dataclass(frozen=True, slots=True)
class Rounded:
    """A number rounded down or up, or without its sign."""

    how: Rounding
    number: Node

    kinds: ClassVar[Kinds] = NUMBER

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.number,)

    def value(self, scene: Scene) -> float:
        number = number_of(self.number.value(scene))
        if self.how is Rounding.ABS:
            return abs(number)
        if not math.isfinite(number):
            return number
        whole = math.floor(number) if self.how is Rounding.FLOOR else math.ceil(number)
        return math.copysign(float(whole), number) if whole == 0 else float(whole)
