"""Lists of messages in simple conditions, single messages, and what is asked of them.

What a callback or a `const` names is kept in a slot of the scene, by its number.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from memory_server.language.keys import Said
from memory_server.triggers.simple.node import Leaf, Node
from memory_server.triggers.simple.scene import STEP, Scene
from memory_server.triggers.simple.values import (
    BOOLEAN,
    NUMBER,
    STRING,
    JsValue,
    Kind,
    Kinds,
    Special,
    Undecided,
    truthy,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A condition, or a text, about each message; the message is in `slot`. `size` is the number of its nodes."""

    slot: int
    node: Node
    size: int

    def each(self, said: Sequence[Said], scene: Scene) -> Iterator[JsValue]:
        """The value for each message, one after the other."""
        step = STEP * self.size
        for message in said:
            scene.slots[self.slot] = message
            scene.work(step)
            yield self.node.value(scene)


# Lists of messages


@dataclass(frozen=True, slots=True)
class All:
    """`messages`."""

    nodes: ClassVar[tuple[Node, ...]] = ()

    def said(self, scene: Scene) -> Sequence[Said]:
        return scene.messages


ALL = All()


@dataclass(frozen=True, slots=True)
class Kept:
    """`.filter(m => …)`."""

    listing: "Listing"
    asked: Asked

    @property
    def nodes(self) -> tuple[Node, ...]:
        return (*self.listing.nodes, self.asked.node)

    def said(self, scene: Scene) -> Sequence[Said]:
        said = self.listing.said(scene)
        return tuple(
            message
            for message, value in zip(said, self.asked.each(said, scene), strict=True)
            if truthy(value)
        )


@dataclass(frozen=True, slots=True)
class Sliced:
    """`.slice(begin, end)` with whole numbers."""

    listing: "Listing"
    begin: int
    end: int | None

    @property
    def nodes(self) -> tuple[Node, ...]:
        return self.listing.nodes

    def said(self, scene: Scene) -> Sequence[Said]:
        return self.listing.said(scene)[self.begin : self.end]


@dataclass(frozen=True, slots=True)
class ListSlot:
    """A list that a `const` names."""

    slot: int

    nodes: ClassVar[tuple[Node, ...]] = ()

    def said(self, scene: Scene) -> Sequence[Said]:
        said: Sequence[Said] = scene.slots[self.slot]
        return said


Listing = All | Kept | Sliced | ListSlot


# Single messages


@dataclass(frozen=True, slots=True)
class At:
    """`list.at(index)`, `list[0]`, `list[list.length - 1]`."""

    listing: Listing
    index: int

    @property
    def nodes(self) -> tuple[Node, ...]:
        return self.listing.nodes

    def pick(self, scene: Scene) -> Said | None:
        said = self.listing.said(scene)
        return said[self.index] if -len(said) <= self.index < len(said) else None


@dataclass(frozen=True, slots=True)
class Found:
    """`.find(m => …)`."""

    listing: Listing
    asked: Asked

    @property
    def nodes(self) -> tuple[Node, ...]:
        return (*self.listing.nodes, self.asked.node)

    def pick(self, scene: Scene) -> Said | None:
        said = self.listing.said(scene)
        index = first(said, self.asked, scene)
        return None if index is None else said[index]


@dataclass(frozen=True, slots=True)
class Bound:
    """The message of a callback, or one that a `const` names."""

    slot: int

    nodes: ClassVar[tuple[Node, ...]] = ()

    def pick(self, scene: Scene) -> Said | None:
        said: Said | None = scene.slots[self.slot]
        return said


Picking = At | Found | Bound


def first(said: Sequence[Said], asked: Asked, scene: Scene) -> int | None:
    """The index of the first message for which a condition is true; None if there is none."""
    return next((index for index, value in enumerate(asked.each(said, scene)) if truthy(value)), None)


# Values


class Field(StrEnum):
    CONTENT = "content"
    ROLE = "role"


@dataclass(frozen=True, slots=True)
class MessageText:
    """The content or role of a message."""

    field: Field
    message: Picking

    kinds: ClassVar[Kinds] = STRING

    @property
    def children(self) -> tuple[Node, ...]:
        return self.message.nodes

    def value(self, scene: Scene) -> str:
        said = self.message.pick(scene)
        if said is None:
            raise Undecided("there is no such message")
        text = said.text if self.field is Field.CONTENT else said.role
        scene.work(len(text))
        return text


@dataclass(frozen=True, slots=True)
class IsThere:
    """A message as a value: an object, or undefined."""

    message: Picking

    kinds: ClassVar[Kinds] = frozenset({Kind.OBJECT, Kind.UNDEFINED})

    @property
    def children(self) -> tuple[Node, ...]:
        return self.message.nodes

    def value(self, scene: Scene) -> JsValue:
        return Special.UNDEFINED if self.message.pick(scene) is None else Special.OBJECT


@dataclass(frozen=True, slots=True)
class MessageCount:
    """How many messages a list has."""

    listing: Listing = ALL

    kinds: ClassVar[Kinds] = NUMBER

    @property
    def children(self) -> tuple[Node, ...]:
        return self.listing.nodes

    def value(self, scene: Scene) -> float:
        return float(len(self.listing.said(scene)))


@dataclass(frozen=True, slots=True)
class Some:
    """Whether a condition is true for at least one message."""

    listing: Listing
    asked: Asked

    kinds: ClassVar[Kinds] = BOOLEAN

    @property
    def condition(self) -> Node:
        return self.asked.node

    @property
    def children(self) -> tuple[Node, ...]:
        return (*self.listing.nodes, self.asked.node)

    def value(self, scene: Scene) -> bool:
        return self.witness(scene) is not None

    def witness(self, scene: Scene) -> Said | None:
        """The first message for which the condition is true."""
        return Found(self.listing, self.asked).pick(scene)


@dataclass(frozen=True, slots=True)
class Every:
    """Whether a condition is true for each message."""

    listing: Listing
    asked: Asked

    kinds: ClassVar[Kinds] = BOOLEAN

    @property
    def children(self) -> tuple[Node, ...]:
        return (*self.listing.nodes, self.asked.node)

    def value(self, scene: Scene) -> bool:
        return all(map(truthy, self.asked.each(self.listing.said(scene), scene)))


@dataclass(frozen=True, slots=True)
class FindIndex:
    """`.findIndex(m => …)`."""

    listing: Listing
    asked: Asked

    kinds: ClassVar[Kinds] = NUMBER

    @property
    def children(self) -> tuple[Node, ...]:
        return (*self.listing.nodes, self.asked.node)

    def value(self, scene: Scene) -> float:
        index = first(self.listing.said(scene), self.asked, scene)
        return -1.0 if index is None else float(index)


@dataclass(frozen=True, slots=True)
class JoinedTexts:
    """`.map(m => text).join(separator)`."""

    listing: Listing
    asked: Asked
    separator: str

    kinds: ClassVar[Kinds] = STRING

    @property
    def children(self) -> tuple[Node, ...]:
        return (*self.listing.nodes, self.asked.node)

    def value(self, scene: Scene) -> str:
        texts: list[str] = []
        for text in self.asked.each(self.listing.said(scene), scene):
            if not isinstance(text, str):
                raise Undecided("a string is needed")
            texts.append(text)
        return self.separator.join(texts)


Item = str | float


@dataclass(frozen=True, slots=True)
class OneOf:
    """`[…].includes(value)`."""

    items: tuple[Item, ...]
    node: Node

    kinds: ClassVar[Kinds] = BOOLEAN

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.node,)

    def value(self, scene: Scene) -> bool:
        value = self.node.value(scene)
        if isinstance(value, bool) or not isinstance(value, str | float):
            return False
        if value != value:
            return any(item != item for item in self.items)
        return any(type(item) is type(value) and item == value for item in self.items)


@dataclass(frozen=True, slots=True)
class OfItems:
    """`[…].some(w => …)`, or `every`."""

    items: tuple[Item, ...]
    asked: Asked
    every: bool

    kinds: ClassVar[Kinds] = BOOLEAN

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.asked.node,)

    def value(self, scene: Scene) -> bool:
        return (self.witness(scene) is None) == self.every

    def witness(self, scene: Scene) -> Item | None:
        """The first item for which the condition is true; or, with `every`, not true."""
        step = STEP * self.asked.size
        for item in self.items:
            scene.slots[self.asked.slot] = item
            scene.work(step)
            if truthy(self.asked.node.value(scene)) != self.every:
                return item
        return None


# Names


@dataclass(frozen=True, slots=True)
class SlotValue(Leaf):
    """A value that a `const` or a callback names."""

    slot: int
    kinds: Kinds

    def value(self, scene: Scene) -> JsValue:
        value: JsValue = scene.slots[self.slot]
        if isinstance(value, str):
            scene.work(len(value))
        return value


Binding = tuple[int, "Node | Listing | Picking"]


@dataclass(frozen=True, slots=True)
class Let:
    """`const x = …;` before a condition. JavaScript evaluates all of them first, used or not."""

    bindings: tuple[Binding, ...]
    body: Node

    @property
    def kinds(self) -> Kinds:
        return self.body.kinds

    @property
    def children(self) -> tuple[Node, ...]:
        nodes: list[Node] = []
        for _, bound in self.bindings:
            nodes.extend(bound.nodes if isinstance(bound, Listing | Picking) else (bound,))
        return (*nodes, self.body)

    def value(self, scene: Scene) -> JsValue:
        self.bind(scene)
        return self.body.value(scene)

    def bind(self, scene: Scene) -> None:
        for slot, bound in self.bindings:
            match bound:
                case All() | Kept() | Sliced() | ListSlot():
                    scene.slots[slot] = bound.said(scene)
                case At() | Found() | Bound():
                    scene.slots[slot] = bound.pick(scene)
                case _:
                    scene.slots[slot] = bound.value(scene)


@dataclass(frozen=True, slots=True)
class Optional:
    """`subject?.rest`: undefined where the subject is undefined or null, else the rest, which contains the subject."""

    subject: Node
    rest: Node

    @property
    def kinds(self) -> Kinds:
        return self.rest.kinds | {Kind.UNDEFINED}

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.rest,)

    def value(self, scene: Scene) -> JsValue:
        if self.subject.value(scene) in (None, Special.UNDEFINED):
            return Special.UNDEFINED
        return self.rest.value(scene)
