"""Mistakes about dates: compared with texts or with one another, and getters that give numbers."""

import re
from collections.abc import Iterator

from memory_server.triggers.reading import COMPARISONS, EQUALITIES, Mistake, Refused, SourceReading, Warned

NUMBERS = {
    "getMonth": "0 (January) to 11 (December)",
    "getDay": "0 (Sunday) to 6 (Saturday)",
    "getDate": "1 to 31",
    "getHours": "0 to 23",
    "getMinutes": "0 to 59",
    "getSeconds": "0 to 59",
    "getFullYear": "such as 2026",
}
"""The numbers that each part of a date gives."""

_MONTHS = {
    name: number for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split())
}
_DAYS = {name: number for number, name in enumerate("sun mon tue wed thu fri sat".split())}

_ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"), ".slice(0, 10) for the date alone, in UTC"
_FORMS = {
    "toISOString": _ISO,
    "toJSON": _ISO,
    "toDateString": (
        re.compile(r"(?:Sun|Mon|Tue|Wed|Thu|Fri|Sat) [A-Z][a-z]{2} \d\d \d{4}"),
        "a text such as 'Fri Jul 17 2026'",
    ),
}
"""The form of the text that a method gives, and what to write."""

_OF_DATES = re.compile(r"(?:get|set|to)[A-Z]\w*|valueOf|constructor")

COMPARE = (
    "For a day write getMonth() === 6 && getDate() === 17; for a range new Date() >= new Date('2026-07-01')"
)


def mistakes(reading: SourceReading) -> Iterator[Mistake]:
    for index in reading.named("Date"):
        yield from _of_date(reading, index)
    for index in reading.named(*NUMBERS):
        yield from _of_getter(reading, index)
    for index in reading.named(*_FORMS):
        yield from _of_text(reading, index)
    for index in reading.named("getTime", "now"):
        end = reading.chain_end(index + 1)
        if (
            reading.is_property(index)
            and reading.text(end) in COMPARISONS
            and reading.at(end + 1).kind == "text"
        ):
            yield Refused(
                f"{reading.text(index)}() is a number, which is never {reading.text(end)} a text. {COMPARE}."
            )
    if any(reading.named("getYear")):
        yield Warned("getYear() counts from 1900. Write getFullYear().")


def _of_date(reading: SourceReading, index: int) -> Iterator[Mistake]:
    if reading.is_property(index):
        return
    if reading.text(index - 1) != "new":
        name = reading.text(index + 2)
        if reading.text(index + 1) == "." and name in NUMBERS:
            yield Refused(f"Date has no {name}(). Write new Date().{name}().")
        elif reading.follows(index + 1, "(", ")", "."):
            yield Refused("Date() is a text. Write new Date(), with `new`.")
        return
    if reading.text(index + 1) == "." and reading.text(index + 2) in NUMBERS:
        yield Refused(f"Write new Date().{reading.text(index + 2)}(), with brackets after Date.")
        return
    begin, end = index - 1, reading.pairs.get(index + 1, index) + 1
    while reading.text(begin - 1) == "(" and reading.text(end) == ")" and reading.pairs.get(end) == begin - 1:
        if reading.at(begin - 2).kind == "name":
            return  # the brackets of a call
        begin, end = begin - 1, end + 1
    sign, before = reading.text(end), reading.text(begin - 1)
    compared = reading.at(end + 1) if sign in COMPARISONS else reading.at(begin - 2)
    if sign in (".", "?."):
        if not _OF_DATES.fullmatch(reading.text(end + 1)):
            has = ", ".join(f"{name}()" for name in NUMBERS)
            yield Refused(f"A date has no `{reading.text(end + 1)}`. It has {has}.")
    elif sign in EQUALITIES or before in EQUALITIES:
        yield Refused(f"`new Date()` is an object, which equals no text and no other date. {COMPARE}.")
    elif (sign in COMPARISONS or before in COMPARISONS) and compared.kind == "text":
        yield Refused(f"A date compared with a text is never true. {COMPARE}.")


def _of_getter(reading: SourceReading, index: int) -> Iterator[Mistake]:
    name = reading.text(index)
    if not reading.is_property(index):
        return
    if reading.text(index + 1) != "(":
        if reading.text(index + 1) in COMPARISONS:
            yield Refused(f"{name} is a function. Write {name}(), with brackets.")
        return
    end = index + 3
    begin = reading.chain_begin(index)
    if reading.text(end) in COMPARISONS:
        sign, operand = reading.text(end), end + 1
    elif reading.text(begin - 1) in COMPARISONS:
        sign, operand = reading.text(begin - 1), begin - 2
    else:
        return
    written = reading.literal(operand)
    if written is not None and not (sign in ("==", "!=", "<", ">", "<=", ">=") and written.strip().isdigit()):
        yield Warned(f"{name}() is a number, {NUMBERS[name]}, and never '{written}'.{_number(name, written)}")


def _number(name: str, written: str) -> str:
    """The number of a month or of a day of the week that is written as a word."""
    numbers = {"getMonth": _MONTHS, "getDay": _DAYS}.get(name, {})
    number = numbers.get(written.lower()[:3])
    return "" if number is None else f" Write {name}() === {number}."


def _of_text(reading: SourceReading, index: int) -> Iterator[Mistake]:
    form, mend = _FORMS[reading.text(index)]
    if not reading.is_property(index) or not reading.follows(index + 1, "(", ")"):
        return
    written = reading.literal(index + 4) if reading.text(index + 3) in EQUALITIES else None
    if written is not None and not form.fullmatch(written):
        yield Refused(f"{reading.text(index)}() is never '{written}'. Write {mend}.")
    begins_now = reading.follows(index - 5, "new", "Date", "(", ")", ".", "toISOString", "(", ")", ".")
    if begins_now and reading.text(index + 4) in ("slice", "split", "startsWith", "includes", "substring"):
        yield Warned(
            "toISOString() is the date in UTC, which near midnight is another day. Write getMonth() === 6 && "
            "getDate() === 17, which are in your time zone."
        )
