"""Lays out a table for a terminal: cells cut to the width of the screen, with styles."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory_server.language.lines import wrapped
from memory_server.language.text import width

CODES = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33, "cyan": 36}
"""The styles, each with what makes it on a terminal."""

GAP = "  "

LEAST = 24
"""Columns that a text keeps beside the other cells; on a narrower screen it stands below them."""

MOST_LINES = 3
"""Lines that a text takes there at most."""


@dataclass(frozen=True, slots=True)
class GridColumn:
    """The look of a column: its title and style. `fills`: it takes what the others leave."""

    title: str
    style: str = ""
    fills: bool = False
    right: bool = False


def painted(text: str, style: str) -> str:
    """Return a text in a style; "" is none."""
    return f"\x1b[{CODES[style]}m{text}\x1b[0m" if style and text else text


def cut(text: str, columns: int) -> str:
    """Return the text, or its beginning and a sign that it goes on, in at most so many columns."""
    if width(text) <= columns:
        return text
    return text[: _fitting(text, columns - 1)].rstrip() + "…"


def _fitting(text: str, columns: int) -> int:
    """Return how many letters of a text are in so many columns."""
    for end, letter in enumerate(text):
        columns -= width(letter)
        if columns < 0:
            return end
    return len(text)


def lines(layouts: Sequence[GridColumn], rows: Sequence[Sequence[str]], screen: int) -> Iterator[str]:
    """Yield the lines of a table of at most `screen` columns."""
    columns = list(zip([layout.title for layout in layouts], *rows, strict=True))
    widths = [max(map(width, cells)) for cells in columns]
    fixed = [at for at, layout in enumerate(layouts) if not layout.fills]
    filling = [at for at, layout in enumerate(layouts) if layout.fills]
    space = screen - sum(widths[at] for at in fixed) - len(GAP) * (len(layouts) - 1)
    share = space // len(filling) if filling else 0
    if any(widths[at] > share < LEAST for at in filling) or (not filling and space < 0):
        for row in rows:
            yield from _below(layouts, row, fixed, filling, screen)
        return
    for at in filling:
        widths[at] = min(widths[at], share)
    _narrow(widths, screen)
    titles = [GridColumn(layout.title, "bold", right=layout.right) for layout in layouts]
    yield _line(titles, [layout.title for layout in layouts], widths)
    for row in rows:
        yield _line(layouts, row, widths)


def _narrow(widths: list[int], screen: int) -> None:
    """Take from the widest columns what the screen does not have."""
    while sum(widths) + len(GAP) * (len(widths) - 1) > screen and max(widths) > 1:
        widths[widths.index(max(widths))] -= 1


def _line(layouts: Sequence[GridColumn], row: Sequence[str], widths: Sequence[int]) -> str:
    cells = []
    for layout, cell, columns in zip(layouts, row, widths, strict=True):
        text = cut(cell, columns)
        space = " " * (columns - width(text))
        cells.append(
            space + painted(text, layout.style) if layout.right else painted(text, layout.style) + space
        )
    return GAP.join(cells).rstrip()


def _below(
    layouts: Sequence[GridColumn],
    row: Sequence[str],
    fixed: Sequence[int],
    filling: Sequence[int],
    screen: int,
) -> Iterator[str]:
    """Yield the lines of a row on a narrow screen: the short cells, as many in a line as fit, then each text.

    The first cell alone stands at the margin. A number is told with its title; where no text follows, each cell is.
    """
    line, used = list[str](), 0
    for at in (at for at in fixed if row[at]):
        layout = layouts[at]
        title = f"{layout.title} " if used and (layout.right or not filling) else ""
        for part in _broken(row[at], screen - len(GAP) - width(title)):
            if used and used + len(GAP) + width(title + part) > screen:
                yield GAP.join(line)
                line, used = [""], 0
            line.append(title + painted(part, layout.style))
            used += width(title + part) + (len(GAP) if len(line) > 1 else 0)
            title = ""
    if used:
        yield GAP.join(line)
    for at in filling:
        for text in _first_lines(row[at], screen - len(GAP)):
            yield GAP + painted(text, layouts[at].style)


def _first_lines(text: str, columns: int) -> list[str]:
    """Return a text in at most MOST_LINES lines; the last one says where it goes on."""
    lines = _broken(text, columns)
    shown = lines[:MOST_LINES]
    if len(lines) > MOST_LINES:
        shown[-1] = cut(f"{shown[-1]} {lines[MOST_LINES]}", columns)
    return list(filter(None, shown))


def _broken(text: str, columns: int) -> list[str]:
    return [part for line in wrapped(text, columns, keeps_commands=False) for part in _parts(line, columns)]


def _parts(line: str, columns: int) -> Iterator[str]:
    """Yield a line in parts of so many columns, where one word is wider."""
    while width(line) > columns:
        end = max(_fitting(line, columns), 1)
        yield line[:end]
        line = line[end:]
    yield line
