"""A person works on the live file with the stock sqlite3 program while the server serves."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client

from tests.conftest import Servers, Sqlite, call, damage, eventually

pytestmark = pytest.mark.anyio

STORED = ["用户身份需要确认", "The server pve-01 runs the backups", "We deploy on Fridays"]


@asynccontextmanager
async def filled(server: Servers) -> AsyncIterator[Client]:
    """A live server whose memories are stored, each in a session of its own, and embedded."""
    async with server("--project", "p") as client:
        for content in STORED:
            await call(
                client, "memory_store", content=content, type="decision", tags=["a", "标签"], session=content
            )
        await embedded(client, len(STORED))
        yield client


async def embedded(client: Client, number: int) -> None:
    """Wait until so many memories have their embedding and none waits."""

    async def whole() -> bool:
        state = (await call(client, "memory_stats"))["embeddings"]
        return (state["embedded"], state["waiting"]) == (number, 0)

    await eventually(whole, f"{number} memories are embedded")


async def found(client: Client, query: str, mode: str = "hybrid") -> list[str]:
    return [
        each["content"] for each in (await call(client, "memory_search", query=query, mode=mode))["results"]
    ]


async def test_every_table_and_view_of_the_live_file_reads(server: Servers, sqlite: Sqlite) -> None:
    async with filled(server) as client:
        await call(client, "memory_update", id=3, content="We deploy on Mondays")
        await call(client, "memory_store", content="Deploys need a review", type="pattern", relatedTo=3)
        await embedded(client, 4)
        names = sqlite(server.db, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')").split()
        assert {"memories", "memory_history", "edges", "embeddings", "readable_memories"} <= set(names)
        for name in names:
            sqlite(server.db, f"SELECT * FROM {name}")
        assert sqlite(server.db, "SELECT content, tags, embedding FROM readable_memories WHERE id = 1") == (
            "用户身份需要确认|a, 标签|ready"
        )
        assert sqlite(server.db, "SELECT earlier, now FROM readable_history") == (
            "We deploy on Fridays|We deploy on Mondays"
        )
        assert sqlite(server.db, "SELECT subject, relation, object FROM readable_edges") == (
            "Deploys need a review|related to|We deploy on Mondays"
        )
        assert sqlite(server.db, "SELECT state, embedded, waiting FROM readable_embeddings") == "active|4|0"


async def test_rows_added_edited_and_replaced_by_hand_are_found_by_words_and_by_meaning(
    server: Servers, sqlite: Sqlite
) -> None:
    async with filled(server) as client:
        sqlite(
            server.db,
            "INSERT INTO memories (content, type) VALUES ('The 龍 printer jams when it rains', 'error')",
            "UPDATE memories SET content = 'Backups are stored in Zürich' WHERE id = 2",
            "INSERT OR REPLACE INTO memories (id, content, type) VALUES (1, 'Tea is served at four', 'pattern')",
        )
        for words, expected in {
            "龙": ["The 龍 printer jams when it rains"],
            "zurich": ["Backups are stored in Zürich"],
            "pve-01": [],
            "tea": ["Tea is served at four"],
            "身份": [],
        }.items():
            assert await found(client, words, "keyword") == expected
        await embedded(client, 4)  # in the background: nothing was called that would write
        for meaning, expected_first in {
            "printers jammed": "The 龍 printer jams when it rains",
            "stored backup Zürich": "Backups are stored in Zürich",
            "serving tea": "Tea is served at four",
        }.items():
            assert (await found(client, meaning, "semantic"))[0] == expected_first
        read = await call(client, "memory_get", ids=[2])
        assert read["memories"][0]["earlier"] == ["The server pve-01 runs the backups"]


async def test_a_row_deleted_by_hand_is_found_no_more_and_a_moved_one_where_it_is_now(
    server: Servers, sqlite: Sqlite
) -> None:
    async with filled(server) as client:
        sqlite(
            server.db,
            "DELETE FROM memories WHERE id = 1",
            "UPDATE memories SET project = 'q', importance = 10 WHERE id = 2",
        )
        for mode in ("keyword", "semantic", "hybrid"):
            assert STORED[0] not in await found(client, "用户身份", mode)
        assert (await call(client, "memory_get", ids=[1]))["missing"] == [1]
        assert (await call(client, "memory_stats"))["embeddings"]["embedded"] == 2
        answer = await call(
            client, "memory_search", query="backups", mode="semantic", project="q", minImportance=10
        )
        assert [each["id"] for each in answer["results"]] == [2]


async def test_a_dump_of_the_live_file_restores_into_an_equal_file_that_serves(
    server: Servers, sqlite: Sqlite, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.db"
    async with filled(server) as client:
        dump = sqlite(server.db, ".dump")
        script = tmp_path / "dump.sql"
        script.write_text(dump, encoding="utf-8")
        kept = {name: sqlite(server.db, f"PRAGMA {name}") for name in ("user_version", "application_id")}
        sqlite(copy, f".read {script}", *(f"PRAGMA {name} = {value}" for name, value in kept.items()))
        for view in ("readable_memories", "readable_embeddings", "embedding_bits", "memory_words_docsize"):
            assert sqlite(copy, f"SELECT * FROM {view}") == sqlite(server.db, f"SELECT * FROM {view}")
        assert sqlite(copy, "PRAGMA integrity_check") == "ok"
        answers = {query: await found(client, query) for query in ("身份", "backups", "deploy")}
    async with server("--db", str(copy)) as client:
        assert {query: await found(client, query) for query in answers} == answers
        await call(client, "memory_store", content="The copy is a database of its own", type="learning")


async def test_vacuum_integrity_check_and_a_plain_copy_work_while_the_server_serves(
    server: Servers, sqlite: Sqlite, tmp_path: Path
) -> None:
    async with filled(server) as client:
        sqlite(server.db, "VACUUM")
        assert sqlite(server.db, "PRAGMA integrity_check") == "ok"
        assert sqlite(server.db, "PRAGMA foreign_key_check") == ""
        assert await found(client, "身份", "keyword") == [STORED[0]]
        await call(client, "memory_store", content="Written after a vacuum", type="learning", session="other")
        assert await found(client, "vacuum", "keyword") == ["Written after a vacuum"]
        backup = tmp_path / "backup.db"
        shutil.copyfile(server.db, backup)
        assert sqlite(backup, "SELECT content FROM memories").splitlines() == [
            *STORED,
            "Written after a vacuum",
        ]
    assert damage(server.db) == damage(backup) == []


async def test_short_term_memories_written_by_hand_come_back_by_their_words(
    server: Servers, sqlite: Sqlite
) -> None:
    async def top(words: str) -> list[str]:
        found = await call(
            client,
            "search_short_term_memories",
            recentMessages=[{"role": "user", "content": words}],
            conversation_id="手写",
        )
        return [each["text"] for each in found["top"]]

    async with server() as client:
        await call(client, "get_memory_stats")  # the file is there
        sqlite(
            server.db,
            "INSERT INTO conversations (name) VALUES ('手写')",
            "INSERT INTO short_term_memories (conversation_id, text, said_at) SELECT id, "
            "'user: the zebra escaped', '2024-03-14T09:26:53.000Z' FROM conversations",
        )

        async def keyed() -> bool:
            return await top("zebras") == ["user: the zebra escaped"]

        await eventually(keyed, "its keywords are found")
        assert sqlite(
            server.db, "SELECT conversation, said, text, keywords FROM readable_short_term_memories"
        ).startswith("手写|2024-03-14 09:26|user: the zebra escaped|")
        sqlite(server.db, "UPDATE short_term_memories SET text = 'user: 数据库坏了'")
        assert await top("zebras") == []

        async def keyed_again() -> bool:
            return await top("數據庫") == ["user: 数据库坏了"]

        await eventually(keyed_again, "its new keywords are found")
        sqlite(server.db, "DELETE FROM conversations")
        assert await top("數據庫") == []
        for table in ("short_term_memories", "short_term_keywords"):
            assert sqlite(server.db, f"SELECT count(*) FROM {table}") == "0"
    assert damage(server.db) == []
