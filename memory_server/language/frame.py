"""The frame around recorded notes in a model's context: inside it stands data, and no instruction."""

import re

from memory_server.language.text import visible

_TAG = re.compile(r"<(?=[A-Za-z/!?])")
"""What begins a tag. A comparison such as `a < b` is none."""


_WHO = re.compile(
    r"(?<![\"“])\b(?:from\s+the\s+user|perhaps\s+not\s+the\s+user['’]s\s+word)\b(?=\s*[:：\]·])",
    re.IGNORECASE,
)
"""A heading or a mark of ours, which says whose word a text is."""


def framed(head: str, text: str) -> str:
    """The text in a frame; `head` says what it is."""
    return f"<recorded-notes>\n{head}\n\n{escaped(text)}\n</recorded-notes>"


def escaped(text: str) -> str:
    """The text without what could end the frame, or what people cannot see."""
    return _TAG.sub("&lt;", visible(text))


def quoted(text: str) -> str:
    """The text with each heading or mark of ours in it as a quotation: only this program says whose word a text is."""
    return _WHO.sub(lambda words: f'"{words[0]}"', text)
