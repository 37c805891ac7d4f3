"""Who is let in over HTTP: host, origin, token, rate, size; and what is told to whom without one."""

import os
import socket
import subprocess

import httpx2
import pytest
from mcp import MCPError

from memory_server.cli.listening import listen
from tests import warm
from tests.conftest import Servers, Sqlite, call, until
from tests.http.conftest import Http, Start, token

pytestmark = pytest.mark.anyio

JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
HELLO = {
    "jsonrpc": "2.0", "id": 0, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
}  # fmt: skip


def post(http: Http, body: object = HELLO, **headers: str) -> httpx2.Response:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx2.post(http.url, json=body, headers={**JSON, **given}, timeout=30)


async def test_without_any_token_the_machine_itself_is_let_in(start: Start, era: str) -> None:
    with start() as http:
        async with http.client(mode=era) as client:
            stored = await call(client, "memory_store", content="The harbour opens at noon", type="learning")
            found = await call(client, "memory_search", query="harbour")
    assert [each["id"] for each in found["results"]] == [stored["id"]]


def test_from_the_first_token_on_everybody_needs_one_also_when_it_is_revoked(start: Start) -> None:
    with start() as http:
        assert post(http).status_code == 200
        given = token(http.servers, "ada")
        refusal = post(http)
        assert refusal.status_code == 401
        assert refusal.headers["www-authenticate"] == 'Bearer realm="memory-server"'
        assert post(http, authorization=f"Bearer {given}").status_code == 200
        subprocess.run(
            warm.program("token", "revoke", "ada", "--db", http.servers.given),
            env={**os.environ, **http.servers.env}, check=True, capture_output=True, timeout=60,
        )  # fmt: skip

        def is_refused() -> bool:
            return post(http, authorization=f"Bearer {given}").status_code == 401

        until(is_refused, "the revoked token is refused")
        assert post(http).status_code == 401


@pytest.mark.parametrize(
    "shown",
    ["Bearer msrv_" + "x" * 43, "Bearer", "Basic YWRhOnB3", "bearer %e9"],
)
def test_a_token_that_is_unknown_is_refused_also_where_none_is_needed(start: Start, shown: str) -> None:
    with start() as http:
        refusal = post(http, authorization=shown)
    assert refusal.status_code == 401
    assert 'error="invalid_token"' in refusal.headers["www-authenticate"]


def test_an_expired_token_is_refused(start: Start, sqlite: Sqlite) -> None:
    with start() as http:
        given = token(http.servers, "ada", "--expires", "1d")
        sqlite(http.servers.db, "UPDATE tokens SET expires_at = '2020-01-01T00:00:00.000Z'")
        assert post(http, authorization=f"Bearer {given}").status_code == 401


def test_a_foreign_host_or_origin_reaches_nothing(http: Http) -> None:
    assert post(http, host="evil.example").status_code == 421
    assert post(http, host="").status_code in (400, 421)
    assert post(http, origin="https://evil.example").status_code == 403
    assert post(http, origin="null").status_code == 403
    assert post(http, origin=f"http://localhost:{http.port}").status_code == 200
    assert httpx2.get(http.base("/nothing"), headers={"Host": "evil.example"}).status_code == 421


def test_a_host_that_was_named_is_let_in(start: Start, server: Servers) -> None:
    ada = f"Bearer {token(server, 'ada')}"
    with start("--http-hosts", "memory.example.com") as http:
        assert post(http, authorization=ada, host="memory.example.com").status_code == 200
        assert post(http, authorization=ada, host="memory.example.com:8443").status_code == 200
        assert post(http, authorization=ada, origin="https://memory.example.com").status_code == 200
        assert post(http, authorization=ada, host="memory.example.com.evil.example").status_code == 421


def test_a_body_of_more_than_4_mb_is_refused(http: Http) -> None:
    whole = httpx2.post(http.url, content=b" " * ((4 << 20) + 1), headers=JSON)
    assert whole.status_code == 413

    def parts() -> object:
        for _ in range(5):
            yield b" " * (1 << 20)

    assert httpx2.post(http.url, content=parts(), headers=JSON).status_code == 413  # type: ignore[arg-type]


async def test_a_model_reads_that_its_token_sends_too_many_requests(start: Start, era: str) -> None:
    with start("--http-rate", "60") as http:
        async with http.client(token(http.servers, "ada"), era) as client:

            async def call_often() -> None:
                for _ in range(20):
                    await client.call_tool("memory_stats", {})

            with pytest.raises(MCPError, match=r"Too many requests with this token\. Call again in \d+ s"):
                await call_often()


def test_too_many_requests_of_a_token_are_told_when_to_come_again(start: Start) -> None:
    with start("--http-rate", "60") as http:
        ada, ben = token(http.servers, "ada"), token(http.servers, "ben")
        answers = [post(http, authorization=f"Bearer {ada}") for _ in range(15)]
        late = next(each for each in answers if each.status_code == 429)
        assert 1 <= int(late.headers["retry-after"]) <= 60
        assert post(http, authorization=f"Bearer {ben}").status_code == 200


def test_health_says_that_it_is_there_and_nothing_else(http: Http) -> None:
    answer = httpx2.get(http.base("/health"), headers={"Host": "10.0.0.7"})
    assert (answer.status_code, answer.content) == (200, b"")
    assert "server" not in answer.headers


@pytest.mark.parametrize(
    "place", [("--http", "0.0.0.0:0"), ("--http", "0", "--http-hosts", "memory.example.com")]
)
def test_an_address_that_others_reach_needs_a_token(server: Servers, place: tuple[str, ...]) -> None:
    """A name of the server stands for a proxy, which brings others to this machine's own address."""
    done = subprocess.run(
        warm.program("serve", *place, "--db", server.given), env={**os.environ, **server.env},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1
    assert "there is no token" in done.stderr
    assert "memory-server token add NAME" in done.stderr


def test_no_piece_of_an_answer_waits_until_the_one_before_is_confirmed() -> None:
    with listen("127.0.0.1", 0) as listening:
        listening.listen()
        listening.setblocking(True)
        with socket.create_connection(listening.getsockname()), listening.accept()[0] as connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.mark.parametrize("command", [("serve", "--http"), ("view", "--port")])
def test_a_port_that_is_taken_is_told(http: Http, command: tuple[str, str]) -> None:
    done = subprocess.run(
        warm.program(*command, str(http.port), "--db", http.servers.given),
        env={**os.environ, **http.servers.env}, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1
    assert f"Nothing can listen at 127.0.0.1:{http.port}" in done.stderr
    assert f"{command[1]} of {command[0]}" in done.stderr
    assert "Traceback" not in done.stderr


async def test_nothing_stored_and_no_token_is_in_the_log_of_a_server_that_tells_all(
    start: Start, era: str
) -> None:
    with start("--log-level", "DEBUG") as http:
        given = token(http.servers, "ada")
        async with http.client(given, era) as client:
            await call(client, "memory_store", content="The marker is quokkaquokka", type="learning")
            await call(client, "memory_search", query="quokkaquokka")
            await client.call_tool("memory_get", {"ids": ["quokkaquokka"]})
            await client.read_resource("memory://memory/1")
        post(http, {"jsonrpc": "2.0", "id": 1, "method": "quokkaquokka"}, authorization=f"Bearer {given}")
        post(http, authorization=f"Bearer {given}x")
        assert http.end() == 0
        log = http.log.read_text()
    assert "quokkaquokka" not in log
    assert given[:20] not in log
