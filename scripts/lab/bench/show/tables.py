"""The tables of one run."""

from collections.abc import Iterator

from show import markdown
from show.results import (
    BARE,
    CPU,
    CPU_P95,
    FLOOR,
    IN_USE,
    INSIDE,
    OURS,
    SEARCH,
    START,
    STORE,
    THEIR_SEARCH,
    THEIR_STORE,
    WALL,
    WALL_P95,
    Results,
)  # fmt: skip

Values = dict[str, float] | None
NONE = "–"


def text(found: Results) -> str:
    """The command and the machine, and all tables."""
    busy = f" (busy, load {found.load:.1f})" if found.busy else ""
    return f"`{found.command}` on {found.machine}{busy}:\n\n" + "\n\n".join(_tables(found)) + "\n"


def _tables(found: Results) -> Iterator[str]:
    yield f"Median / 95th percentile, here and below.\n\n{_starts(found)}"
    yield f"Calls through the server: CPU of its process.\n\n{_calls(found, OURS, CPU, CPU_P95)}"
    yield f"The same as the client waits for them.\n\n{_calls(found, OURS, WALL, WALL_P95)}"
    yield f"In one process, besides the embedding of the text or question.\n\n{_calls(found, INSIDE, CPU, CPU_P95)}"
    yield f"Floors: the least that such a call must do.\n\n{_floors(found)}"
    yield _space(found)
    yield _rates(found)
    if found.others():
        yield _peers(found)


def _starts(found: Results) -> str:
    """Starts of all servers, and how many times the CPU of the first."""
    rows = [each for each in found.measured if each.what.startswith(START)]
    floor = next(each.values[CPU] for each in rows if each.who == FLOOR)
    shown = [
        (
            BARE if each.who == FLOOR else each.who,
            f"{each.values[CPU]:,.0f} / {each.values[CPU_P95]:,.0f} ms",
            f"{each.values[WALL]:,.0f} / {each.values[WALL_P95]:,.0f} ms",
            f"{each.values[CPU] / floor:.2f}",
        )
        for each in rows
    ]
    return markdown.table((START, "CPU", "wall", "CPU, times the first"), shown)


def _calls(found: Results, who: str, middle: str, high: str) -> str:
    """A row for each kind of call, a column for each size, and the growth from the first to each other."""
    rows = []
    for what in found.whats(who, high):
        values = [found.find(who, what, size) for size in found.sizes]
        rows.append((what, *(_pair(each, middle, high) for each in values), *_growth(values, middle)))
    return markdown.table((middle, *_sizes(found), *_growths(found)), rows)


def _floors(found: Results) -> str:
    rows = []
    for each in found.measured:
        if each.who == FLOOR and not each.size and not each.what.startswith(START):
            rows.append(
                (each.what, *[_pair(each.values, CPU, CPU_P95)] * len(found.sizes), *[""] * _others(found))
            )
    for what in found.whats(FLOOR, CPU):
        values = [found.find(FLOOR, what, size) for size in found.sizes]
        rows.append((what, *(_pair(each, CPU, CPU_P95) for each in values), *_growth(values, CPU)))
    return markdown.table((CPU, *_sizes(found), *_growths(found)), rows)


def _space(found: Results) -> str:
    rows = []
    for name, unit in (("MB", "MB"), ("bytes a memory", "bytes a memory")):
        for what in found.whats(OURS, name):
            values = [found.find(OURS, what, size) for size in found.sizes]
            shown = [f"{each[name]:,.0f} {unit}" if each else NONE for each in values]
            rows.append((what, *shown, *_growth(values, name)))
    for what in found.whats(OURS, CPU):
        values = [found.find(OURS, what, size) for size in found.sizes]
        if values[0] is not None and CPU_P95 not in values[0]:
            shown = [f"{each[CPU]:,.0f} ms CPU, {each[WALL]:,.0f} ms" if each else NONE for each in values]
            rows.append((what, *shown, *_growth(values, CPU)))
    return markdown.table(("start, memory, file", *_sizes(found), *_growths(found)), rows)


def _rates(found: Results) -> str:
    rows = [
        (each.what, f"{each.size:,}", *(f"{value:,.0f} {name}" for name, value in each.values.items()))
        for each in found.measured
        if each.who == INSIDE and CPU not in each.values
    ]
    return markdown.table(("rate", "memories", "wall", "CPU"), rows)


def _peers(found: Results) -> str:
    """Calls of all servers beside as many memories, of ours the hybrid search."""
    size = next(each.size for each in found.measured if each.who in found.others() and each.size)
    ours, theirs = (STORE, SEARCH, IN_USE), (THEIR_STORE, THEIR_SEARCH, IN_USE)
    rows = []
    for who in (OURS, *found.others()):
        store, search, memory = (found.find(who, what, size) for what in (ours if who == OURS else theirs))
        megabytes = f"{memory['MB']:,.0f} MB" if memory else NONE
        rows.append((who, _pair(store, CPU, CPU_P95), _pair(search, CPU, CPU_P95), megabytes))
    return markdown.table((f"at {size:,} memories, CPU ms", "store", "search", "resident memory"), rows)


def _sizes(found: Results) -> list[str]:
    return [f"{size:,}" for size in found.sizes]


def _others(found: Results) -> int:
    return len(found.sizes) - 1


def _growths(found: Results) -> list[str]:
    """The titles of the columns of growth."""
    return [f"{size:,} : {found.sizes[0]:,}" for size in found.sizes[1:]]


def _growth(values: list[Values], name: str) -> list[str]:
    first, *others = values
    if first is None or not first[name]:
        return [NONE] * len(others)
    return [f"{each[name] / first[name]:.2f}" if each else NONE for each in others]


def _pair(values: Values, middle: str, high: str) -> str:
    return NONE if values is None else f"{_short(values[middle])} / {_short(values[high])}"


def _short(value: float) -> str:
    """Two digits that matter, or more."""
    return f"{value:.2f}" if value < 1 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"
