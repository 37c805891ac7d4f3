"""Who wrote what: the client's own name, its session and its project are in every row that has room for them."""

import json

import pytest
from mcp import Client

from tests.conftest import Servers, Sqlite, call

pytestmark = pytest.mark.anyio

NAME = "Claude 代码"
SESSION = "session-42"
RECORDED = {
    "memories.created_by", "memories.session", "edges.created_by",
    "facts.created_by", "facts.updated_by", "facts.session", "fact_history.changed_by",
    "turns.created_by", "turns.session",
    "short_term_memories.created_by", "short_term_memories.session",
    "long_term_memories.created_by", "long_term_memories.session", "trash.deleted_by", "wakes.session",
    "changes.changed_by", "changes.session",
}  # fmt: skip
"""Every column that says who wrote a row through the server."""

OF_HOOKS = {
    "hook_captures.session",
    "hook_injections.session",
    "memory_uses.session",
    "open_questions.session",
    "rule_hits.session",
}
"""The same of rows that hooks write, or that a search teaches: the session is the one that the client names."""

OF_THE_TERMINAL = {"events.happened_by", "events.session"}
"""The same of what only a command does: an import, a merge, a forgetting of many things."""


async def write_everything(client: Client) -> None:
    """At least one row into every table that says who wrote it, in each way in which one comes there."""
    for content in ("The billing service runs in Frankfurt", "Invoices are sent on Mondays"):
        await call(client, "memory_store", content=content, type="decision")
    await call(client, "memory_store", content="Backups are kept for a year", type="pattern", relatedTo=1)
    await call(client, "graph_connect", sourceId=1, targetId=2, relation="causes")
    for value in ("one", "two"):
        for scope in ("project", "global", "session", "shared"):
            await call(client, "write_memory", key="current.task", value=value, scope=scope)
    await call(client, "delete_memory", key="current.task", scope="shared")
    await call(client, "delete_memory", key="current.task", scope="global")
    await call(client, "delete_memory", key="current.task", scope="global", undo=True)
    await call(client, "register_memory", message="We talked", summary="About it", facts={"port": 5433})
    said = [{"role": "user", "content": "the zebra escaped"}]
    await call(client, "add_short_term_memory", messages=said, conversation_id="c")
    await call(client, "add_long_term_memory", name="n", prompt="p", trigger="match_keys(messages, ['x'])")
    await call(client, "search_long_term_memories", messages=[{"role": "user", "content": "x"}])
    await call(client, "memory_update", id=1, importance=9)
    await call(client, "memory_delete", id=3)


def written(server: Servers, sqlite: Sqlite, column: str) -> list[str | None]:
    """The values of a column such as `memories.session`, each once, in the order of the rows."""
    table, _, name = column.partition(".")
    found = sqlite(server.db, f"SELECT json_group_array(DISTINCT {name}) FROM {table} NOT INDEXED")
    values: list[str | None] = json.loads(found)
    return values


def columns_of_callers(server: Servers, sqlite: Sqlite) -> set[str]:
    found = sqlite(
        server.db,
        "SELECT t.name || '.' || c.name FROM pragma_table_list AS t, pragma_table_info(t.name) AS c"
        " WHERE t.type = 'table' AND (c.name = 'session' OR c.name LIKE '%\\_by' ESCAPE '\\')",
    )
    return set(found.split())


async def test_client_and_session_are_in_every_row(server: Servers, sqlite: Sqlite, era: str) -> None:
    server.env["MEMORY_SERVER_SESSION"] = SESSION
    async with server("--project", "shop", mode=era, name=NAME) as client:
        await write_everything(client)
    assert columns_of_callers(server, sqlite) == RECORDED | OF_HOOKS | OF_THE_TERMINAL
    for column in RECORDED:
        expected = SESSION if column.endswith(".session") else NAME
        assert written(server, sqlite, column) == [expected], column
    assert written(server, sqlite, "memories.project") == ["shop"]
    assert written(server, sqlite, "turns.project") == ["shop"]
    owners = sqlite(server.db, "SELECT DISTINCT scope, owner FROM fact_history ORDER BY scope").splitlines()
    assert owners == ["global|", "project|shop", f"session|{SESSION}", "shared|"]


async def test_the_last_writer_of_a_fact_is_told_beside_the_first(server: Servers, sqlite: Sqlite) -> None:
    for name in ("Claude", "Cursor"):
        server.env["MEMORY_SERVER_SESSION"] = f"session of {name}"
        async with server("--project", "shop", name=name) as client:
            await call(client, "write_memory", key="k", value=name)
            await call(client, "memory_store", content="Invoices are sent on Mondays", type="decision")
    assert sqlite(server.db, "SELECT created_by, updated_by, session FROM facts") == (
        "Claude|Cursor|session of Cursor"
    )
    assert sqlite(server.db, "SELECT changed_by FROM fact_history ORDER BY id").split() == [
        "Claude",
        "Cursor",
    ]
    # A restatement is merged into the memory of the first.
    assert sqlite(server.db, "SELECT created_by, session FROM memories") == "Claude|session of Claude"


async def test_without_a_session_of_its_own_each_process_is_one(server: Servers, sqlite: Sqlite) -> None:
    for _ in range(2):
        async with server() as client:
            for content in ("zebra", "giraffe"):
                await call(client, "memory_store", content=content, type="error")
            await call(client, "register_memory", message="We talked", summary="About it")
            await call(client, "write_memory", key="k", value=1, scope="session")
    sessions = written(server, sqlite, "turns.session")
    assert len(set(sessions)) == 2
    assert all(session is not None and session.startswith("process-") for session in sessions)
    assert set(written(server, sqlite, "facts.owner")) == set(sessions)
    assert written(server, sqlite, "memories.session") == sessions[:1]
