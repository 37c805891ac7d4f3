"""The search as a model calls it: when and in which session it was said, pages, parts, links, and clear refusals."""

from typing import Any

import pytest
from mcp import Client

from tests.conftest import Servers, call
from tests.mcp.conftest import refusal

pytestmark = pytest.mark.anyio

DEEP = "The vault code of the lighthouse was changed by Henrietta on a rainy Tuesday."


async def store(client: Client, content: str, project: str, **fields: Any) -> int:
    stored = await call(
        client, "memory_store", **{"content": content, "type": "observation", "project": project, **fields}
    )
    return int(stored["id"])


async def found(client: Client, query: str, project: str, **arguments: Any) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = (
        await call(client, "memory_search", query=query, project=project, **arguments)
    )["results"]
    return results


async def ids(client: Client, query: str, project: str, **arguments: Any) -> list[int]:
    return [hit["id"] for hit in await found(client, query, project, **arguments)]


def long_text(length: int = 60_000) -> str:
    filler = " ".join(
        f"Row {number} of the garden was watered, and the market bought {number * 7} baskets."
        for number in range(1, length // 60)
    )
    place = filler.index(". ", 2 * length // 3) + 2
    return f"{filler[:place]}{DEEP} {filler[place:]}"[:length].strip()


async def test_an_import_keeps_its_dates(client: Client, project: str) -> None:
    old = await store(client, "The red printer broke", project, occurred_at="2023-05-04")
    zoned = await store(client, "The blue printer broke", project, occurred_at="2023-05-06T01:30:00+02:00")
    new = await store(client, "The green printer broke", project)
    hits = {hit["id"]: hit for hit in await found(client, "printer", project, limit=10)}
    assert hits[old]["occurred_at"] == "2023-05-04 00:00"
    assert hits[zoned]["occurred_at"] == "2023-05-05 23:30"
    assert "occurred_at" not in hits[new]
    read = (await call(client, "memory_get", ids=[old]))["memories"]
    assert read[0]["occurred_at"] == "2023-05-04T00:00:00.000Z"
    assert await ids(client, "", project) == [new, zoned, old]


async def test_since_and_until_say_when_it_occurred(client: Client, project: str) -> None:
    may = await store(client, "The red printer broke", project, occurred_at="2023-05-04")
    june = await store(client, "The blue printer broke", project, occurred_at="2023-06-04")
    new = await store(client, "The green printer broke", project)
    for query in ("printer", "", "*"):
        assert await ids(client, query, project, limit=9, since="2023-05-04", until="2023-06-04") == [may]
        assert await ids(client, query, project, limit=9, until="2023-05-04T00:00:00Z") == []
        assert set(await ids(client, query, project, limit=9, since="2023-06-04")) == {june, new}


async def test_a_date_in_the_question_raises_what_is_of_that_time(client: Client, project: str) -> None:
    await store(client, "We decided on the colour red", project, occurred_at="2023-03-12")
    may = await store(client, "We decided on the colour blue", project, occurred_at="2023-05-12")
    await store(client, "We decided on the colour green", project, occurred_at="2023-08-12")
    for question in ("Which colour was decided in May 2023?", "2023年5月 decided colour"):
        first = (await found(client, question, project, explain=True))[0]
        assert first["id"] == may
        assert "date" in first["why"]["also"]


@pytest.mark.parametrize("argument", ["since", "until"])
@pytest.mark.parametrize(
    "value", ["some day", "2023-13-01", "2023-02-30", "4/45/2023", "2023-05-04T25:00:00"]
)
async def test_a_wrong_date_is_named_in_the_refusal_of_a_search(
    client: Client, argument: str, value: str
) -> None:
    text = await refusal(client, "memory_search", query="printer", **{argument: value})
    assert argument in text
    assert value in text
    assert "2026-03-14" in text  # how to write it


@pytest.mark.parametrize("value", ["some day", "2023-13-01", "44.05.2023", "0000-00-00"])
async def test_a_wrong_date_is_named_in_the_refusal_of_a_store(
    client: Client, project: str, value: str
) -> None:
    text = await refusal(
        client, "memory_store", content="The printer broke", type="error", project=project, occurred_at=value
    )
    assert "occurred_at" in text
    assert value in text
    text = await refusal(client, "register_memory", message="It broke", summary="broke", occurred_at=value)
    assert "occurred_at" in text
    assert value in text
    assert await ids(client, "", project) == []


async def test_what_is_said_in_one_session_is_read_with_its_neighbours(client: Client, project: str) -> None:
    for number in range(9):
        await store(
            client, f"Row {number * 13} of the garden was watered", project, session=f"{project} {number}"
        )
    asked = await store(client, "Maria: When did you lose your job, Evan?", project, session=project)
    answer = await store(client, "Evan: Right after the storm, they had to close.", project, session=project)
    elsewhere = await store(client, "Evan: They had to close.", project, session=f"{project} elsewhere")
    hits = await found(client, "lose job", project, mode="keyword", limit=20, explain=True)
    assert {hit["id"] for hit in hits[:2]} == {asked, answer}
    assert all(hit["why"]["words"] > 0 for hit in hits[:2])
    assert all(hit["why"]["words"] == 0 for hit in hits if hit["id"] == elsewhere)


async def test_an_empty_query_lists_the_newest_in_pages(client: Client, project: str) -> None:
    stored = [await store(client, f"Row {number * 13} was watered by hand", project) for number in range(7)]
    for query in ("", "*", " "):
        pages = [await ids(client, query, project, limit=3, offset=offset) for offset in (0, 3, 6, 9)]
        assert [len(page) for page in pages] == [3, 3, 1, 0]
        assert [id for page in pages for id in page] == stored[::-1]
    assert await ids(client, "", project) == stored[::-1]
    answer = await call(client, "memory_search", query="", project=project, limit=1)
    assert "note" not in answer
    assert "degraded" not in answer


async def test_the_pages_of_a_search_have_no_gaps_and_no_repeats(client: Client, project: str) -> None:
    stored = [await store(client, f"Row {number * 13} was watered by hand", project) for number in range(8)]
    pages = [
        await ids(client, "row watered by hand", project, limit=3, offset=offset) for offset in (0, 3, 6, 9)
    ]
    assert [len(page) for page in pages] == [3, 3, 2, 0]
    assert sorted(id for page in pages for id in page) == stored


@pytest.mark.parametrize("offset", [-1, 1.5, "far"])
async def test_a_wrong_offset_is_refused(client: Client, offset: object) -> None:
    text = await refusal(client, "memory_search", query="", offset=offset)
    assert "offset" in text
    assert str(offset) in text


async def test_where_nothing_is_likely_a_note_says_so_and_a_limit_still_brings_so_many(
    server: Servers,
) -> None:
    async with server("--embedder", "bundled", "--project", "p") as client:
        for number in range(12):
            await store(
                client, f"Row {number * 13} of the garden was watered by team {chr(65 + number)}", "p"
            )
        answer = await call(client, "memory_search", query="Who won the chess final in Reykjavik?")
        assert "likely" in answer["note"]
        assert 1 <= len(answer["results"]) < 12
        assert all(0 <= hit["score"] < 0.25 for hit in answer["results"])
        assert all(hit["score"] >= 0.05 for hit in answer["results"][1:])
        asked = await call(client, "memory_search", query="Which team watered row 13?", limit=12)
        assert len(asked["results"]) == 12
        assert "likely" not in asked.get("note", "")
        assert asked["results"][0]["score"] > 0.15


async def test_a_long_text_is_one_memory_shown_as_the_part_that_answers(client: Client, project: str) -> None:
    text = long_text()
    id = await store(client, text, project)
    assert await store(client, text, project) == id
    hits = await found(client, "Who changed the vault code of the lighthouse?", project, limit=10)
    (hit,) = hits
    assert hit["id"] == id
    assert DEEP in hit["content"]
    assert len(hit["content"]) <= 2_400
    number, count = map(int, hit["part"].split(" of "))
    assert 1 < number < count == 34
    assert (await call(client, "memory_get", ids=[id]))["memories"][0]["content"] == text
    await call(client, "memory_delete", id=id)
    assert await ids(client, "vault code lighthouse", project) == []
    await call(client, "memory_delete", id=id, undo=True)
    assert await ids(client, "vault code lighthouse", project) == [id]


async def test_a_text_of_100000_characters_is_stored_and_a_longer_one_is_refused(
    client: Client, project: str
) -> None:
    assert await store(client, "harbour " * 12_499 + "harbours", project)
    refused = "harbour " * 12_499 + "lighthous"
    text = await refusal(client, "memory_store", content=refused + "es", type="error", project=project)
    assert "content" in text
    assert "100000" in text.replace(",", "")
    assert await ids(client, "lighthouses", project, mode="keyword") == []


async def test_a_short_memory_has_no_part_and_no_links(client: Client, project: str) -> None:
    await store(client, "The staging proxy listens on port 8443", project)
    (hit,) = await found(client, "staging proxy", project)
    assert not {"part", "linked"} & hit.keys()


async def test_a_fix_is_shown_inside_its_error(client: Client, project: str) -> None:
    error = await store(
        client, "The printer queue overflow stops all jobs of the queue", project, type="error"
    )
    fix = await store(client, "Raise the printer queue buffer", project, type="learning")
    await call(client, "graph_connect", sourceId=fix, targetId=error, relation="solves")
    hits = await found(client, "printer queue overflow stops all jobs", project, limit=10)
    assert [hit["id"] for hit in hits] == [error]
    assert hits[0]["linked"] == [
        {"id": fix, "relation": "solves", "content": "Raise the printer queue buffer"}
    ]


async def test_own_memories_come_first_and_others_are_shown_with_their_project(server: Servers) -> None:
    async with server("--project", "shop") as client:
        for project, day in {"blog": "Fridays", "shop": "Mondays", "": "Tuesdays"}.items():
            await store(client, f"We deploy on {day} at noon", project)
        query = "When do we deploy?"
        own = (await call(client, "memory_search", query=query, limit=10))["results"]
        assert [hit.get("project") for hit in own] == [None, None, "blog"]
        assert {hit["content"].split()[3] for hit in own[:2]} == {"Mondays", "Tuesdays"}
        equal = await found(client, query, "*", limit=10)
        assert len(equal) == 3
        assert [hit["project"] for hit in await found(client, query, "blog", limit=10)] == ["blog"]


async def test_turns_take_a_moment_a_session_and_a_project(server: Servers) -> None:
    async with server("--project", "shop") as client:
        old = await call(
            client,
            "register_memory",
            message="The release was moved",
            summary="release moved",
            occurred_at="2023-05-04",
            session="s1",
        )
        new = await call(client, "register_memory", message="The release was moved", summary="release moved")
    async with server("--project", "blog") as client:
        other = await call(
            client, "register_memory", message="The release was moved", summary="release moved"
        )
        question = "Was the release moved?"
        assert (await turns(client, question))[0] == other["id"]
        assert await turns(client, question, project="shop") == [new["id"], old["id"]]
        assert await turns(client, "release moved in May 2023", project="shop") == [old["id"], new["id"]]
        assert set(await turns(client, question, project="*")) == {old["id"], new["id"], other["id"]}
        assert await turns(client, question, project="nowhere") == []
        recalled = (await call(client, "retrieve_memories", query=question, project="shop"))["memories"]
        assert recalled[1]["occurred_at"] == "2023-05-04T00:00:00.000Z"
        assert "occurred_at" not in recalled[0]


async def turns(client: Client, query: str, **arguments: Any) -> list[int]:
    answer = await call(client, "retrieve_memories", query=query, **arguments)
    return [turn["id"] for turn in answer["memories"]]
