"""Breaks a text into the lines of a screen, on which a Chinese letter takes two columns and needs no space."""

import re

from memory_server.language.text import width

_PIECES = re.compile(r"[!-~]+\s*[，。、；：）？]*|\s+|.[，。、；：）？]*")
"""A word, or a Chinese letter; with the signs that begin no line."""


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
