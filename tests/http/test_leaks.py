"""What is left in the process after many calls over HTTP: nothing that grows with their number."""

import asyncio
import gc
import os
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from http_server import JSON, hello
from http_server import call as request

from memory_server import app
from memory_server.app import Services
from memory_server.call import acting
from memory_server.domain.caller import Caller
from memory_server.domain.token import TokenDraft
from memory_server.engine.served import work_of
from memory_server.mcp import listed
from memory_server.mcp.http.app import HttpOptions, endpoint, http_app
from memory_server.mcp.http.callers import HttpCallers
from memory_server.mcp.http.keys import Keys
from memory_server.mcp.server import MemoryServer
from memory_server.services.tokens import TokenService
from memory_server.settings import Settings
from tests.conftest import new_place, until

pytestmark = pytest.mark.slow

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("memory_store", {"content": "The harbour opens at noon", "type": "learning"}),
    ("memory_search", {"query": "harbour"}),
    ("write_memory", {"key": "current.task", "value": 1}),
    ("read_memory", {"key": "current.task"}),
    ("memory_get", {"ids": [99]}),
    ("memory_delete", {"id": 99}),
    ("smart_resume", {}),
    ("no_such_tool", {}),
]


@pytest.fixture
def served(tmp_path: Path, store: str) -> Iterator[tuple[str, list[str], Services]]:
    """The address of a server in this process, the tokens of two people, and what the server is made of."""
    services = app.build(Settings(db=new_place(store, tmp_path), embedder="hashing"), several=True)
    tokens = TokenService(services.database, os.urandom)
    given = [tokens.add(TokenDraft(name), Caller())[0] for name in ("ana", "bob")]
    work = work_of(services, None)
    server = MemoryServer(listed.chosen(services.settings), work, HttpCallers(), "ERROR")
    application = http_app(endpoint(server, ()), Keys(tokens), HttpOptions(rate=1_000_000))
    listener = socket.create_server(("127.0.0.1", 0))
    http = uvicorn.Server(uvicorn.Config(application, log_level="error", ws="none"))
    thread = threading.Thread(target=http.run, args=([listener],), daemon=True)
    thread.start()
    until(lambda: http.started, "the server listens")
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", given, services
    http.should_exit = True
    thread.join(20)
    listener.close()
    services.close()


def use(url: str, token: str, *, newer: bool) -> None:
    """Each call once, in a session of its own where the era has sessions."""
    headers = {**JSON, "Authorization": f"Bearer {token}"}
    with httpx2.Client(timeout=60) as http:
        if not newer:
            headers["Mcp-Session-Id"] = http.post(url, json=hello(), headers=headers).headers[
                "mcp-session-id"
            ]
        for id, (tool, arguments) in enumerate(CALLS):
            body, own = request(id, tool, arguments, newer)
            assert http.post(url, json=body, headers={**headers, **own}).status_code == 200
        if not newer:
            http.delete(url, headers=headers)
        assert (
            http.post(url, json={}, headers={**headers, "Authorization": "Bearer msrv_x"}).status_code == 401
        )


TIMERS = 1_000
"""More than the server ever waits for at the same time."""


def drop_cancelled_timers() -> None:
    """asyncio keeps a cancelled timer until it is due, or until most timers are cancelled: then it drops them all."""
    # By its type: isinstance asks an object for its class, and some objects of torch answer with a warning.
    for loop in [each for each in gc.get_objects() if issubclass(type(each), asyncio.AbstractEventLoop)]:
        dropped = threading.Event()

        def drop(loop: asyncio.AbstractEventLoop = loop, dropped: threading.Event = dropped) -> None:
            for _ in range(TIMERS):
                loop.call_later(3600, int).cancel()
            loop.call_soon(loop.call_soon, dropped.set)

        if loop.is_running():
            loop.call_soon_threadsafe(drop)
            assert dropped.wait(20)


def objects(services: Services) -> Counter[str]:
    with acting.as_(None):
        services.database.settle()  # what reads have to write waits in the process
    drop_cancelled_timers()
    gc.collect()
    return Counter(f"{type(each).__module__}.{type(each).__qualname__}" for each in gc.get_objects())


def test_no_kind_of_object_grows_with_the_number_of_calls(served: tuple[str, list[str], Services]) -> None:
    url, tokens, services = served

    def rounds(number: int) -> Counter[str]:
        for _ in range(number):
            for token in tokens:
                for newer in (False, True):
                    use(url, token, newer=newer)
        return objects(services)

    rounds(2)
    before = rounds(2)
    after = rounds(6)
    assert {kind: more for kind, number in after.items() if (more := number - before[kind]) >= 12} == {}
