"""What is asked often reads by an index, however large the file is."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from memory_server.domain.embedding import Space
from memory_server.domain.memory import Caller, Filter, MemoryDraft, MemoryId, MemoryType
from memory_server.sqlite import embeddings, memories, words
from memory_server.sqlite.database import Database, WriteTx
from memory_server.sqlite.embeddings import Waiting

SPACE = Space("hashing", "m", "1", 8, "", "", "", True, True, "f")
VECTOR = np.ones(8, np.float32)

ASKED: dict[str, Callable[[WriteTx], Any]] = {
    "get": lambda tx: memories.select(tx, [MemoryId(1), MemoryId(2)]),
    "earlier texts": lambda tx: memories.earlier(tx, [MemoryId(1)]),
    "mark accessed": lambda tx: memories.mark_accessed(tx, [MemoryId(1)]),
    "delete": lambda tx: memories.delete(tx, MemoryId(1)),
    "word search": lambda tx: words.search(tx, ["text"], Filter(project="p"), 10),
    "peers": lambda tx: words.sharing(tx, ["text"], Filter(type=MemoryType.ERROR, project="p"), 10),
    "meaning": lambda tx: embeddings.nearest(tx, 1, VECTOR, Filter(project="p"), 10),
    "cosines": lambda tx: embeddings.cosines(tx, 1, VECTOR, [MemoryId(1)]),
    "waiting": lambda tx: embeddings.waiting(tx, 1, embeddings.MEMORIES, 10),
    "keep a vector": lambda tx: embeddings.insert(
        tx, 1, Waiting(embeddings.MEMORIES, MemoryId(1), "text 1"), VECTOR
    ),
    "coverage": lambda tx: embeddings.count_embedded(tx, 1),
}
FINE = ("SCAN memories USING COVERING INDEX", "SCAN CONSTANT ROW", "SCAN (subquery")
"""`SELECT count(*) FROM memories` reads the smallest index, which is the best there is; the others read no table."""


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_no_query_reads_a_whole_table(database: Database, asked: Callable[[WriteTx], Any]) -> None:
    with database.write() as tx:
        embeddings.open_space(tx, SPACE)
        for number in range(5):
            memories.insert(tx, MemoryDraft(f"text {number}", MemoryType.ERROR, "p"), Caller())
        seen: list[tuple[str, Any]] = []

        def trace(_: object, sql: str, values: Any) -> bool:
            seen.append((sql, values or ()))
            return True

        tx.connection.exec_trace = trace
        try:
            asked(tx)
        finally:
            tx.connection.exec_trace = None
        plans = [row[3] for sql, values in seen for row in tx.rows(f"EXPLAIN QUERY PLAN {sql}", values)]
    assert plans
    scans = [plan for plan in plans if plan.startswith("SCAN") and "VIRTUAL TABLE" not in plan]
    assert [plan for plan in scans if not plan.startswith(FINE)] == []
