"""How calls are understood: the tables, and what a client reads of it. The calls are in `imperfect_calls.jsonl`."""

import re
from collections import Counter
from pathlib import Path

import pytest
from mcp import Client
from mcp_types import CallToolResult, TextContent

from memory_server.mcp import meanings
from memory_server.mcp.forgiving.names import NEAR, NEAR_IN_A_TOOL, SUGGESTED, fold, near, parameter
from memory_server.mcp.forgiving.words import SAME_VALUE
from memory_server.mcp.tool import Tool
from tests.conftest import Servers, call
from tests.mcp.conftest import refusal
from tests.mcp.test_imperfect_calls import Edge

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Tool]:
    edge = Edge(tmp_path_factory.mktemp("tools"))
    edge.services.close()
    return edge.tools


def parameters(tool: Tool) -> list[str]:
    return list(tool.schema.get("properties", {}))


# The tables


def test_a_near_name_shadows_no_parameter_and_means_only_one(tools: dict[str, Tool]) -> None:
    for tool in tools.values():
        known = parameters(tool)
        own = {fold(name) for name in known}
        claims = Counter(name for each in known for name in near(tool.name, each))
        assert [name for name, number in claims.items() if number > 1] == [], tool.name
        assert own & claims.keys() == set(), tool.name
        for name in known:
            assert parameter(tool.name, name, known) == name
            assert {parameter(tool.name, other, known) for other in near(tool.name, name)} <= {name}


def test_no_two_parameters_of_a_tool_differ_in_case_and_marks_only(tools: dict[str, Tool]) -> None:
    for tool in tools.values():
        assert len(set(map(fold, parameters(tool)))) == len(parameters(tool)), tool.name


def test_every_name_in_the_tables_is_a_parameter_of_a_tool(tools: dict[str, Tool]) -> None:
    known = {name for tool in tools.values() for name in parameters(tool)}
    assert set(NEAR) | set(SUGGESTED) <= known
    for tool, names in NEAR_IN_A_TOOL.items():
        assert set(names) <= set(parameters(tools[tool]))


def test_what_erases_for_good_has_no_other_name(tools: dict[str, Tool]) -> None:
    assert "purge" not in NEAR
    for tool in tools.values():
        for name in ("permanent", "hard_delete", "force", "erase", "forever"):
            assert parameter(tool.name, name, parameters(tool)) is None


def test_meanings_lead_to_tools_and_values_that_exist(tools: dict[str, Tool]) -> None:
    suggested = [*meanings.TOOLS.values(), *meanings.OWN_WORDS.values(), *meanings.CHINESE.values()]
    suggested += [names for arguments in meanings.ELSEWHERE.values() for names in arguments.values()]
    named = {name for names in suggested for name in names}
    assert named <= set(tools)
    assert set(meanings.ELSEWHERE) <= set(tools)
    for tool, arguments in meanings.ELSEWHERE.items():
        assert set(map(fold, arguments)).isdisjoint(map(fold, parameters(tools[tool]))), tool
    for name, values in SAME_VALUE.items():
        schemas = [tool.schema["properties"].get(name, {}) for tool in tools.values()]
        sets = [set(schema.get("enum", schema.get("items", {}).get("enum", ()))) for schema in schemas]
        assert any(set(values.values()) <= legal for legal in sets), name


@pytest.mark.parametrize(
    "name", ["find", "lookup", "search", "search_memory", "query_memories", "查找记忆", "回忆"]
)
def test_what_finds_is_recall_where_it_is_listed(name: str) -> None:
    assert meanings.tool_for(name, ["memory_search", "recall", "memory_store"]) == "recall"
    assert meanings.tool_for(name, ["memory_search", "memory_store"]) == "memory_search"


def test_the_prefix_of_a_client_is_no_word_of_the_name(tools: dict[str, Tool]) -> None:
    assert meanings.tool_for("graph.add_fact", tools) == "write_memory"
    assert meanings.tool_for("mcp__reminders__memory_stor", tools) == "memory_store"


@pytest.mark.parametrize("name", ["forget", "remember", "resume", "link_memories", "set_fact"])
def test_only_listed_tools_are_suggested(name: str) -> None:
    assert meanings.tool_for(name, ["memory_get"]) is None


def test_no_call_that_works_names_an_id_to_change(tools: dict[str, Tool]) -> None:
    """A model may copy it."""
    without = {name for name, tool in tools.items() if tool.working({}) is None}
    assert without == {"memory_update", "memory_delete", "graph_connect", "delete_turn"}
    assert meanings.finding("delete_turn", tools) == "retrieve_memories"
    assert meanings.finding("memory_delete", tools) == "recall"


# What a client reads


async def test_an_answer_tells_first_what_was_understood_differently(server: Servers) -> None:
    async with server() as client:
        result = await client.call_tool("memory_search", {"q": "zebra", "limit": 99})
        assert isinstance(result, CallToolResult)
        assert result.structured_content is not None
        (block,) = result.content
        assert isinstance(block, TextContent)
        assert block.text.startswith(
            '{"note":"limit: 99 is above the maximum, 50 was used. `q` was read as `query`."'
        )
        assert result.structured_content["note"].startswith("limit: 99")


async def test_a_note_of_the_answer_stands_behind_it(server: Servers) -> None:
    async with server() as client:
        await call(client, "memory_store", content="The harbour opens at noon", type="learning")
        found = await call(client, "memory_search", q="zebra stripes")
        assert found["note"] == "`q` was read as `query`. No memory is likely to answer this."


async def test_what_is_written_as_it_shall_be_has_no_note(server: Servers) -> None:
    async with server() as client:
        stored = await call(
            client, "memory_store", content="x", type="Learning", importance="7", relatedTo=None
        )
        assert "note" not in stored
        assert "note" not in await call(client, "memory_get", ids=f"m{stored['id']}")


async def test_a_value_of_a_fact_is_exact(server: Servers) -> None:
    async with server() as client:
        for value in ("75000", "null", '{"a":1}', " 5 ", "true", 5, 5.0, None, ["1"], {"a": "1"}):
            await call(client, "write_memory", key="k", value=value)
            read = (await call(client, "read_memory", key="k"))["memory"]["value"]
            assert (read, type(read)) == (value, type(value))


async def test_a_refusal_begins_with_error_and_ends_with_a_call_that_works(client: Client) -> None:
    result = await client.call_tool(
        "memory_store", {"text": "Deploys on Fridays", "type": "fact", "colour": 1}
    )
    assert isinstance(result, CallToolResult)
    assert result.is_error
    (block,) = result.content
    assert isinstance(block, TextContent)
    assert block.text.splitlines() == [
        "Error: colour: unknown argument. There are: content, type, project, tags, importance, relatedTo, supersedes, "
        "metadata, occurred_at, session, summarizes.",
        'This call works without `colour`: memory_store {"content": "Deploys on Fridays", "type": "observation"}',
    ]


async def test_a_tool_that_is_switched_off_is_not_suggested(server: Servers) -> None:
    async with server("--exclude-tools", "memory_delete,memory_search,recall") as client:
        text = await refusal(client, "forget", id=1)
        assert "memory_delete" not in text
        text = await refusal(client, "memory_update", importance=3)
        assert "memory_search" not in text
        assert text == "id: missing. `memory_update` needs it."


async def test_no_tool_is_run_under_another_name(server: Servers) -> None:
    """A client asks its user by the name of the tool: `memory_delete` may need a yes, `memoryDelete` not."""
    async with server() as client:
        id = (await call(client, "memory_store", content="x", type="error"))["id"]
        for name in ("memoryDelete", "MEMORY_DELETE", "mcp__memory__memory_delete", "erase"):
            text = await refusal(client, name, id=id)
            assert "Did you mean `memory_delete`?" in text
            assert text.endswith(f'This call works: memory_delete {{"id": {id}}}')
        assert (await call(client, "memory_get", ids=[id]))["missing"] == []
        for name in ("registerMemory", "RegisterMemory"):
            assert (await call(client, name, message="m", summary="s"))["id"]
        assert len((await call(client, "retrieveMemories", query="m"))["memories"]) == 2


async def test_a_deletion_that_shall_only_be_shown_is_refused_without_a_call_to_copy(server: Servers) -> None:
    async with server() as client:
        id = (await call(client, "memory_store", content="x", type="error"))["id"]
        for tool, arguments in (
            ("memory_delete", {"id": id}),
            ("cleanup_memories", {}),
            ("forget", {"refs": [id]}),
        ):
            text = await refusal(client, tool, **arguments, dry_run=True)
            assert text.endswith(f"Nothing was changed: `{tool}` cannot only show what it would delete.")
        assert (await call(client, "memory_get", ids=[id]))["missing"] == []


async def test_a_harmless_tool_is_run_under_a_name_that_means_it(server: Servers) -> None:
    async with server() as client:
        stored = await call(client, "mcp__memory__store_memory", text="The port is 5433", source="the wiki")
        assert "`mcp__memory__store_memory` was read as `memory_store`" in stored["note"]
        memory = (await call(client, "functions.memory_get", ids="#1"))["memories"][0]
        assert (memory["type"], memory["metadata"]) == ("observation", {"source": "the wiki"})
        await refusal(client, "fly_to_the_moon", text="now")


async def test_a_refused_call_under_another_name_is_told_what_was_wrong(server: Servers) -> None:
    async with server() as client:
        text = await refusal(client, "store_memory", text="The port is 5433", importance="purple")
        assert text.startswith(
            "`store_memory` was read as `memory_store`.\n"
            'importance: must be a whole number, 1-10, got "purple"\nThis call works without `importance`: memory_store'
        )


async def test_messages_are_typed_in_each_schema(client: Client) -> None:
    for tool in (await client.list_tools()).tools:
        for name, schema in tool.input_schema.get("properties", {}).items():
            if re.search("messages$", name, re.IGNORECASE):
                dated = ["timestamp"] if tool.name == "add_short_term_memory" else []
                assert list(schema["items"]["properties"]) == ["role", "content", *dated], tool.name


def test_the_corpus_has_calls_of_every_tool(tools: dict[str, Tool]) -> None:
    lines = Path(__file__).with_name("imperfect_calls.jsonl").read_text(encoding="utf-8")
    used = Counter(re.findall(r'"tool": "(\w+)"', lines))
    assert sum(used[name] for name in tools) >= 250
    assert all(used[name] >= 3 for name in tools)
