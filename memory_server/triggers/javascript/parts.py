"""The parts of a JavaScript trigger between its outermost `&&` and `||`: their values say why it is true or false."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from memory_server.triggers.reading import SourceReading

MOST_PARTS = 6
"""Parts that are evaluated."""

MOST_CACHED = 256
"""Triggers whose parts are kept for the next search."""

_DECLARING = frozenset(
    ["const", "let", "var", "function", "class", "if", "for", "while", "do", "switch", "try"]
)
_BINDING_LESS = frozenset(["=>", "?", ",", "=", "??"])
"""Signs that bind their operands less strongly than `||`."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The statements before the last expression, and the parts of it; none where it has only one."""

    before: str
    sources: tuple[str, ...]

    def scripts(self) -> list[str]:
        """Return a trigger for each part that gives its value."""
        return [f"{self.before}\n({source})" for source in self.sources]


@lru_cache(maxsize=MOST_CACHED)
def parts_of(source: str) -> Parts:
    """Return the parts; one that is the whole source, where it is no expression or cannot be read."""
    reading = SourceReading.of(source)
    begin = _last_statement(reading)
    if begin is None:
        return Parts("", (source,))
    end = len(reading)
    while end > begin and reading.at(end - 1).text == ";":
        end -= 1
    cuts: list[int] = []
    for index in reading.outermost(begin, end):
        if reading.text(index) in _BINDING_LESS:
            cuts = []
            break
        if reading.text(index) in ("&&", "||"):
            cuts.append(index)
    bounds = [begin - 1, *cuts, end]
    sources = tuple(reading.cut(first + 1, last) for first, last in pairwise(bounds))
    return Parts(source[: reading.tokens[begin].at], sources[:MOST_PARTS])


def calls_of(source: str, name: str) -> list[str]:
    """Return the calls of a function in a source, as written."""
    reading = SourceReading.of(source)
    return [
        reading.cut(index, reading.closing(index + 1) + 1)
        for index in reading.named(name)
        if reading.text(index + 1) == "(" and reading.text(index - 1) not in (".", "?.", "function")
    ]


def _last_statement(reading: SourceReading) -> int | None:
    """Return the index of the first token of the last statement, if that is an expression."""
    ends = [index for index in reading.outermost(0, len(reading) - 1) if reading.text(index) == ";"]
    begin = ends[-1] + 1 if ends else 0
    return None if not reading.tokens or reading.text(begin) in (*_DECLARING, ";") else begin
