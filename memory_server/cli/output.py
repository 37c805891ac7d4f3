"""Prints answers: tables and colours on a terminal, plain lines in a pipe, JSON where it is asked for."""

import json
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Generic, TypeVar

import click

from memory_server.cli import grid, terminal
from memory_server.cli.hints import told
from memory_server.cli.terminal import is_chinese, translated
from memory_server.errors import Problem
from memory_server.flags import HERE
from memory_server.language.text import visible, width

Row = TypeVar("Row")

MOST_ROWS = 10_000
"""The largest --limit."""


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """A column of a table; `cell` gives its value in a row. `fills`: it takes the width that is left."""

    title: str
    cell: Callable[[Row], object]
    style: str = ""
    fills: bool = False
    right: bool = False


Columns = tuple[Column[Row], ...]


def on_terminal() -> bool:
    """True if a person reads what is printed."""
    return terminal.columns(terminal.out()) is not None


def asks() -> bool:
    """True if a person can answer a question."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def say(line: str = "", style: str = "", indent: int = 0) -> None:
    """One line for a person; bold, dim or coloured on a terminal."""
    say_text(line_of(translated(line)), style, indent)


def say_over(text: str) -> None:
    """Write over the line that is not yet ended."""
    print(f"\r{line_of(text)}", end="", file=terminal.out())


def say_text(text: str, style: str = "", indent: int = 0) -> None:
    """Print a text in its own language; a terminal breaks its lines between words."""
    for line in text.splitlines() or [""]:
        for part in terminal.fitted(visible(line).rstrip(), terminal.out(), indent):
            _put(_styled(part, style))


def say_whole(text: str) -> None:
    """Print what a person copies, with its lines as they are."""
    for line in text.splitlines():
        _put(visible(line).rstrip())


def note(*texts: str | None) -> None:
    """Print remarks, a line each, unless they are empty; on standard error, so that a pipe gets the rows alone."""
    for text in filter(None, texts):
        print(*terminal.fitted(line_of(translated(text)), terminal.err()), sep="\n", file=terminal.err())


def note_more(number: int, limit: int) -> None:
    """Say that there are more than `limit` rows, where one more was read."""
    if number > limit < MOST_ROWS:
        note(f"There are more: --limit {min(limit * 5, MOST_ROWS)} shows more of them.")


def degraded(problems: Sequence[Problem]) -> str | None:
    """Say why an answer is less than it could be, and what mends that."""
    return told(*problems)


def confirm(question: str, agreed: bool, flag: str) -> None:
    """Go on only if the person agrees: with a flag, or asked on the terminal.

    Raises:
        UsageError: nobody is there to be asked.
        ClickException: the answer is no.
    """
    if agreed:
        return
    if not asks():
        raise click.UsageError(f"There is no terminal to ask on. To go on without the question, add {flag}.")
    if not click.confirm(translated(question), err=True):
        raise click.ClickException("stopped. Nothing was changed.")


def answered(answer: object) -> bool:
    """Print an answer as JSON, its fields in their order, where `--json` is there; False where a person reads."""
    if not terminal.is_json():
        return False
    from memory_server.answers.answer import plain
    from memory_server.cli.answers import LINES

    text = json.dumps(plain(answer, LINES), ensure_ascii=False, indent=2 if on_terminal() else None)
    print(text.encode(errors="replace").decode(), file=terminal.out())
    return True


def table(columns: Columns[Row], rows: Iterable[Row]) -> None:
    """Rows: on a terminal as wide as it is; else each on a line, its cells whole and with tabs between them."""
    values = ([column.cell(row) for column in columns] for row in rows)
    cells = [["" if value is None else line_of(str(value)) for value in row] for row in values]
    if not on_terminal():
        for row in cells:
            print("\t".join(row), file=terminal.out())
        return
    if not cells:
        return
    layouts = [
        grid.GridColumn(translated(column.title), column.style, column.fills, column.right)
        for column in columns
    ]
    if not has_colours():
        layouts = [replace(layout, style="") for layout in layouts]
    for line in grid.lines(layouts, cells, screen()):
        _put(line)


def screen() -> int:
    """Return the columns of the terminal, or those of a page where there is none."""
    return terminal.columns(terminal.out()) or shutil.get_terminal_size().columns


def has_colours() -> bool:
    """True where styles are shown, bold and dim ones too: on a terminal, unless NO_COLOR is set."""
    client = terminal.client()
    if client is not None:
        return client.colors and client.width is not None
    return on_terminal() and not HERE.get("NO_COLOR") and HERE.get("TERM") != "dumb"


def _styled(text: str, style: str) -> str:
    return grid.painted(text, style) if has_colours() else text


def _put(line: str) -> None:
    """Print a line that may have styles; a console of Windows gets these as it understands them."""
    click.echo(line, terminal.out(), color=has_colours())


def fields(*pairs: tuple[str, object]) -> None:
    """Names with their values, a line each, without those that are empty."""
    shown = [
        (name if name.startswith(" ") else translated(name), value)
        for name, value in pairs
        if value not in (None, "", (), [])
    ]
    columns = max((width(name) for name, _ in shown), default=0)
    for name, value in shown:
        padded = name + " " * (columns - width(name))
        first, *more = terminal.fitted(line_of(str(value)), terminal.out(), columns + 2)
        _put(_styled(padded, "bold") + first[columns:])
        for line in more:
            _put(line)


def counted(number: int, noun: str) -> str:
    """`1 change`, `2 changes`."""
    singular = f"{number:,} {noun}"
    return translated(singular) if is_chinese() or number == 1 else f"{singular}s"


def times(number: int) -> str:
    return terminal.translated("once" if number == 1 else f"{number:,} times")


def line_of(text: str) -> str:
    """A text on one line, without what a terminal would obey."""
    return visible(" ".join(text.split("\n"))).replace("\t", " ").strip()


def moment(stored: str | None) -> str:
    """A stored moment in the local time of the person, to the minute."""
    if not stored:
        return ""
    try:
        return datetime.fromisoformat(stored).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError):  # a hand edit
        return stored[:16]


def shown_value(value: Any) -> str:
    """A JSON value on one line: a text without its quotes."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
