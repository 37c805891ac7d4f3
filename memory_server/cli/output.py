"""What commands print: tables and colours on a terminal, plain lines in a pipe, JSON where it is asked for."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from unicodedata import combining, east_asian_width

from memory_server.cli.hints import WORDS
from memory_server.errors import Problem, told
from memory_server.language.text import visible

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table. `rest` takes the width that is left: what does not fit ends with …"""

    title: str
    style: str = ""
    rest: bool = False
    right: bool = False


def on_terminal() -> bool:
    """Whether a person reads what is printed."""
    return sys.stdout.isatty()


def asks() -> bool:
    """Whether a person is there who can answer a question."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def say(line: str = "", style: str = "", indent: int = 0) -> None:
    """One line for a person; bold, dim or coloured on a terminal."""
    text = " " * indent + line_of(line)
    if style and on_terminal():
        from rich.text import Text

        _console().print(Text(text, style), soft_wrap=True)
    else:
        print(text)


def say_text(text: str) -> None:
    """A text with its lines as they are."""
    print("\n".join(visible(line).rstrip() for line in text.splitlines()))


def note(text: str | None) -> None:
    """What a reader should know besides: on standard error, so that a pipe gets the rows alone."""
    if text:
        print(line_of(text), file=sys.stderr)


def degraded(problems: Sequence[Problem]) -> str | None:
    """Why an answer is less than it could be, and what mends that."""
    return told(problems, WORDS)


def confirm(question: str, agreed: bool, flag: str) -> None:
    """Go on only if the person agrees: with a flag, or asked on the terminal.

    Raises:
        UsageError: nobody is there to be asked.
        Abort: the answer is no.
    """
    if agreed:
        return
    import click

    if not asks():
        raise click.UsageError(f"Nobody can be asked here. To go on without a question, add {flag}.")
    click.confirm(question, abort=True, err=True)


def as_json(answer: object) -> None:
    """An answer as JSON, its fields in their order."""
    from memory_server.answers.answer import plain
    from memory_server.cli.answers import LINES

    text = json.dumps(plain(answer, LINES), ensure_ascii=False, indent=2 if on_terminal() else None)
    print(text.encode(errors="replace").decode())


def table(columns: Sequence[Column], rows: Sequence[Sequence[object]]) -> None:
    """Rows: on a terminal as wide as it is; else each on a line, its cells whole and with tabs between them."""
    cells = [["" if cell is None else line_of(str(cell)) for cell in row] for row in rows]
    if not on_terminal():
        for row in cells:
            print("\t".join(row))
        return
    if not cells:
        return
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, pad_edge=False, header_style="bold", expand=any(each.rest for each in columns))
    for each in columns:
        shown.add_column(
            each.title,
            no_wrap=True,
            overflow="ellipsis",
            ratio=1 if each.rest else None,
            justify="right" if each.right else "left",
        )
    for row in cells:
        shown.add_row(*(Text(cell, each.style) for cell, each in zip(row, columns, strict=True)))
    _console().print(shown)


def _console() -> "Console":
    """A terminal; where NO_COLOR is set, without any style, bold and dim ones too."""
    from rich.console import Console

    return Console(highlight=False, color_system=None if Console().no_color else "auto")


def fields(pairs: Sequence[tuple[str, object]]) -> None:
    """Names with their values, a line each, without those that are empty."""
    there = [(name, value) for name, value in pairs if value not in (None, "", (), [])]
    width = max((cells(name) for name, _ in there), default=0)
    for name, value in there:
        padded = name + " " * (width - cells(name))
        if on_terminal():
            from rich.text import Text

            line = Text.assemble((padded, "bold"), f"  {line_of(str(value))}")
            _console().print(line, soft_wrap=True)
        else:
            print(f"{padded}  {line_of(str(value))}")


def cells(text: str) -> int:
    """How many columns a text takes on a terminal: a Chinese letter takes two."""
    return sum(2 if east_asian_width(letter) in "WF" else not combining(letter) for letter in text)


def times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"


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
