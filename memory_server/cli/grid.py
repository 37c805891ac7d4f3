"""Lays out a table for a terminal: cells cut to the width of the screen, with styles."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory_server.language.text import width

CODES = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33, "cyan": 36}
"""The styles, each with what makes it on a terminal."""

GAP = "  "

LEAST = 24
"""Columns that a text keeps beside the other cells; on a narrower screen it stands below them."""

_PIECES = re.compile(r"[!-~]+\s*[，。、；：）？]*|\s+|.[，。、；：）？]*")
"""A word, or a Chinese letter; with the signs that begin no line."""


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


def wrapped(text: str, columns: int) -> list[str]:
    """Return a text in lines of at most so many columns, broken at spaces and between Chinese letters."""
    lines, line = list[str](), ""
    for piece in _PIECES.findall(text):
        if line and width(line) + width(piece.rstrip()) > columns:
            lines.append(line.rstrip())
            line = piece.lstrip()
        else:
            line += piece
    return [*lines, line.rstrip()]


def lines(layouts: Sequence[GridColumn], rows: Sequence[Sequence[str]], screen: int) -> Iterator[str]:
    """Yield the lines of a table of at most `screen` columns."""
    columns = list(zip([layout.title for layout in layouts], *rows, strict=True))
    widths = [max(map(width, cells)) for cells in columns]
    fixed = [at for at, layout in enumerate(layouts) if not layout.fills]
    filling = [at for at, layout in enumerate(layouts) if layout.fills]
    space = screen - sum(widths[at] for at in fixed) - len(GAP) * (len(layouts) - 1)
    share = space // len(filling) if filling else 0
    if any(widths[at] > share < LEAST for at in filling):
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
    """Yield the lines of a row on a narrow screen: the short cells, then each text below them."""
    short = [at for at in fixed if row[at]]
    widths = [width(row[at]) for at in short]
    _narrow(widths, screen)
    yield _line([GridColumn("", layouts[at].style) for at in short], [row[at] for at in short], widths)
    for at in filling:
        if row[at]:
            yield GAP + painted(cut(row[at], screen - len(GAP)), layouts[at].style)
