"""Comparisons of a date in words with a text that it never is, such as a month in another language.

Which text a date has is known only when it runs: the comparison is tried on each day of a year.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory_server.triggers.reading import EQUALITIES, SourceReading

_TEXTS = frozenset(
    "toLocaleDateString toLocaleTimeString toLocaleString toISOString toDateString toString toJSON format".split()
)
_ASKING = frozenset(["includes", "startsWith", "endsWith"])
_YEAR = re.compile(r"\b(20\d\d)\b")
_FOUND = "it throws on no day, but such as "

MOST = 5
"""Comparisons of a trigger that are tried."""


@dataclass(frozen=True, slots=True)
class DateComparison:
    """The source of a comparison, that of the date's text in it, and the text that it is compared with."""

    source: str
    date: str
    text: str

    def script(self, constants: str) -> str:
        """Throws if the comparison is true at no moment of those that are tried: on each day, at some time."""
        year = _YEAR.search(self.text)
        return f"""
            const RealDate = Date;
            let last = '', met = false;
            for (let i = 0; i < 732 && !met; i++) {{
              const Date = function (...given) {{
                if (given.length) return new RealDate(...given);
                return new RealDate({year[1] if year else 2026}, 0, 1 + i / 2, 7 * i % 24);
              }};
              Date.now = () => new Date().getTime();
              {constants}
              met = {self.source} ? true : false;
              if (i === 300) last = '' + {self.date};
            }}
            if (!met) throw {json.dumps(_FOUND.removeprefix("it throws "))} + last;
            true"""

    def warning(self, message: str) -> str | None:
        """Return what to say of an error of the script."""
        if not message.startswith(_FOUND):
            return None
        return f"`{self.source}` is true on no day: {self.date} is such as '{message.removeprefix(_FOUND)}'."


def comparisons(source: str) -> tuple[list[DateComparison], str]:
    """The comparisons to try, and the declarations of dates that they may need.

    A time of day is not tried: that would take each minute.
    """
    reading = SourceReading.of(source)
    compared = [
        comparison for comparison in dict.fromkeys(_comparisons(reading)) if ":" not in comparison.text
    ]
    declared = [
        reading.text(index - 3)
        for index in reading.named("Date")
        if reading.text(index - 1) == "new"
        and reading.text(index - 2) == "="
        and reading.follows(index + 1, "(", ")")
    ]
    return compared[:MOST], " ".join(f"const {name} = new Date();" for name in dict.fromkeys(declared))


def _comparisons(reading: SourceReading) -> Iterator[DateComparison]:
    for index in reading.named(*_TEXTS):
        if not reading.is_property(index):
            continue
        begin, end = reading.chain_begin(index), reading.chain_end(index + 1)
        if reading.text(begin) == "new" and reading.text(begin + 1) not in ("Date", "Intl"):
            continue
        if reading.text(end) in ("===", "==") and reading.at(end + 1).kind == "text":
            yield _comparison(reading, begin, end + 2, end, end + 1)
        elif reading.text(begin - 1) in EQUALITIES and reading.at(begin - 2).kind == "text":
            if reading.text(begin - 1) in ("===", "=="):
                yield _comparison(reading, begin - 2, end, end, begin - 2, begin)
        elif (
            reading.text(end - 4) in _ASKING
            and reading.at(end - 2).kind == "text"
            and reading.is_property(end - 4)
        ):
            yield _comparison(reading, begin, end, end - 5, end - 2)


def _comparison(
    reading: SourceReading, begin: int, end: int, date_end: int, text: int, date: int | None = None
) -> DateComparison:
    return DateComparison(
        reading.cut(begin, end),
        reading.cut(begin if date is None else date, date_end),
        reading.literal(text) or "",
    )
