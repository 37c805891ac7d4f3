"""A real server process, spoken to in lines of JSON by any number of threads."""

import itertools
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

from memory_server.where import Postgres, Where

ROOT = Path(__file__).resolve().parents[3]

PATIENCE = 45.0
"""Seconds after which a call counts as never answered. A call waits 20 s for a lock at most."""

Message = dict[str, Any]
Answer = dict[str, Any] | str
"""The structured content of a tool, or the text of its refusal."""


class Gone(Exception):
    """The server ended before it answered."""


class Silent(Exception):
    """The server lives and does not answer."""


class Server:
    """`memory-server serve` on a database; its own folders, its log and its standard error are in `folder`."""

    def __init__(
        self,
        db: Where,
        folder: Path,
        command: Sequence[str] = (sys.executable, "-m", "memory_server"),
        environment: Mapping[str, str] = MappingProxyType({}),
        greets: bool = True,
        reads: bool = True,
    ) -> None:
        """`command` starts the program; `environment` is added. `greets` False: the caller greets it. `reads` False:
        nobody reads its answers.
        """
        self.log = folder / "server.log"
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("MEMORY_", "CLAUDE_"))
        }
        home = {name: str(folder) for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")}
        given = db.given if isinstance(db, Postgres) else str(db)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, "--db", given, "--embedder", "hashing"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, cwd=folder,
                env={**kept, **home, "MEMORY_SERVER_ENGINE": "off", "PYTHONPATH": str(ROOT), **environment},
            )  # fmt: skip
        self.strays: list[str] = []
        """Lines that answer nothing that was asked."""
        self._ids = itertools.count(1)
        self._waiting: dict[object, queue.Queue[Message | None]] = {}
        self._lock = threading.Lock()
        self._ended = False
        if reads:
            threading.Thread(target=self._read, daemon=True).start()
        if greets:
            self.greet()

    def greet(self) -> None:
        """The first messages of a client."""
        client = {"name": "torture", "version": "1"}
        self.request(
            "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        )
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    def call(self, tool: str, arguments: dict[str, Any]) -> Answer:
        answer = self.request("tools/call", {"name": tool, "arguments": arguments})
        if "error" in answer:
            return str(answer["error"]["message"])
        result = answer["result"]
        if result.get("isError"):
            return str(result["content"][0]["text"])
        facts: dict[str, Any] = result["structuredContent"]
        return facts

    def request(self, method: str, params: dict[str, Any]) -> Message:
        id = next(self._ids)
        message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        return self.exchange(json.dumps(message).encode() + b"\n", id)

    def exchange(self, line: bytes, id: object) -> Message:
        """Send a line and wait for the answer with this id.

        Raises:
            Gone: the server ended.
            Silent: it did not answer in time.
        """
        inbox: queue.Queue[Message | None] = queue.Queue()
        with self._lock:
            if self._ended:
                raise Gone
            self._waiting[id] = inbox
        self.send(line)
        try:
            answer = inbox.get(timeout=PATIENCE)
        except queue.Empty:
            raise Silent(f"no answer in {PATIENCE:.0f} s to {line[:200]!r}") from None
        if answer is None:
            raise Gone
        return answer

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        try:
            with self._lock:
                self.process.stdin.write(line)
                self.process.stdin.flush()
        except OSError:
            raise Gone from None

    def kill(self) -> None:
        self.process.kill()
        self._end()

    def leave(self) -> int:
        """Close its input; the exit code."""
        assert self.process.stdin is not None
        with suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self._end()
        return self.process.returncode

    def _end(self) -> None:
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError, ValueError):
                assert pipe is not None
                pipe.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with suppress(ValueError, OSError):
            for line in self.process.stdout:
                self._deliver(line)
        with self._lock:
            self._ended = True
            for inbox in self._waiting.values():
                inbox.put(None)

    def _deliver(self, line: bytes) -> None:
        try:
            message = json.loads(line)
            with self._lock:
                inbox = self._waiting.pop(message.get("id"), None)
        except (ValueError, TypeError, AttributeError):
            inbox = None
        if inbox is None:
            self.strays.append(repr(line[:200]))
        else:
            inbox.put(message)


def traceback_in(server: Server) -> list[str]:
    """What the server's log should never hold."""
    text = server.log.read_text(errors="replace")
    return [f"the log has a traceback: …{text[-600:]}"] if "Traceback" in text else []
