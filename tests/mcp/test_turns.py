"""The toolset `conversation` as an assistant calls it: a real process, the official client, both wire eras."""

from typing import Any

import pytest
from mcp import Client

from tests.conftest import call
from tests.mcp.conftest import refusal

pytestmark = pytest.mark.anyio

TURN = {"message": "Let us release on Tuesdays, 王磊 agrees", "summary": "Releases are on Tuesdays"}


async def test_a_turn_and_its_facts_are_found_again(client: Client) -> None:
    stored = await call(client, "register_memory", **TURN, facts={"release.day": "Tuesday", "发布日": "周二"})
    assert stored == {"id": stored["id"]}
    found = await call(client, "retrieve_memories", query="when is the release day")
    assert found["memories"][0]["message"] == TURN["message"]
    (turn,) = [each for each in found["memories"] if each["id"] == stored["id"]]
    assert turn == {
        **TURN,
        "id": stored["id"],
        "project": turn["project"],
        "created_at": turn["created_at"],
        "created_by": "tests",
        "score": turn["score"],
    }
    assert 0 < turn["score"] <= 1
    assert [(fact["key"], fact["value"]) for fact in found["facts"]] == [("release.day", "Tuesday")]
    assert "degraded" not in found
    chinese = await call(client, "retrieve_memories", query="发布日是哪天？")
    assert [fact["value"] for fact in chinese["facts"]] == ["周二"]


async def test_a_turn_says_when_it_occurred_where_that_is_not_when_it_was_stored(client: Client) -> None:
    stored = await call(
        client,
        "register_memory",
        message="The lighthouse opens again",
        summary="Lighthouse opens",
        occurred_at="2023-05-08T14:00:00+02:00",
        session="harbour",
    )
    (turn,) = (await call(client, "retrieve_memories", query="lighthouse in May 2023", limit=1))["memories"]
    assert (turn["id"], turn["occurred_at"]) == (stored["id"], "2023-05-08T12:00:00.000Z")


async def test_a_project_narrows_what_is_retrieved(client: Client) -> None:
    stored = await call(client, "register_memory", message="Sails are mended", summary="Sails are mended")

    async def found(**wanted: Any) -> list[int]:
        turns = await call(client, "retrieve_memories", query="who mends sails", **wanted)
        return [turn["id"] for turn in turns["memories"]]

    assert stored["id"] in await found()
    assert stored["id"] in await found(project="*")
    assert await found(project="nowhere") == []


async def test_the_best_five_come_back_best_first(client: Client) -> None:
    for number in range(7):
        await call(client, "register_memory", message=f"Message {number}", summary=f"Summary {number}")
    found = (await call(client, "retrieve_memories", query="summary 3"))["memories"]
    scores = [turn["score"] for turn in found]
    assert scores == sorted(scores, reverse=True)
    assert len(found) == 5
    assert found[0]["summary"] == "Summary 3"
    assert len((await call(client, "retrieve_memories", query="summary", limit=50))["memories"]) >= 7


async def test_facts_are_written_all_or_not_at_all(client: Client, project: str) -> None:
    key, token = f"{project}.a", "ghp_" + "a1B2" * 9
    for facts in (
        {key: 1, "x": {"y": token}},
        {key: 1, "k" * 201: 2},
        {key: 1, "": 2},
        {key: 1, "b": 1, "b ": 2},
    ):
        await refusal(client, "register_memory", **TURN, facts=facts)
    many: dict[str, Any] = {f"{key}.{number}": number for number in range(51)}
    assert "at most 50" in await refusal(client, "register_memory", **TURN, facts=many)
    assert (await call(client, "list_memories", pattern=f"{key}*"))["memories"] == []


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"message": "", "summary": "s"}, "message: String should have at least 1 character"),
        ({"message": "m", "summary": " \u200b"}, "summary: has no visible character"),
        ({"message": "m" * 20_001, "summary": "s"}, "message: String should have at most 20000 characters"),
        ({"message": "m", "summary": "s" * 2_001}, "summary: String should have at most 2000 characters"),
        ({"message": "m", "summary": "s", "facts": [1]}, "facts: must be an object"),
        ({"message": "m", "summary": "s", "occurred_at": "some day"}, "occurred_at: is not a date or time"),
        ({"message": "m", "summary": "s", "session": "\u200b"}, "session: has no visible character"),
    ],
)
async def test_what_is_no_turn_is_refused(client: Client, arguments: dict[str, Any], complaint: str) -> None:
    assert complaint in await refusal(client, "register_memory", **arguments)


async def test_a_turn_at_its_limits_is_kept(client: Client) -> None:
    stored = await call(client, "register_memory", message="数" * 20_000, summary="s" * 2_000, facts={})
    assert stored["id"] >= 1


@pytest.mark.parametrize("limit", [0, -1])
async def test_a_limit_out_of_range_is_refused(client: Client, limit: int) -> None:
    assert "limit: must be a whole number, 1-50" in await refusal(
        client, "retrieve_memories", query="x", limit=limit
    )
