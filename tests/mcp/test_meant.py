"""What can mean only one thing is carried out as meant, by the running server, and told."""

import re

import pytest
from mcp import Client

from tests.conftest import Servers, call
from tests.mcp.conftest import refusal, tokens

pytestmark = pytest.mark.anyio


async def test_each_entry_of_a_list_is_stored(server: Servers) -> None:
    async with server() as client:
        texts = ["Deploys are on Fridays", "The port is 5433", {"text": "Ana keeps the keys"}]
        stored = await call(client, "memory_store", content=texts, type="decision", tags=["ops"])
        ids = [stored["id"], *(other["id"] for other in stored["others"])]
        assert stored["note"] == "content: each of 3 entries was stored."
        memories = (await call(client, "memory_get", ids=ids))["memories"]
        assert [memory["content"] for memory in memories] == [texts[0], texts[1], "Ana keeps the keys"]
        assert {tuple(memory["tags"]) for memory in memories} == {("ops",)}
        refused = await refusal(client, "memory_store", content=["a b", "c d"], type="error", supersedes="1")
        assert "store the one that supersedes on its own" in refused
        secret = ["harmless", "password: hunter2hunter2 AKIAIOSFODNN7EXAMPLE"]
        await refusal(client, "memory_store", content=secret, type="error")
        assert (await call(client, "memory_stats"))["total"] == 3


async def test_words_for_all_or_the_user_make_no_project(server: Servers) -> None:
    async with server() as client:
        for word in ("user", "global", "all"):
            stored = await call(
                client, "memory_store", content=f"About {word}", type="learning", project=word
            )
            assert stored["project"] is None
            assert word in stored["note"]
        await call(client, "memory_store", content="About the shop", type="learning", project="shop")
        assert {*(await call(client, "memory_stats"))["by_project"]} == {"", "shop"}
        everything = await call(client, "memory_search", query="about", project="all")
        assert len(everything["results"]) == 4
        assert len((await call(client, "memory_search", query="about", project="user"))["results"]) == 3


@pytest.mark.parametrize("query", ["", "*", " "])
async def test_recall_of_nothing_lists_the_newest(server: Servers, query: str) -> None:
    async with server() as client:
        assert (await call(client, "recall", query=query))["note"].endswith("Nothing is stored here.")
        await call(client, "memory_store", content="The first", type="learning")
        await call(client, "write_memory", key="last", value="The second")
        answer = await call(client, "recall", query=query)
        assert "[m1]" in answer["answer"]
        assert "[f last]" in answer["answer"]
        assert "The newest of " in answer["note"]
        since = await call(client, "recall", query=query, since="yesterday")
        assert "[m1]" in since["answer"]
        assert "All since " in since["note"]
        facts = await call(client, "recall", query=query, kinds=["fact"])
        assert "[f last]" in facts["answer"]
        assert "[m1]" not in facts["answer"]


async def test_a_read_finds_the_key_whose_last_part_was_written(server: Servers) -> None:
    async with server() as client:
        await call(client, "write_memory", key="project.wifi", value="lemon")
        found = await call(client, "read_memory", key="wifi")
        assert found["memory"]["value"] == "lemon"
        assert found["note"] == "No fact `wifi`: this is `project.wifi`."
        await call(client, "write_memory", key="shop.wifi", value="lime")
        several = await call(client, "read_memory", key="wifi")
        assert several["memory"] is None
        assert several["note"] == "No fact `wifi`. There are: `project.wifi`, `shop.wifi`."
        assert await call(client, "read_memory", key="nothing") == {"memory": None}


async def family(client: Client) -> list[int]:
    """Store a family of alike facts; the tokens of each answer."""
    costs = []
    for number in range(1, 13):
        text = (
            f"The door code of holiday flat number {number} in the house by the harbour of Husum is "
            f"{4000 + 37 * number}, and the spare key hangs behind the meter of flat {number}."
        )
        result = await client.call_tool("memory_store", {"content": text, "type": "observation"})
        costs.append(tokens(result.content[0].text))  # type: ignore[union-attr]
    return costs


async def test_the_answers_of_a_family_of_alike_memories_are_short(server: Servers) -> None:
    async with server() as client:
        costs = await family(client)
        first, second, *others = costs
        assert first < 50
        assert second <= 90  # the text of the only similar one, which this one may supersede
        assert max(others) <= 80


async def test_a_day_of_each_week_and_an_hour_are_read_together(server: Servers) -> None:
    async with server() as client:
        reminded = await call(client, "remind", text="call Ada", every="Monday", at="9:00")
        assert reminded["note"].startswith("`every` and `at` were read together.")
        assert re.fullmatch(r"due\(told, '\d{4}-\d\d-\d\dT09:00', '1 week'\)", reminded["trigger"])


async def test_a_fact_that_is_stored_for_a_while_expires(server: Servers) -> None:
    async with server() as client:
        stored = await call(client, "write_memory", **{"key": "door.code", "value": "17", "in": "2 hours"})
        assert "`in` was read as `ttl`." in stored["note"]
        assert "expires_at" in (await call(client, "read_memory", key="door.code"))["memory"]
