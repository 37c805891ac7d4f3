"""The tool `recall` as an assistant calls it: a real process, the official client."""

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from mcp import Client

from memory_server.demo.stage import embedded
from memory_server.mcp.first_answers import IN_CORE
from memory_server.services.recall import NOT_FOUND, NOTHING
from tests.conftest import Servers, call
from tests.mcp.conftest import refusal, tokens
from tests.mcp.test_schemas import CORE_TOKENS, read_by_a_model

pytestmark = pytest.mark.anyio

TRIGGER = "match_keys(messages, ['ship'])"


async def filled(client: Client) -> None:
    await call(
        client,
        "memory_store",
        content="The lighthouse is painted white, because ships see it best.",
        type="decision",
    )
    await call(client, "memory_store", content="灯塔由王磊负责维护。", type="learning", project="")
    await call(client, "write_memory", key="project.paint_day", value="Friday")
    await call(
        client,
        "register_memory",
        message="The keeper asked for a new lamp of 900 watts",
        summary="Keeper wants a lamp",
    )
    said = [{"role": "user", "content": "The foghorn of the lighthouse is broken since the storm"}]
    await call(client, "add_short_term_memory", messages=said, conversation_id="default")
    await call(
        client, "add_long_term_memory", name="ship-check", prompt="Check the tide table.", trigger=TRIGGER
    )
    await embedded(client)


@pytest.fixture
async def full(server: Servers) -> AsyncIterator[Client]:
    async with server() as client:
        await filled(client)
        yield client


HANDLE = re.compile(r"\[([^\[\]]+)\]$", re.MULTILINE)


def refs(answer: dict[str, Any]) -> list[str]:
    return HANDLE.findall(answer["answer"])


async def test_a_briefing_and_an_answer_tell_a_note_with_abbreviations_whole(server: Servers) -> None:
    note = "invite Dr. Weiss and St. Mary's choir"
    async with server() as client:
        await call(client, "write_memory", key="current.concert", value={"note": note})
        assert note in (await call(client, "smart_resume"))["briefing"]
        assert note in (await call(client, "recall", question="Which choir do we invite?"))["answer"]


async def test_one_question_finds_each_kind(server: Servers, era: str) -> None:
    async with server(mode=era) as full:
        await filled(full)
        await each_kind(full)


async def each_kind(full: Client) -> None:
    for question, kind, word in (
        ("Why is the lighthouse white?", "memory", "ships see it best"),
        ("谁维护灯塔？", "memory", "王磊"),
        ("When is the paint day?", "fact", "Friday"),
        ("What did the keeper ask for?", "turn", "900 watts"),
        ("What happened to the foghorn?", "short_term", "storm"),
    ):
        answer = await call(full, "recall", query=question, explain=True)
        first = answer["items"][0]
        assert first["kind"] == kind, (question, answer)
        assert 0 < first["score"] <= 1
        line = answer["answer"].splitlines()[0]
        assert word in line
        assert line.endswith(f"[{first['ref']}]")
        assert [item["ref"] for item in answer["items"]] == refs(answer)
        assert "why" not in first


async def test_several_stores_answer_one_question_and_the_text_is_there_once(full: Client) -> None:
    answer = await call(
        full, "recall", query="Why is the lighthouse white? And what is broken there? When is paint day?"
    )
    assert {ref[0] for ref in refs(answer)} == {"m", "f", "s"}
    assert len(refs(answer)) == len(set(refs(answer))) == len(answer["answer"].splitlines())


async def test_an_answer_has_nothing_but_what_it_says(full: Client) -> None:
    answer = await call(full, "recall", query="Why is the lighthouse white?")
    assert set(answer) - {"degraded"} == {"answer"}
    explained = await call(full, "recall", query="Why is the lighthouse white?", explain=True)
    assert explained["answer"] == answer["answer"]
    assert set(explained["items"][0]) == {"ref", "kind", "score"}


async def test_prompts_whose_trigger_holds_come_first(full: Client) -> None:
    said = [{"role": "user", "content": "When does the ship leave?"}]
    answer = await call(full, "recall", query="When is the paint day?", messages=said, explain=True)
    assert answer["answer"].splitlines()[0] == "Check the tide table. [w ship-check]"
    assert answer["items"][0]["kind"] == "woken"
    assert answer["items"][0]["why"]
    asked = await call(full, "recall", query="Which ship is painted white?")
    assert refs(asked)[0] == "w ship-check"
    asleep = await call(
        full, "recall", query="When is the paint day?", messages=[{"role": "user", "content": "Hi"}]
    )
    assert refs(asleep)[0] == "f project.paint_day"
    assert not any(ref.startswith("w ") for ref in refs(asleep))


async def test_a_briefing_tells_the_prompts_that_are_due_now(full: Client) -> None:
    await call(full, "add_long_term_memory", name="greet", prompt="Say what day it is.", trigger="true")
    briefing = (await call(full, "smart_resume"))["briefing"]
    assert "Due now: Say what day it is." in briefing
    assert "tide table" not in briefing


async def test_kinds_and_times_narrow_what_is_recalled(full: Client) -> None:
    answer = await call(full, "recall", query="lighthouse", kinds=["short_term", "turn"])
    assert {ref[0] for ref in refs(answer)} in ({"s"}, {"s", "t"}, {"t"})
    nothing = await call(full, "recall", query="lighthouse", until="2020-01-01")
    assert nothing["answer"] == ""
    assert nothing["note"] in (NOTHING, NOT_FOUND)  # the turns may not have been embedded yet


async def test_what_superseded_a_memory_stands_in_its_place(full: Client) -> None:
    old = await call(full, "memory_store", content="The harbour gate opens at 6:00.", type="decision")
    new = await call(
        full, "memory_store", content="The harbour gate opens at 7:30 since the strike.", type="decision"
    )
    await call(full, "graph_connect", sourceId=new["id"], targetId=old["id"], relation="supersedes")
    answer = await call(full, "recall", query="When does the harbour gate open?")
    assert refs(answer)[0] == f"m{new['id']}"
    assert f"m{old['id']}" not in refs(answer)
    assert "(was: The harbour gate opens at 6:00.)" in answer["answer"]


async def test_what_solves_an_error_stands_behind_it(full: Client) -> None:
    error = await call(full, "memory_store", content="The lamp relay fails with code 17.", type="error")
    fix = await call(full, "memory_store", content="Tighten the third screw.", type="pattern")
    await call(full, "graph_connect", sourceId=fix["id"], targetId=error["id"], relation="solves")
    answer = await call(full, "recall", query="lamp relay code 17")
    assert refs(answer)[:2] == [f"m{error['id']}", f"m{fix['id']}"]


@pytest.mark.parametrize("ends", [(1, 2), (2, 1)])
async def test_a_contradiction_is_told_on_both_sides_until_it_is_settled(
    server: Servers, ends: tuple[int, int]
) -> None:
    async with server() as client:
        await call(client, "memory_store", content="The ledger export runs at 02:00.", type="learning")
        await call(client, "memory_store", content="Jana starts the ledger export by hand.", type="learning")
        await call(client, "graph_connect", sourceId=ends[0], targetId=ends[1], relation="contradicts")
        answer = await call(client, "recall", query="When does the ledger export run?")
        assert sorted(refs(answer)) == ["m1 · contradicts m2", "m2 · contradicts m1"]
        await call(client, "graph_connect", sourceId=2, targetId=1, relation="supersedes")
        assert refs(await call(client, "recall", query="When does the ledger export run?")) == ["m2"]


OLD = "免运费门槛是 49 欧元。"
NEW = "The limit for free shipping is 59 EUR since November, no longer 49."
QUESTION = "免运费门槛是多少？"


async def test_what_may_replace_a_hit_is_told_before_it_even_where_a_search_has_it_behind(
    server: Servers,
) -> None:
    async with server("--embedder", "bundled", "--project", "home") as client:
        await call(client, "memory_search", query="the shop")  # waits for the model
        await call(client, "memory_store", content=OLD, type="learning")
        assert (await call(client, "memory_store", content=NEW, type="learning"))["maybe_supersedes"] == [1]
        assert refs(await call(client, "recall", query=QUESTION)) == ["m2 · may replace m1", "m1"]
        hits = (await call(client, "memory_search", query=QUESTION))["results"]
        assert [(hit["id"], hit.get("maybe_supersedes")) for hit in hits] == [(1, None), (2, [1])]
        await call(client, "memory_update", memory_id=1, importance=6)
        assert refs(await call(client, "recall", query=QUESTION))[0] == "m1"


async def test_what_may_replace_a_hit_and_answers_as_well_is_told_before_it(server: Servers) -> None:
    async with server("--embedder", "bundled", "--project", "home") as client:
        await call(client, "memory_search", query="the shop")
        await call(
            client, "memory_store", content="The staging database listens on port 5433.", type="learning"
        )
        newer = "The staging database now listens on port 5501, no longer on 5433."
        assert (await call(client, "memory_store", content=newer, type="learning"))["maybe_supersedes"] == [1]
        question = "On which port does the staging database listen?"
        assert refs(await call(client, "recall", query=question))[0] == "m2 · may replace m1"
        hits = (await call(client, "memory_search", query=question))["results"]
        assert [(hit["id"], hit.get("maybe_supersedes")) for hit in hits] == [(2, [1]), (1, None)]


@pytest.mark.parametrize(
    ("new", "replaced"), [("购物车现在保存 30 天，不再是 14 天。", [1]), ("购物车里有 14 件商品。", None)]
)
async def test_a_change_that_names_the_old_number_is_guessed_in_another_language(
    server: Servers, new: str, replaced: list[int] | None
) -> None:
    async with server("--embedder", "bundled", "--project", "home") as client:
        await call(client, "memory_search", query="the shop")
        await call(client, "memory_store", content="The cart lives 14 days.", type="learning")
        stored = await call(client, "memory_store", content=new, type="learning")
        assert stored.get("maybe_supersedes") == replaced


async def test_an_old_value_is_marked_where_what_may_replace_it_does_not_fit(server: Servers) -> None:
    async with server("--embedder", "bundled", "--project", "home") as client:
        await call(client, "memory_search", query="the shop")
        await call(client, "memory_store", content=OLD, type="learning")
        tail = (
            "The accounting department, the wholesale team, and both warehouses have agreed to it in writing"
            * 3
        )
        await call(client, "memory_store", content=f"{NEW[:-1]}: {tail}.", type="learning")
        answer = await call(client, "recall", query=QUESTION, max_tokens=100)
        assert refs(answer) == ["m1 · m2 may replace it"]


HOUSEHOLD = (
    "Dad's knee surgery is on 14 June.",
    "The car takes diesel.",
    "Luca plays drums now.",
    "The spare key is with Mrs. Olsen next door.",
    "Bins go out on Tuesday evening.",
    "Grandma moved into the Elm Park home, room 212.",
)


@pytest.mark.parametrize(
    ("question", "nearest"),
    [
        ("when is the operation", " Nearest: Dad's knee surgery is on 14 June. [m1]"),
        ("Luca's birthday", " Nearest: Luca plays drums now. [m3]"),
        ("What is the capital of Peru?", ""),
    ],
)
async def test_where_nothing_surely_answers_the_nearest_text_is_named(
    server: Servers, question: str, nearest: str
) -> None:
    async with server("--embedder", "bundled", "--project", "home") as client:
        await call(client, "memory_search", query="home")
        for text in HOUSEHOLD:
            await call(client, "memory_store", content=text, type="learning")
        recalled = await call(client, "recall", query=question)
        assert recalled == {"answer": "", "note": f"Nothing stored answers this.{nearest}"}


async def test_a_search_does_not_deny_what_its_figures_say(server: Servers) -> None:
    async with server("--embedder", "bundled", "--project", "home") as client:
        await call(client, "memory_search", query="home")
        for text in HOUSEHOLD:
            await call(client, "memory_store", content=text, type="learning")
        likely = await call(client, "memory_search", query="How old is Luca, who plays drums?")
        assert likely["results"][0]["score"] >= 0.5
        assert "note" not in likely
        unlikely = await call(client, "memory_search", query="What is the capital of Peru?")
        assert unlikely["note"] == "No memory is likely to answer this."


async def test_what_is_shown_counts_as_accessed(full: Client) -> None:
    (first,) = refs(await call(full, "recall", query="Why is the lighthouse white?", max_tokens=200))[:1]
    (memory,) = (await call(full, "memory_get", ids=[int(first[1:])]))["memories"]
    assert memory["access_count"] == 1


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"query": "x", "max_tokens": 10}, "max_tokens"),
        ({"query": None}, "query"),
        ({"query": "x", "kinds": ["dream"]}, "must be one of memory, fact"),
    ],
)
async def test_a_wrong_call_is_refused_with_the_mend(full: Client, wrong: dict[str, Any], words: str) -> None:
    assert words in await refusal(full, "recall", **wrong)


async def test_core_lists_the_tools_that_can_do_all_and_any_other_can_be_called(server: Servers) -> None:
    async with server("--toolsets", "core") as client:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == set(IN_CORE)
        assert sum(tokens(read_by_a_model(tool)) for tool in tools) <= CORE_TOKENS
        assert (await call(client, "memory_stats"))["total"] == 0
        always = {tool.name for tool in tools if (tool.meta or {}).get("anthropic/alwaysLoad")}
        assert always == {"recall", "memory_store", "smart_resume"}


@pytest.mark.parametrize(
    ("question", "answered"),
    [
        ("Which dog has Mr. Huber?", False),
        ("Which cat has Mr. Huber?", True),
        ("What is Mr. Huber's phone number?", False),
        ("How much commission does Airbnb take?", False),
        ("How much commission does Booking take?", True),
    ],
)
async def test_what_is_stored_beside_the_thing_asked_for_is_no_answer(
    server: Servers, question: str, answered: bool
) -> None:
    async with server() as client:
        for content in (
            "Mr. Huber has a cat that sleeps in the shop window.",
            "Mr. Huber wants the shop window cleaned on 3 May.",
            "Booking takes 15 % commission from us.",
        ):
            await call(client, "memory_store", content=content, type="observation")
        await call(client, "write_memory", key="customers.huber", value={"wants": "an oak shelf"})
        await embedded(client)
        recalled = await call(client, "recall", query=question)
        found = await call(client, "memory_search", query=question)
    assert bool(recalled["answer"]) == answered
    assert ("note" in recalled) != answered
    assert ("note" in found) != answered


async def test_a_fact_whose_key_is_a_part_of_the_question_does_not_come_first_for_it(server: Servers) -> None:
    async with server() as client:
        await call(client, "write_memory", key="customers.huber", value={"wants": "an oak shelf"})
        await call(
            client, "memory_store", content="The handrail of Huber goes to the left side.", type="decision"
        )
        await embedded(client)
        answer = await call(client, "recall", query="On which side is the handrail of Huber?")
        assert "left" in answer["answer"].splitlines()[0]
        fact = await call(client, "recall", query="Huber?")
        assert "oak" in fact["answer"].splitlines()[0]
