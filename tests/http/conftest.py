"""The real server on a port of this machine, and clients of several people in both eras."""

import os
import re
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Implementation

from tests import warm
from tests.cli.conftest import ledger, terminal
from tests.conftest import PATIENCE, ROOT, Servers, until

__all__ = ["ledger", "terminal"]


@dataclass(frozen=True, slots=True)
class Http:
    """A running server."""

    servers: Servers
    process: "subprocess.Popen[bytes]"
    port: int
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def base(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    @asynccontextmanager
    async def client(
        self, token: str | None = None, mode: str = "auto", name: str = "tests", **headers: str
    ) -> AsyncIterator[Client]:
        """A connected official client; `project="shop"` is the header Memory-Project."""
        sent = {f"Memory-{each}".encode(): value.encode() for each, value in headers.items()}
        if token is not None:
            sent[b"Authorization"] = f"Bearer {token}".encode()
        info = Implementation(name=name, version="1")
        async with (
            httpx2.AsyncClient(headers=sent, timeout=60) as http,
            Client(
                streamable_http_client(self.url, http_client=http),
                mode=mode,
                client_info=info,
                read_timeout_seconds=60,
            ) as client,
        ):
            yield client

    def end(self, by: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to end; its exit code."""
        self.process.send_signal(by)
        return self.process.wait(timeout=60)


Start = Callable[..., AbstractContextManager[Http]]


@contextmanager
def started(
    servers: Servers, *arguments: str, program: Callable[..., list[str]] = warm.program
) -> Iterator[Http]:
    """A server on a free port, ended afterwards."""
    log = servers.folder / "http.log"
    with log.open("ab") as errors:
        begin = errors.tell()
        process = subprocess.Popen(
            program("serve", "--http", "0", "--db", servers.given, "--embedder", "hashing", *arguments),
            env={**os.environ, **servers.env}, cwd=servers.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=errors,
        )  # fmt: skip
    try:
        until(lambda: _port(log, begin) or process.poll() is not None, "the server listens")
        port = _port(log, begin)
        assert port is not None, log.read_text()
        yield Http(servers, process, port, log)
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(timeout=PATIENCE * 2)


def _port(log: Path, begin: int) -> int | None:
    found = re.search(r"http://127\.0\.0\.1:(\d+)/mcp", log.read_text()[begin:])
    return int(found[1]) if found else None


@pytest.fixture
def start(server: Servers) -> Start:
    """`with start("--http-rate", "60") as http:`"""
    return lambda *arguments: started(server, *arguments)


@pytest.fixture(scope="module")
def module_servers(
    tmp_path_factory: pytest.TempPathFactory, user_folders: dict[str, str], store: str
) -> Servers:
    return Servers(tmp_path_factory.mktemp("http"), {**user_folders, "PYTHONPATH": str(ROOT)}, store)


@pytest.fixture(scope="module")
def http(module_servers: Servers) -> Iterator[Http]:
    """One server for a module. The first token that a test adds closes it to those who have none."""
    with started(module_servers) as running:
        yield running


def token(servers: Servers, *arguments: str) -> str:
    """A new token: `token(servers, "ada", "--project", "shop")`; without a project it has all."""
    reach = () if "--project" in arguments else ("--all-projects",)
    return _run(servers, "token", "add", *arguments, *reach)


def revoke(servers: Servers, name: str) -> None:
    """All tokens of a person are refused from now on."""
    _run(servers, "token", "revoke", name)


def _run(servers: Servers, *arguments: str) -> str:
    done = subprocess.run(
        warm.program(*arguments, "--db", servers.given), env={**os.environ, **servers.env},
        cwd=servers.folder, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
