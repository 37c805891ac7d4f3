"""Sends a server over HTTP what no client should: it must answer or hang up, and go on as before.

    python scripts/lab/malformed_http.py                 10,000 requests
    python scripts/lab/malformed_http.py --number 500 --seed 7

Broken request lines, headers, lengths and chunks; bodies that are no JSON, no message, too deep, too long; ids,
sessions and versions of no kind; connections that say half and stay. Wrong is: the server ends, a good call fails, a
traceback is in the log, an answer 500, or memory that does not come back.
"""

import argparse
import asyncio
import json
import random
import tempfile
from collections import Counter
from pathlib import Path

import httpx2
from http_server import JSON, Server, answered, call, running

AT_ONCE = 32

PATIENCE = 3.0
"""Seconds for which an answer is waited for: some requests deserve none."""

GROWTH = 40e6
"""Bytes of memory by which the server may have grown between two halves of the requests: caches are full after one."""

ODD = (
    "\x00",
    "\r",
    "\u202e",
    "\U0001f600",
    "%00",
    "%",
    "../../etc/passwd",
    "A" * 70_000,
    "9" * 400,
    "-1",
    "[]",
    "null",
    "NaN",
)

METHODS = (
    "POST",
    "GET",
    "DELETE",
    "PUT",
    "HEAD",
    "OPTIONS",
    "TRACE",
    "CONNECT",
    "P\u00d6ST",
    "",
    "post",
    "A" * 9000,
)

PATHS = (
    "/mcp",
    "/mcp/",
    "/",
    "/health",
    "/metrics",
    "/mcp?x=" + "y" * 5000,
    "//mcp",
    "/%2e%2e/mcp",
    "*",
    "http://evil/mcp",
    "/\xff",
)


def bodies(chance: random.Random) -> bytes:
    """A body that is wrong in one way or another, or right."""
    good, _ = call(1, "memory_search", {"query": "x"}, newer=False)
    deep = "[" * chance.choice((50, 5_000, 200_000))
    wrong_id = {**good, "id": chance.choice([None, True, 1.5, {}, [], "x" * 100_000, -(2**70), "\ud800"])}
    odd_params = {
        **good,
        "params": chance.choice([None, [], "x", 7, {"name": 7}, {"name": "memory_get", "arguments": []}]),
    }
    return chance.choice(
        [
            b"",
            b"{",
            b"null",
            b"[]",
            b"\xff\xfe\x00",
            deep.encode(),
            b'{"a":' * 3000 + b"1" + b"}" * 3000,
            json.dumps([good] * 50).encode(),
            json.dumps({**good, "jsonrpc": chance.choice(["1.0", 2, None])}).encode(),
            json.dumps(
                {**good, "method": chance.choice(["", "nothing/there", "x" * 50_000, 7, None])}
            ).encode(),
            json.dumps(wrong_id).encode(),
            json.dumps(odd_params).encode(),
            json.dumps({"jsonrpc": "2.0", "id": 1, "result": {}}).encode(),
            json.dumps(
                {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
            ).encode(),
            json.dumps(good).encode("utf-16"),
            json.dumps(good).encode()[: chance.randrange(100)],
            b" " * chance.choice((1, 100_000, (4 << 20) + 1)),
            bytes(chance.randrange(256) for _ in range(chance.randrange(300))),
            json.dumps(good).encode(),
        ]
    )


def headers(chance: random.Random, body: bytes) -> list[bytes]:
    """The lines of the head behind the first one."""
    lines = [
        b"Host: 127.0.0.1",
        b"Content-Type: application/json",
        b"Accept: application/json, text/event-stream",
    ]
    odd = chance.choice(ODD).encode("utf-8", "replace")
    extra = chance.choice(
        [
            [],
            [b"Mcp-Session-Id: " + odd],
            [b"MCP-Protocol-Version: " + chance.choice([b"2026-07-28", b"1999-01-01", odd])],
            [b"MCP-Protocol-Version: 2026-07-28", b"Mcp-Method: " + odd, b"Mcp-Name: " + odd],
            [b"Authorization: Bearer " + odd],
            [b"Authorization: " + odd],
            [b"Memory-Project: " + odd, b"Memory-Session: " + odd],
            [b"Origin: " + odd],
            [b"Host: evil.example"],
            [odd],
            [b"X: " + odd] * 200,
            [b"Last-Event-ID: " + odd],
            [
                b"Upgrade: websocket",
                b"Connection: Upgrade",
                b"Sec-WebSocket-Key: AAAA",
                b"Sec-WebSocket-Version: 13",
            ],
            [b"Expect: 100-continue"],
        ]
    )
    length = chance.choice(
        [
            str(len(body)),
            str(len(body)),
            str(len(body)),
            "-1",
            "x",
            "99999999999999999999",
            str(len(body) + 9),
        ]
    )
    kind = chance.choice(
        [[b"Content-Length: " + length.encode()]] * 6 + [[b"Transfer-Encoding: chunked"], []]
    )
    return [*lines, *extra, *kind]


def request(chance: random.Random) -> bytes:
    """One request, as bytes."""
    if chance.random() < 0.05:
        return bytes(chance.randrange(256) for _ in range(chance.randrange(2000)))
    body = bodies(chance)
    method = chance.choice(METHODS) if chance.random() < 0.3 else "POST"
    path = chance.choice(PATHS) if chance.random() < 0.3 else "/mcp"
    version = chance.choice(["HTTP/1.1"] * 9 + ["HTTP/9.9"])
    first = f"{method} {path} {version}".encode("utf-8", "replace")
    chunked = chance.choice([b"5\r\nhello\r\n0\r\n\r\n", b"zz\r\n", b"ffffffffffffffff\r\n", b"1\r\n"])
    head = headers(chance, body)
    sent = chunked if b"Transfer-Encoding: chunked" in head else body
    whole = b"\r\n".join([first, *head, b"", b""]) + sent
    return whole[: chance.randrange(len(whole) + 1)] if chance.random() < 0.1 else whole


async def send(server: Server, given: bytes, chance: random.Random, seen: Counter[str]) -> None:
    """Send it, some of it slowly, and read the first line of the answer."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    except OSError:
        seen["no connection"] += 1
        return
    try:
        if chance.random() < 0.05:
            for part in range(0, min(len(given), 60), 10):
                writer.write(given[part : part + 10])
                await writer.drain()
                await asyncio.sleep(0.01)
            given = given[60:]
        writer.write(given)
        await writer.drain()
        async with asyncio.timeout(PATIENCE):
            line = await reader.readline()
        seen[line.decode("latin-1").strip()[:12] or "hung up"] += 1
    except TimeoutError:
        seen["no answer"] += 1
    except OSError:
        seen["hung up"] += 1
    finally:
        writer.close()


async def bombard(server: Server, number: int, seed: int) -> Counter[str]:
    """Send so many; how they were answered."""
    chance, seen, turn = random.Random(seed), Counter[str](), asyncio.Semaphore(AT_ONCE)

    async def one(given: bytes) -> None:
        async with turn:
            await send(server, given, chance, seen)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(number):
            tasks.create_task(one(request(chance)))
            await asyncio.sleep(0)
    return seen


def works(server: Server) -> bool:
    """Whether a good call is answered."""
    body, own = call(1, "memory_stats", {}, newer=True)
    try:
        answer = httpx2.post(server.url, json=body, headers={**JSON, **own}, timeout=60)
        answered(answer.content)
    except (httpx2.HTTPError, ValueError):
        return False
    return True


def found_wrong(server: Server, number: int, seed: int) -> tuple[list[str], Counter[str]]:
    """Bombard a server in two halves; what is wrong with it, and how it has answered."""
    seen = asyncio.run(bombard(server, number // 2, seed))
    before = server.resident()
    seen += asyncio.run(bombard(server, number - number // 2, seed + 1))
    grown = server.resident() - before
    log = server.log.read_text(encoding="utf-8", errors="replace")
    wrong = {
        "the server has ended": server.process.poll() is not None,
        "a good call is not answered": not works(server),
        "a traceback is in the log": "Traceback" in log,
        "it answered 500": any(" 500" in line for line in seen),
        f"it has grown by {grown / 1e6:.0f} MB": grown > GROWTH,
    }
    return [each for each, is_so in wrong.items() if is_so], seen


def main() -> int:
    about = __doc__ or ""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, running(Path(name), "--embedder", "hashing") as server:
        begin = server.resident()
        wrong, seen = found_wrong(server, given.number, given.seed)
        print(f"{given.number} requests:", dict(seen.most_common()))
        print(f"resident memory {begin / 1e6:.0f} MB before, {server.resident() / 1e6:.0f} MB after")
        if wrong:
            lines = server.log.read_text(encoding="utf-8", errors="replace").splitlines()
            print(*(line[:200] for line in lines if "Invalid HTTP request" not in line), sep="\n")
    print("wrong:", ", ".join(wrong) or "nothing")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
