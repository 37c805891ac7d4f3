"""Lays out the help of commands, also in Chinese, whose letters take two columns and have no spaces between them."""

from collections.abc import Iterable

import click

from memory_server.cli.catalogue import is_chinese, translated
from memory_server.cli.grid import wrapped
from memory_server.language.text import width


class HelpPage(click.HelpFormatter):
    """The help of a command, in the language of the person."""

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
