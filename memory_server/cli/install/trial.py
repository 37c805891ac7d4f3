"""Tries an entry: starts the server as the client will, and reads the briefing, which makes the database."""

import contextlib
import json
import os
import subprocess
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from memory_server import __version__
from memory_server.errors import Unavailable

PATIENCE = 60.0
"""Seconds until the server counts as silent; it tells itself of a database that is locked for 20."""

_HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "install", "version": __version__},
}
_REQUESTS: tuple[dict[str, Any], ...] = (
    {"id": 1, "method": "initialize", "params": _HELLO},
    {"method": "notifications/initialized"},
    {"id": 2, "method": "resources/read", "params": {"uri": "memory://resume"}},
)
"""What is read is offered whichever tools the settings switch off, and nothing counts that it was read."""


def try_server(words: Sequence[str], variables: Mapping[str, str]) -> None:
    """Start the server of an entry with its variables, and read the briefing through it.

    Raises:
        Unavailable: it cannot be started, says nothing, or refuses; the text is its own reason.
    """
    pipe = subprocess.PIPE
    environment = {**os.environ, **variables}
    try:
        process = subprocess.Popen(  # noqa: S603 - our own program
            words, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, encoding="utf-8"
        )
    except OSError as error:
        raise Unavailable(f"{words[0]} cannot be started: {error.strerror}.") from error
    timer = threading.Timer(PATIENCE, process.kill)
    timer.start()
    try:
        answer = _answer(process)
    finally:
        _, complaints = process.communicate()
        timer.cancel()
    if answer is None:
        lines = complaints.strip().splitlines() or [f"{words[0]} ended or was silent for {PATIENCE:.0f} s."]
        raise Unavailable(lines[-1].removeprefix("memory-server").lstrip(":： "))
    if "error" in answer:
        raise Unavailable(answer["error"]["message"])


def _answer(process: "subprocess.Popen[str]") -> dict[str, Any] | None:
    """Ask, and return the answer to the last request; None where the process ends before."""
    stdin, stdout = process.stdin, process.stdout
    if stdin is None or stdout is None:
        return None
    with contextlib.suppress(BrokenPipeError):  # what it printed before it ended says why
        stdin.writelines(json.dumps({"jsonrpc": "2.0", **request}) + "\n" for request in _REQUESTS)
        stdin.flush()
    messages = (json.loads(line) for line in stdout)
    return next((message for message in messages if message.get("id") == _REQUESTS[-1]["id"]), None)
