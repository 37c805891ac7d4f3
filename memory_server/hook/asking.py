"""Asks a running server of the same database what a prompt should bring to mind: it knows meaning and JavaScript."""

import os
import time
from pathlib import Path

from memory_server.domain.injection import Reminder
from memory_server.hook import place, wire
from memory_server.hook.wire import Question

PATIENCE = 0.3
"""Seconds that all servers have together: a person waits."""


def ask(database: Path, question: Question) -> Reminder | None:
    """The answer of the first server that gives one in time; None where none does.

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
        answer = _asked(path, question, time.monotonic() + share)
        if answer is not None:
            return answer
    return None


def _asked(path: Path, question: Question, ends: float) -> Reminder | None:
    import socket  # 4 ms, where there is a server

    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
            wire.wait_until(server, ends)
            server.connect(str(path))
            if not wire.is_of_this_user(server):
                return None
            server.sendall(wire.of_question(question))
            server.shutdown(socket.SHUT_WR)
            return wire.reminder(wire.read(server, ends))
    except ConnectionRefusedError:
        place.remove_stale(path)
    except (OSError, ValueError, KeyError, TypeError):  # it is busy, has just left, or is another program
        pass
    return None
