"""Joins parsed things by operators."""

from memory_server.triggers.simple import tree
from memory_server.triggers.simple.dates import Instant, Time
from memory_server.triggers.simple.node import Node
from memory_server.triggers.simple.pattern import NotSimple
from memory_server.triggers.simple.scope import Thing, valued
from memory_server.triggers.simple.values import NUMERIC, Comparison, Operator, comparable

_AS_NUMBERS = frozenset(["<", "<=", ">", ">=", "-", "*", "/", "%"])
"""Operators for which a date is its milliseconds."""


def signed(sign: str, thing: Thing) -> Node:
    """A sign before a number becomes a factor, which keeps -0 and 0 different, as JavaScript does."""
    factor = -1.0 if sign == "-" else 1.0
    node = _number(thing)
    if isinstance(node, tree.Literal) and isinstance(node.written, float):
        return tree.Literal(factor * node.written)
    if not node.kinds <= NUMERIC:
        raise NotSimple("a sign before no number")
    return tree.Arithmetic(Operator.TIMES, tree.Literal(factor), node)


def joined(sign: str, left: Thing, right: Thing) -> Node:
    """The node for two values with an operator between them."""
    if sign in _AS_NUMBERS:
        one, other = _number(left), _number(right)
    else:
        one, other = valued(left), valued(right)
    match sign:
        case "||":
            return tree.Or((*(one.operands if isinstance(one, tree.Or) else (one,)), other))
        case "&&":
            return tree.And((*(one.operands if isinstance(one, tree.And) else (one,)), other))
        case "??":
            return tree.Nullish(one, other)
        case _ if sign in set(Comparison):
            comparison = Comparison(sign)
            if not comparable(comparison, one.kinds, other.kinds):
                raise NotSimple("kinds that JavaScript converts")
            return tree.Compare(comparison, one, other)
    if not one.kinds | other.kinds <= NUMERIC:
        raise NotSimple("a sum of no numbers")
    return tree.Arithmetic(Operator(sign), one, other)


def _number(thing: Thing) -> Node:
    return Time(thing) if isinstance(thing, Instant) else valued(thing)
