"""Lays out the help of commands, also in Chinese, whose letters take two columns and have no spaces between them."""

from collections.abc import Iterable

import click

from memory_server.cli.output import screen
from memory_server.cli.terminal import colon, is_chinese, translated
from memory_server.language.lines import wrapped
from memory_server.language.text import width

WIDEST, NARROW, LEAST, BELOW = 80, 70, 20, 8
"""Columns: of a page unless more are asked for; below which a text stands under a long option; that a text needs at
least; and before arguments that stand below the name of their command."""


class HelpPage(click.HelpFormatter):
    """The help of a command, in the language of the person, no wider than the screen."""

    def __init__(
        self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None
    ) -> None:
        width = width or max(LEAST, min(screen(), max_width or WIDEST) - 2)
        super().__init__(indent_increment, width, max_width)

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:  # noqa: ARG002
        start = f"{translated('usage')}{colon()}{prog} "
        is_beside = self.width - width(start) >= min(LEAST, width(args))
        indent = width(start) if is_beside else BELOW
        first, *more = wrapped(args, self.width - indent)
        self.write(
            f"{start}{first}".rstrip() + "\n" if is_beside else f"{start.rstrip()}\n{'':>{indent}}{first}\n"
        )
        self._write_lines(more, indent)

    def write_heading(self, heading: str) -> None:
        self._write_lines([translated(heading) + colon().rstrip()], self.current_indent)

    def write_text(self, text: str) -> None:
        for place, paragraph in enumerate(text.split("\n\n")):
            self.write("\n" if place else "")
            words = translated(" ".join(paragraph.split()))
            self._write_lines(wrapped(words, self.width - self.current_indent), self.current_indent)

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        col_max = min(col_max, max(self.width // 3, 12)) if self.width < NARROW else col_max
        listed = [(term, _meaning(text)) for term, text in rows]
        indent = min(max(width(term) for term, _ in listed), col_max) + col_spacing + self.current_indent
        for term, meaning in listed:
            start = f"{'':>{self.current_indent}}{term}"
            first, *more = wrapped(meaning, self.width - indent)
            if width(start) > indent - col_spacing:
                self._write_lines([start])
                start = ""
            self._write_lines([f"{start}{' ' * (indent - width(start))}{first}".rstrip()])
            self._write_lines(more, indent)

    def _write_lines(self, lines: Iterable[str], indent: int = 0) -> None:
        for line in lines:
            self.write(f"{' ' * indent}{line}\n")


class HelpContext(click.Context):
    formatter_class = HelpPage


def _meaning(text: str) -> str:
    """Return the words on an option, and what click says of it in brackets."""
    if not is_chinese():
        return " ".join(text.split())
    words, _, remark = text.partition("  [")
    default = remark.removeprefix("default: ").removesuffix("]")
    return translated(words) + (
        "（必填）" if default == "required" else f"（默认：{default}）" if default else ""
    )
