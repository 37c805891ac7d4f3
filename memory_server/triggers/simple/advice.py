"""Warnings for the author of a simple condition: parts of it that are always or never true."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from memory_server.language.keys import WordsKey
from memory_server.triggers import odd_keys
from memory_server.triggers.simple import tree
from memory_server.triggers.simple.dates import DatePart, Part
from memory_server.triggers.simple.lists import MessageCount, Some
from memory_server.triggers.simple.node import Node, walk
from memory_server.triggers.simple.texts import Contains, Lower, TextLength
from memory_server.triggers.simple.values import Comparison, Operator, calculated, compared, truthy


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from low to high, ends included."""

    low: float
    high: float


_PARTS = {
    Part.MONTH: Range(0, 11),
    Part.DAY: Range(1, 31),
    Part.WEEKDAY: Range(0, 6),
    Part.HOUR: Range(0, 23),
    Part.MINUTE: Range(0, 59),
    Part.SECOND: Range(0, 59),
    Part.YEAR: Range(1, 9999),
}
"""The values that each part of a date can have."""

_NOTES = {
    Part.MONTH: "getMonth() counts from 0 (January) to 11 (December)",
    Part.DAY: "getDate() counts from 1 to 31",
    Part.WEEKDAY: "getDay() counts from 0 (Sunday) to 6 (Saturday)",
    Part.HOUR: "getHours() counts from 0 to 23",
    Part.MINUTE: "getMinutes() counts from 0 to 59",
    Part.SECOND: "getSeconds() counts from 0 to 59",
}
"""What a warning about a part of a date adds."""

_MIRRORED = {
    Comparison.LESS: Comparison.MORE,
    Comparison.AT_MOST: Comparison.AT_LEAST,
    Comparison.MORE: Comparison.LESS,
    Comparison.AT_LEAST: Comparison.AT_MOST,
}
"""The comparison after its two sides are exchanged."""


def warnings(node: Node) -> tuple[str, ...]:
    """Sentences for the author, first about the whole condition."""
    found: list[str] = []
    always = verdict(node)
    if always is not None:
        found.append("It is always true." if always else "It is never true, whatever the messages say.")
    found.extend(_parts(node))
    return tuple(dict.fromkeys(found))


def verdict(node: Node) -> bool | None:
    """Whether it is always true (True) or never (False); None if that is not evident."""
    match node:
        case tree.Literal(written=written):
            return truthy(written)
        case tree.Not(operand=operand):
            inner = verdict(operand)
            return None if inner is None else not inner
        case tree.And(operands=operands):
            verdicts = [verdict(operand) for operand in operands]
            if False in verdicts or _contradict(operands):
                return False
            return None if None in verdicts else True
        case tree.Or(operands=operands):
            verdicts = [verdict(operand) for operand in operands]
            return True if True in verdicts else None if None in verdicts else False
        case tree.Compare():
            return _compared(node)
        case tree.MatchAll(keys=keys):
            return None if keys and all(_can_be_found(key) for key in keys) else False
        case tree.Similar(threshold=threshold):
            return False if threshold > 1 else None
        case Some(condition=condition):
            return False if verdict(condition) is False else None
        case Contains(text=Lower(), part=tree.Literal(written=str(part))) if part != part.lower():
            return False
        case _:
            numbers = _range(node)
            return None if numbers is None else _truth(numbers)


def _truth(numbers: Range) -> bool | None:
    if numbers == Range(0, 0):
        return False
    return True if numbers.low > 0 or numbers.high < 0 else None


def _range(node: Node) -> Range | None:
    """Between which numbers the value lies; None if it may be no number or the bounds are not evident."""
    match node:
        case tree.Literal(written=float(number)) if number == number:
            return Range(number, number)
        case tree.MatchKeys(keys=keys, depth=depth):
            usable = sum(map(_can_be_found, keys))
            return Range(0, math.inf if depth is None and usable else usable * (depth or 0))
        case DatePart(part=part):
            return _PARTS[part]
        case MessageCount() | TextLength():
            return Range(0, math.inf)
        case tree.Arithmetic(
            operator=Operator.PLUS | Operator.MINUS as operator, left=left, right=tree.Literal()
        ):
            numbers, shift = _range(left), _range(node.right)
            if numbers is None or shift is None or not _is_whole(shift.low):
                return None
            return Range(
                calculated(operator, numbers.low, shift.low), calculated(operator, numbers.high, shift.low)
            )
        case tree.Arithmetic(operator=operator, left=left, right=right):
            first, second = _range(left), _range(right)
            if first is None or second is None or first.low != first.high or second.low != second.high:
                return None
            number = calculated(operator, first.low, second.low)
            return Range(number, number) if number == number else None
        case _:
            return None


def _text(key: object) -> str:
    return key.text.strip() if isinstance(key, WordsKey) else ""


def _can_be_found(key: object) -> bool:
    return not isinstance(key, WordsKey) or key.needle != ""


def _compared(node: tree.Compare) -> bool | None:
    if isinstance(node.left, tree.Literal) and isinstance(node.right, tree.Literal):
        return compared(node.operator, node.left.written, node.right.written)
    if node.operator in (Comparison.SAME, Comparison.OTHER) and node.left.kinds.isdisjoint(node.right.kinds):
        return node.operator is Comparison.OTHER
    left, right = _range(node.left), _range(node.right)
    if left is None or right is None:
        return None
    match node.operator:
        case Comparison.LESS:
            return _less(left, right)
        case Comparison.AT_LEAST:
            return _opposite(_less(left, right))
        case Comparison.MORE:
            return _less(right, left)
        case Comparison.AT_MOST:
            return _opposite(_less(right, left))
        case Comparison.SAME | Comparison.EQUAL:
            return _equal(left, right)
        case Comparison.OTHER | Comparison.UNEQUAL:
            return _opposite(_equal(left, right))


def _less(left: Range, right: Range) -> bool | None:
    if left.high < right.low:
        return True
    return False if left.low >= right.high else None


def _equal(left: Range, right: Range) -> bool | None:
    if left.high < right.low or right.high < left.low:
        return False
    if left.low != left.high and right.low == right.high and not _is_whole(right.low):
        return False  # every value with a range here is a whole number
    return True if left.low == left.high == right.low == right.high else None


def _opposite(verdict: bool | None) -> bool | None:
    return None if verdict is None else not verdict


def _contradict(operands: tuple[Node, ...]) -> bool:
    """Whether two operands cannot be true together: `getDate() === 3 && getDate() === 5`."""
    wanted: dict[Node, Range] = {}
    texts: dict[Node, str] = {}
    for operand in operands:
        if not isinstance(operand, tree.Compare):
            continue
        operator, left, right = operand.operator, operand.left, operand.right
        if isinstance(left, tree.Literal):
            operator, left, right = _MIRRORED.get(operator, operator), right, left
        if not isinstance(right, tree.Literal) or isinstance(left, tree.Literal):
            continue
        if isinstance(right.written, str) and operator in (Comparison.SAME, Comparison.EQUAL):
            if texts.setdefault(left, right.written) != right.written:
                return True
        elif isinstance(right.written, float) and _counts(left):
            limits, before = _limits(operator, right.written), wanted.get(left, Range(-math.inf, math.inf))
            wanted[left] = Range(max(before.low, limits.low), min(before.high, limits.high))
            if wanted[left].low > wanted[left].high:
                return True
    return False


def _is_whole(number: float) -> bool:
    return math.isfinite(number) and number == math.floor(number)


def _counts(node: Node) -> bool:
    """Whether its value is a whole number."""
    numbers = _range(node)
    return numbers is not None and _is_whole(numbers.low)


def _limits(operator: Comparison, number: float) -> Range:
    """The whole numbers for which a comparison with a number is true, if they form one range."""
    if math.isfinite(number):
        match operator:
            case Comparison.LESS:
                return Range(-math.inf, math.ceil(number) - 1)
            case Comparison.AT_MOST:
                return Range(-math.inf, math.floor(number))
            case Comparison.MORE:
                return Range(math.floor(number) + 1, math.inf)
            case Comparison.AT_LEAST:
                return Range(math.ceil(number), math.inf)
            case Comparison.SAME | Comparison.EQUAL:
                return Range(number, number)
    return Range(-math.inf, math.inf)


def _parts(node: Node) -> Iterator[str]:
    """Warnings about the parts of a condition, in order."""
    match node:
        case tree.MatchKeys(keys=keys) | tree.MatchAll(keys=keys):
            name = "match_keys" if isinstance(node, tree.MatchKeys) else "match_keys_all"
            if not keys:
                yield f"{name} has no keys, so it finds nothing."
            elif not all(_can_be_found(key) for key in keys):
                yield f"{name} has an empty key, which is never found."
            yield from odd_keys.warnings(key.text for key in keys if isinstance(key, WordsKey))
            if isinstance(node, tree.MatchAll) and len(keys) == 1 and " " in _text(keys[0]):
                phrase = _text(keys[0])
                yield f"match_keys_all has one key, the phrase '{phrase}'. To look for each word, write several keys."
        case tree.Compare() if _compared(node) is not None:
            yield _of_comparison(node, "always" if _compared(node) else "never")
        case Contains(text=Lower(), part=tree.Literal(written=str(part))) if part != part.lower():
            yield f"A string in lower case never contains {part!r}."
        case tree.And(operands=operands) if _contradict(operands):
            yield (
                "Two parts joined by && are never true together. A range over midnight or a choice needs ||: "
                "hours > 22 || hours < 6."
            )
        case tree.Similar(threshold=threshold) if threshold > 1:
            yield f"similar never reaches {threshold:g}: its maximum is 1."
    for child in node.children:
        yield from _parts(child)


def _of_comparison(node: tree.Compare, when: str) -> str:
    """A warning that a comparison is always or never true, with the reason if it is known."""
    parts = [part for part in walk(node) if isinstance(part, DatePart | tree.MatchKeys | MessageCount)]
    if not parts:
        return f"A comparison ({node.operator}) is {when} true, whatever the messages say."
    limit = node.right if isinstance(node.right, tree.Literal) else node.left
    written = (
        f" {node.operator} {_shown(limit.written)}"
        if isinstance(limit, tree.Literal) and limit is node.right
        else ""
    )
    match parts[0]:
        case DatePart(part=part):
            note = f": {_NOTES[part]}" if part in _NOTES else ""
            return f"{part}(){written} is {when} true{note}."
        case tree.MatchKeys(keys=keys, depth=depth):
            most = _range(parts[0])
            count = (
                f": it returns 0 to {most.high:g} ({len(keys)} keys, depth {depth})"
                if most and when == "never"
                else ""
            )
            return f"match_keys(...){written} is {when} true{count}."
        case _:
            return f"messages.length{written} is {when} true."


def _shown(written: object) -> str:
    return f"{written:g}" if isinstance(written, float) else str(written)
