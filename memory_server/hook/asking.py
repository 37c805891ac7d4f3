"""Asks a running server of the same database what only it knows: it has the embedder and JavaScript."""

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from memory_server.domain.injection import Reminder
from memory_server.hook import place, wire
from memory_server.hook.wire import Question, Texts, Vectors
from memory_server.where import Where

Answer = TypeVar("Answer")

PATIENCE = 0.3
"""Seconds that all servers have together: a person waits."""


def ask(database: Where, question: Question) -> Reminder | None:
    """Ask what a prompt should bring to mind; None where no server answers in time."""
    return _first(database, wire.sent(question), wire.reminder)


def embed(database: Where, texts: Sequence[str]) -> Vectors | None:
    """Ask for the vectors of questions; None where no server answers in time."""
    request = Texts(place.name_of(database), tuple(texts))
    return _first(database, wire.sent(request), wire.vectors)


def _first(database: Where, data: bytes, read: Callable[[bytes], Answer | None]) -> Answer | None:
    """The answer of the first server that gives one in time.

    The others are asked too where one does not answer in its share of the time. A socket whose server was killed is
    removed.
    """
    if os.name == "nt":
        return None
    ends = time.monotonic() + PATIENCE
    paths = place.sockets(database)
    for number, path in enumerate(paths):
        share = (ends - time.monotonic()) / (len(paths) - number)
        if share <= 0:
            return None
        answer = _asked(path, data, read, time.monotonic() + share)
        if answer is not None:
            return answer
    return None


def _asked(path: Path, data: bytes, read: Callable[[bytes], Answer | None], ends: float) -> Answer | None:
    import socket  # 4 ms, where there is a server

    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
            wire.wait_until(server, ends)
            server.connect(str(path))
            if not place.is_of_this_user(server):
                return None
            server.sendall(data)
            server.shutdown(socket.SHUT_WR)
            return read(wire.read(server, ends))
    except ConnectionRefusedError:
        place.remove_stale(path)
    except (OSError, ValueError, KeyError, TypeError):  # it is busy, has just left, or is another program
        pass
    return None
