"""Breaks a text into the lines of a screen, on which a Chinese letter takes two columns and needs no space."""

import re

from memory_server.language.text import width

_WIDE = "\u2e80-\U0010ffff"
_SIGNS = "[，。、；：）？！”]*"
_OPENING = "[（《「]*"
_WORD = rf"[^\s{_WIDE}]+"
_COMMAND = rf"[^\s`{_WIDE}]*`[^`]+`[^\s`{_WIDE}]*"
_WORDS = re.compile(rf"{_OPENING}{_WORD}\s*{_SIGNS}|\s+|{_OPENING}.{_SIGNS}")
"""A word or a Chinese letter, with the signs that begin no line, and those that end none."""

_COMMANDS = re.compile(rf"{_OPENING}(?:{_COMMAND}|{_WORD})\s*{_SIGNS}|\s+|{_OPENING}.{_SIGNS}")
"""The same; what is in backticks is whole."""


def wrapped(text: str, columns: int, keeps_commands: bool = True) -> list[str]:
    """Return a text in lines of at most so many columns, broken at spaces and between Chinese letters.

    A word that is wider stays whole; so does a command in backticks, which a person copies.
    """
    lines, line = list[str](), ""
    for piece in (_COMMANDS if keeps_commands else _WORDS).findall(text):
        if line and width(line) + width(piece.rstrip()) > columns:
            lines.append(line.rstrip())
            line = piece.lstrip()
        else:
            line += piece
    return [*lines, line.rstrip()]
