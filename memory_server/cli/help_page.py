"""Lays out the help of commands, also in Chinese, whose letters take two columns and have no spaces between them."""

from collections.abc import Iterable

import click

from memory_server.cli.output import screen
from memory_server.cli.terminal import is_chinese, translated
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

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        if not is_chinese():
            super().write_usage(prog, args, prefix or "usage: ")
            return
        start = f"{translated('usage:')}{prog} "
        room = self.width - width(start)
        is_beside = room >= min(LEAST, width(args))
        indent = width(start) if is_beside else BELOW
        first, *more = wrapped(args, self.width - indent)
        self.write(f"{start}{first}\n" if is_beside else f"{start}\n{'':>{indent}}{first}\n")
        for line in more:
            self.write(f"{'':>{indent}}{line}\n")

    def write_heading(self, heading: str) -> None:
        if is_chinese():
            self.write(f"{'':>{self.current_indent}}{translated(heading)}：\n")
        else:
            super().write_heading(heading)

    def write_text(self, text: str) -> None:
        if not is_chinese():
            super().write_text(text)
            return
        for paragraph in text.split("\n\n"):
            for line in wrapped(translated(" ".join(paragraph.split())), self.width - self.current_indent):
                self.write(f"{'':>{self.current_indent}}{line}\n")
            self.write("\n" if paragraph is not text else "")

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        col_max = min(col_max, max(self.width // 3, 12)) if self.width < NARROW else col_max
        if not is_chinese():
            super().write_dl(rows, col_max, col_spacing)
            return
        listed = [(term, _meaning(text)) for term, text in rows]
        first = min(max(width(term) for term, _ in listed), col_max) + col_spacing
        for term, meaning in listed:
            start = f"{'':>{self.current_indent}}{term}"
            if width(term) > first - col_spacing:
                self.write(f"{start}\n")
                start = " " * self.current_indent
            for line in wrapped(meaning, self.width - first - self.current_indent):
                self.write(
                    f"{start}{' ' * (first + self.current_indent - width(start))}{line}".rstrip() + "\n"
                )
                start = ""


class HelpContext(click.Context):
    formatter_class = HelpPage


def _meaning(text: str) -> str:
    """Return the words on an option, and what click says of it in brackets."""
    words, _, remark = text.partition("  [")
    default = remark.removeprefix("default: ").removesuffix("]")
    return translated(words) + (
        "（必填）" if default == "required" else f"（默认：{default}）" if default else ""
    )
