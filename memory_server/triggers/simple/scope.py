"""What the parser knows of names: those of the trigger itself, and which it may not choose."""

import math
import re
from dataclasses import dataclass

from memory_server.language.keys import RegexKey
from memory_server.triggers.simple import tree
from memory_server.triggers.simple.arguments import Written
from memory_server.triggers.simple.dates import Instant
from memory_server.triggers.simple.lists import (
    All,
    At,
    Binding,
    Bound,
    Found,
    IsThere,
    Kept,
    Listing,
    ListSlot,
    Picking,
    Sliced,
    SlotValue,
)
from memory_server.triggers.simple.node import Node
from memory_server.triggers.simple.pattern import NotSimple
from memory_server.triggers.simple.values import JsValue, Special


@dataclass(frozen=True, slots=True)
class Word:
    """A name that stands for an object: `context`, `participants`, `Math`, `Date`."""

    text: str


@dataclass(frozen=True, slots=True)
class Items:
    """A list of literals."""

    written: tuple[Written, ...]


Thing = Node | Listing | Picking | Instant | Items | Word | RegexKey
"""What an expression may be while it is parsed."""

Bindings = list[Binding]

CONSTANTS: dict[str, JsValue] = {
    "true": True,
    "false": False,
    "null": None,
    "undefined": Special.UNDEFINED,
    "NaN": math.nan,
    "Infinity": math.inf,
}
"""Names that JavaScript gives a constant value."""

_FORBIDDEN = frozenset(
    """arguments async await break case catch class const continue debugger default delete do else enum eval export
    extends finally for from function get if implements import in instanceof interface let new null of package private
    protected public return set static super switch this throw true false try typeof var void while with yield
    undefined NaN Infinity globalThis context messages participants conversation_id match_keys match_keys_all similar
    Date Math Boolean RegExp""".split()
)
"""Names that mean something already, or may."""

_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")


class Scope:
    """The names of a function, and around them those of the function that it stands in."""

    def __init__(self, outer: "Scope | None" = None) -> None:
        self._outer = outer
        self._known: dict[str, Thing] = {}

    def declare(self, name: str, thing: Thing) -> None:
        if name in _FORBIDDEN or name in self._known or not _NAME.fullmatch(name):
            raise NotSimple("a name that means something else")
        self._known[name] = thing

    def find(self, name: str) -> Thing | None:
        found = self._known.get(name)
        return self._outer.find(name) if found is None and self._outer is not None else found


def bound(thing: Thing, slot: int, bindings: Bindings) -> Thing:
    """What a `const` stands for: a slot, whose value is added to the bindings; or the thing, if it is constant."""
    match thing:
        case Word():
            raise NotSimple("a name for an object")
        case RegexKey():
            if set(thing.flags) & set("gy"):
                raise NotSimple("an expression that remembers where it was")
            return thing
        case Items() | All() | tree.Literal():
            return thing
        case Kept() | Sliced() | ListSlot():
            bindings.append((slot, thing))
            return ListSlot(slot)
        case At() | Found() | Bound():
            bindings.append((slot, thing))
            return Bound(slot)
        case _ if isinstance(thing, Instant):
            return thing
        case _:
            bindings.append((slot, thing))
            return SlotValue(slot, thing.kinds)


def valued(thing: Thing) -> Node:
    """The thing as a value.

    Raises:
        NotSimple: it is an object that is compared or shown otherwise than by whether it is there.
    """
    match thing:
        case At() | Found() | Bound():
            return IsThere(thing)
        case All() | Word(text="participants"):
            return tree.Literal(Special.OBJECT)
        case Kept() | Sliced() | ListSlot() | Items() | Word() | RegexKey():
            raise NotSimple("an object")
        case _ if isinstance(thing, Instant):
            raise NotSimple("a date")
        case _:
            return thing
