"""The terminal of a command: that of its own process, or of a client for which an engine runs it."""

import io
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from memory_server import defaults, flags
from memory_server.language import catalogue
from memory_server.language.lines import wrapped
from memory_server.language.text import width

if TYPE_CHECKING:
    from memory_server.app import Services


@dataclass(frozen=True, slots=True)
class TerminalClient:
    """A client of an engine: `width` is the columns of its terminal, None in a pipe. The engine has the services."""

    services: "Services"
    folder: Path
    width: int | None = None
    colors: bool = False
    language: str = "en"
    out: io.StringIO = field(default_factory=io.StringIO)
    err: io.StringIO = field(default_factory=io.StringIO)


_client: ContextVar[TerminalClient | None] = ContextVar("client", default=None)
_is_json: ContextVar[bool] = ContextVar("is_json", default=False)


@contextmanager
def of(client: TerminalClient) -> Iterator[None]:
    """Run the block for this client."""
    token = _client.set(client)
    try:
        yield
    finally:
        _client.reset(token)


def client() -> TerminalClient | None:
    """Return the client for which this engine runs the command; None in a process of its own."""
    return _client.get()


def read(words: Sequence[str]) -> None:
    """Learn from the words of a command whether it answers in JSON."""
    flags_of_command = words[: words.index("--")] if "--" in words else words
    _is_json.set("--json" in flags_of_command)


def is_json() -> bool:
    """Return True where a program reads what the command prints."""
    return _is_json.get()


def out() -> TextIO:
    client = _client.get()
    return sys.stdout if client is None else client.out


def err() -> TextIO:
    client = _client.get()
    return sys.stderr if client is None else client.err


def columns(stream: TextIO) -> int | None:
    """Return the columns of the terminal to which a stream leads; None in a pipe."""
    client = _client.get()
    if client is not None:
        return client.width
    return shutil.get_terminal_size().columns if stream.isatty() else None


def fitted(line: str, stream: TextIO, indent: int = 0) -> list[str]:
    """Return a line in as many as the terminal needs, broken between words, all as far from the margin as it is."""
    room = columns(stream)
    text = line.lstrip(" ")
    margin = " " * (indent + len(line) - len(text))
    if room is None or width(text) + len(margin) <= room:
        return [margin + text]
    return [margin + part for part in wrapped(text, max(room - len(margin), 1))]


def language() -> str:
    """Return the language that the person reads; English where a program reads."""
    client = _client.get()
    if is_json():
        return "en"
    return flags.language(flags.HERE) if client is None else client.language


def folder() -> Path:
    """Return the working folder."""
    client = _client.get()
    return defaults.folder() if client is None else client.folder


def is_chinese() -> bool:
    """Return True where the person reads Chinese."""
    return language() == "zh"


def translated(text: str) -> str:
    """Return a text in the language of the person."""
    return catalogue.chinese(text) if text and is_chinese() else text


def colon() -> str:
    """Return the colon before a value."""
    return "：" if is_chinese() else ": "


def listed(words: Iterable[str]) -> str:
    """Return words one after the other, with the comma of lists between them."""
    return ("、" if is_chinese() else ", ").join(words)


def bracketed(text: str) -> str:
    """Return a remark in brackets, which stands behind something."""
    return f"（{text}）" if is_chinese() else f" ({text})"


def condition(words: str) -> str:
    """Return the condition of a rule in the language of the person."""
    return catalogue.condition(words) if is_chinese() else words


def filled(text: str, /, **values: object) -> str:
    """Return a text in the language of the person, with its values: for a text that has few letters of its own."""
    return (catalogue.word(text) if is_chinese() else text).format(**values)
