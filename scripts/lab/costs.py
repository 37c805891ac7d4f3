"""Machines, bytes and euros for tenants on PostgreSQL, from what the benchmark has measured.

    python scripts/lab/costs.py --tenants 1000 --memories 10000 --searches 50
    python scripts/lab/costs.py --check        compares the model with the sizes that were measured

`--memories` is of each tenant, `--searches` all that come in a second. A database machine keeps the indexes of words
and vectors in memory, and uses its cores to 60 % at most; so does a server, which uses one core. A replica is one more
database machine for each. PostgreSQL is taken to work for all the time that a server waits for it: it works less.
Prices are arguments; their defaults are guesses of the order of 2026, for a month: look up your own.
"""

import argparse
import json
import math
import re
from pathlib import Path
from typing import NamedTuple

MEASURED = Path(__file__).parents[2] / "docs/performance/postgres.json"

EACH = "bytes a memory: "
INDEXES = ("index of words", "index of vectors")

EMPTY = 10e6
"""Bytes of a database without a memory: its catalogue and empty tables."""

BUSY = 0.6
"""Share of a core that is used at most."""


class Measured(NamedTuple):
    """What the benchmark has measured at one number of memories. Times are seconds of a search."""

    memories: int
    bytes: float
    server: float
    wait: float


class Cost(NamedTuple):
    """What is needed. `databases` are machines with their replicas; `euros` are for a month."""

    bytes: float
    databases: int
    servers: int
    euros: float


def cell(name: str, column: int) -> str:
    rows = json.loads(MEASURED.read_text("utf-8"))["rows"]
    return next(str(row[column]) for row in rows if row[0] == name)


def columns() -> list[tuple[int, int]]:
    """The columns of PostgreSQL beside the server, each with its number of memories."""
    titles = json.loads(MEASURED.read_text("utf-8"))["titles"]
    return [
        (place, int(title.partition(",")[0] + title.split(",")[1]))
        for place, title in enumerate(titles)
        if title.endswith("000, PostgreSQL")
    ]


def measured() -> list[Measured]:
    points = []
    for place, memories in columns():
        search = cell("memory_search, hybrid", place)
        wall, cpu = float(search.split()[0]), float(re.search(r"\(([\d.]+) ms", search)[1])  # type: ignore[index]
        size = float(cell("size", place).split()[0]) * 1e6
        points.append(Measured(memories, size, cpu / 1000, (wall - cpu) / 1000))
    return points


def at(memories: int) -> Measured:
    """What a tenant of this size takes, on the line through both points in the logarithm of the size."""
    small, large = measured()
    share = max(0.0, math.log(memories / small.memories) / math.log(large.memories / small.memories))
    return Measured(
        memories,
        bytes_of(memories),
        small.server + share * (large.server - small.server),
        small.wait + share * (large.wait - small.wait),
    )


def bytes_of(memories: int) -> float:
    """Bytes of a tenant, without those of an empty database."""
    rows = [row for row in json.loads(MEASURED.read_text("utf-8"))["rows"] if row[0].startswith(EACH)]
    (small, least), (large, most) = columns()
    share = min(1.0, max(0.0, math.log(memories / least) / math.log(most / least)))
    at_least, at_most = (sum(float(row[place]) for row in rows) for place in (small, large))
    return memories * (at_least + share * (at_most - at_least))


def cost(arguments: argparse.Namespace) -> Cost:
    tenant, place = at(arguments.memories), columns()[-1][0]
    size = EMPTY + arguments.tenants * tenant.bytes
    indexes = sum(float(cell(EACH + name, place).replace(",", "")) for name in INDEXES)
    by_memory = arguments.tenants * arguments.memories * indexes / (arguments.cache * 1e9)
    by_cores = arguments.searches * tenant.wait / (arguments.cores * BUSY)
    databases = math.ceil(max(by_memory, by_cores, 1e-9)) * (1 + arguments.replicas)
    servers = max(2, math.ceil(arguments.searches * tenant.server / BUSY))
    machines = databases + math.ceil(servers / arguments.cores)
    disks = size / 1e9 * (1 + arguments.replicas) * arguments.disk
    return Cost(size, databases, servers, machines * arguments.machine + disks)


def check() -> None:
    print("| memories | measured | model | difference |\n| --- | --- | --- | --- |")
    for point in measured():
        model = EMPTY + bytes_of(point.memories)
        print(
            f"| {point.memories:,} | {point.bytes / 1e6:,.0f} MB | {model / 1e6:,.0f} MB"
            f" | {model / point.bytes - 1:+.0%} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--tenants", type=int, default=100)
    parser.add_argument("--memories", type=int, default=10_000, help="of each tenant")
    parser.add_argument("--searches", type=float, default=10, help="of all tenants, in a second")
    parser.add_argument("--replicas", type=int, default=1, help="of each database machine")
    parser.add_argument("--cores", type=int, default=8, help="of a machine")
    parser.add_argument("--cache", type=float, default=48, help="GB of a machine in which indexes stay")
    parser.add_argument(
        "--machine", type=float, default=80, help="euros a month for a machine of 8 cores and 64 GB"
    )
    parser.add_argument("--disk", type=float, default=0.1, help="euros a month for a GB of disk")
    arguments = parser.parse_args()
    if arguments.check:
        check()
        return
    needed = cost(arguments)
    print(f"bytes: {needed.bytes / 1e9:,.1f} GB, without replicas and backups")
    print(f"database machines: {needed.databases}, replicas among them")
    print(f"servers: {needed.servers} processes, {math.ceil(needed.servers / arguments.cores)} machines")
    print(f"euros a month: {needed.euros:,.0f}")


if __name__ == "__main__":
    main()
