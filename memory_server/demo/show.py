"""Prints for people: text cut to the terminal's width, where a Chinese character takes two columns."""

import shutil
import sys
import textwrap
import unicodedata
from itertools import takewhile

INDENT = "   "


def columns() -> int:
    """The width to print in: the terminal's, but no more than is pleasant to read."""
    return max(60, min(100, shutil.get_terminal_size((100, 24)).columns))


def width(text: str) -> int:
    """How many columns a terminal gives to the text."""
    return sum(_width(character) for character in text)


def cut(text: str, limit: int) -> str:
    """The text on one line and in at most `limit` columns, with an ellipsis where something is left out."""
    return cut_row(" ".join(text.split()), limit)


def cut_row(text: str, limit: int) -> str:
    """A line in at most `limit` columns; its spaces, which may align something, stay."""
    if width(text) <= limit:
        return text
    kept, taken = "", 1
    for character in text:
        taken += _width(character)
        if taken > limit:
            break
        kept += character
    return kept + "…"


def heading(text: str) -> None:
    print(f"\n{text}\n{'-' * width(text)}")


def say(text: str = "") -> None:
    print(INDENT + text if text else "")


def one_line(label: str, text: str) -> None:
    """A labelled text, cut to the line."""
    say(label + cut(text, columns() - len(INDENT) - width(label)))


def paragraph(text: str, first: str = "", others: str = "") -> None:
    """A text broken into lines that begin with `first` and `others`."""
    wrapped = textwrap.wrap(
        text,
        columns() - len(INDENT),
        initial_indent=first,
        subsequent_indent=others,
        break_long_words=False,
        break_on_hyphens=False,
    )
    for line in wrapped:
        say(line)


def pair(one: tuple[str, str], other: tuple[str, str]) -> None:
    """Two labelled texts, one below the other; if they are long, from where they begin to differ."""
    texts = [" ".join(text.split()) for _, text in (one, other)]
    same = sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(*texts, strict=False)))
    start = same - 24
    room = columns() - len(INDENT) - width(one[0])
    if start > 0 and any(width(text) > room for text in texts):
        texts = ["…" + text[start:] for text in texts]
    say()
    for (label, _), text in zip((one, other), texts, strict=True):
        one_line(label, text)


class Progress:
    """A bar that grows in place; where the output is not a terminal, a line every 25 steps."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._in_place = sys.stdout.isatty()

    def at(self, done: int) -> None:
        if self._in_place:
            filled = 40 * done // self._total
            end = "\n" if done == self._total else ""
            print(
                f"\r{INDENT}[{'#' * filled}{'.' * (40 - filled)}] {done}/{self._total}", end=end, flush=True
            )
        elif done % 25 == 0 or done == self._total:
            say(f"{done}/{self._total}")


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
