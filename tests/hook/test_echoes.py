"""What hooks keep of sessions is never told above what was stored on purpose, and what only asks is no answer."""

import re
from collections.abc import Sequence

import pytest
from mcp import Client

from tests.conftest import Servers, call, eventually
from tests.hook.conftest import Hooks

pytestmark = pytest.mark.anyio

MEMORIES = {
    "Which port does the staging database use?": "The staging database listens on port 5433",
    "On which day do we deploy the shop?": "We deploy the shop on Tuesdays, never on Fridays",
    "Which host exports the invoices?": "Invoices are exported by the nightly batch on host kelp",
    "Who owns the payment module?": "Ingrid Solberg owns the payment module",
    "兰花多久浇一次水？": "兰花每十天浇一次水",
}
FACTS = {
    "When is release day?": ("project.release_day", "the last Thursday of the month"),
    "What is the timeout of CI?": ("ci.timeout", "40 minutes"),
    "Which bucket holds the backup?": ("backup.bucket", "s3://ledger-cold"),
    "Where is the team standup?": ("team.standup", "09:30 in room Fjord"),
    "When does the certificate expire?": ("certificate.expiry", "the ninth of May"),
}
"""What is stored on purpose, by the question that it answers."""

QUESTIONS = [*MEMORIES, *FACTS]
ANSWERS = [*MEMORIES.values(), *(value for _, value in FACTS.values())]
PORT = QUESTIONS[0]


async def lines(client: Client, question: str) -> list[str]:
    """The lines of recall's answer, when all that is stored is embedded."""

    async def embedded() -> bool:
        return not (await call(client, "recall", query="?", since="2100-01-01")).get("degraded")

    await eventually(embedded, "all is embedded", 60)
    answer: str = (await call(client, "recall", query=question))["answer"]
    return answer.splitlines()


async def first_lines(client: Client, questions: Sequence[str]) -> list[str]:
    return [(await lines(client, question))[0] for question in questions]


async def store(client: Client) -> None:
    for content in MEMORIES.values():
        await call(client, "memory_store", content=content, type="learning")
    for key, value in FACTS.values():
        await call(client, "write_memory", key=key, value=value)


def say(hooks: Hooks, prompt: str, reply: str, session: str = "s1") -> None:
    """A turn of a session, with its hooks."""
    hooks("UserPromptSubmit", prompt=prompt, session_id=session)
    hooks("Stop", prompt=prompt, last_assistant_message=reply, session_id=session)


async def test_what_is_stored_comes_first_after_each_question_was_asked(
    server: Servers, hooks: Hooks
) -> None:
    async with server("--embedder", "bundled", cwd=hooks.project) as client:
        await store(client)
        before = await first_lines(client, QUESTIONS)
        assert [answer in line for line, answer in zip(before, ANSWERS, strict=True)] == [True] * 10
        for question in QUESTIONS:
            say(hooks, f"{question} Fix the config.", "Done.")
        assert await first_lines(client, QUESTIONS) == before


@pytest.mark.parametrize("way", ["memory_update", "supersedes", "write_memory"])
async def test_what_was_said_before_a_change_is_told_no_longer(
    server: Servers, hooks: Hooks, way: str
) -> None:
    async with server("--embedder", "bundled", cwd=hooks.project) as client:
        await store(client)
        if way == "write_memory":
            await call(client, "memory_delete", id=1)
            await call(client, way, key="staging.database.port", value="5433")
        say(hooks, f"{PORT} Fix the config.", "The staging database uses port 5433, so I fixed config.yml.")
        first, *others = await lines(client, PORT)
        assert "5433" in first
        assert ["said: The staging database uses" in line for line in others] == [True]
        new = "The staging database listens on port 5500"
        if way == "write_memory":
            await call(client, way, key="staging.database.port", value="5500")
        elif way == "memory_update":
            await call(client, way, id=1, content=new)
        else:
            await call(client, "memory_store", content=new, type="learning", supersedes=1)
        first, *others = await lines(client, PORT)
        assert "5500" in first
        assert "5433" not in re.sub(r"\(was: .*?\)", "", "\n".join([first, *others]))


@pytest.mark.both_stores
async def test_what_was_only_asked_is_no_answer_and_a_reply_that_answers_is_told_as_said(
    server: Servers, hooks: Hooks
) -> None:
    never = {
        "What is the capital of Peru?": "Done.",
        "Who is our contact at the bank?": "I don't know: nothing is stored about it.",
        "Which doctor treats the cat?": "Done, all 14 tests pass.",
        "我们的律师是谁？": "",
    }
    async with server("--embedder", "bundled", cwd=hooks.project) as client:
        await store(client)
        for question, reply in never.items():
            say(hooks, f"{question} Write it into the quiz.", reply)
        say(hooks, "Which port does the ferry gateway use?", "It uses port 8123.")
        assert [await lines(client, question) for question in never] == [[]] * len(never)
        *_, line = await lines(client, "Which port does the ferry gateway use?")
        assert re.fullmatch(r"\d{4}-\d\d-\d\d, said: user: .*8123\. \[s\d+\]", line)
