"""What every node of a simple condition has: the kinds of value that it can have, and its value in a scene."""

from collections.abc import Iterator
from typing import ClassVar, Protocol

from memory_server.triggers.simple.scene import Scene
from memory_server.triggers.simple.values import JsValue, Kinds, Undecided


class Node(Protocol):
    """Its value is equal to the value in JavaScript. `children` are the nodes that are evaluated with it."""

    @property
    def kinds(self) -> Kinds: ...

    @property
    def children(self) -> "tuple[Node, ...]": ...

    def value(self, scene: Scene) -> JsValue: ...


class Leaf:
    """A node without children."""

    __slots__ = ()

    children: ClassVar[tuple[Node, ...]] = ()


def text_of(node: Node, scene: Scene, work: int = 1) -> str:
    """The value of a node that is a string; `work` units are counted for each of its characters.

    Raises:
        Undecided: it is none.
    """
    value = node.value(scene)
    if not isinstance(value, str):
        raise Undecided("a string is needed")
    scene.work(len(value) * work)
    return value


def depth(node: Node) -> int:
    """The depth of a tree, found without recursion: a long chain of sums may be deeper than Python's stack."""
    deepest, level = 0, [node]
    while level:
        deepest += 1
        level = [child for parent in level for child in parent.children]
    return deepest


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it."""
    yield node
    for child in node.children:
        yield from walk(child)
