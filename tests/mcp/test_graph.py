"""The toolset `graph` as a model calls it: a real process, the official client, both wire eras."""

import asyncio
import json
import random
from contextlib import AsyncExitStack
from typing import Any

import pytest
from mcp import Client
from mcp_types import CallToolResult, TextContent

from memory_server.domain.edge import Relation
from tests.conftest import ERAS, Servers, Sqlite, call, damage
from tests.mcp.conftest import refusal

pytestmark = pytest.mark.anyio

UNKNOWN = 999_999
RELATIONS = "related_to, causes, solves, depends_on, contradicts, extends, example_of, supersedes, summarizes"


async def stored(client: Client, project: str, *contents: str) -> list[int]:
    """The ids of new memories of a project."""
    return [
        (await call(client, "memory_store", content=content, type="decision", project=project))["id"]
        for content in contents
    ]


async def connected(client: Client, source: int, relation: str, target: int, **more: Any) -> dict[str, Any]:
    return await call(client, "graph_connect", sourceId=source, targetId=target, relation=relation, **more)


TEXTS = (
    "Payouts hang when a worker dies",
    "Restart the worker and requeue",
    "We moved payouts to a new queue",
)


# What each tool answers


async def test_connect_answers_the_edge(client: Client, project: str) -> None:
    error, fix, _ = await stored(client, project, *TEXTS)
    edge = await connected(client, fix, "solves", error, strength=0.5)
    assert edge == {
        "source": fix,
        "relation": "solves",
        "target": error,
        "strength": 0.5,
        "valid_from": edge["valid_from"],
    }
    assert edge["valid_from"].endswith("Z")


async def test_connecting_again_updates_the_strength_which_is_one_unless_given(
    client: Client, project: str
) -> None:
    one, other, _ = await stored(client, project, *TEXTS)
    first = await connected(client, one, "extends", other, strength=0)
    again = await connected(client, one, "extends", other)
    assert (first["strength"], again) == (0.0, {**first, "strength": 1.0})
    assert (await call(client, "graph_explore", memoryId=one))["edges"] == [again]


async def test_an_ended_edge_answers_when_it_ended_and_is_left_out_from_then_on(
    client: Client, project: str
) -> None:
    one, other, _ = await stored(client, project, *TEXTS)
    made = await connected(client, one, "depends_on", other)
    ended = await connected(client, one, "depends_on", other, end=True)
    assert ended == {**made, "valid_to": ended["valid_to"]}
    assert (await call(client, "graph_explore", memoryId=one))["edges"] == []
    then = await call(client, "graph_explore", memoryId=one, at=made["valid_from"])
    assert [node["id"] for node in then["nodes"]] == [one, other]
    assert then["edges"] == [ended]
    assert len((await call(client, "graph_explore", memoryId=one, at="2020-01-01"))["nodes"]) == 1


async def test_explore_answers_nodes_with_distance_and_path_and_the_edges_between(
    client: Client, project: str
) -> None:
    error, fix, change = await stored(client, project, *TEXTS)
    edges = [
        await connected(client, fix, "solves", error),
        await connected(client, change, "supersedes", fix),
    ]
    answer = await call(client, "graph_explore", memoryId=error)
    assert answer == {
        "nodes": [
            {"id": error, "content": TEXTS[0], "type": "decision", "distance": 0, "path": [error]},
            {
                "id": fix, "content": TEXTS[1], "type": "decision", "distance": 1, "path": [error, fix],
                "superseded_by": change,
            },
            {"id": change, "content": TEXTS[2], "type": "decision", "distance": 2, "path": [error, fix, change]},
        ],
        "edges": edges,
        "left_out": 0,
    }  # fmt: skip


async def test_explore_follows_the_depth_the_relation_and_the_direction(client: Client, project: str) -> None:
    one, two, three = await stored(client, project, *TEXTS)
    await connected(client, one, "causes", two)
    await connected(client, two, "extends", three)

    async def reached(start: int, **how: Any) -> list[int]:
        answer = await call(client, "graph_explore", memoryId=start, **how)
        return [node["id"] for node in answer["nodes"]]

    assert await reached(one) == [one, two, three]
    assert await reached(one, depth=1) == [one, two]
    assert await reached(one, relation="causes") == [one, two]
    assert await reached(one, relation="extends") == [one]
    assert await reached(two, direction="out") == [two, three]
    assert await reached(two, direction="in") == [two, one]
    assert await reached(two, direction="both") == [two, one, three]


async def test_what_a_limit_leaves_out_is_counted_with_the_distance_where_the_walk_stopped(
    client: Client, project: str, sqlite: Sqlite, module_server: Servers
) -> None:
    (hub,) = await stored(client, project, "The hub of many spokes")
    sqlite(
        module_server.db,
        "INSERT INTO memories (content, type, project) SELECT 'spoke ' || value, 'error', 'spokes' FROM"
        " (WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n LIMIT 105) SELECT value FROM n)",
        f"INSERT INTO edges (source_id, target_id, relation) SELECT {hub}, id, 'causes' FROM memories"
        " WHERE project = 'spokes'",
    )
    answer = await call(client, "graph_explore", memoryId=hub, depth=4, max_tokens=8000)
    assert (len(answer["nodes"]), answer["left_out"], answer["stopped_at"]) == (100, 6, 1)
    sqlite(module_server.db, "DELETE FROM memories WHERE project = 'spokes'")
    assert (await call(client, "graph_explore", memoryId=hub))["edges"] == []


async def test_related_answers_neighbours_by_edge_and_by_meaning(client: Client, project: str) -> None:
    error, fix = await stored(client, project, "The zeppelin docks badly in wind", "Turn the mast")
    (like,) = await stored(client, project, "The zeppelin docks badly in rain")
    edge = await connected(client, fix, "solves", error)
    answer = await call(client, "memory_related", memoryId=error)
    first = answer["related"][0]
    (second,) = [each for each in answer["related"] if each["id"] == like]
    assert first == {
        "id": fix, "content": "Turn the mast", "type": "decision", "nearness": 1.0, "edges": [edge],
        "meaning": first["meaning"],
    }  # fmt: skip
    assert second == {
        "id": like, "content": "The zeppelin docks badly in rain", "type": "decision",
        "nearness": second["nearness"], "meaning": second["meaning"],
    }  # fmt: skip
    assert second["meaning"] > 0.5
    assert 0 < second["nearness"] < 1
    by_edge = await call(client, "memory_related", memoryId=error, includeSemantic=False)
    assert [each["id"] for each in by_edge["related"]] == [fix]
    assert "meaning" not in by_edge["related"][0]
    by_meaning = await call(client, "memory_related", memoryId=error, includeGraph=False)
    assert like in [each["id"] for each in by_meaning["related"]]
    assert not any("edges" in each for each in by_meaning["related"])
    assert len((await call(client, "memory_related", memoryId=error, limit=1))["related"]) == 1


async def test_store_with_related_to_makes_an_edge(client: Client, project: str) -> None:
    (error,) = await stored(client, project, "The kiln overheats on Sundays")
    fix = await call(
        client, "memory_store", content="Open the flue", type="pattern", project=project, relatedTo=error
    )
    (edge,) = (await call(client, "graph_explore", memoryId=error))["edges"]
    assert (edge["source"], edge["relation"], edge["target"]) == (fix["id"], "related_to", error)
    message = await refusal(
        client, "memory_store", content="Nobody knows why", type="error", project=project, relatedTo=UNKNOWN
    )
    assert message == f"No memory {UNKNOWN}. Call `recall` to find the id."


async def test_every_answer_marks_what_is_superseded(client: Client, project: str) -> None:
    old, new = await stored(client, project, "The kiosk opens at nine", "As of May it opens at ten")
    await connected(client, new, "supersedes", old)
    found = await call(client, "memory_search", query="When does the kiosk open?", project=project)
    assert [(hit["id"], hit.get("superseded_by")) for hit in found["results"]] == [(new, None), (old, new)]
    assert found["results"][0]["why"]["edge"] == f"{new} supersedes {old}"
    read = await call(client, "memory_get", ids=[old, new])
    assert [memory.get("superseded_by") for memory in read["memories"]] == [new, None]
    updated = await call(client, "memory_update", id=old, importance=4)
    assert updated["superseded_by"] == new
    restated = await call(
        client, "memory_store", content="The kiosk opens at nine.", type="decision", project=project
    )
    assert not restated["consolidated"]
    assert [each.get("superseded_by") for each in restated["similar"] if each["id"] == old] == [new]
    near = await call(client, "memory_related", memoryId=new, limit=1)
    assert [(each["id"], each["superseded_by"]) for each in near["related"]] == [(old, new)]
    explored = await call(client, "graph_explore", memoryId=new)
    assert [node.get("superseded_by") for node in explored["nodes"]] == [None, new]
    await connected(client, new, "supersedes", old, end=True)
    read = await call(client, "memory_get", ids=[old])
    assert "superseded_by" not in read["memories"][0]


async def test_text_and_structured_content_are_the_same_facts(client: Client, project: str) -> None:
    one, other = await stored(client, project, "Ich wohne in Zürich", "我住在苏黎世")
    await connected(client, one, "related_to", other)
    result = await client.call_tool("graph_explore", {"memoryId": one})
    assert isinstance(result, CallToolResult)
    (block,) = result.content
    assert isinstance(block, TextContent)
    assert json.loads(block.text) == result.structured_content
    assert "我住在苏黎世" in block.text


# What is refused, and how it is mended


async def test_an_edge_to_itself_to_nowhere_or_in_a_circle_is_refused_with_the_mend(
    client: Client, project: str
) -> None:
    one, other = await stored(client, project, "Doors are green", "Doors are blue now")
    edge = {"sourceId": one, "targetId": other, "relation": "supersedes"}
    assert await refusal(client, "graph_connect", **{**edge, "targetId": one}) == (
        f"An edge needs two memories, and both ends are {one}. Call `recall` to find the id."
    )
    missing = f"No memory {UNKNOWN}. Call `recall` to find the id."
    assert await refusal(client, "graph_connect", **{**edge, "targetId": UNKNOWN}) == missing
    assert await refusal(client, "graph_connect", **{**edge, "sourceId": UNKNOWN}) == missing
    assert await refusal(client, "graph_explore", memoryId=UNKNOWN) == missing
    assert await refusal(client, "memory_related", memoryId=UNKNOWN) == missing
    await connected(client, other, "supersedes", one)
    assert await refusal(client, "graph_connect", **edge) == (
        f"Memory {other} already supersedes {one}, directly or through others. Call `graph_explore` with "
        f"memoryId={one}, relation=supersedes, direction=in to see the edge. If it is wrong, call `graph_connect` with "
        "the edge's sourceId, targetId, relation and end=true."
    )
    assert await refusal(client, "graph_connect", **edge, end=True) == (
        f"There is no edge {one} supersedes {other}. Call `graph_explore` with memoryId={one} to see the valid edges."
    )


GOOD: dict[str, dict[str, Any]] = {
    "graph_connect": {"sourceId": 1, "targetId": 2, "relation": "causes"},
    "graph_explore": {"memoryId": 1},
    "memory_related": {"memoryId": 1},
}

CONNECT = "There are: sourceId, targetId, relation, strength, end."
EXPLORE = "There are: memoryId, depth, relation, direction, at, max_tokens, similar."


@pytest.mark.parametrize(
    ("tool", "wrong", "message"),
    [
        ("graph_connect", {"strength": 1.01}, "strength: must be a number, 0-1, got 1.01"),
        ("graph_connect", {"strength": -0.01}, "strength: must be a number, 0-1, got -0.01"),
        ("graph_connect", {"strength": True}, "strength: must be a number, 0-1, got true"),
        ("graph_connect", {"relation": "likes"}, f'relation: must be one of {RELATIONS}, got "likes"'),
        ("graph_connect", {"relation": None}, f"relation: missing. `graph_connect` needs it: one of {RELATIONS}."),
        ("graph_connect", {"targetId": 0}, "targetId: Input should be greater than or equal to 1, got 0"),
        ("graph_connect", {"end": "maybe"}, 'end: must be true or false, got "maybe"'),
        (
            "graph_connect", {"source": 2},
            "sourceId: is given twice, as `sourceId` and as `source`, with two values: give one",
        ),
        ("graph_connect", {"sorceId": 1}, f"sorceId: unknown argument. Did you mean `sourceId`? {CONNECT}"),
        ("graph_explore", {"depth": 0}, "depth: must be a whole number, 1-4, got 0"),
        ("graph_explore", {"depth": 2.5}, "depth: must be a whole number, 1-4, got 2.5"),
        ("graph_explore", {"relation": "likes"}, f'relation: must be one of {RELATIONS}, got "likes"'),
        ("graph_explore", {"direction": "up"}, 'direction: must be one of out, in, both, got "up"'),
        ("graph_explore", {"memryId": 1}, f"memryId: unknown argument. Did you mean `memoryId`? {EXPLORE}"),
        ("memory_related", {"limit": 0}, "limit: must be a whole number, 1-50, got 0"),
        (
            "memory_related", {"includeGrph": True},
            "includeGrph: unknown argument. Did you mean `includeGraph`? "
            "There are: memoryId, limit, includeGraph, includeSemantic.",
        ),
    ],
)  # fmt: skip
async def test_a_wrong_argument_is_refused_in_a_line_that_says_what_would_be_right(
    client: Client, tool: str, wrong: dict[str, Any], message: str
) -> None:
    line, works = (await refusal(client, tool, **{**GOOD[tool], **wrong})).splitlines()
    assert line == message
    assert works.startswith(("This call works", "This call finds the id: "))


@pytest.mark.parametrize(
    "moment",
    ["someday", "2026-13-01", "31/31/2026", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"],
)
async def test_what_is_no_moment_is_refused(client: Client, moment: str) -> None:
    message = await refusal(client, "graph_explore", memoryId=1, at=moment)
    assert message.startswith("at: is not a date or time: write 2026-03-14, 2026-03-14T09:26:53Z, yesterday")
    assert f'got "{moment}"' in message


@pytest.mark.parametrize("tool", GOOD)
async def test_a_missing_argument_is_named(client: Client, tool: str) -> None:
    message = await refusal(client, tool)
    lines = message.splitlines()[:-1]
    assert [line.partition(" needs it")[0] for line in lines] == [
        f"{name}: missing. `{tool}`" for name in GOOD[tool]
    ]


async def test_neighbours_of_no_kind_are_refused_with_the_mend(client: Client, project: str) -> None:
    (id,) = await stored(client, project, "Alone in the attic")
    message = await refusal(client, "memory_related", memoryId=id, includeGraph=False, includeSemantic=False)
    assert message == (
        "Neither edges nor meaning are wanted, which leaves nothing to look for. "
        "Set includeGraph or includeSemantic to true."
    )


async def test_a_null_counts_as_not_given(client: Client, project: str) -> None:
    one, other = await stored(client, project, "Stairs are steep", "Lifts are slow")
    edge = await connected(client, one, "causes", other, strength=None, end=None)
    assert edge["strength"] == 1.0
    nothing = {"depth": None, "relation": None, "direction": None, "at": None}
    assert len((await call(client, "graph_explore", memoryId=one, **nothing))["nodes"]) == 2


async def test_a_read_only_server_explores_and_does_not_connect(server: Servers) -> None:
    async with server() as client:
        one, other = await stored(client, "p", "Stairs are steep", "Lifts are slow")
        await connected(client, one, "causes", other)
    async with server("--read-only") as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"graph_explore", "memory_related"} <= names
        assert "graph_connect" not in names
        assert len((await call(client, "graph_explore", memoryId=one))["edges"]) == 1


# Many at once


async def test_processes_that_connect_and_delete_at_once_leave_no_dangling_edge(
    server: Servers, sqlite: Sqlite
) -> None:
    """Two servers connect the same memories while both delete some of them, and the stock program does too."""
    chance = random.Random(8)
    relations = [relation.value for relation in Relation]
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(server(mode=era, name=era)) for era in ERAS]
        ids = await stored(clients[0], "p", *(f"note {number} {chance.random()}" for number in range(40)))

        async def connect(client: Client) -> int:
            ends = chance.sample(ids, 2)
            arguments = {"sourceId": ends[0], "targetId": ends[1], "relation": chance.choice(relations)}
            result = await client.call_tool("graph_connect", arguments)
            assert isinstance(result, CallToolResult)
            return int(not result.is_error)

        async def forget(client: Client, id: int) -> int:
            await call(client, "memory_delete", id=id)
            return 0

        async def by_hand(id: int) -> int:
            await asyncio.to_thread(sqlite, server.db, f"DELETE FROM memories WHERE id = {id}")
            return 0

        doomed = chance.sample(ids, 15)
        work = [connect(clients[number % 2]) for number in range(160)]
        work += [forget(clients[number % 2], id) for number, id in enumerate(doomed[:12])]
        work += [by_hand(id) for id in doomed[12:]]
        chance.shuffle(work)
        done = sum(await asyncio.gather(*work))
        left = sorted(set(ids) - set(doomed))
        assert sqlite(server.db, "SELECT group_concat(id, ' ') FROM memories ORDER BY id") == " ".join(
            map(str, left)
        )
        assert sqlite(server.db, "PRAGMA foreign_key_check") == ""
        edges = int(sqlite(server.db, "SELECT count(*) FROM edges"))
        assert 0 < edges <= done
        for client in clients:
            for id in left:
                answer = await call(client, "graph_explore", memoryId=id, depth=4)
                reached = {node["id"] for node in answer["nodes"]}
                assert reached <= set(left)
                assert all({edge["source"], edge["target"]} <= reached for edge in answer["edges"])
    assert damage(server.db) == []
