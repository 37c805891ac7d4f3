"""Three nodes with Patroni and etcd under the load of servers: machines are lost, and a ledger says what must be there.

    python scripts/lab/failover --patroni /opt/patroni/bin/patroni --events 20 --seed 1

It needs `etcd` and Patroni (`pip install "patroni[etcd3]" "psycopg[binary]"`), and PostgreSQL of the wheel that the
tests use. All of it runs on loopback in a temporary folder and ends with the program. Prints a line for each event and
a table; ends with 1 where anything is wrong. `--write` adds each event to ledger.tsv, `--summary` prints its table.
"""

import argparse
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 3)]

from failover import judge, report  # noqa: E402
from failover.events import EVENTS  # noqa: E402
from failover.load import LONGEST, Load, faults_of, outage, rate  # noqa: E402
from failover.nodes import Nodes, NotReady  # noqa: E402
from failover.report import Line  # noqa: E402

BEFORE = 3.0
"""Seconds of load before an event; and after it at least."""

FAULTS = 20
"""Faults of an event that are printed: an asynchronous replica can lack hundreds of writes."""

HEALING = 240.0
"""Seconds within which all three nodes are whole again."""


def run(options: argparse.Namespace, folder: Path) -> list[Line]:
    chance = random.Random(options.seed)
    nodes = Nodes(folder, options.patroni, not options.asynchronous, options.pgbouncer)
    load = None
    lines = []
    try:
        nodes.start()
        load = Load.over_http(nodes.place, folder, chance, options.servers, options.writers, options.limit)
        load.start(options.pause)
        load.await_writes()
        load.pause()
        load.take_calls()  # what a call takes while its server starts is another question
        load.resume()
        kinds: list[str] = []
        for number in range(1, options.events + 1):
            kinds = kinds or chance.sample(options.only, len(options.only))
            line = event(number, kinds.pop(), nodes, load, chance, options)
            lines.append(line)
            print(line.told(), flush=True)
            for fault in line.faults[:FAULTS]:
                print(f"    {fault[:1000]}", file=sys.stderr, flush=True)
            if options.write:
                report.append(line)
        for refusal, number in load.refusals.most_common(20):
            print(f"    {number} times: {refusal}", file=sys.stderr)
    finally:
        if load is not None:
            load.stop()
        nodes.stop()
    return lines


def event(
    number: int, kind: str, nodes: Nodes, load: Load, chance: random.Random, options: argparse.Namespace
) -> Line:
    """Let one thing happen, wait until all is whole, and compare the database with the ledgers."""
    faults = []
    start = time.monotonic()
    time.sleep(BEFORE)
    harm = time.monotonic()
    before = nodes.leader().name
    try:
        EVENTS[kind](nodes, chance)
        nodes.await_whole(HEALING)
    except NotReady as error:
        faults.append(f"{kind}: {error}")
    healed = time.monotonic()
    load.await_writes()
    time.sleep(max(0.0, healed + BEFORE - time.monotonic()))
    end = time.monotonic()
    load.pause()
    faults += [f"{kind}: {refusal}" for server in load.servers for refusal in server.change()]
    calls = load.take_calls()
    faults += [*faults_of(calls), *load.faults]
    load.faults.clear()
    verdict = judge.judge(nodes, load, f"event {number}, {kind}")
    faults += verdict.faults
    load.resume()
    return Line(
        kind=kind,
        way="asynchronous" if options.asynchronous else "synchronous",
        seed=f"{options.seed}.{number}",
        servers=options.servers,
        writers=options.writers,
        moved=f"{before} {nodes.leader().name}",
        outage=round(outage(calls, options.servers, harm, end), 1),
        whole=round(healed - harm, 1),
        longest=round(max((call.ended - call.began for call in calls), default=0.0), 1),
        before=round(rate(calls, start, harm), 1),
        during=round(rate(calls, harm, healed), 1),
        after=round(rate(calls, healed, end), 1),
        acknowledged=sum(not call.refusal for call in calls),
        refused=sum(bool(call.refusal) and not (call.is_untold or call.is_limited) for call in calls),
        untold=sum(call.is_untold for call in calls),
        limited=sum(call.is_limited for call in calls),
        queued=verdict.queued,
        settled=round(verdict.settled, 1),
        late=sum(call.ended - call.began > LONGEST for call in calls),
        stall=round(load.servers[0].loop.take_stall(), 1),
        lost=len(verdict.lost),
        twice=len(verdict.twice),
        faults=faults,
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--patroni", default=shutil.which("patroni"))
    parser.add_argument("--events", type=int, default=len(EVENTS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--servers", type=int, default=4)
    parser.add_argument("--writers", type=int, default=8, help="in each server")
    parser.add_argument("--pause", type=float, default=0.5, help="seconds between two calls of a writer")
    parser.add_argument(
        "--limit", type=int, default=40, help="requests of a token a minute at the last server"
    )
    parser.add_argument("--asynchronous", action="store_true", help="replication that may lose writes")
    parser.add_argument(
        "--only", type=lambda text: text.split(","), default=list(EVENTS), help="kinds of events"
    )
    parser.add_argument(
        "--pgbouncer", choices=["session", "transaction"], default="", help="in front of each"
    )
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--summary", action="store_true")
    options = parser.parse_args()
    if options.summary:
        print(report.summary(report.read()))
        return 0
    if options.patroni is None:
        parser.error("name the program of Patroni with --patroni")
    if unknown := set(options.only) - set(EVENTS):
        parser.error(f"no event {', '.join(sorted(unknown))}: there are {', '.join(EVENTS)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="failover-") as folder:
        Path(folder).chmod(0o755)
        lines = run(options, Path(folder))
    print(report.summary(lines))
    return int(any(line.faults for line in lines))


if __name__ == "__main__":
    sys.exit(main())
