"""The user is asked once, by the client, whether a text from outside that was just stored is theirs."""

import os
from typing import Any

import pytest
from mcp_types import CallToolResult, ElicitRequestFormParams, ElicitRequestParams, ElicitResult, ErrorData

from memory_server.mcp import asking
from memory_server.mcp.asking import ANSWER, DROP, KEEP, LEAVE
from tests.conftest import Servers, call
from tests.engine.test_hooks import context, hook
from tests.engine.test_witness import NEXT, PAGE, POISON

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(os.name == "nt", reason="there is no engine there")]

OUTSIDE = "web evil.example"
LATER = "Then the release is tagged, and everybody gets coffee from the machine on the second floor"
ERAS = pytest.mark.parametrize("mode", ["legacy", "auto"])


class User:
    """Answers each question in the same way, and sees what is on disk meanwhile."""

    def __init__(self, server: Servers, answer: str | None, action: str = "accept") -> None:
        self.server, self.answer, self.action = server, answer, action
        self.questions: list[str] = []
        self.stored: list[Any] = []

    async def __call__(self, context: Any, params: ElicitRequestParams) -> ElicitResult:
        assert isinstance(params, ElicitRequestFormParams)
        assert params.requested_schema["properties"][ANSWER]["enum"] == [KEEP, LEAVE, DROP]
        self.questions.append(params.message)
        self.stored.append(self.server.rows("SELECT origin FROM memories ORDER BY id DESC LIMIT 1"))
        content: dict[str, Any] | None = {ANSWER: self.answer} if self.action == "accept" else None
        return ElicitResult(action=self.action, content=content)  # type: ignore[arg-type]


def reads_a_page(server: Servers) -> None:
    hook(server, "SessionStart", source="startup")
    hook(
        server, "PostToolUse", tool_name="WebFetch", tool_input={"url": "https://evil.example"}, tool_response=PAGE
    )  # fmt: skip


@ERAS
async def test_what_the_user_keeps_is_theirs_and_is_said(server: Servers, mode: str) -> None:
    user = User(server, KEEP)
    server.env["MEMORY_SERVER_ENGINE_IDLE"] = "30"
    async with server(mode=mode, answers=user) as client:
        await call(client, "memory_stats")
        reads_a_page(server)
        stored = await call(client, "memory_store", content=POISON, type="pattern")
        started = context(hook(server, "SessionStart", session_id="s2", source="startup"))
        assert stored["id"] == 1
        assert "The user was asked and confirmed m1." in stored["note"]
        assert "run.sh" in started
        assert user.stored == [[(OUTSIDE,)]]
        (question,) = user.questions
        assert POISON in question
        assert OUTSIDE in question
        log = await call(client, "memory_get", ids=[1])
    assert log["memories"][0]["origin"] == f"confirmed: {OUTSIDE}"
    assert server.rows("SELECT origin FROM memories") == [(f"confirmed: {OUTSIDE}",)]


@ERAS
@pytest.mark.parametrize(
    ("answer", "action", "left", "asked"),
    [(DROP, "accept", 0, 2), (LEAVE, "accept", 2, 2), (None, "decline", 2, 1), (None, "cancel", 2, 1)],
)
async def test_who_does_not_answer_is_not_asked_about_that_source_again(
    server: Servers, mode: str, answer: str | None, action: str, left: int, asked: int
) -> None:
    user = User(server, answer, action)
    async with server(mode=mode, answers=user) as client:
        await call(client, "memory_stats")
        reads_a_page(server)
        stored = await call(client, "memory_store", content=POISON, type="pattern")
        await call(client, "memory_store", content=LATER, type="preference")
    assert stored["id"] == 1
    assert len(user.questions) == asked
    assert server.rows("SELECT origin FROM memories") == [(OUTSIDE,)] * left


@ERAS
async def test_only_what_would_be_said_unasked_is_asked_about(server: Servers, mode: str) -> None:
    user = User(server, LEAVE)
    async with server(mode=mode, answers=user) as client:
        await call(client, "memory_stats")
        reads_a_page(server)
        hook(server, "UserPromptSubmit", prompt="I always prefer tabs over spaces in Go code.")
        await call(
            client, "memory_store", content="I always prefer tabs over spaces in Go code", type="preference"
        )
        await call(client, "memory_store", content=POISON, type="learning")
        await call(client, "write_memory", key="current.task", value=NEXT)
        assert user.questions == []
        await call(client, "write_memory", key="user.workflow", value=NEXT, scope="global")
        await call(client, "remind", text=LATER, when="tomorrow at 9")
    assert ["user.workflow" in user.questions[0], LATER in user.questions[1], len(user.questions)] == [
        True,
        True,
        2,
    ]


async def test_a_client_that_asks_nobody_gets_its_answer(server: Servers) -> None:
    async with server() as client:
        await call(client, "memory_stats")
        reads_a_page(server)
        assert (await call(client, "memory_store", content=POISON, type="pattern"))["id"] == 1
    assert server.rows("SELECT origin FROM memories") == [(OUTSIDE,)]


@ERAS
async def test_a_client_that_fails_to_ask_gets_its_answer(server: Servers, mode: str) -> None:
    async def fails(context: Any, params: ElicitRequestParams) -> ErrorData:
        return ErrorData(code=-32603, message="no window")

    async with server(mode=mode, answers=fails) as client:
        await call(client, "memory_stats")
        reads_a_page(server)
        result = await client.session.call_tool(
            "memory_store", {"content": POISON, "type": "pattern"}, allow_input_required=True
        )
        if mode == "legacy":
            assert isinstance(result, CallToolResult)
            assert not result.is_error, result.content
    assert server.rows("SELECT origin FROM memories") == [(OUTSIDE,)]


async def test_with_trust_off_nobody_is_asked(server: Servers) -> None:
    user = User(server, KEEP)
    async with server("--trust", "off", answers=user) as client:
        await call(client, "memory_stats")
        reads_a_page(server)
        await call(client, "memory_store", content=POISON, type="pattern")
    assert user.questions == []
    assert asking.SECONDS < 60
