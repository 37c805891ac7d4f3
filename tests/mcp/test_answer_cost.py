"""What answers cost a model, in tokens."""

import json
from statistics import mean
from typing import Any

import pytest
from mcp import Client

from tests.conftest import ROOT, Servers, call
from tests.mcp.conftest import tokens

pytestmark = pytest.mark.anyio

A_HIT = 66
"""Tokens of a hit whose text has 33."""

TYPICAL = range(30, 42)
"""Tokens of typical texts; their mean is 33."""

HALF = "；".join(
    ["灯塔的门每天早上七点由值班的人打开", "the keeper writes down who came and when they left"] * 3
)


def own_texts() -> list[dict[str, Any]]:
    """Texts of our own set, in both languages, with their type."""
    lines = (ROOT / "scripts/lab/quality/own.jsonl").read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    return [each for each in found if isinstance(each.get("text"), str)]


async def test_a_hit_costs_at_most_twice_its_text(server: Servers) -> None:
    typical = [each for each in own_texts() if tokens(each["text"]) in TYPICAL]
    assert mean(tokens(each["text"]) for each in typical) == pytest.approx(33, abs=1)
    hits: list[dict[str, Any]] = []
    async with server("--project", "lockers") as client:
        for each in typical:
            await call(client, "memory_store", content=each["text"], type=each["type"])
        for each in typical[::3]:
            found = await call(client, "memory_search", query=each["text"][:60], limit=10)
            assert "degraded" not in found
            hits += found["results"]
    shown = mean(tokens(hit["content"]) for hit in hits)
    cost = mean(tokens(hit) for hit in hits)
    print(f"{len(hits)} hits: {cost:.1f} tokens for {shown:.1f} of text")
    assert cost <= A_HIT + (shown - 33)


async def chain(client: Client, project: str, length: int) -> int:
    """The first of so many memories, each connected with three others."""
    ids = []
    for number in range(length):
        stored = await call(
            client, "memory_store", content=f"{number}. {HALF[number:]}", type="observation", project=project
        )
        ids.append(stored["id"])
    for place, id in enumerate(ids):
        for other in ids[place + 1 : place + 4]:
            await call(client, "graph_connect", sourceId=id, targetId=other, relation="causes")
    return int(ids[0])


async def test_a_walk_through_the_graph_stays_within_its_budget_and_counts_what_is_left_out(
    server: Servers,
) -> None:
    async with server() as client:
        first = await chain(client, "p", 20)
        seen = 0
        for budget in (300, 1000, 1500, 4000):
            answer = await call(client, "graph_explore", memoryId=first, depth=4, max_tokens=budget)
            assert tokens(answer) <= budget
            shown = {node["id"] for node in answer["nodes"]}
            assert first in shown
            assert all({edge["source"], edge["target"]} <= shown for edge in answer["edges"])
            assert len(shown) + answer["left_out"] == 13  # three further at each of four steps
            assert ("stopped_at" in answer) == (answer["left_out"] > 0)
            assert len(shown) > seen
            seen = len(shown)
        assert seen == 13
        usual = await call(client, "graph_explore", memoryId=first, depth=4)
        assert usual == await call(client, "graph_explore", memoryId=first, depth=4, max_tokens=1500)


async def test_a_walk_shows_the_start_of_a_long_memory(server: Servers) -> None:
    async with server() as client:
        id = (await call(client, "memory_store", content="灯塔" * 2_000, type="observation"))["id"]
        answer = await call(client, "graph_explore", memoryId=id, max_tokens=300)
        assert answer["nodes"][0]["content"] == "灯塔" * 100 + "… (3,800 more characters)"
        assert tokens(answer) <= 300


async def test_a_list_of_long_term_memories_shows_the_start_of_each_prompt(server: Servers) -> None:
    async with server() as client:
        for name, prompt in (("long", "p" * 5_000), ("short", "Ask for the change log")):
            await call(client, "add_long_term_memory", name=name, prompt=prompt, trigger="true")
        listed = (await call(client, "list_long_term_memories"))["memories"]
        shown = {each["name"]: each["prompt"] for each in listed}
        assert shown == {"long": "p" * 100 + "… (4,900 more characters)", "short": "Ask for the change log"}
