"""Reminders are told once, by whatever comes first: a briefing, `recall`, a session that begins, a prompt."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memory_server import stores
from memory_server.domain.caller import Caller
from memory_server.domain.long_term import LongTermDraft
from tests.conftest import Clock, Servers, call
from tests.hook.conftest import Hooks
from tests.mcp.conftest import refusal

pytestmark = [pytest.mark.anyio, pytest.mark.both_stores]

TEXT = "Call the harbour office"


def passed(server: Servers) -> None:
    """A reminder that was set three days ago and was due the day before yesterday, when nobody looked."""
    clock = Clock(datetime.now(UTC) - timedelta(days=3))
    due = clock.now + timedelta(days=1)
    database: Any = stores.at(server.place, clock)
    with database.write() as tx:
        place = tx.conversations.find_or_insert("default")
        draft = LongTermDraft(TEXT, TEXT, f"due(told, '{due:%Y-%m-%dT%H:%M}')", None)
        tx.long_term.insert(place, draft, Caller("tests", "s0"))
    database.close()


async def test_a_date_that_passed_while_nobody_looked_is_told_once_by_the_next_briefing(
    server: Servers,
) -> None:
    passed(server)
    async with server() as client:
        assert TEXT in (await call(client, "smart_resume"))["briefing"]
        assert TEXT not in (await call(client, "smart_resume"))["briefing"]
        assert TEXT not in (await call(client, "recall", query="What is new?"))["answer"]
    async with server() as client:
        assert TEXT not in (await call(client, "smart_resume"))["briefing"]


async def test_recall_tells_it_once_whatever_is_asked(server: Servers) -> None:
    passed(server)
    async with server() as client:
        assert f"{TEXT} [w {TEXT}]" in (await call(client, "recall", query="How deep is the lake?"))["answer"]
        assert TEXT not in (await call(client, "recall", query="How deep is the lake?"))["answer"]


async def test_what_does_not_fit_into_an_answer_is_told_by_the_next_one(server: Servers) -> None:
    passed(server)
    async with server() as client:
        text = f"the tide tables of the northern harbour {'and its quays ' * 60}"
        await call(client, "remind", text=text, when="when I mention the lake")
        first = await call(client, "recall", query="How deep is the lake?", max_tokens=300)
        assert first["left_out"] == {"woken": 1}
        assert "northern" not in first["answer"]
        assert (
            "northern"
            in (await call(client, "recall", query="How deep is the lake?", max_tokens=4000))["answer"]
        )


async def test_a_session_that_begins_tells_it_and_the_first_prompt_does_not_again(
    server: Servers, hooks: Hooks
) -> None:
    passed(server)
    assert TEXT in hooks.of_engine("SessionStart", source="startup")
    assert hooks.of_engine("UserPromptSubmit", prompt="What is the plan for the garden?") == ""
    assert hooks.of_engine("SessionStart", source="startup", session_id="s2") == ""


async def test_a_prompt_tells_it_in_a_session_that_runs_for_long(server: Servers, hooks: Hooks) -> None:
    passed(server)
    assert TEXT in hooks.of_engine("UserPromptSubmit", prompt="What is the plan for the garden?")
    assert hooks.of_engine("UserPromptSubmit", prompt="What is the plan for the garden?") == ""


async def test_a_topic_is_told_by_recall_whose_question_counts_as_a_message(server: Servers) -> None:
    async with server() as client:
        answer = await call(
            client, "remind", text="Ask for the date.", when="when we talk about the Okafor order"
        )
        assert answer == {
            "name": "Ask for the date.",
            "when": "once when a message has Okafor",
            "trigger": r"!told && match_keys(messages, [/\bOkafor\w{0,2}\b/i]) > 0",
        }
        assert "Ask for" not in (await call(client, "recall", query="Who is Lindqvist?"))["answer"]
        told = (await call(client, "recall", query="What is the status of the Okafor order?"))["answer"]
        assert "Ask for the date." in told
        assert "for later, call remind again" in told
        again = (await call(client, "recall", query="What is the status of the Okafor order?"))["answer"]
        assert "Ask for" not in again


async def test_it_is_forgotten_like_any_long_term_memory_and_moved_by_its_text(server: Servers) -> None:
    async with server() as client:
        await call(client, "remind", text="Water the plants", when="every Monday at 8")
        moved = await call(client, "remind", text="Water the plants", when="每周二上午八点")
        assert (moved["moved"], "every week from Tuesday" in moved["when"]) == (True, True)
        listed = await call(client, "list_long_term_memories")
        assert [memory["name"] for memory in listed["memories"]] == ["Water the plants"]
        await call(client, "forget", refs=["w:Water the plants"])
        assert (await call(client, "list_long_term_memories"))["memories"] == []


async def test_what_is_not_understood_is_asked_back_in_one_line(server: Servers) -> None:
    async with server() as client:
        text = await refusal(client, "remind", text="Water the plants", when="when they are dry")
        assert text.startswith(
            "`when they are dry` is no moment ahead and no topic. Write for example: on Friday"
        )
        assert "\n" not in text
