"""The speed of the server, and all that shows it. Quick where nothing else is said: 1,000 and 10,000 memories.

    python scripts/lab/bench                       measure, and print the tables
    python scripts/lab/bench --full                100,000 and 1,000,000 memories too
    python scripts/lab/bench --full --write        also keep the figures in docs/performance/, and show them everywhere
    python scripts/lab/bench --save FILE           also keep the figures in a file
    python scripts/lab/bench --peers FOLDER        also the servers of others that are installed there
    python scripts/lab/bench --render              show what is kept on all pages anew, without measuring
    python scripts/lab/bench --compare A B         what is faster in B than in A, of two files
    python scripts/lab/bench --postgres            a file and PostgreSQL side by side: see postgres.py

The files are made once and kept in the user's cache folder. It needs Linux.
"""

import argparse
import asyncio
import os
import sys
from pathlib import Path

from report import machine
from scale import files
from scale.effort import Effort
from scale.run import run
from server import note
from show import compare, pages, results, tables
from show.results import Results

from memory_server.embedding.bundled import BundledEmbedder

QUICK = (1_000, 10_000)
FULL = (*QUICK, 100_000, 1_000_000)


def main() -> None:
    parser = argparse.ArgumentParser(
        "python scripts/lab/bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--full", action="store_true", help="up to a million memories")
    parser.add_argument("--sizes", type=_sizes, help="other sizes, such as 200,400")
    parser.add_argument("--peers", type=Path, metavar="FOLDER", help="where other servers are installed")
    parser.add_argument("--save", type=Path, metavar="FILE", help="keep the figures in this file")
    parser.add_argument("--write", action="store_true", help="keep the figures, and show them on all pages")
    parser.add_argument("--render", action="store_true", help="show what is kept on all pages")
    parser.add_argument("--compare", type=Path, nargs=2, metavar=("A", "B"), help="two files of --save")
    parser.add_argument("--postgres", action="store_true", help="a file and PostgreSQL side by side")
    given = parser.parse_args()
    if given.postgres:
        import postgres  # its driver is an extra

        sys.argv = [sys.argv[0], *(["--write"] if given.write else []), *([] if given.full else ["--quick"])]
        postgres.main()
        return
    if given.write and given.sizes:
        parser.error("--write takes the figures of the usual sizes")
    if given.compare:
        print(compare.compared(*map(results.load, given.compare)))
    elif given.render:
        _show()
    else:
        _measure(given)


def _measure(given: argparse.Namespace) -> None:
    sizes = given.sizes or (FULL if given.full else QUICK)
    command = "python scripts/lab/bench" + " --full" * given.full
    command += f" --sizes {','.join(map(str, sizes))}" * bool(given.sizes)
    command += " --peers FOLDER" * bool(given.peers)
    load = os.getloadavg()[0]
    found = Results(command, machine(), load, files.fingerprint(), asyncio.run(_found(sizes, given.peers)))
    print(tables.text(found))
    if given.save:
        results.save(found, given.save)
    if given.write:
        results.save(found, pages.ROOT / pages.KEPT)
        _show()


async def _found(sizes: tuple[int, ...], peers: Path | None) -> list[results.Measured]:
    found = []
    async for each in run(sizes, BundledEmbedder(), peers, Effort()):
        note(f"{each.who}: {each.what}, {each.size:,}: {each.values}")
        found.append(each)
    return found


def _show() -> None:
    for path in pages.write():
        note(f"{path} is written")


def _sizes(given: str) -> tuple[int, ...]:
    return tuple(sorted({int(size) for size in given.split(",")}))


if __name__ == "__main__":
    main()
