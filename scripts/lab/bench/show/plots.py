"""The plots of one run, by the names of their files."""

from show import svg
from show.results import (
    BARE,
    COMMIT,
    CPU,
    CPU_P95,
    FLOOR,
    INSIDE,
    OURS,
    SEARCH,
    START,
    STORE,
    THEIR_SEARCH,
    THEIR_STORE,
    Results,
)  # fmt: skip
from show.svg import Bar, Line

FLAT = ("hook", "memory_get", "read_memory", "write_memory")
"""What does not look at many memories is told in the table alone."""


def plots(found: Results) -> dict[str, str]:
    """The text of each SVG."""
    made = {
        "calls.svg": svg.lines(
            "A call through the server: CPU, median, by memories in the file",
            found.sizes,
            _lines(found, OURS),
            "ms",
        ),
        "inside.svg": svg.lines(
            "Besides the embedding: CPU, median; dashed: floors",
            found.sizes,
            [*_lines(found, INSIDE), *_floors(found)],
            "ms",
        ),
        "start.svg": svg.bars("Start to tools/list: CPU, median", _starts(found)),
    }
    if found.others():
        made["others.svg"] = svg.bars("Store and search beside other servers: CPU, median", _others(found))
    return made


def _lines(found: Results, who: str) -> list[Line]:
    return [_line(found, who, what) for what in found.whats(who, CPU_P95) if not what.startswith(FLAT)]


def _floors(found: Results) -> list[Line]:
    once = [each for each in found.measured if each.what == COMMIT]
    return [
        *(Line(each.what, [each.values[CPU]] * len(found.sizes), is_floor=True) for each in once),
        *(_line(found, FLOOR, what, is_floor=True) for what in found.whats(FLOOR, CPU)),
    ]


def _line(found: Results, who: str, what: str, is_floor: bool = False) -> Line:
    values = [found.find(who, what, size) for size in found.sizes]
    return Line(what, [each[CPU] if each else None for each in values], is_floor)


def _starts(found: Results) -> list[Bar]:
    return [
        Bar(
            BARE if each.who == FLOOR else each.who,
            each.values[CPU],
            f"{each.values[CPU]:,.0f} ms",
            each.who == FLOOR,
        )
        for each in found.measured
        if each.what.startswith(START)
    ]


def _others(found: Results) -> list[Bar]:
    size = next(each.size for each in found.measured if each.who in found.others() and each.size)
    asked = [(OURS, STORE), (OURS, SEARCH)]
    asked += [(who, what) for who in found.others() for what in (THEIR_STORE, THEIR_SEARCH)]
    bars = []
    for who, what in asked:
        values = found.find(who, what, size)
        if values is not None:
            name = f"{who}: {what.removeprefix('memory_').partition(',')[0]}"
            bars.append(Bar(name, values[CPU], f"{values[CPU]:,.1f} ms"))
    return bars
