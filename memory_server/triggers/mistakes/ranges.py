"""Comparisons that are never true, alone or together: `getHours() >= 24`, `hours > 22 && hours < 6`."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from memory_server.triggers.mistakes.dates import NUMBERS
from memory_server.triggers.reading import COMPARISONS, Mistake, SourceReading, Warned

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_ENDS = frozenset(["||", "??", ",", ";", "?", ":", "=>", "=", "return", "(", "[", "{", ")", "]", "}"])
"""What ends a row of operands that `&&` joins."""

_PARTS = {
    "getMonth": (0, 11),
    "getDay": (0, 6),
    "getDate": (1, 31),
    "getHours": (0, 23),
    "getMinutes": (0, 59),
    "getSeconds": (0, 59),
}
"""The least and the most of each part of a date."""

APART = (
    "Two parts joined by && are never true together. A range over midnight or a choice needs ||: "
    "hours > 22 || hours < 6."
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A value, as written without its spaces, compared with a literal; `method` is the last name in it."""

    value: str
    method: str
    sign: str
    literal: str
    is_number: bool

    @property
    def limits(self) -> tuple[float, float]:
        """The whole numbers for which it is true, if they form one range."""
        number = float(self.literal)
        return {
            "<": (-math.inf, math.ceil(number) - 1),
            "<=": (-math.inf, math.floor(number)),
            ">": (math.floor(number) + 1, math.inf),
            ">=": (math.ceil(number), math.inf),
            "==": (number, number),
            "===": (number, number),
        }.get(self.sign, (-math.inf, math.inf))


def mistakes(reading: SourceReading) -> Iterator[Mistake]:
    for row in _rows(reading):
        comparisons = list(filter(None, (_comparison(reading, *operand) for operand in row)))
        for comparison in comparisons:
            yield from _of_date(comparison)
            if comparison.value.endswith("conversation_id") and comparison.is_number:
                yield Warned(
                    f"`conversation_id` is a text, never a number. Write '{comparison.literal}' in quotation marks."
                )
        if _contradict(comparisons):
            yield Warned(APART)


def _of_date(comparison: Comparison) -> Iterator[Mistake]:
    """A part of a date compared with a number that it never has, or that it always has."""
    if comparison.method not in _PARTS or not comparison.is_number or comparison.sign in ("!=", "!=="):
        return
    low, high = _PARTS[comparison.method]
    least, most = comparison.limits
    if most < low or least > high:
        when = "never"
    elif least <= low and most >= high:
        when = "always"
    else:
        return
    name, counts = f"{comparison.method}()", NUMBERS[comparison.method]
    yield Warned(
        f"{name} {comparison.sign} {comparison.literal} is {when} true: {name} counts from {counts}."
    )


def _contradict(comparisons: list[Comparison]) -> bool:
    texts: dict[str, str] = {}
    ranges: dict[str, tuple[float, float]] = {}
    for comparison in comparisons:
        if not comparison.is_number:
            if (
                comparison.sign in ("==", "===")
                and texts.setdefault(comparison.value, comparison.literal) != comparison.literal
            ):
                return True
        elif comparison.method in _PARTS or comparison.method in ("length", "match_keys"):
            low, high = ranges.get(comparison.value, (-math.inf, math.inf))
            least, most = comparison.limits
            low, high = ranges[comparison.value] = max(low, least), min(high, most)
            if low > high:
                return True
    return False


def _rows(reading: SourceReading) -> Iterator[list[tuple[int, int]]]:
    """The rows of operands that `&&` joins, each as the indexes of its tokens; one operand is a row too."""
    for index in range(-1, len(reading)):
        if index >= 0 and reading.text(index) not in _ENDS:
            continue
        row: list[tuple[int, int]] = []
        begin = at = index + 1
        while at < len(reading) and (reading.text(at) not in _ENDS or reading.text(at) in ("(", "[", "{")):
            if reading.text(at) == "&&":
                row.append((begin, at))
                begin = at + 1
            at = reading.pairs.get(at, at) + 1 if reading.text(at) in ("(", "[", "{") else at + 1
        row.append((begin, at))
        yield row


def _comparison(reading: SourceReading, begin: int, end: int) -> Comparison | None:
    signs = [at for at in reading.outermost(begin, end) if reading.text(at) in COMPARISONS]
    if len(signs) != 1 or not begin < signs[0] < end - 1:
        return None
    sign, left, right = reading.text(signs[0]), (begin, signs[0]), (signs[0] + 1, end)
    if left[1] - left[0] == 1 and reading.at(left[0]).kind in ("number", "text"):
        sign, left, right = _MIRRORED.get(sign, sign), right, left
    literal = reading.at(right[0])
    if right[1] - right[0] != 1 or literal.kind not in ("number", "text"):
        return None
    is_number = literal.kind == "number" and literal.text.replace(".", "", 1).isdigit()
    if literal.kind == "number" and not is_number:
        return None
    return Comparison(_value(reading, *left), _method(reading, *left), sign, literal.text, is_number)


def _value(reading: SourceReading, begin: int, end: int) -> str:
    return "".join(reading.at(at).text for at in range(begin, end))


def _method(reading: SourceReading, begin: int, end: int) -> str:
    """The name that the value ends with: `getMonth` of `new Date().getMonth()`, '' of a calculation."""
    if reading.chain_begin(end - 1) != begin:
        return ""
    closing = reading.text(end - 1) == ")"
    return reading.text(reading.pairs.get(end - 1, 0) - 1 if closing else end - 1)
