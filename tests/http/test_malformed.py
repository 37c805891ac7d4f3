"""What no client should send. `python scripts/lab/malformed_http.py` sends 10,000 of these."""

import asyncio
import socket

from http_server import Server
from malformed_http import bombard, works

from tests.conftest import until
from tests.http.conftest import Http, Start


def as_server(http: Http) -> Server:
    return Server(http.process, http.port, http.servers.db, http.log)


def test_malformed_requests_are_answered_or_hung_up_on_and_break_nothing(start: Start) -> None:
    with start() as http:
        server = as_server(http)
        seen = asyncio.run(bombard(server, 200, seed=11))
        assert works(server)
        assert http.process.poll() is None
    assert sum(seen.values()) == 200
    assert not [line for line in seen if " 500" in line]
    log = http.log.read_text(encoding="utf-8", errors="replace")
    assert "Traceback" not in log
    assert "A" * 100 not in log


def test_what_comes_behind_a_request_and_is_no_http_breaks_only_its_connection(start: Start) -> None:
    kind = b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    head = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + kind
    with start() as http:
        bare = b"HEAD /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
        with socket.create_connection(("127.0.0.1", http.port), 20) as connection:
            connection.sendall(bare)
            while connection.recv(1 << 16):
                pass
        for rest in (b"zz\r\n", b"2\r\n{}\r\nzz\r\n", b"2\r\n{}\r\n0\r\n\r\n\x00\x01\x02 \r\n\r\n"):
            with socket.create_connection(("127.0.0.1", http.port), 20) as connection:
                connection.sendall(head + rest)
                while connection.recv(1 << 16):
                    pass
        assert works(as_server(http))
    assert "Traceback" not in http.log.read_text()


def test_what_follows_a_request_with_two_lengths_is_no_request(start: Start) -> None:
    """A proxy that goes by the other length has let it through as a part of the first."""
    lengths = b"Content-Length: 60\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    first = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + lengths
    with start() as http, socket.create_connection(("127.0.0.1", http.port), 20) as connection:
        connection.sendall(first + b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    assert (answer[:12], answer.count(b"HTTP/1.1")) == (b"HTTP/1.1 400", 1)


def test_clients_that_say_half_and_stay_keep_nobody_waiting(start: Start) -> None:
    """Twice as many as there are places of calls."""
    half = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{"
    with start() as http:
        connections = [socket.create_connection(("127.0.0.1", http.port), 20) for _ in range(32)]
        for each in connections:
            each.sendall(half)
        until(lambda: works(as_server(http)), "another call is answered")
        for each in connections:
            each.close()
