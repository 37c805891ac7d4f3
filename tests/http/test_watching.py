"""What is counted and recorded of calls, over HTTP and over standard input and output: numbers, never contents."""

import json
import os
import re
import stat
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client

from memory_server.mcp.audit import RefusedLogin
from memory_server.mcp.http.keys import Keys
from memory_server.mcp.http.logins import ADDRESSES, RefusedLogins
from memory_server.services.tokens import TokenService
from memory_server.sqlite.database import Database
from memory_server.stores import clock
from tests.cli.conftest import Terminal
from tests.conftest import Servers, Sqlite, call
from tests.http.conftest import Start, token

pytestmark = pytest.mark.anyio

MARKER = "quokkaquokka"

BY_PROXIES = (
    "Forwarded",
    "Via",
    "X-Forwarded-For",
    "X-Forwarded-Host",
    "X-Forwarded-Proto",
    "X-Original-Forwarded-For",
    "X-Real-IP",
    "CF-Connecting-IP",
    "True-Client-IP",
    "X-Client-IP",
    "X-Cluster-Client-IP",
    "Fastly-Client-IP",
    "X-Azure-ClientIP",
    "CDN-Loop",
    "X-Envoy-External-Address",
    "WL-Proxy-Client-IP",
)
"""Headers that a proxy adds; each alone says that the request is not of this machine."""


async def use(client: Client) -> None:
    """Each outcome, with the marker in all that is said."""
    await call(client, "memory_store", content=f"The {MARKER} sleeps", type="learning", tags=[MARKER])
    await call(client, "memory_search", query=MARKER)
    await call(client, "memory_get", ids=[1, 7])
    await client.call_tool("memory_delete", {"id": 99})
    await client.call_tool(MARKER, {})
    await call(client, "write_memory", key=f"current.{MARKER}", value=MARKER)
    await client.read_resource("memory://memory/1")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


async def test_the_audit_log_says_who_called_what_about_which_ids_and_no_contents(
    start: Start, tmp_path: Path, era: str
) -> None:
    audit = tmp_path / "audit.log"
    with start("--audit", str(audit)) as http:
        given = token(http.servers, "ada")
        async with http.client(given, era, "Claude Code") as client:
            await use(client)
    written = lines(audit)
    assert {(each["person"], each["client"]) for each in written} == {("ada", "Claude Code")}
    assert [(each["call"], each["outcome"], each["ids"]) for each in written] == [
        ("memory_store", "done", [1]),
        ("memory_search", "done", [1]),
        ("memory_get", "done", [1, 7]),
        ("memory_delete", "refused", [99]),
        ("(unknown)", "refused", []),
        ("write_memory", "done", [1]),
        ("resources/read", "done", [1]),
    ]
    text = audit.read_text()
    assert MARKER not in text
    assert given not in text
    assert stat.S_IMODE(audit.stat().st_mode) == 0o600


def test_the_audit_log_has_refused_logins_without_their_tokens(
    start: Start, tmp_path: Path, sqlite: Sqlite
) -> None:
    audit = tmp_path / "audit.log"
    with start("--audit", str(audit)) as http:
        old, given = token(http.servers, "ada", "--expires", "1d"), token(http.servers, "ben")
        sqlite(http.servers.db, "UPDATE tokens SET expires_at = '2020-01-01T00:00:00.000Z' WHERE id = 1")

        def shown(each: str, **headers: str) -> int:
            sent = {"Authorization": f"Bearer {each}", **headers}
            return httpx2.post(http.url, json={}, headers=sent).status_code

        assert shown(old) == 401
        assert shown(f"{given}{MARKER}", **{"X-Forwarded-For": "203.0.113.7"}) == 401
        assert httpx2.get(http.base("/"), headers={"Authorization": f"Bearer {MARKER}"}).status_code == 401
        here = {"Origin": http.base("")}
        assert httpx2.post(http.base("/enter"), data={"token": old}, headers=here).status_code == 403
        assert httpx2.post(http.url, json={}).status_code == 401  # no token is no login
    written = lines(audit)
    assert {(each["call"], each["outcome"], each["address"]) for each in written} == {
        ("(login)", "refused", "127.0.0.1")
    }
    assert [
        (each["through"], each["reason"], each["person"], each["token"], each["forwarded_for"])
        for each in written
    ] == [
        ("token", "expired", "ada", 1, None),
        ("token", "unknown", None, None, "203.0.113.7"),
        ("token", "unknown", None, None, None),
        ("form", "expired", "ada", 1, None),
    ]
    text = audit.read_text()
    assert MARKER not in text
    assert old[5:15] not in text
    assert given[5:15] not in text


async def test_refused_logins_fill_no_audit_log(server: Servers) -> None:
    database, now, told = Database(server.db, clock), [1000.0], list[RefusedLogin]()
    logins = RefusedLogins(Keys(TokenService(database, os.urandom)), told.append, lambda: now[0])

    async def refused(address: str, times: int) -> None:
        for _ in range(times):
            await logins.by_token({"type": "http", "headers": [], "client": (address, 1)}, "msrv_x")

    await refused("10.0.0.1", 500)
    assert len(told) == 5  # what an address has at once
    await refused("10.0.0.2", 1)
    assert (told[-1].address, told[-1].left_out) == ("10.0.0.2", 495)
    for number in range(3 * ADDRESSES):
        await refused(f"2001:db8::{number:x}", 1)
    assert len(told) == 10  # what all addresses have at once
    assert len(logins._each._left) == ADDRESSES
    now[0] += 3600
    for number in range(100):
        await refused(f"10.0.1.{number}", 1)
    assert len(told) == 20
    database.close()


async def test_an_audit_log_that_all_could_read_is_closed_to_others(start: Start, tmp_path: Path) -> None:
    audit = tmp_path / "audit.log"
    audit.touch(0o644)
    with start("--audit", str(audit)) as http:
        async with http.client() as client:
            await call(client, "memory_stats")
    assert stat.S_IMODE(audit.stat().st_mode) == 0o600


async def test_metrics_count_calls_by_tool_in_the_format_of_prometheus(start: Start) -> None:
    with start() as http:
        async with http.client() as client:
            await use(client)
        answer = httpx2.get(http.base("/metrics"))
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    for line in answer.text.splitlines():
        assert re.fullmatch(r'# (HELP|TYPE) \w+ .+|\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? [0-9.e+]+', line), (
            line
        )
    assert 'memory_server_calls_total{tool="memory_store"} 1' in answer.text
    assert 'memory_server_calls_refused_total{tool="memory_delete"} 1' in answer.text
    assert 'memory_server_calls_total{tool="(unknown)"} 1' in answer.text
    assert 'memory_server_call_seconds_bucket{tool="memory_search",le="+Inf"} 1' in answer.text
    assert "memory_server_resident_memory_bytes" in answer.text
    assert 'memory_server_writes_total{toolset="memories"} 1' in answer.text
    assert "memory_server_writes_failed_total 1" in answer.text
    assert re.search(r"memory_server_process_cpu_seconds_total [0-9.]*[1-9]", answer.text)
    assert MARKER not in answer.text


def test_metrics_are_for_this_machine_or_who_has_a_token(start: Start, server: Servers) -> None:
    ada = token(server, "ada")
    with start("--http-hosts", "memory.example.com") as http:

        def status(**headers: str) -> int:
            sent = {name.replace("_", "-"): value for name, value in headers.items()}
            return httpx2.get(http.base("/metrics"), headers=sent).status_code

        assert [status(), status(host="localhost"), status(host=f"localhost:{http.port}")] == [200] * 3
        assert status(x_prometheus_scrape_timeout_seconds="10") == 200
        assert {name: status(**{name: "203.0.113.7"}) for name in BY_PROXIES} == dict.fromkeys(
            BY_PROXIES, 401
        )
        assert status(host="memory.example.com") == 401
        assert status(x_real_ip="203.0.113.7", authorization=f"Bearer {ada}") == 200
        assert status(host="evil.example") == 421


async def test_the_counts_of_both_faces_are_in_the_file_and_stats_tells_them(
    server: Servers, terminal: Terminal, start: Start
) -> None:
    async with server() as client:
        await use(client)
    with start() as http:
        async with http.client() as client:
            await call(client, "memory_search", query=MARKER)
            await call(client, "test_trigger", trigger="true")
        assert http.end() == 0
    counted = terminal("stats", "--calls", "--json").json
    assert counted["writes"] == {"memories": 1, "facts": 1}
    assert counted["failed_writes"] == 1
    assert counted["cpu_seconds"] > 0
    assert counted["triggers"] >= 1
    assert counted["engine_restarts"] == 0
    told = {each["tool"]: each for each in counted["tools"]}
    assert (told["memory_search"]["calls"], told["memory_search"]["failed"]) == (2, 0)
    assert (told["memory_delete"]["calls"], told["memory_delete"]["refused"]) == (1, 1)
    assert told["memory_search"]["p50"] <= told["memory_search"]["p95"]
    assert MARKER not in told
    assert terminal("stats", "--calls").rows[0][:2] == ["memory_search", "2"]


async def test_a_read_only_server_keeps_no_counts(server: Servers, terminal: Terminal) -> None:
    terminal("add", "The harbour opens at noon")
    async with server("--read-only") as client:
        await call(client, "memory_search", query="harbour")
    assert terminal("stats", "--calls", "--json").json == {
        "days": 30, "tools": [], "writes": {}, "failed_reads": 0, "failed_writes": 0,
        "triggers": 0, "trigger_seconds": 0, "engine_restarts": 0, "cpu_seconds": 0,
    }  # fmt: skip
