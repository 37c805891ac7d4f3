"""Measures the pages of `memory-server view` on a large file: CPU time of each, made in this process.

python scripts/lab/bench/view.py            100,000 memories
python scripts/lab/bench/view.py 10000
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import apsw

from memory_server import app
from memory_server.domain.caller import Caller
from memory_server.project import Project
from memory_server.settings import Settings
from memory_server.web.site import site

PAGES = (
    "/", "/?q=lighthouse+77", "/?type=decision&project=p3", "/memory/1", "/now", "/timeline", "/graph", "/facts",
    "/triggers", "/doctor", "/stamp",
)  # fmt: skip
TIMES = 3


def fill(db: Path, size: int) -> None:
    """So many memories of ten projects over a year, a word index for each; written as a person with SQL would."""
    connection = apsw.Connection(str(db))
    with connection:
        connection.executemany(
            """
            INSERT INTO memories (content, type, project, importance, created_at, updated_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?5)
            """,
            (
                (
                    f"Lighthouse {number} of the coast is {number % 97} metres high and built by Mara, 灯塔{number}。",
                    ("decision", "observation", "learning")[number % 3],
                    f"p{number % 10}",
                    1 + number % 10,
                    time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() - 300 * number)),
                )
                for number in range(size)
            ),
        )
        connection.execute(
            "INSERT INTO edges (source_id, target_id, relation) "
            "SELECT id, id - 1, 'causes' FROM memories WHERE id % 50 = 0"
        )
    connection.close()


async def fetch(pages: Any, address: str) -> int:
    """The bytes of a page."""
    path, _, query = address.partition("?")
    scope = {
        "type": "http", "http_version": "1.1", "method": "GET", "path": path, "raw_path": path.encode(),
        "query_string": query.encode(), "headers": [(b"host", b"127.0.0.1:1")], "server": ("127.0.0.1", 1),
        "scheme": "http", "root_path": "",
    }  # fmt: skip
    got: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        got.append(message)

    await pages(scope, receive, send)
    assert got[0]["status"] == 200, (address, got)
    return sum(len(each.get("body", b"")) for each in got)


def main() -> None:
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "memory.db"
        services = app.build(Settings(db=db, embedder="hashing", project="p1"))
        services.database.open()
        fill(db, size)
        caller = Caller("browser", None, Project("p1", "p1"))
        pages = site(services, lambda _: caller, b"x")
        print(f"{size:,} memories, {db.stat().st_size / 1e6:.0f} MB; ms of CPU, best of {TIMES}")
        for address in PAGES:
            took, length = [], 0
            for _ in range(TIMES):
                began = time.process_time()
                length = asyncio.run(fetch(pages, address))
                took.append(time.process_time() - began)
            print(
                f"{address:<32} {1000 * min(took):>8.1f}   first {1000 * took[0]:>8.1f}   {length:>9,} bytes"
            )
        services.close()


if __name__ == "__main__":
    main()
