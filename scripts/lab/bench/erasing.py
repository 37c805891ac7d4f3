"""Measures what it costs to erase one purged thing from files of 5, 50 and 200 MB. Prints markdown.

    python scripts/lab/bench/erasing.py            all sizes
    python scripts/lab/bench/erasing.py --quick    only the smallest
    python scripts/lab/bench/erasing.py --write    also writes the figures into docs/performance.md

The file is filled directly, with memories and their vectors, or with facts whose values are long: of those more words
are in the index. Then the real server purges one thing after another, while another program writes all the time.
"""

import random
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import apsw
from corpus import memories
from report import Report
from server import Server, note, started

from memory_server.embedding.hashing import HashingEmbedder
from memory_server.services.erasure import ErasureService
from memory_server.sqlite import embedded
from memory_server.sqlite.database import Database
from memory_server.sqlite.transaction import Transaction

FILES = ((5, "memories"), (5, "facts"), (50, "memories"), (50, "facts"), (200, "memories"))
"""How many megabytes of what."""

TIMES = 3
"""Things that are purged of each file, one after the other."""

AT_ONCE = 500
"""Rows of one transaction that fills the file."""

SPACE = HashingEmbedder().space

VECTOR = embedded.as_blob(HashingEmbedder().embed_documents(["the same for all: only its size matters"])[0])

_VECTORS = f"""
    INSERT INTO embeddings (space_id, memory_id, vector, created_at)
    SELECT 1, id, :vector, created_at FROM memories WHERE id > :last;
    INSERT INTO embedding_bits (space_id, project, memory_id, type, importance, bits)
    SELECT 1, '', id, type, importance, randomblob({SPACE.dimensions // 8}) FROM memories WHERE id > :last;
    DELETE FROM embedding_queue;
"""


def main() -> None:
    report = Report(__file__, quick="only the smallest size")
    rows = []
    with tempfile.TemporaryDirectory(prefix="memory-server-benchmark-") as folder:
        for size, what in FILES[:2] if report.quick else FILES:
            db = Path(folder) / what / "memory.db"
            db.parent.mkdir()
            rows.append(_measured(db, what, _fill(db, what, size)))
            note(" | ".join(rows[-1]))
            shutil.rmtree(db.parent)
    report.publish(
        (
            "file",
            "purge answers",
            "all is erased after",
            "CPU for words",
            "CPU for the file",
            "others' writes wait",
        ),
        rows,
    )


def _fill(db: Path, what: str, size: int) -> int:
    """Fill a new file up to so many megabytes; how many things are in it."""
    chance = random.Random(size)
    said = [each["content"] for each in memories(3000)]
    database = Database(db, lambda: datetime.now(UTC))
    with database.write() as tx:
        tx.spaces.open(SPACE)
        tx.execute("UPDATE spaces SET state = 'active'")
    number = 0
    while db.stat().st_size < size * 1_000_000:
        with database.write() as tx:
            _insert(tx, what, range(number, number + AT_ONCE), said, chance)
        number += AT_ONCE
    database.close()
    return number


def _insert(tx: Transaction, what: str, numbers: range, said: list[str], chance: random.Random) -> None:
    for number in numbers:
        if what == "memories":
            text = f"{chance.choice(said)} {chance.choice(said)} {number}"
            tx.execute("INSERT INTO memories (content, type) VALUES (?, 'observation')", (text,))
        else:
            text = " ".join(chance.choices(said, k=8))
            tx.execute(
                "INSERT INTO facts (scope, key, value) VALUES ('global', ?, json_quote(?))",
                (f"k.{number}", text),
            )
    if what == "memories":
        tx.connection.execute(_VECTORS, {"last": numbers.start, "vector": VECTOR})


def _measured(db: Path, what: str, number: int) -> list[str]:
    size = db.stat().st_size
    answers, ends, waits = [], [], []
    with started(db, "--embedder", "hashing", "--log-level", "ERROR") as server:
        server.call("memory_search", {"query": "the port of the parser"})  # the embedder is loaded then
        for last in range(number, number - TIMES, -1):
            with _writing(db) as waited:
                began = time.perf_counter()
                _purge(server, what, last)
                answers.append(time.perf_counter() - began)
                while _is_due(db):
                    time.sleep(0.02)
                ends.append(time.perf_counter() - began)
            waits.append(max(waited))
    words, file = _parts(db, "memory_words" if what == "memories" else "fact_words", what)
    return [
        f"{size / 1e6:.0f} MB: {number:,} {what}",
        f"{1000 * median(answers):.0f} ms",
        f"{median(ends):.1f} s",
        f"{words:.2f} s",
        f"{file:.2f} s",
        f"{1000 * max(waits):.0f} ms at most",
    ]


def _purge(server: Server, what: str, last: int) -> None:
    if what == "memories":
        server.call("memory_delete", {"id": last, "purge": True})
    else:
        server.call("delete_memory", {"key": f"k.{last - 1}", "scope": "global", "purge": True})


@contextmanager
def _writing(db: Path) -> Iterator[list[float]]:
    """Another connection that writes every few milliseconds as the stock program would: how long each write took."""
    waited: list[float] = []
    stopped = threading.Event()

    def write() -> None:
        connection = apsw.Connection(str(db))
        connection.set_busy_timeout(60_000)
        while not stopped.wait(0.005):
            began = time.perf_counter()
            connection.execute("BEGIN IMMEDIATE; COMMIT")
            waited.append(time.perf_counter() - began)
        connection.close()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield waited
    finally:
        stopped.set()
        thread.join()


def _is_due(db: Path) -> bool:
    connection = apsw.Connection(str(db))
    connection.set_busy_timeout(60_000)
    due = connection.execute("SELECT count(*) FROM erasures WHERE asked > done").get
    connection.close()
    return bool(due)


def _parts(db: Path, index: str, table: str) -> tuple[float, float]:
    """CPU seconds of the two parts, in this process: to take words out of the index, and to look through the file."""
    database = Database(db, lambda: datetime.now(UTC))
    service = ErasureService(database)
    words, file = [], []
    for _ in range(TIMES):
        with database.write() as tx:
            tx.execute(f"DELETE FROM {table} WHERE id = (SELECT max(id) FROM {table})")
        words.append(_cpu(lambda: service.remove_words(index)))
        file.append(_cpu(database.erase))
    database.close()
    return median(words), median(file)


def _cpu(work: Callable[[], object]) -> float:
    before = time.process_time()
    work()
    return time.process_time() - before


if __name__ == "__main__":
    main()
