"""Connections that ask nothing, never end their request or read no answer: they keep nobody else waiting."""

import asyncio
import resource
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress

import httpx2
import pytest
import uvicorn
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from memory_server.mcp.http import serving
from memory_server.mcp.http.serving import CONNECTIONS, _address, _Connection
from tests.http.conftest import Http, Start, token
from tests.http.test_door import HELLO, JSON

pytestmark = pytest.mark.anyio

NEAR, FAR = "127.0.0.1", "127.0.0.2"

HALF = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n"

ANSWER = b"x" * 100_000


@pytest.fixture
def many_files() -> Iterator[None]:
    """This process may have as many files open as the test has connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 2 * CONNECTIONS + 500
    if hard != resource.RLIM_INFINITY and hard < needed:
        pytest.skip(f"the system allows {hard} open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, needed), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def connected(http: Http, source: str) -> socket.socket:
    return socket.create_connection((NEAR, http.port), 20, source_address=(source, 0))


def status(http: Http, source: str, bearer: str) -> int:
    """The status of a call from this address."""
    with httpx2.Client(transport=httpx2.HTTPTransport(local_address=source), timeout=60) as client:
        headers = {**JSON, "Authorization": f"Bearer {bearer}"}
        return client.post(http.url, json=HELLO, headers=headers).status_code


def is_served(*connections: socket.socket) -> None:
    """Asks something on each connection, which stays open."""
    for connection in connections:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(1000).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("sources", [[NEAR], [f"127.0.1.{number}" for number in range(1, 9)]])
@pytest.mark.usefixtures("many_files")
def test_thousands_of_half_requests_keep_nobody_from_being_answered(start: Start, sources: list[str]) -> None:
    """From one address, and from so many that none has its share."""
    with start() as http:
        ada = token(http.servers, "ada")
        half = [connected(http, sources[number % len(sources)]) for number in range(CONNECTIONS + 100)]
        for connection in half:
            with suppress(OSError):  # it was closed to make room
                connection.sendall(HALF)
        assert [status(http, source, ada) for source in (FAR, sources[0])] == [200, 200]
        for connection in half:
            connection.close()
        assert "Traceback" not in http.log.read_text()


@pytest.mark.usefixtures("many_files")
def test_half_requests_take_no_place_from_other_addresses(start: Start) -> None:
    with start() as http:
        far = [connected(http, FAR) for _ in range(10)]
        is_served(*far)
        near = [connected(http, NEAR) for _ in range(CONNECTIONS + 100)]
        is_served(*far)
        for connection in (*far, *near):
            connection.close()


@asynccontextmanager
async def serving_slowly(monkeypatch: pytest.MonkeyPatch, most: int = 10) -> AsyncIterator[tuple[str, int]]:
    """The address of a server in this process that gives clients a moment; an answer to POST waits for ever."""
    monkeypatch.setattr(serving, "HEAD", 0.1)
    monkeypatch.setattr(serving, "UNREAD", 0.1)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/endless":
            await asyncio.get_running_loop().create_future()
        await Response(ANSWER)(scope, receive, send)

    config = uvicorn.Config(app, lifespan="off", log_config=None, limit_concurrency=most)
    config.load()
    state = ServerState()
    server = await asyncio.get_running_loop().create_server(
        lambda: _Connection(config, state, {}), NEAR, 0, backlog=256
    )
    async with server:
        yield server.sockets[0].getsockname()
        for task in state.tasks:
            task.cancel()


async def read(reader: asyncio.StreamReader) -> bytes:
    """All that comes until the server closes the connection."""
    async with asyncio.timeout(20):
        with suppress(ConnectionResetError):
            return await reader.read()
    return b""


@pytest.mark.parametrize("sent", [b"", HALF])
async def test_a_client_that_does_not_end_its_head_is_hung_up_on(
    monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    async with serving_slowly(monkeypatch) as place:
        reader, writer = await asyncio.open_connection(*place)
        writer.write(sent)
        assert await read(reader) == b""
        writer.close()


async def test_a_client_that_goes_on_behind_its_answer_is_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving_slowly(monkeypatch) as place:
        reader, writer = await asyncio.open_connection(*place, limit=2 * len(ANSWER))
        writer.write(HALF + b"Content-Length: 9999\r\n\r\nbegun")
        await reader.readuntil(ANSWER)
        writer.write(b"goes on")
        assert await read(reader) == b""
        writer.close()


async def test_a_client_that_does_not_read_is_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving_slowly(monkeypatch) as place:
        with socket.create_connection(place) as connection:
            connection.setblocking(False)
            loop = asyncio.get_running_loop()
            async with asyncio.timeout(20):
                with suppress(OSError):
                    while True:
                        await loop.sock_sendall(connection, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")


async def test_the_connections_of_requests_under_way_are_kept_and_idle_ones_make_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A proxy has one address for all."""
    async with serving_slowly(monkeypatch, most=10) as place:
        monkeypatch.setattr(serving, "HEAD", 20)
        busy = [await asyncio.open_connection(*place) for _ in range(4)]
        for _, writer in busy:
            writer.write(b"GET /endless HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await writer.drain()
        idle = [await asyncio.open_connection(*place) for _ in range(20)]
        reader, writer = idle[-1]
        writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert (await read(reader)).startswith(b"HTTP/1.1 200")
        assert [await read(reader) for reader, _ in idle[:15]] == [b""] * 15
        assert [reader.at_eof() for reader, _ in busy] == [False] * 4
        for _, writer in (*busy, *idle):
            writer.close()


def test_the_addresses_of_one_network_of_ipv6_count_as_one() -> None:
    near, same, far = (_address((host, 1)) for host in ("2001:db8::1", "2001:db8::ffff:1", "2001:db8:0:1::1"))
    assert near == same != far
    assert _address((NEAR, 1)) != _address((FAR, 1))
