"""Lays out a table for a terminal: cells cut to the width of the screen, with styles."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory_server.language.text import width

CODES = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33, "cyan": 36}
"""The styles, each with what makes it on a terminal."""

GAP = "  "

LEAST = 24
"""Columns that a text keeps beside the other cells; on a narrower screen it stands below them."""


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
    end, used = 0, 1
    for letter in text:
        used += width(letter)
        if used > columns:
            break
        end += 1
    return text[:end].rstrip() + "…"


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
    """Yield the lines of a row on a narrow screen: the short cells, as many in a line as fit, then each text."""
    line, used = list[str](), -len(GAP)
    for at in (at for at in fixed if row[at]):
        title = f"{layouts[at].title} " if line and not filling else ""
        cell = title + cut(row[at], screen - width(title))
        if line and used + len(GAP) + width(cell) > screen:
            yield GAP.join(line)
            line, used = [], -len(GAP)
        line.append(title + painted(cell.removeprefix(title), layouts[at].style))
        used += len(GAP) + width(cell)
    if line:
        yield GAP.join(line)
    for at in filling:
        if row[at]:
            yield GAP + painted(cut(row[at], screen - len(GAP)), layouts[at].style)
