"""Reads a log: a JSONL file whose lines are memories to store and questions to ask afterwards."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pydantic_core
from pydantic import BaseModel, ConfigDict, ValidationError

from memory_server.errors import Invalid


class Line(BaseModel):
    """Only the shape is checked here; limits are the server's business, and its refusals are shown."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Entry(Line):
    """A memory to store. `date` is kept in its metadata."""

    content: str
    type: str
    project: str | None = None
    tags: list[str] = []
    importance: int = 5
    date: str | None = None


class Question(Line):
    """A question; it found its answer where a memory holds one of the `expect` texts.

    `lang` is the language of the question, `about` that of the memory.
    """

    ask: str
    expect: list[str] = []
    lang: str = "?"
    about: str = "?"
    project: str | None = None


@dataclass(frozen=True, slots=True)
class Log:
    """Memories by their line number, and questions."""

    path: Path
    entries: dict[int, Entry]
    questions: list[Question]


def read(path: Path) -> Log:
    """The log in a file.

    Raises:
        Invalid: it cannot be read, holds no memories, or a line is not what it should be.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Invalid(f"{path}: {error.strerror or error}.") from error
    lines = dict(_lines(path, data))
    entries = {number: line for number, line in lines.items() if isinstance(line, Entry)}
    if not entries:
        raise Invalid(
            f'{path}: holds no memories. One is a line such as {{"content": "…", "type": "decision"}}.'
        )
    return Log(path, entries, [line for line in lines.values() if isinstance(line, Question)])


def _lines(path: Path, data: bytes) -> Iterator[tuple[int, Line]]:
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if raw.strip():
            try:
                yield number, _line(raw)
            except ValueError as error:
                raise Invalid(f"{path}, line {number}: {_problem(error)}") from error


def _line(raw: bytes) -> Line:
    value = pydantic_core.from_json(raw)
    if not isinstance(value, dict):
        raise ValueError("is not a JSON object")
    kind = Question if "ask" in value else Entry
    return kind.model_validate(value)


def _problem(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error).replace(" at line 1 column ", ", column ") + "."
    return "; ".join(f"`{'.'.join(map(str, each['loc']))}`: {each['msg']}" for each in error.errors()) + "."
