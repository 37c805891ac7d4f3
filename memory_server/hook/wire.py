"""The protocol between a server and a hook or a command: a JSON object each way, and then the end."""

import json
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from memory_server.domain.caller import Caller
from memory_server.domain.injection import Injected, Mention, Reminder
from memory_server.project import Project

if TYPE_CHECKING:
    from socket import socket

VERSION = 1
"""Of the form below. A server of another version does not answer."""

MOST = 1_000_000
"""Bytes of a question or an answer: a longer one is not read."""


@dataclass(frozen=True, slots=True)
class Question:
    """Asks what a prompt should bring to mind, in so many tokens; `database` is the name of the file that is meant."""

    database: str
    prompt: str
    max_tokens: int
    caller: Caller


MOST_TEXTS, LONGEST_TEXT = 20, 10_000
"""Texts that are embedded at once, and the characters of one."""


@dataclass(frozen=True, slots=True)
class Texts:
    """Questions of which the vectors are wanted."""

    database: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Vectors:
    """Their vectors, and the id of the space of the file to which these belong."""

    space_id: int
    vectors: tuple[tuple[float, ...], ...]


def sent(message: Texts | Vectors | Question | Reminder) -> bytes:
    return json.dumps({"version": VERSION, **asdict(message)}).encode()


def texts(data: bytes) -> Texts | None:
    """The texts in these bytes; None where they hold none, or too much.

    Raises:
        ValueError: they are no JSON.
    """
    match json.loads(data):
        case {"version": 1, "database": str(database), "texts": [*texts]} if len(texts) <= MOST_TEXTS:
            if all(isinstance(text, str) and len(text) <= LONGEST_TEXT for text in texts):
                return Texts(database, tuple(texts))
    return None


def vectors(data: bytes) -> Vectors | None:
    """The same for an answer."""
    match json.loads(data):
        case {"version": 1, "space_id": int(space_id), "vectors": [*vectors]}:
            return Vectors(space_id, tuple(tuple(map(float, vector)) for vector in vectors))
    return None


def question(data: bytes) -> Question | None:
    """The question in these bytes; None where they hold none.

    Raises:
        ValueError: they are no JSON.
    """
    match json.loads(data):
        case {
            "version": 1,
            "database": str(database),
            "prompt": str(prompt),
            "max_tokens": int(max_tokens),
            "caller": {
                "client": client,
                "session": session,
                "project": {"key": str(key), "name": str(name), "paths": [*paths]},
            },
        }:
            project = Project(key, name, tuple(map(str, paths)))
            return Question(database, prompt, max_tokens, Caller(_text(client), _text(session), project))
    return None


def reminder(data: bytes) -> Reminder | None:
    """The same for an answer."""
    match json.loads(data):
        case {"version": 1, "text": str(text), "said": [*said]}:
            return Reminder(text, tuple(map(_mention, said)))
    return None


def read(connection: "socket", ends: float) -> bytes:
    """All that the other end sends, until `ends` of the monotonic clock.

    Raises:
        OSError: it has gone, or does not send its end in time.
        ValueError: it sends more than MOST bytes.
    """
    data = b""
    while len(data) <= MOST:
        wait_until(connection, ends)
        part = connection.recv(65_536)
        if not part:
            return data
        data += part
    raise ValueError(f"more than {MOST} bytes")


def wait_until(connection: "socket", ends: float) -> None:
    """Let the next step take until `ends` of the monotonic clock.

    Raises:
        TimeoutError: that is over.
    """
    left = ends - time.monotonic()
    if left <= 0:
        raise TimeoutError
    connection.settimeout(left)


def _mention(members: dict[str, Any]) -> Mention:
    kind = Injected(members["kind"])
    return Mention(kind, int(members["id"]), int(members["tokens"]), _text(members["why"]))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
