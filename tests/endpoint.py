"""A local server that speaks OpenAI's embeddings API, over real HTTP, and can fail in every way that a test wants."""

import json
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from memory_server.embedding.hashing import HashingEmbedder


@dataclass(frozen=True)
class Asked:
    """One request as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def texts(self) -> list[str]:
        texts: list[str] = self.body["input"]
        return texts


Answer = Callable[["Local", Asked], tuple[int, dict[str, str], bytes] | None]
"""What the server does with a request: a status, headers and a body; None breaks off the connection."""


def status(code: int, body: object = None, **headers: str) -> Answer:
    """An answer that is no success; `Retry_After` is the header `Retry-After`."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    text = body if isinstance(body, bytes) else json.dumps({"error": {"message": body}}).encode()
    return lambda local, asked: (code, sent, text)


def says(body: bytes) -> Answer:
    """A success with this body."""
    return lambda local, asked: (200, {}, body)


def stall(local: "Local", asked: Asked) -> None:
    """No answer, until the test ends."""
    local.stalled.set()
    local.ended.wait(30)


def broken(local: "Local", asked: Asked) -> None:
    """The connection ends without an answer."""


def embedded(local: "Local", asked: Asked) -> tuple[int, dict[str, str], bytes]:
    """What an endpoint should answer."""
    rows = [{"index": at, "embedding": local.vector(text)} for at, text in enumerate(asked.texts)]
    return 200, {}, json.dumps({"data": rows, "model": asked.body["model"]}).encode()


def refusing(wrong: Callable[[list[str]], bool], code: int = 400, body: object = "too long") -> Answer:
    """An endpoint that refuses what is `wrong`."""
    return lambda local, asked: (
        status(code, body)(local, asked) if wrong(asked.texts) else embedded(local, asked)
    )


@dataclass
class Local:
    """The server. `answers` are used up first, one a request; then `answer` is what it does."""

    dimensions: int = 512
    model: int = 0
    """Which model it serves: another number gives other vectors."""
    answers: deque[Answer] = field(default_factory=deque)
    answer: Answer = embedded
    asked: list[Asked] = field(default_factory=list)
    stalled: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    _port: int = 0
    _server: ThreadingHTTPServer | None = None
    _connections: list[socket.socket] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def texts(self) -> list[list[str]]:
        """The texts of each request."""
        return [asked.texts for asked in self.asked]

    def vector(self, text: str) -> list[float]:
        """Spelling, hashed: like texts have like vectors. Not of length 1."""
        vector = np.roll(HashingEmbedder().embed_questions([text])[0], 5 * self.model)[: self.dimensions]
        return [float(number) for number in 3 * vector]

    def start(self) -> None:
        """Listen, at the same address as before."""

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            local = self

            def setup(self) -> None:
                super().setup()
                self.local._connections.append(self.connection)

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                asked = Asked(self.path, dict(self.headers), body)
                self.local.asked.append(asked)
                answer = self.local.answers.popleft() if self.local.answers else self.local.answer
                found = answer(self.local, asked)
                if found is None:
                    self.close_connection = True
                    return
                code, headers, content = found
                self.send_response(code)
                for name, value in {"Content-Length": str(len(content)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False

            def handle_error(self, *_: object) -> None:
                """The client has gone: that is what some tests are about."""

        self._server = Server(("127.0.0.1", self._port), Handler)
        self._port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        """Be gone: no connection is answered or accepted."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None
        for connection in self._connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._connections.clear()


@contextmanager
def local_endpoint() -> Iterator[Local]:
    """A server that runs inside the block."""
    local = Local()
    local.start()
    try:
        yield local
    finally:
        local.ended.set()
        local.stop()
