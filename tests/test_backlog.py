"""While many texts are embedded in the background, questions and stores are answered by meaning, and do not wait."""

import pytest

from tests.conftest import Servers, Sqlite, call, damage, eventually

pytestmark = pytest.mark.anyio

MANY = 400

WAITING = "SELECT count(*) FROM embedding_queue"


async def test_a_backlog_lets_searches_and_stores_pass(server: Servers, sqlite: Sqlite) -> None:
    async with server("--embedder", "bundled") as client:

        async def ready() -> bool:
            found = await call(client, "memory_search", query="Where is the gate?")
            return str(found["embedder"]).startswith("bundled")

        await eventually(ready, "the model is loaded")
        sqlite(
            server.db,
            f"""
            WITH RECURSIVE numbers (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM numbers WHERE value < {MANY})
            INSERT INTO memories (content, type)
            SELECT replace(printf('%' || (value * 37 % 900 + 1) || 's', ''), ' ', 'stone ') || value, 'learning'
            FROM numbers
            """,
        )

        async def begun() -> bool:
            return 0 < int(sqlite(server.db, WAITING)) < MANY

        await eventually(begun, "the backlog is under way")
        for number in range(3):
            stored = await call(
                client, "memory_store", content=f"Gate {number} of the quay is painted red", type="error"
            )
            assert not stored["embeddingQueued"]
            found = await call(client, "memory_search", query=f"Which colour has gate {number}?", limit=3)
            assert stored["id"] in [memory["id"] for memory in found["results"]]
            assert found["embedder"].startswith("bundled")
        assert int(sqlite(server.db, WAITING)) > 0
    assert damage(server.db) == []
