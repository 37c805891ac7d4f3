"""Two kinds of plots as SVG: lines over sizes on logarithmic axes, and bars.

Our own hundred lines instead of matplotlib: it brings ten packages, draws letters as paths unless told otherwise, and
has no way to follow a reader's dark theme. Equal values give equal bytes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

WIDTH, HEIGHT = 790, 420
LEFT, RIGHT, TOP, BOTTOM = 80, 260, 48, 44
BAR, BAR_LEFT = 26, 270
LABEL = 16
"""Pixels from one label to the next."""

_COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#b58900",
    "#56b4e9",
    "#8a63d2",
    "#7a7a7a",
    "#c0392b",
    "#5d8a3a",
)
"""Each can be told from white and from black: most are those of Okabe and Ito."""

_STYLE = f"""
text {{ font-family: system-ui, 'DejaVu Sans', sans-serif; font-size: 12px; fill: #1f2328 }}
.title {{ font-size: 14px; font-weight: 600 }}
.page {{ fill: #ffffff }}
.grid {{ stroke: #d1d9e0 }}
.line {{ fill: none; stroke-width: 2 }}
.floor {{ stroke-dasharray: 5 4 }}
.least {{ fill: #8c959f }}
.bar {{ fill: {_COLOURS[0]} }}
@media (prefers-color-scheme: dark) {{
  text {{ fill: #e6edf3 }}
  .page {{ fill: #0d1117 }}
  .grid {{ stroke: #3d444d }}
  .bar {{ fill: {_COLOURS[5]} }}
}}
"""


@dataclass(frozen=True, slots=True)
class Line:
    """Values over the sizes, above 0, None where there is none; `is_floor` draws it dashed."""

    name: str
    values: Sequence[float | None]
    is_floor: bool = False


@dataclass(frozen=True, slots=True)
class Bar:
    """A value from 0 up, and how it is written; `is_floor` draws it grey."""

    name: str
    value: float
    shown: str
    is_floor: bool = False


def lines(title: str, sizes: Sequence[int], drawn: Sequence[Line], unit: str) -> str:
    """A plot of at most ten lines, whose names stand at their ends. Both axes are logarithmic."""
    every = [value for line in drawn for value in line.values if value]
    low, high = floor(log10(min(every))), ceil(log10(max(every)))
    high = max(high, low + 1)

    def x(size: int) -> float:
        span = log10(sizes[-1] / sizes[0]) or 1.0
        return LEFT + (WIDTH - LEFT - RIGHT) * log10(size / sizes[0]) / span

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (log10(value) - low) / (high - low)

    parts = [_text(LEFT, 24, title, "title")]
    for power in range(low, high + 1):
        parts.append(_rule(LEFT, y(10.0**power), WIDTH - RIGHT, y(10.0**power)))
        parts.append(_text(LEFT - 8, y(10.0**power) + 4, f"{10.0**power:,g} {unit}", anchor="end"))
    for size in sizes:
        parts.append(_rule(x(size), TOP, x(size), HEIGHT - BOTTOM))
        parts.append(_text(x(size), HEIGHT - BOTTOM + 20, f"{size:,}", anchor="middle"))
    ends = []
    for number, line in enumerate(drawn):
        points = [(x(size), y(value)) for size, value in zip(sizes, line.values, strict=True) if value]
        if points:
            parts.append(_path(points, _COLOURS[number], line.is_floor))
            parts += [_dot(point, _COLOURS[number]) for point in points]
            ends.append((points[-1][1], number))
    for at, number in _apart(ends):
        start = WIDTH - RIGHT + 8
        parts.append(_path([(start, at), (start + 16, at)], _COLOURS[number], drawn[number].is_floor))
        parts.append(_text(start + 22, at + 4, drawn[number].name))
    return _page(title, HEIGHT, parts)


def bars(title: str, drawn: Sequence[Bar]) -> str:
    """A plot of bars from the left, one below the other."""
    height = TOP + BAR * len(drawn) + 12
    most = max(bar.value for bar in drawn)
    parts = [_text(16, 24, title, "title")]
    for number, bar in enumerate(drawn):
        top, length = TOP + BAR * number, (WIDTH - BAR_LEFT - 100) * bar.value / most
        kind = "least" if bar.is_floor else "bar"
        parts.append(_text(BAR_LEFT - 10, top + 13, bar.name, anchor="end"))
        parts.append(
            f'<rect class="{kind}" x="{BAR_LEFT}" y="{top}" width="{length:.1f}" height="{BAR - 8}"/>'
        )
        parts.append(_text(BAR_LEFT + length + 8, top + 13, bar.shown))
    return _page(title, height, parts)


def _page(title: str, height: int, parts: Sequence[str]) -> str:
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" role="img">',
            f"<title>{escape(title)}</title>",
            f"<style>{_STYLE}</style>",
            f'<rect class="page" width="{WIDTH}" height="{height}"/>',
            *parts,
            "</svg>\n",
        ]
    )


def _path(points: Sequence[tuple[float, float]], colour: str, is_floor: bool) -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline class="line{" floor" * is_floor}" stroke="{colour}" points="{path}"/>'


def _dot(point: tuple[float, float], colour: str) -> str:
    return f'<circle cx="{point[0]:.1f}" cy="{point[1]:.1f}" r="3" fill="{colour}"/>'


def _apart(ends: Sequence[tuple[float, int]]) -> Iterator[tuple[float, int]]:
    """The heights of labels from the top down, none over another, and none below the plot."""
    ordered = sorted(ends)
    room = HEIGHT - 12 - LABEL * len(ordered)
    last = -LABEL + TOP - 12.0
    for place, (at, number) in enumerate(ordered):
        last = max(last + LABEL, min(at, room + LABEL * (place + 1)))
        yield last, number


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="grid" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
