"""How much a server over HTTP bears: many clients on this machine, what they were promised, and where it ends.

    python scripts/lab/load_http.py                      64 clients for a minute, then steps from 1 to 128
    python scripts/lab/load_http.py --kill               and kill -9 in the middle of a load
    python scripts/lab/load_http.py --seconds 5 --clients 16 --no-steps

Half of the clients speak each wire era. Each stores (20 %), searches (50 %), reads and writes facts (30 %), one
after the other without a pause. Clients and server share the cores: a machine of its own bears more.
"""

import argparse
import asyncio
import random
import sqlite3
import statistics
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from http_server import JSON, Server, answered, call, hello, running, token

PEOPLE = 8

SHARES = (20, 50, 15, 15)
"""Of a hundred calls: how many store, search, write a fact and read one."""

STEPS = (1, 2, 4, 8, 16, 32, 64, 128)

WORDS = [
    "harbour",
    "lantern",
    "ledger",
    "orchid",
    "copper",
    "willow",
    "granite",
    "meadow",
    "falcon",
    "ember",
    "cedar",
]


@dataclass
class Result:
    """Seconds of each call by tool; what was acknowledged; what went wrong."""

    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    stored: dict[int, str] = field(default_factory=dict)
    facts: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0
    processor: float = 0.0

    @property
    def calls(self) -> int:
        return sum(map(len, self.times.values()))

    def line(self, clients: int) -> str:
        every = sorted(each for times in self.times.values() for each in times)
        if not every:
            return f"{clients:4} clients: no call was answered"
        half, most = (1000 * every[min(len(every) - 1, int(share * len(every)))] for share in (0.5, 0.95))
        return (
            f"{clients:4} clients: {self.calls / self.seconds:7.1f} calls/s   p50 {half:7.1f} ms   p95 {most:7.1f} ms  "
            f"{1000 * self.processor / self.calls:5.1f} ms CPU each   wrong {len(self.wrong)}"
        )


async def client(number: int, server: Server, given: str, until: float, result: Result) -> None:
    """Calls one after the other until the time is over or the server has gone."""
    chance = random.Random(number)
    newer = number % 2 == 1
    headers = {**JSON, "Authorization": f"Bearer {given}"}
    async with httpx2.AsyncClient(timeout=60) as http:
        try:
            if not newer:
                first = await http.post(server.url, json=hello(), headers=headers)
                headers["Mcp-Session-Id"] = first.headers["mcp-session-id"]
                done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
                await http.post(server.url, json=done, headers=headers)
            turn = 0
            while time.monotonic() < until:
                turn += 1
                await one(turn, f"{number}.{time.time_ns()}", chance, http, server, headers, newer, result)
        except httpx2.TransportError:
            if time.monotonic() < until and server.process.poll() is None:
                result.wrong.append("the connection broke")


async def one(
    id: int, unique: str, chance: random.Random, http: httpx2.AsyncClient, server: Server, headers: dict[str, str],
    newer: bool, result: Result,
) -> None:  # fmt: skip
    words = " ".join(chance.choices(WORDS, k=6))
    key = f"load.{unique.partition('.')[0]}"
    kinds: list[tuple[str, dict[str, Any]]] = [
        ("memory_store", {"content": f"{words} {unique}", "type": "observation"}),
        ("memory_search", {"query": " ".join(chance.choices(WORDS, k=3))}),
        ("write_memory", {"key": key, "value": id}),
        ("read_memory", {"key": key}),
    ]
    tool, arguments = chance.choices(kinds, SHARES)[0]
    body, own = call(id, tool, arguments, newer)
    begin = time.perf_counter()
    answer = await http.post(server.url, json=body, headers={**headers, **own})
    result.times[tool].append(time.perf_counter() - begin)
    if answer.status_code != 200:
        result.wrong.append(f"{tool}: {answer.status_code}")
        return
    try:
        found = answered(answer.content)
    except ValueError as error:
        result.wrong.append(f"{tool}: {error}")
        return
    if tool == "memory_store":
        result.stored[found["id"]] = unique
    elif tool == "write_memory":
        result.facts[key] = id


async def load(
    server: Server, tokens: list[str], clients: int, seconds: float, kill_after: float | None = None
) -> Result:
    """So many clients for so long; with `kill_after` the server is killed in the middle."""
    result, begin, used = Result(), time.monotonic(), server.processor()
    until = begin + seconds
    work = [client(n, server, tokens[n % len(tokens)], until, result) for n in range(clients)]

    async def kill() -> None:
        if kill_after is not None:
            await asyncio.sleep(kill_after)
            server.process.kill()

    await asyncio.gather(kill(), *work)
    result.seconds = time.monotonic() - begin
    result.processor = server.processor() - used if server.process.poll() is None else 0.0
    return result


def lost(db: Path, results: list[Result]) -> list[str]:
    """What was acknowledged and is not in the file. The server has ended."""
    with sqlite3.connect(db) as connection:
        (sound,) = connection.execute("PRAGMA integrity_check").fetchone()
        texts = "\n".join(text for (text,) in connection.execute("SELECT content FROM memories"))
        texts += "\n".join(text for (text,) in connection.execute("SELECT content FROM memory_history"))
        keys = {key for (key,) in connection.execute("SELECT key FROM facts")}
    connection.close()
    missing = [
        f"memory {id}" for each in results for id, unique in each.stored.items() if unique not in texts
    ]
    missing += [f"fact {key}" for each in results for key in each.facts if key not in keys]
    return missing + ([] if sound == "ok" else [f"the file is damaged: {sound}"])


def report(result: Result, clients: int) -> None:
    print(result.line(clients))
    for tool, times in sorted(result.times.items()):
        ordered = sorted(times)
        print(
            f"      {tool:14} {len(times):6} calls   p50 {1000 * statistics.median(ordered):7.1f} ms   "
            f"p95 {1000 * ordered[int(0.95 * len(ordered))]:7.1f} ms   longest {1000 * ordered[-1]:7.1f} ms"
        )
    for wrong in sorted(set(result.wrong))[:10]:
        print(f"      {result.wrong.count(wrong)} times: {wrong}")


def main() -> int:
    about = __doc__ or ""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--no-steps", action="store_true", help="only the load itself")
    parser.add_argument("--step-seconds", type=float, default=8)
    parser.add_argument("--kill", action="store_true", help="kill -9 under load too")
    parser.add_argument("--embedder", default="bundled")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tokens = [token(folder / "memory.db", f"person-{number}") for number in range(PEOPLE)]
        options = ("--http-rate", "1000000", "--embedder", given.embedder)
        results = []
        with running(folder, *options) as server:
            asyncio.run(load(server, tokens, 4, 3))  # the model is loaded
            before = server.resident()
            results.append(asyncio.run(load(server, tokens, given.clients, given.seconds)))
            report(results[0], given.clients)
            print(
                f"      resident memory {before / 1e6:.0f} MB before, {server.resident() / 1e6:.0f} MB after"
            )
            for clients in () if given.no_steps else STEPS:
                results.append(asyncio.run(load(server, tokens, clients, given.step_seconds)))
                print(results[-1].line(clients))
        if given.kill:
            with running(folder, *options) as server:
                results.append(asyncio.run(load(server, tokens, given.clients, 20, kill_after=6)))
                killed = results[-1]
            print(f"killed under load, after {killed.calls} calls")
        missing = lost(folder / "memory.db", results)
    print(f"acknowledged and not in the file: {len(missing)}", *missing[:10], sep="\n      ")
    return 1 if missing or any(each.wrong for each in results) else 0


if __name__ == "__main__":
    raise SystemExit(main())
