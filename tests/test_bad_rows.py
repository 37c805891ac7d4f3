"""Rows that cannot be read, as a hand edit or an import leaves them: they cost themselves only, and are named."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client

from memory_server.sqlite import health
from tests.conftest import Servers, Sqlite, call, eventually
from tests.mcp.conftest import refusal

pytestmark = pytest.mark.anyio

BAD = "CAST(x'7a6562726120636166e9' AS TEXT)"
"""`zebra caf` and a byte that is no UTF-8."""

LONG_AGO = "2024-03-14T09:26:53.000Z"
SAID = [{"role": "user", "content": "the zebra escaped", "timestamp": LONG_AGO}]

SPOILT = {
    "memories": f"INSERT INTO memories (id, content, type, project) VALUES (90, {BAD}, 'error', 'shop')",
    "memory_history": "INSERT INTO memory_history (id, memory_id, content, reason, replaced_at)"
    f" VALUES (91, 1, {BAD}, 'rewritten', '{LONG_AGO}')",
    "changes": "INSERT INTO changes (id, memory_id, action, before, changed_by)"
    f" VALUES (84, 1, 'edited', '{{}}', {BAD})",
    "memory_anchors": "INSERT INTO memory_anchors (id, memory_id, project, anchors, observed_at)"
    f" VALUES (81, 2, {BAD}, '[]', '{LONG_AGO}')",
    "fact_anchors": "INSERT INTO fact_anchors (id, fact_id, project, anchors, observed_at)"
    f" SELECT 80, id, {BAD}, '[]', '{LONG_AGO}' FROM facts WHERE key = 'zebra.good'",
    "edges": "INSERT INTO edges (id, source_id, target_id, relation) SELECT 92, 1, 2, " + BAD,
    "wakes": f"INSERT INTO wakes (id, memory_id, why) SELECT 86, min(id), {BAD} FROM long_term_memories",
    "rules": "INSERT INTO rules (id, memory_id, effect, holds, passes, confirmed_at)"
    f" SELECT 86, id, 'deny', '[]', '[]', {BAD} FROM long_term_memories WHERE name = 'asleep'",
    "rule_hits": "INSERT INTO rule_hits (id, memory_id, at, effect, act)"
    f" SELECT 86, min(id), '{LONG_AGO}', 'deny', {BAD} FROM long_term_memories",
    "digested": f"INSERT INTO digested (id, kind, item_id, digest_id) VALUES (87, {BAD}, 1, 0)",
    "hook_injections": "INSERT INTO hook_injections (id, session, event, kind, item_id, tokens)"
    f" VALUES (86, {BAD}, 'SessionStart', 'briefing', 0, 9)",
    "origins": f"INSERT INTO origins (id, kind, item_id, source, source_id) VALUES (84, 'turn', 1, 'jsonl', {BAD})",
    "hook_captures": "INSERT INTO hook_captures (id, kind, item_id, session, event)"
    f" VALUES (85, 'fact', 1, {BAD}, 'Stop')",
    "events": f"INSERT INTO events (id, action, source) VALUES (85, 'imported', {BAD})",
    "event_steps": f"INSERT INTO event_steps (id, event_id, did, kind, item_id) VALUES (86, 85, 'added', {BAD}, 1)",
    "likely_updates": f"INSERT INTO likely_updates (id, memory_id, kind, item_id, newer) VALUES (82, 1, {BAD}, 2, 0)",
    "memory_uses": f"INSERT INTO memory_uses (id, memory_id, session) VALUES (84, 1, {BAD})",
    "open_questions": f"INSERT INTO open_questions (id, project, question, sessions, session)"
    f" VALUES (83, 'shop', {BAD}, 2, 's')",
    "facts": f"INSERT INTO facts (id, scope, key, value) VALUES (93, 'global', 'zebra.bad', json_quote({BAD}))",
    "fact_history": "INSERT INTO fact_history"
    " (id, fact_id, scope, owner, key, version, action, value, tags, changed_at)"
    f" SELECT 94, id, scope, owner, key, 0, 'deleted', json_quote({BAD}), tags, updated_at FROM facts"
    " WHERE key = 'zebra.good'",
    "turns": f"INSERT INTO turns (id, message, summary) VALUES (95, {BAD}, 'the zebra escaped')",
    "conversations": f"INSERT INTO conversations (id, name) VALUES (96, {BAD})",
    "short_term_memories": "INSERT INTO short_term_memories (id, conversation_id, text, said_at)"
    f" SELECT 97, id, {BAD}, '2024-03-15T09:26:53.000Z' FROM conversations WHERE name = 'c'",
    "short_term_keywords": "INSERT INTO short_term_keywords (conversation_id, word, memory_id, weight)"
    f" SELECT conversation_id, {BAD}, 1, 1 FROM short_term_memories WHERE id = 1",
    "long_term_memories": 'INSERT INTO long_term_memories (id, conversation_id, name, prompt, "trigger")'
    f" SELECT 98, id, 'bad', {BAD}, 'true' FROM conversations WHERE name = 'c'",
    "spaces": "INSERT INTO spaces (id, provider, model, revision, dimensions, query_prompt, document_prompt,"
    " transform, chinese, lexical, fingerprint, state, created_at)"
    f" VALUES (99, 'p', {BAD}, '', 8, '', '', '', 0, 0, 'f', 'building', '{LONG_AGO}')",
    "embeddings": f"UPDATE embeddings SET created_at = {BAD} WHERE memory_id = 2",
    "projects": f"UPDATE projects SET folder = {BAD} WHERE name = 'shop'",
    "project_keys": "INSERT INTO project_keys (kind, key, project_id)"
    f" SELECT 'folder', {BAD}, id FROM projects WHERE name = 'shop'",
    "embedding_bits": f"UPDATE embedding_bits SET project = {BAD} WHERE memory_id = 2",
    "embedding_queue": f"INSERT INTO embedding_queue (space_id, memory_id, queued_at) VALUES (99, 2, {BAD})",
    "turn_embeddings": f"UPDATE turn_embeddings SET created_at = {BAD} WHERE turn_id = 1",
    "turn_embedding_queue": f"INSERT INTO turn_embedding_queue (space_id, turn_id, queued_at) VALUES (99, 1, {BAD})",
    "fact_embeddings": f"INSERT INTO fact_embeddings VALUES (99, 1, x'00', {BAD})",
    "fact_embedding_queue": f"INSERT INTO fact_embedding_queue VALUES (99, 1, {BAD})",
    "short_term_embeddings": f"INSERT INTO short_term_embeddings VALUES (99, 1, x'00', {BAD})",
    "short_term_embedding_queue": f"INSERT INTO short_term_embedding_queue VALUES (99, 1, {BAD})",
    "job_problems": f"INSERT INTO job_problems (job, process, problem, at) VALUES ('a job', 'p', {BAD}, '9999')",
    "trash": "INSERT INTO trash (id, kind, item_id, parts)"
    f""" VALUES (88, 'memory', 7, '{{"memories": [{{"content": "' || {BAD} || '"}}]}}')""",
    "erasures": f"INSERT INTO erasures (what, asked) VALUES ({BAD}, 1)",
    "migrations": f"UPDATE migrations SET name = {BAD} WHERE version = 1",
    "character_forms": f"INSERT INTO character_forms (form, folded) VALUES ('☂', {BAD})",
    "memory_counts": f"INSERT INTO memory_counts VALUES ({BAD}, 'error', 5, '', 0, 0)",
    "memory_overwritten": f"INSERT INTO memory_overwritten VALUES (89, {BAD}, 'error', 5, 0, '')",
    "tokens": f"INSERT INTO tokens (id, name, hash, prefix) VALUES (90, {BAD}, printf('%064d', 9), 'msrv_9')",
    "call_counts": f"INSERT INTO call_counts (id, day, tool) VALUES (91, '2026-01-02', {BAD})",
    "vector_changes": f"INSERT INTO vector_changes (id, source, item_id) VALUES (92, {BAD}, 1)",
}
"""How a row of each table becomes one that cannot be read; ids are those that nothing else has."""

NAMED = {
    "memories": ("90", "content"),
    "memory_history": ("91", "content"),
    "changes": ("84", "changed_by"),
    "memory_anchors": ("81", "project"),
    "fact_anchors": ("80", "project"),
    "edges": ("92", "relation"),
    "digested": ("87", "kind"),
    "hook_injections": ("86", "session"),
    "origins": ("84", "source_id"),
    "hook_captures": ("85", "session"),
    "events": ("85", "source"),
    "event_steps": ("86", "kind"),
    "likely_updates": ("82", "kind"),
    "memory_uses": ("84", "session"),
    "open_questions": ("83", "question"),
    "facts": ("93", "value"),
    "fact_history": ("94", "value"),
    "turns": ("95", "message"),
    "conversations": ("96", "name"),
    "short_term_memories": ("97", "text"),
    "short_term_keywords": ("1", "word"),
    "long_term_memories": ("98", "prompt"),
    "spaces": ("99", "model"),
    "embeddings": ("2", "created_at"),
    "projects": ("1", "folder"),
    "project_keys": ("zebra caf\ufffd", "key"),
    "embedding_bits": ("2", "project"),
    "embedding_queue": ("2", "queued_at"),
    "turn_embeddings": ("1", "created_at"),
    "turn_embedding_queue": ("1", "queued_at"),
    "fact_embeddings": ("1", "created_at"),
    "fact_embedding_queue": ("1", "queued_at"),
    "short_term_embeddings": ("1", "created_at"),
    "short_term_embedding_queue": ("1", "queued_at"),
    "wakes": ("86", "why"),
    "rules": ("86", "confirmed_at"),
    "rule_hits": ("86", "act"),
    "job_problems": ("a job", "problem"),
    "trash": ("88", "parts"),
    "erasures": ("zebra caf\ufffd", "what"),
    "migrations": ("1", "name"),
    "character_forms": ("☂", "folded"),
    "memory_counts": ("zebra caf\ufffd", "project"),
    "memory_overwritten": ("89", "project"),
    "tokens": ("90", "name"),
    "call_counts": ("91", "tool"),
    "vector_changes": ("92", "source"),
}
"""How people name each of these rows, and the column."""


@asynccontextmanager
async def spoilt(server: Servers, sqlite: Sqlite) -> AsyncIterator[Client]:
    """A server that runs on a file with good rows, and with a bad one in each table."""
    async with server("--project", "shop") as client:
        for content in ("A zebra escaped from the zoo", "The keeper caught it at the gate"):
            await call(client, "memory_store", content=content, type="error")
        await call(client, "memory_update", id=1, content="A zebra escaped from the zoo at night")
        await call(client, "graph_connect", sourceId=2, targetId=1, relation="solves")
        await call(client, "write_memory", key="zebra.good", value="fed at nine", scope="global")
        await call(client, "register_memory", message="We looked for it", summary="The zebra was found")
        await call(client, "add_short_term_memory", messages=SAID, conversation_id="c")
        for name, trigger in {"good": "true", "asleep": "false"}.items():
            await call(
                client, "add_long_term_memory",
                name=name, prompt=f"About {name}.", trigger=trigger, conversation_id="c",
            )  # fmt: skip
        await embedded(client, 2)
        sqlite(server.db, "PRAGMA ignore_check_constraints = ON", *SPOILT.values())
        # Where the bad conversation has a memory of each kind, it is one that others are pointed to.
        sqlite(
            server.db,
            f"INSERT INTO short_term_memories (conversation_id, text, said_at) VALUES (96, 'x', '{LONG_AGO}')",
            "INSERT INTO long_term_memories (conversation_id, name, prompt, \"trigger\") VALUES (96, 'n', 'p', '1')",
        )
        yield client


async def embedded(client: Client, number: int) -> None:
    async def whole() -> bool:
        state = (await call(client, "memory_stats"))["embeddings"]
        return (state["embedded"], state["waiting"]) == (number, 0)

    await eventually(whole, f"{number} memories are embedded")


def unreadable(table: str) -> str:
    return f"row {NAMED[table][0]} of {table} cannot be read: it holds text that is not UTF-8"


def test_a_row_of_every_table_with_text_is_spoilt() -> None:
    assert SPOILT.keys() == NAMED.keys() == {table.name for table in health.TABLES if table.texts}


async def test_background_work_goes_on(server: Servers, sqlite: Sqlite) -> None:
    async with spoilt(server, sqlite) as client:
        sqlite(
            server.db,
            "INSERT INTO server_days (day) VALUES (strftime('%s', 'now') / 86400 - 1)",  # a server ran yesterday
            # The bad one has expired first, and stands first in every index.
            "INSERT INTO facts (id, scope, key, value, expires_at)"
            f" VALUES (50, 'global', 'a', json_quote({BAD}), '2020-01-01T00:00:00.000Z')",
            "INSERT INTO facts (id, scope, key, value, expires_at)"
            " VALUES (51, 'global', 'b', '1', '2021-01-01T00:00:00.000Z')",
            "INSERT INTO short_term_memories (conversation_id, text, said_at)"
            f" SELECT id, 'user: two giraffes', '{LONG_AGO}' FROM conversations WHERE name = 'c'",
        )
        await call(client, "memory_store", content="Visitors were asked to leave", type="error")

        async def value(sql: str, expected: str) -> None:
            async def so() -> bool:
                return sqlite(server.db, sql) == expected

            await eventually(so, f"{sql} gives {expected}")

        await value("SELECT id FROM facts WHERE expires_at IS NOT NULL", "50")
        await value("SELECT action FROM fact_history WHERE key = 'b' ORDER BY id DESC LIMIT 1", "expired")
        await value(
            "SELECT count(*) FROM short_term_keywords AS k JOIN short_term_memories AS m ON m.id = memory_id"
            " WHERE text = 'user: two giraffes'",
            "2",
        )
        await value("SELECT count(*) FROM short_term_memories WHERE keyed = 0", "0")
        await value("SELECT count(*) FROM erasures WHERE asked > done AND length(what) < 20", "1")
        # The bad memory and the bad turn too, by the part of their texts that can be read.
        await embedded(client, 4)
        await value("SELECT count(*) FROM turn_embeddings WHERE space_id = 1", "2")
        # What was deleted long ago is purged when a server starts.
        sqlite(
            server.db,
            "UPDATE trash SET deleted_at = '2020-01-01T00:00:00.000Z' WHERE id = 88",
            "INSERT INTO trash (id, kind, item_id, parts, deleted_at)"
            " VALUES (87, 'memory', 8, '{}', '2021-01-01T00:00:00.000Z')",
        )
        async with server("--project", "shop"):
            await value("SELECT count(*) FROM trash", "0")
        sqlite(
            server.db,
            "INSERT INTO fact_history (id, fact_id, scope, owner, key, version, action, value, tags, changed_at)"
            f" VALUES (60, 600, 'global', '', {BAD}, 1, 'deleted', '1', '[]', '2020-01-01T00:00:00.000Z'),"
            " (61, 601, 'global', '', 'c', 1, 'deleted', '1', '[]', '2021-01-01T00:00:00.000Z')",
        )
        async with server("--project", "shop"):
            await value("SELECT id FROM fact_history WHERE id IN (60, 61)", "60")
        # No job fails: the one problem is the row that was written by hand, and cannot be read either.
        assert sqlite(server.db, "SELECT job FROM job_problems") == "a job"
        assert "problems" not in await call(client, "memory_stats")


ASKED: dict[str, tuple[str, dict[str, Any], str, list[object], list[str]]] = {
    "a search": (
        "memory_search", {"query": "zebra", "limit": 50}, "results.content",
        ["A zebra escaped from the zoo at night"], ["memories", "edges"],
    ),
    "what solves a hit": (
        "memory_search", {"query": "zebra", "limit": 50}, "results.linked",
        [[{"id": 2, "relation": "solves", "content": "The keeper caught it at the gate"}]], ["memories", "edges"],
    ),
    "memories whole": (
        "memory_get", {"ids": [1, 2, 90]}, "memories.earlier",
        [["A zebra escaped from the zoo"], None], ["memories", "memory_history"],
    ),
    "facts by a pattern": (
        "read_memory", {"pattern": "zebra.*"}, "memories.key", ["zebra.good"], ["facts"],
    ),
    "the history of a fact": (
        "read_memory", {"key": "zebra.good", "history": True}, "history.value", ["fed at nine"],
        ["fact_history"],
    ),
    "a list of facts": ("list_memories", {}, "memories.key", ["zebra.good"], ["facts"]),
    "a briefing": (
        "smart_resume", {}, "briefing",
        ["fed at nine", "A zebra escaped from the zoo at night", "The keeper caught it"],
        ["facts", "memories", "open_questions"],
    ),
    "turns": (
        "retrieve_memories", {"query": "zebra"}, "memories.summary", ["The zebra was found"], ["turns", "facts"],
    ),
    "a walk through the graph": (
        "graph_explore", {"memoryId": 2}, "nodes.id", [2, 1], ["edges"],
    ),
    "related memories": (
        "memory_related", {"memoryId": 2}, "related.id", [1], ["edges", "memories"],
    ),
    "short-term memories": (
        "search_short_term_memories",
        {"recentMessages": [{"role": "user", "content": "zebra"}], "conversation_id": "c"},
        "top.text", ["user: the zebra escaped"], ["short_term_memories"],
    ),
    "short-term memories of a conversation without any": (
        "search_short_term_memories",
        {"recentMessages": [{"role": "user", "content": "zebra"}], "conversation_id": "nowhere"},
        "note", ["`c` (2)"], ["conversations"],
    ),
    "short-term memories by a pattern": (
        "delete_short_term_memories", {"pattern": "zebra", "conversation_id": "c", "dry_run": True},
        "matching.text", ["user: the zebra escaped"], ["short_term_memories"],
    ),
    "a list of long-term memories": (
        "list_long_term_memories", {"conversation_id": "c"}, "memories.name", ["asleep", "good"],
        ["long_term_memories"],
    ),
    "what wakes": (
        "search_long_term_memories", {"messages": SAID, "conversation_id": "c"}, "activated.name", ["good"],
        ["long_term_memories"],
    ),
    "what wakes in a conversation without any": (
        "search_long_term_memories", {"messages": SAID, "conversation_id": "nowhere"}, "note", ["`c` (3)"],
        ["conversations"],
    ),
}  # fmt: skip
"""Tool, arguments, where in the answer to look and what is there; the tables whose bad row was met."""


async def test_every_read_answers_the_other_rows_and_names_the_one_it_met(
    server: Servers, sqlite: Sqlite
) -> None:
    async with spoilt(server, sqlite) as client:
        await embedded(client, 3)
        for what, (tool, arguments, where, expected, met) in ASKED.items():
            answer = await call(client, tool, **arguments)
            name, _, part = where.partition(".")
            if part:
                assert [each.get(part) for each in answer[name]] == expected, what
            else:
                assert all(str(each) in answer[name] for each in expected), (what, answer[name])
            told = answer.get("degraded", "")
            assert {table for table in NAMED if f"of {table} cannot" in told} == set(met), (what, told)
            assert all(unreadable(table) in told for table in met), (what, told)
            assert "`memory-server doctor`" in told


async def test_what_reads_or_changes_the_bad_row_itself_is_told_which_it_is(
    server: Servers, sqlite: Sqlite
) -> None:
    async with spoilt(server, sqlite) as client:
        for table, tool, arguments in [
            ("memories", "memory_update", {"id": 90, "importance": 7}),
            ("memories", "graph_explore", {"memoryId": 90}),
            ("memories", "memory_related", {"memoryId": 90}),
            ("memories", "graph_connect", {"sourceId": 1, "targetId": 90, "relation": "causes"}),
            ("facts", "read_memory", {"key": "zebra.bad"}),
            ("facts", "write_memory", {"key": "zebra.bad", "value": 1, "scope": "global"}),
            ("facts", "delete_memory", {"key": "zebra.bad"}),
            ("long_term_memories", "get_memory_context", {"name": "bad", "conversation_id": "c"}),
            ("long_term_memories", "delete_long_term_memory", {"name": "bad", "conversation_id": "c"}),
        ]:
            assert isinstance(arguments, dict)
            refused = await refusal(client, tool, **arguments)
            assert refused.startswith(unreadable(table)), tool
            assert "`memory-server doctor`" in refused


async def test_a_bad_row_can_be_deleted_and_erased(server: Servers, sqlite: Sqlite) -> None:
    there = "SELECT hex(content) FROM memories WHERE id = 90"
    deleted = "SELECT count(*) FROM trash WHERE item_id = 90"
    async with spoilt(server, sqlite) as client:
        assert (await call(client, "memory_delete", id=90))["deleted"] is True
        assert sqlite(server.db, there) == ""
        assert "degraded" not in await call(client, "memory_get", ids=[2])
        # Nobody could read what an undo brings back, so it is refused, and the memory stays where it is.
        refused = await refusal(client, "memory_delete", id=90, undo=True)
        assert refused.startswith(unreadable("memories"))
        assert sqlite(server.db, there, deleted) == "1"
        await call(client, "memory_delete", id=90, purge=True)
        assert sqlite(server.db, there, deleted) == "0"


async def test_writes_beside_bad_rows_are_as_ever(server: Servers, sqlite: Sqlite) -> None:
    async with spoilt(server, sqlite) as client:
        stored = await call(client, "memory_store", content="A zebra was seen in the zoo", type="error")
        assert (await call(client, "memory_update", id=1, importance=9))["importance"] == 9
        assert stored["consolidated"] is False
        written = await call(client, "write_memory", key="zebra.good", value=2, scope="global")
        assert written["version"] == 2
        deleted = await call(client, "delete_memory", key="zebra.good")
        assert (deleted["deleted"], deleted["scope"]) == (True, "global")
        await call(client, "register_memory", message="again", summary="again", facts={"zebra": 1})
        await call(client, "add_short_term_memory", messages=SAID, conversation_id="c")
        deleted = await call(client, "delete_short_term_memories", pattern="zebra", conversation_id="c")
        assert deleted["deleted"] == 2
        assert (await call(client, "cleanup_memories"))["removed"] == 0
        await call(client, "update_long_term_memory", name="good", conversation_id="c", prompt="new")
        await call(client, "delete_long_term_memory", name="good", conversation_id="c")


async def test_the_doctor_names_each_bad_row(server: Servers, sqlite: Sqlite) -> None:
    async with spoilt(server, sqlite):
        with server.process("doctor") as process:
            printed = process.communicate(timeout=60)[0].decode()
        assert process.returncode == 1
        lines = [line.strip() for line in printed.splitlines()]
        for table, (id, column) in NAMED.items():
            assert f"row {id} of {table}: {column} is not UTF-8" in lines, table


async def test_counts_and_statistics_are_told(server: Servers, sqlite: Sqlite) -> None:
    async with spoilt(server, sqlite) as client:
        stats = await call(client, "memory_stats")
        assert (stats["total"], stats["by_type"], stats["by_project"]) == (3, {"error": 3}, {"shop": 3})
        short_term = await call(client, "get_memory_stats")
        assert (short_term["memories"], short_term["by_conversation"]) == (3, {"c": 2})
        assert await call(client, "get_frequent_conversation") == {"conversation_id": "c", "memories": 2}
        sqlite(
            server.db,
            "INSERT INTO short_term_memories (conversation_id, text) VALUES (96, 'y'), (96, 'z')",
        )
        assert await call(client, "get_frequent_conversation") == {"conversation_id": "c", "memories": 2}
