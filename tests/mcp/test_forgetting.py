"""Deleting, undoing and purging as a model does it: hidden from every answer at once, whole again, or gone."""

import json
from typing import Any

import pytest
from mcp import Client
from mcp_types import CallToolResult, TextContent

from tests.conftest import Servers, Sqlite, call, eventually
from tests.mcp.conftest import erased, refusal

pytestmark = pytest.mark.anyio

TOKEN = "qzforgetmeq"
TALK = {"role": "user", "content": f"{TOKEN} likes white orchids", "timestamp": "2026-01-02T03:04:05Z"}


async def make(client: Client) -> None:
    """One thing of each kind that holds the token; and memory 1, which does not, with an edge to it."""
    await call(client, "memory_store", content="The harbour opens at noon", type="learning")
    await call(client, "memory_store", content=f"{TOKEN} grows orchids", type="learning", tags=[TOKEN])
    await call(client, "graph_connect", sourceId=1, targetId=2, relation="causes", strength=0.4)
    await call(client, "write_memory", key="current.task", value=f"{TOKEN} waters", scope="project")
    await call(client, "register_memory", message=f"{TOKEN} spoke", summary=f"On {TOKEN} and orchids")
    await call(client, "add_short_term_memory", messages=[TALK], conversation_id="talk")
    await call(
        client,
        "add_long_term_memory",
        name="orchids",
        prompt=f"Ask {TOKEN}",
        trigger=f"match_keys(messages, ['{TOKEN}'])",
        conversation_id="talk",
    )
    await eventually(lambda: embedded(client), "everything is embedded")


async def embedded(client: Client) -> bool:
    stats = await call(client, "memory_stats")
    turns = await call(client, "retrieve_memories", query="orchids")
    waiting = stats["embeddings"]["waiting"] or "problem" in stats["embeddings"]
    return not waiting and "degraded" not in turns


ASKED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("memory_search", {"query": "orchids"}),
    ("memory_search", {"query": "orchids", "mode": "semantic"}),
    ("memory_search", {"query": "orchids", "mode": "keyword"}),
    ("memory_get", {"ids": [1, 2]}),
    ("memory_related", {"memoryId": 1}),
    ("graph_explore", {"memoryId": 1}),
    ("memory_stats", {}),
    ("read_memory", {"key": "current.task"}),
    ("read_memory", {"pattern": "*"}),
    ("list_memories", {}),
    ("smart_resume", {}),
    ("retrieve_memories", {"query": "orchids"}),
    ("search_short_term_memories", {"recentMessages": [TALK], "conversation_id": "talk"}),
    ("delete_short_term_memories", {"pattern": "orchids", "conversation_id": "talk", "dry_run": True}),
    ("get_memory_stats", {}),
    ("get_frequent_conversation", {}),
    ("list_long_term_memories", {"conversation_id": "talk"}),
    (
        "search_long_term_memories",
        {"messages": [{"role": "user", "content": TOKEN}], "conversation_id": "talk"},
    ),
)
"""Every way to read what is kept."""

VARYING = (
    "since_start",
    "database_bytes",
    "accessed_at",
    "access_count",
    "fired",
    "fired_at",
    "score",
    "scores",
    "parts",
    "nearness",
    "relevance",
    "decay",
    "version",
    "created_at",
    "updated_at",
)
"""What reading itself changes, what changes with time, and what a restored fact has anew."""


async def answers(client: Client) -> dict[str, Any]:
    """What every reading tool answers now."""
    told = {}
    for tool, arguments in ASKED:
        result = await client.call_tool(tool, arguments)
        assert isinstance(result, CallToolResult)
        assert not result.is_error, (tool, result.content)
        told[f"{tool} {json.dumps(arguments)}"] = steady(result.structured_content)
    return told


def steady(answer: Any) -> Any:
    """An answer without what varies."""
    match answer:
        case dict():
            return {name: steady(value) for name, value in answer.items() if name not in VARYING}
        case list():
            return [steady(each) for each in answer]
        case _:
            return answer


DELETIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("memory_delete", {"id": 2}),
    ("delete_memory", {"key": "current.task"}),
    ("delete_turn", {"id": 1}),
    ("delete_short_term_memories", {"pattern": TOKEN, "conversation_id": "talk"}),
    ("delete_long_term_memory", {"name": "orchids", "conversation_id": "talk"}),
)


@pytest.mark.both_stores
async def test_what_is_deleted_is_in_no_answer_and_an_undo_brings_all_of_it_back(server: Servers) -> None:
    async with server("--project", "shop") as client:
        await make(client)
        before = await answers(client)
        assert sum(TOKEN in json.dumps(answer) for answer in before.values()) >= 14
        for tool, arguments in DELETIONS:
            answer = await call(client, tool, **arguments)
            assert answer["deleted"] in (True, 1)
            assert answer["undo_until"] > "2026"
            assert "purged" not in answer
        hidden = await answers(client)
        for asked, answer in hidden.items():
            assert TOKEN not in json.dumps(answer), asked
            assert '"talk"' not in json.dumps(answer), asked
        for tool, arguments in DELETIONS:
            answer = await call(client, tool, **arguments, undo=True)
            assert answer["deleted"] in (False, 0)
            assert answer["restored"]
        await eventually(lambda: embedded(client), "everything is embedded again")
        after = await answers(client)
        assert {asked for asked in before if after[asked] != before[asked]} == set()


async def test_what_is_purged_is_gone_at_once_also_after_it_was_deleted(
    server: Servers, sqlite: Sqlite
) -> None:
    async with server("--project", "shop") as client:
        await make(client)
        for tool, arguments in DELETIONS[::2]:
            await call(client, tool, **arguments)
        copy = server.db.with_name("memory.db.before-0009")
        copy.write_text(TOKEN)
        for tool, arguments in DELETIONS:
            answer = await call(client, tool, **arguments, purge=True)
            assert answer["purged"] in (True, 1)
            assert "undo_until" not in answer
            await refusal(client, tool, **arguments, undo=True)
        assert not copy.exists()
        assert TOKEN not in json.dumps(list((await answers(client)).values()))
        found = await call(client, "memory_get", ids=[1])
        assert [memory["content"] for memory in found["memories"]] == ["The harbour opens at noon"]
        assert TOKEN not in sqlite(server.db, "SELECT * FROM trash", "SELECT * FROM conversations")
        await erased(server, TOKEN)
    dump = sqlite(server.db, ".dump")
    assert TOKEN not in dump.lower()
    assert "'talk'" not in dump
    for file in server.db.parent.iterdir():
        if file.is_file() and file.name.startswith("memory.db"):
            assert TOKEN.encode() not in file.read_bytes().lower()


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        (
            "memory_delete",
            {"id": 9},
            "No memory 9 was deleted in the last 30 days. Nothing was restored.",
        ),
        (
            "delete_memory",
            {"key": "no.key"},
            "No deleted fact `no.key`. Call `read_memory` with key=no.key and history=true to see what happened to it.",
        ),
        ("delete_turn", {"id": 9}, "No turn 9 was deleted in the last 30 days. Nothing was restored."),
        (
            "delete_short_term_memories",
            {"pattern": "nothing", "conversation_id": "talk"},
            "No short-term memory of `talk` that contains this was deleted in the last 30 days. Nothing was restored.",
        ),
        (
            "delete_long_term_memory",
            {"name": "nobody", "conversation_id": "talk"},
            "No long-term memory `nobody` of the conversation `talk` was deleted in the last 30 days. "
            "Nothing was restored.",
        ),
    ],
)
async def test_an_undo_of_what_was_not_deleted_says_so(
    server: Servers, tool: str, arguments: dict[str, Any], told: str
) -> None:
    async with server() as client:
        assert await refusal(client, tool, **arguments, undo=True) == told
        both = "Give either `undo` or `purge`, not both. Nothing was changed."
        assert await refusal(client, tool, **arguments, undo=True, purge=True) == both


async def test_a_purge_of_what_is_not_there_says_so(server: Servers) -> None:
    async with server() as client:
        assert await refusal(client, "memory_delete", id=9, purge=True) == (
            "No memory 9. Call `recall` to find the id."
        )
        assert await refusal(client, "delete_turn", id=9, purge=True) == (
            "No turn 9. Call `recall` with kinds turn to find the id."
        )
        assert await call(client, "delete_memory", key="no.key", purge=True) == {"deleted": False}
        answer = await call(
            client, "delete_short_term_memories", pattern="nothing", conversation_id="talk", purge=True
        )
        assert (answer["deleted"], answer["purged"]) == (0, 0)


async def test_a_dry_run_restores_nothing(server: Servers) -> None:
    async with server() as client:
        await call(client, "add_short_term_memory", messages=[TALK], conversation_id="talk")
        await call(client, "delete_short_term_memories", pattern=TOKEN, conversation_id="talk")
        assert await refusal(
            client,
            "delete_short_term_memories",
            pattern=TOKEN,
            conversation_id="talk",
            undo=True,
            dry_run=True,
        ) == ("Give either `undo` or `dry_run`, not both. Nothing was changed.")
        assert (await call(client, "get_memory_stats"))["memories"] == 0


async def test_each_description_tells_of_the_undo_and_of_the_purge(server: Servers) -> None:
    async with server() as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        for name, _ in DELETIONS:
            tool = listed[name]
            assert tool.description is not None
            assert "30 days" in tool.description
            assert tool.input_schema["properties"]["purge"]["description"] == "erase for good"
            assert tool.input_schema["properties"]["undo"] == {"type": "boolean"}


async def test_an_answer_says_the_same_as_text_and_as_structure(server: Servers) -> None:
    async with server() as client:
        await call(client, "memory_store", content="gone soon", type="error")
        result = await client.call_tool("memory_delete", {"id": 1, "purge": True})
        assert isinstance(result, CallToolResult)
        (block,) = result.content
        assert isinstance(block, TextContent)
        assert json.loads(block.text) == {"deleted": True, "purged": True}


async def test_a_purge_tells_of_the_rescued_files_that_may_hold_the_thing_and_leaves_them(
    server: Servers,
) -> None:
    """They are the user's: perhaps the only copy of something else."""
    async with server("--project", "shop") as client:
        await make(client)
        rescued = server.db.with_name("memory.db.rescued-20260314T092653Z")
        rescued.write_text(TOKEN)
        for tool, arguments in DELETIONS:
            answer = await call(client, tool, **arguments)
            assert "note" not in answer
            answer = await call(client, tool, **arguments, purge=True)
            assert answer["note"] == (
                f"These files may still hold it: {rescued}. Tell the user, who can delete them."
            )
    assert rescued.read_text() == TOKEN
