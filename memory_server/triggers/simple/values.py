"""The JavaScript values in simple conditions, and JavaScript's rules for comparing and calculating with them.

Only kinds of value with few rules are supported; if a value turns out to be of another kind, Undecided is raised.
"""

import math
from enum import Enum, StrEnum

from memory_server.language.keys import utf16


class Undecided(Exception):
    """The value can only be found by running JavaScript."""


class Special(Enum):
    """Values that Python does not have; all objects count as the same one."""

    UNDEFINED = "undefined"
    OBJECT = "object"


JsValue = bool | float | str | None | Special


class Kind(StrEnum):
    BOOLEAN = "boolean"
    NUMBER = "number"
    STRING = "string"
    NULL = "null"
    UNDEFINED = "undefined"
    OBJECT = "object"


Kinds = frozenset[Kind]

BOOLEAN = frozenset({Kind.BOOLEAN})
NUMBER = frozenset({Kind.NUMBER})
STRING = frozenset({Kind.STRING})
NUMERIC = frozenset({Kind.BOOLEAN, Kind.NUMBER, Kind.NULL, Kind.UNDEFINED})
"""Kinds that JavaScript converts to a number by simple rules."""

NOTHING = frozenset({Kind.NULL, Kind.UNDEFINED})
"""The two kinds that are equal to each other and to no other."""

ANY = frozenset(Kind)
"""All kinds: the value is known only when it is read."""


def truthy(value: JsValue) -> bool:
    return bool(value) and value == value and value is not Special.UNDEFINED


def kind_of(value: JsValue) -> Kind:
    match value:
        case bool():
            return Kind.BOOLEAN
        case float():
            return Kind.NUMBER
        case str():
            return Kind.STRING
        case None:
            return Kind.NULL
        case Special():
            return Kind(value.value)


def number_of(value: JsValue) -> float:
    """The number that JavaScript converts a value to, unless it is a string or an object."""
    match value:
        case bool() | float():
            return float(value)
        case None:
            return 0.0
        case Special.UNDEFINED:
            return math.nan
        case _:
            raise Undecided("a number is needed")


class Comparison(StrEnum):
    SAME = "==="
    OTHER = "!=="
    EQUAL = "=="
    UNEQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="


class Operator(StrEnum):
    PLUS = "+"
    MINUS = "-"
    TIMES = "*"
    DIVIDED = "/"
    REST = "%"


def comparable(operator: Comparison, left: Kinds, right: Kinds) -> bool:
    """Whether `compared` supports values of these kinds."""
    match operator:
        case Comparison.SAME | Comparison.OTHER:
            return Kind.OBJECT not in left or Kind.OBJECT not in right
        case Comparison.EQUAL | Comparison.UNEQUAL:
            return (
                left | right <= STRING
                or left | right <= frozenset({Kind.BOOLEAN, Kind.NUMBER})
                or left <= NOTHING
                or right <= NOTHING
                or (left == ANY and right <= STRING)
                or (left <= STRING and right == ANY)
            )
        case _:
            return left | right <= STRING or left | right <= NUMERIC


def compared(operator: Comparison, left: JsValue, right: JsValue) -> bool:
    match operator:
        case Comparison.SAME:
            return kind_of(left) == kind_of(right) and left == right
        case Comparison.OTHER:
            return not (kind_of(left) == kind_of(right) and left == right)
        case Comparison.EQUAL:
            return loosely_equal(left, right)
        case Comparison.UNEQUAL:
            return not loosely_equal(left, right)
    if isinstance(left, str) and isinstance(right, str):
        one, other = utf16(left), utf16(right)
        return ordered(operator, one < other, one == other, one > other)
    first, second = number_of(left), number_of(right)
    return ordered(operator, first < second, first == second, first > second)


def ordered(operator: Comparison, less: bool, equal: bool, more: bool) -> bool:
    """The value of `<`, `<=`, `>` or `>=` for two values; for NaN all three flags are false."""
    match operator:
        case Comparison.LESS:
            return less
        case Comparison.AT_MOST:
            return less or equal
        case Comparison.MORE:
            return more
        case _:
            return more or equal


def loosely_equal(left: JsValue, right: JsValue) -> bool:
    one, other = kind_of(left), kind_of(right)
    if one in NOTHING or other in NOTHING:
        return one in NOTHING and other in NOTHING
    if one == other != Kind.OBJECT:
        return left == right
    return number_of(left) == number_of(right)


def calculated(operator: Operator, left: float, right: float) -> float:
    """Both languages calculate with 64-bit floats, but Python raises where JavaScript returns NaN or an infinity."""
    match operator:
        case Operator.PLUS:
            return left + right
        case Operator.MINUS:
            return left - right
        case Operator.TIMES:
            return left * right
        case Operator.DIVIDED if right == 0:
            if left == 0 or left != left:
                return math.nan
            return math.copysign(math.inf, left) * math.copysign(1.0, right)
        case Operator.DIVIDED:
            return left / right
        case Operator.REST:
            return math.nan if right == 0 or math.isinf(left) else math.fmod(left, right)
