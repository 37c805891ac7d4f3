"""Two versions of the server on one database: servers are replaced one by one under load.

    python scripts/lab/failover/rolling.py [--before COMMIT]

The older version is a commit, HEAD where none is named; the newer one is HEAD with a migration more, which adds a
column. Writers go on all the time; the ledger says what must be there. Ends with 1 where anything is lost or refused.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 3)]

import psycopg  # noqa: E402
from torture.cluster import Cluster  # noqa: E402
from torture.ledger import look  # noqa: E402
from torture.wire import ROOT, Server  # noqa: E402

from failover.load import Load  # noqa: E402
from memory_server.postgres import migrate  # noqa: E402

SERVERS = 2

WRITERS = 3

SECONDS = 4.0
"""Of load between two replacements."""


ADDS = "ALTER TABLE memories ADD COLUMN mood text;"
"""The migration of the newer version."""


def run(before: str, seed: int, folder: Path) -> list[str]:
    """Return what was lost or refused."""
    older, newer = folder / "older", folder / "newer"
    for tree, commit in ((older, before), (newer, "HEAD")):
        subprocess.run(
            ["git", "-C", ROOT, "worktree", "add", "--detach", "--quiet", tree, commit], check=True
        )
    later = migrate.load()[-1].version + 1
    (newer / "migrations" / "postgres" / f"{later:04d}_later.sql").write_text(ADDS)
    cluster = Cluster(folder / "cluster")
    load = Load.on(cluster.place, folder, random.Random(seed), SERVERS, WRITERS, {"PYTHONPATH": str(older)})
    try:
        load.start(0.05)
        load.await_writes()
        load.take_calls()
        for number in range(SERVERS):
            time.sleep(SECONDS)
            server = Server(cluster.place, folder, environment={"PYTHONPATH": str(newer)})
            server.call("memory_stats", {})  # it has calls only when it answers, as behind a load balancer
            load.replace(number, server)
        time.sleep(SECONDS)
        load.pause()
        calls = load.take_calls()
        refused = [f"refused: {call.refusal}" for call in calls if call.refusal]
        with psycopg.connect(cluster.place.url) as connection:
            version = migrate.version_of(connection)
        stored, problems = look(cluster.place)
        lost = [line for ledger in load.ledgers for line in ledger.compare(stored, "at the end")]
        print(
            f"{len(calls) - len(refused)} writes, {len(refused)} refused, {len(lost)} lost; schema {version}"
        )
        return [*load.faults, *refused, *problems, *lost, *load.tracebacks()]
    finally:
        load.stop()
        cluster.stop()
        for tree in (older, newer):
            subprocess.run(["git", "-C", ROOT, "worktree", "remove", "--force", tree], check=True)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", default="HEAD", help="the commit of the older version")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rolling-") as folder:
        faults = run(options.before, options.seed, Path(folder))
    for fault in faults:
        print(f"    {fault[:1000]}", file=sys.stderr)
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
