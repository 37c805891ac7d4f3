"""The tool `forget`: what is stored of every kind is deleted by its ref, listed by words, restored and erased."""

from typing import Any

import pytest
from mcp import Client

from tests.conftest import Servers, call
from tests.mcp.conftest import refusal

pytestmark = pytest.mark.anyio

SAID = [{"role": "user", "content": "The lighthouse needs paint, said the harbour master"}]


async def filled(client: Client) -> list[str]:
    """Store one thing of each kind; their refs."""
    memory = await call(client, "memory_store", content="The lighthouse is white", type="decision")
    await call(client, "write_memory", key="lighthouse.height", value=31)
    turn = await call(
        client, "register_memory", message="How high is it?", summary="Asked for the lighthouse"
    )
    said = await call(client, "add_short_term_memory", messages=SAID)
    await call(client, "add_long_term_memory", name="lighthouse paint", prompt="Buy white", trigger="false")
    return [
        f"m{memory['id']}", "f:lighthouse.height", f"t{turn['id']}", f"s{said['id']}", "w:lighthouse paint",
    ]  # fmt: skip


async def left(client: Client) -> tuple[Any, ...]:
    """What of it is there."""
    stats = await call(client, "memory_stats")
    fact = await call(client, "read_memory", key="lighthouse.height")
    turns = await call(client, "retrieve_memories", query="lighthouse")
    said = await call(client, "get_memory_stats")
    prompts = await call(client, "list_long_term_memories")
    return (
        stats["total"],
        (fact["memory"] or {}).get("value"),
        len(turns["memories"]),
        said["memories"],
        len(prompts["memories"]),
    )


@pytest.mark.both_stores
async def test_each_kind_is_deleted_and_restored_by_its_ref(server: Servers) -> None:
    async with server() as client:
        refs = await filled(client)
        assert await left(client) == (1, 31, 1, 1, 1)
        deleted = await call(client, "forget", refs=refs)
        assert deleted["deleted"] == refs
        assert deleted["undo_until"]
        assert await left(client) == (0, None, 0, 0, 0)
        assert (await call(client, "forget", refs=refs, undo=True))["restored"] == refs
        assert await left(client) == (1, 31, 1, 1, 1)


async def test_a_purge_erases_each_kind_for_good(server: Servers) -> None:
    async with server() as client:
        refs = await filled(client)
        assert await call(client, "forget", refs=refs, purge=True) == {"purged": refs}
        for ref in refs:
            await refusal(client, "forget", refs=[ref], undo=True)
        assert await left(client) == (0, None, 0, 0, 0)


async def test_words_list_what_they_may_mean_and_delete_nothing(server: Servers) -> None:
    async with server() as client:
        refs = await filled(client)
        answer = await call(client, "forget", what="the lighthouse")
        listed = [match["ref"] for match in answer["matches"]]
        assert {refs[0], refs[1], refs[4]} <= set(listed)
        assert answer["note"].startswith("Nothing was deleted.")
        assert await left(client) == (1, 31, 1, 1, 1)
        assert (await call(client, "forget", refs=listed))["deleted"] == listed
        assert (await call(client, "forget", what="zebra"))["note"].startswith("Nothing stored matches")


@pytest.mark.both_stores
async def test_words_restore_the_one_deleted_thing_that_they_mean(server: Servers) -> None:
    """A person says "bring back the note about the lighthouse": nobody remembers a ref then."""
    async with server() as client:
        refs = await filled(client)
        await call(client, "forget", refs=refs)
        everything = await call(client, "forget", undo=True)
        listed = {match["ref"].replace("f:project/", "f:") for match in everything["matches"]}
        assert listed == set(refs)
        assert everything["note"].startswith("Nothing was restored.")
        assert await left(client) == (0, None, 0, 0, 0)
        kept = await call(client, "memory_store", content="The zebra eats at nine.", type="observation")
        await call(client, "forget", refs=[f"m{kept['id']}"])
        answer = await call(client, "forget", what="zebra", undo=True)
        assert answer == {"restored": [f"m{kept['id']}"]}
        assert (await call(client, "forget", what="giraffe", undo=True))["note"].startswith(
            "Nothing that was"
        )


async def test_what_is_not_there_is_named_beside_what_was_deleted(server: Servers) -> None:
    async with server() as client:
        ref, *_ = await filled(client)
        answer = await call(client, "forget", refs=[ref, "m999", "f:nowhere"])
        assert answer["deleted"] == [ref]
        assert ["m999" in answer["missing"][0] or "999" in answer["missing"][0], len(answer["missing"])] == [
            True,
            2,
        ]
        assert "No memory 999" in await refusal(client, "forget", refs=["m999"])


async def test_a_call_that_names_nothing_certain_is_refused(server: Servers) -> None:
    async with server() as client:
        assert "Give either `refs`, or `what`" in await refusal(client, "forget")
        text = await refusal(client, "forget", refs=["m1"], what="x")
        assert "Give either `refs`, or `what`" in text
        assert "not both" in await refusal(client, "forget", refs=["m1"], undo=True, purge=True)
        assert "is no ref" in await refusal(client, "forget", refs=["lighthouse.height"])


async def test_a_walk_shows_what_is_close_in_meaning_within_its_tokens(server: Servers) -> None:
    async with server("--embedder", "hashing") as client:
        first = await call(client, "memory_store", content="The lighthouse is painted white", type="decision")
        for number in range(8):
            text = f"The lighthouse is painted white by team {number}, " + "with a long brush " * 20
            await call(client, "memory_store", content=text, type="learning")
        near = await call(client, "graph_explore", memoryId=first["id"], similar=True)
        assert 1 <= len(near["similar"]) <= 5
        assert first["id"] not in [memory["id"] for memory in near["similar"]]
        small = await call(client, "graph_explore", memoryId=first["id"], similar=True, max_tokens=300)
        assert [node["id"] for node in small["nodes"]] == [node["id"] for node in near["nodes"]]
        assert len(small["similar"]) < len(near["similar"])
        assert "similar" not in await call(client, "graph_explore", memoryId=first["id"])


async def test_a_read_without_a_key_lists_the_facts(server: Servers) -> None:
    async with server() as client:
        await filled(client)
        assert [fact["key"] for fact in (await call(client, "read_memory"))["memories"]] == [
            "lighthouse.height"
        ]
