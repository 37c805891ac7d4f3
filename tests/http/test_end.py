"""How a server over HTTP ends: running calls are answered, new ones are not taken, and the file is whole."""

import json
import signal
import socket
import threading
import time
from pathlib import Path

import httpx2
import pytest

from tests.conftest import Servers, Sqlite, call, until
from tests.http.conftest import Start
from tests.http.test_door import HELLO, JSON

pytestmark = pytest.mark.anyio

LONG = "while (true) {}"
"""A trigger that takes its whole second."""


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
async def test_a_running_call_is_answered_and_a_new_one_is_not_taken(
    start: Start, sqlite: Sqlite, by: signal.Signals
) -> None:
    with start() as http:
        session = httpx2.post(http.url, json=HELLO, headers=JSON).headers["mcp-session-id"]
        headers = {**JSON, "Mcp-Session-Id": session}
        done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert httpx2.post(http.url, json=done, headers=headers).status_code == 202
        slow = {
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "test_trigger", "arguments": {"trigger": LONG}},
        }  # fmt: skip
        answers: list[httpx2.Response] = []
        caller = threading.Thread(
            target=lambda: answers.append(httpx2.post(http.url, json=slow, headers=headers, timeout=60))
        )
        caller.start()
        time.sleep(0.4)  # the call is under way; where it is not yet, it is refused, and the test is as true
        http.process.send_signal(by)

        def refuses() -> bool:
            try:
                return httpx2.post(http.url, json=HELLO, headers=JSON).status_code == 503
            except httpx2.TransportError:
                return True

        until(refuses, "no new call is taken")
        caller.join(60)
        assert http.process.wait(60) == 0
    assert answers[0].status_code == 200
    assert "result" in answers[0].json()
    assert sqlite(http.servers.db, "PRAGMA integrity_check") == "ok"
    assert not http.servers.db.with_name("memory.db-journal").exists()


def test_while_it_ends_a_new_request_is_told_to_come_again_and_one_under_way_is_answered(
    start: Start,
) -> None:
    def post() -> httpx2.Response:
        return httpx2.post(http.url, json=HELLO, headers=JSON)

    with start() as http, socket.create_connection(("127.0.0.1", http.port), timeout=60) as slow:
        body = json.dumps(HELLO).encode()
        head = {"Host": f"127.0.0.1:{http.port}", **JSON, "Content-Length": str(len(body))}
        lines = ["POST /mcp HTTP/1.1", *(f"{name}: {value}" for name, value in head.items())]
        slow.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body[:1])
        assert post().status_code == 200  # so the slow one has been seen
        http.process.terminate()
        until(lambda: post().status_code == 503, "new requests are refused")
        refused = post()
        assert (refused.json()["error"]["data"], refused.headers["retry-after"]) == (
            {"error": "closing"},
            "5",
        )
        slow.sendall(body[1:])
        assert slow.recv(100).startswith(b"HTTP/1.1 200")
        assert http.process.wait(60) == 0


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="it looks for what the process has loaded")
async def test_ctrl_c_while_the_program_is_imported_prints_nothing(server: Servers) -> None:
    server.cold = True
    process = server.process("serve", "--http", "0")
    maps = Path(f"/proc/{process.pid}/maps")
    until(lambda: "pydantic_core" in maps.read_text(), "the imports are under way")
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60) == (b"", b"")
    assert process.returncode == -signal.SIGINT


async def test_open_streams_do_not_keep_it_from_ending(start: Start, era: str) -> None:
    with start() as http:
        async with http.client(mode=era) as client:
            await call(client, "memory_stats")
            before = time.monotonic()
            http.process.terminate()
            until(lambda: http.process.poll() is not None, "the server ends", 15)
            assert time.monotonic() - before < 15
    assert http.process.returncode == 0


async def test_what_was_answered_before_a_kill_is_in_the_file(start: Start, sqlite: Sqlite, era: str) -> None:
    with start() as http:
        async with http.client(mode=era) as client:
            stored = await call(client, "memory_store", content="The sky is blue today", type="decision")
            http.process.kill()
            http.process.wait(20)
    found = sqlite(http.servers.db, f"SELECT content FROM memories WHERE id = {stored['id']}")
    assert found == "The sky is blue today"
