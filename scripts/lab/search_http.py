"""How many searches a second a server over HTTP answers with one worker and with several, in turns on the same file.

    python scripts/lab/search_http.py                    10,000 memories; 1 worker, then one for each core, at most 4
    python scripts/lab/search_http.py --workers 1,2,4 --clients 8 --seconds 20 --rounds 5

Clients and server share the cores: a machine of its own bears more. CPU is that of the server and its readers.
"""

import argparse
import asyncio
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import cycle, product
from pathlib import Path

import httpx2
from http_server import JSON, ROOT, Server, answered, call, running, token

sys.path[:0] = [str(ROOT), str(Path(__file__).with_name("bench"))]

from scale import files, texts  # noqa: E402

from memory_server.embedding.bundled import BundledEmbedder  # noqa: E402

PEOPLE = 4

WARM = 10.0
"""Seconds of searches before the first that counts: all is loaded in these."""


@dataclass(frozen=True, slots=True)
class Load:
    """Seconds of each search, the time of all, and what the processes used meanwhile."""

    times: list[float]
    seconds: float
    cpu: float
    megabytes: float

    @property
    def rate(self) -> float:
        return len(self.times) / self.seconds


def metrics(server: Server) -> dict[str, float]:
    text = httpx2.get(server.url.replace("/mcp", "/metrics")).text
    return {
        name: float(value) for name, value in re.findall(r"^memory_server_(\w+) (\S+)$", text, re.MULTILINE)
    }


async def load(server: Server, bearers: list[str], clients: int, seconds: float) -> Load:
    """So many clients search without a pause."""
    questions, times = cycle(texts.questions(2_000)), list[float]()
    before, begin = metrics(server)["process_cpu_seconds_total"], time.monotonic()

    async def search(bearer: str) -> None:
        async with httpx2.AsyncClient(timeout=60) as http:
            while time.monotonic() < begin + seconds:
                body, headers = call(1, "memory_search", {"query": next(questions)}, newer=True)
                asked = time.perf_counter()
                answer = await http.post(
                    server.url, json=body, headers={**JSON, **headers, "Authorization": f"Bearer {bearer}"}
                )
                answered(answer.content)
                times.append(time.perf_counter() - asked)

    await asyncio.gather(*(search(bearers[number % PEOPLE]) for number in range(clients)))
    took, after = time.monotonic() - begin, metrics(server)
    memory = after["resident_memory_bytes"] + after.get("readers_resident_memory_bytes", 0.0)
    return Load(times, took, after["process_cpu_seconds_total"] - before, memory / 1e6)


def line(workers: int, clients: int, loads: list[Load]) -> str:
    times = sorted(seconds for measured in loads for seconds in measured.times)
    rates = [measured.rate for measured in loads]
    cpu, seconds = (sum(getattr(measured, name) for measured in loads) for name in ("cpu", "seconds"))
    half, most = 1000 * statistics.median(times), 1000 * times[int(0.95 * len(times))]
    memory = max(measured.megabytes for measured in loads)
    return (
        f"{workers} workers, {clients:3} clients: {statistics.median(rates):6.1f} searches/s   p50 {half:6.0f} ms   "
        f"p95 {most:6.0f} ms   {1000 * cpu / len(times):5.1f} ms CPU each, {cpu / seconds:.2f} cores   "
        f"{memory:.0f} MB   ({', '.join(f'{rate:.1f}' for rate in rates)})"
    )


@contextmanager
def served(db: Path, workers: int) -> Iterator[tuple[Server, list[str]]]:
    """A server on a copy of the file, with tokens; its readers are ready and have loaded all that they use."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "memory.db"
        copy.write_bytes(db.read_bytes())
        bearers = [token(copy, f"person-{number}") for number in range(PEOPLE)]
        # The file has no vectors of tokens: to make them would take as much as all searches.
        flags = ("--http-rate", "1000000", "--no-token-vectors", "--workers", str(workers))
        with running(Path(folder), *flags) as server:
            while metrics(server)["readers"] < (workers if workers > 1 else 0):
                asyncio.run(load(server, bearers, 8, 1))
            asyncio.run(load(server, bearers, 8, WARM))
            yield server, bearers


def numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=10_000, help="memories in the file")
    parser.add_argument("--workers", type=numbers, default=[1, min(4, os.cpu_count() or 1)])
    parser.add_argument("--clients", type=numbers, default=[1, 8, 32])
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    loads: dict[tuple[int, int], list[Load]] = {}
    with files.copied(options.size, BundledEmbedder()) as db, ExitStack() as ending:
        servers = {workers: ending.enter_context(served(db, workers)) for workers in options.workers}
        for _ in range(options.rounds):
            for clients, (workers, (server, bearers)) in product(options.clients, servers.items()):
                measured = asyncio.run(load(server, bearers, clients, options.seconds))
                loads.setdefault((clients, workers), []).append(measured)
    for (clients, workers), measured_loads in sorted(loads.items()):
        print(line(workers, clients, measured_loads))


if __name__ == "__main__":
    main()
