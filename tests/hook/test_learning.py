"""What sessions teach, through real hooks and a real server: facts told, memories used, questions asked in vain."""

from typing import Any

import pytest

from tests.conftest import Servers, Sqlite, as_rows, call, eventually
from tests.hook.conftest import Hooks

pytestmark = pytest.mark.anyio

LAMP = "The lighthouse lamp is checked by Ingrid Solberg at dusk"
ASKED = "Who checks the lighthouse lamp?"
VAIN = "Which port does the ferry gateway use?"


@pytest.fixture
async def empty(server: Servers, hooks: Hooks) -> Hooks:
    """The hooks of a file that a server has made."""
    async with server(cwd=hooks.project) as client:
        await call(client, "memory_stats")
    return hooks


def uses(hooks: Hooks, sqlite: Sqlite) -> list[dict[str, Any]]:
    sql = "SELECT memory_id, used_in, not_used_in FROM readable_memory_uses ORDER BY memory_id"
    return as_rows(sqlite(hooks.db, ".mode json", sql))


def questions(hooks: Hooks, sqlite: Sqlite) -> list[dict[str, Any]]:
    return as_rows(sqlite(hooks.db, ".mode json", "SELECT question, sessions FROM readable_open_questions"))


# What is told


async def test_facts_that_are_told_are_kept_marked_found_listed_and_erased(
    empty: Hooks, server: Servers, sqlite: Sqlite
) -> None:
    told = "Remember that the staging database runs on port 5433. Remember: My name is Priya. Fix the tests!"
    for event in ("Stop", "PreCompact", "SessionEnd"):
        empty(
            event, "--client", "claude", prompt=told, last_assistant_message="The server is called maple now."
        )
    rows = as_rows(
        sqlite(
            empty.db, ".mode json", "SELECT content, type, project, tags, created_by, session FROM memories"
        )
    )
    marks = {"type": "learning", "tags": '["captured"]', "created_by": "claude (captured)", "session": "s1"}
    assert rows == [
        {"content": "the staging database runs on port 5433.", "project": "shop", **marks},
        {"content": "My name is Priya.", "project": None, **marks},
    ]
    listed = empty.run("hook", "captured", "--db", str(empty.db)).stdout
    assert "memory\tthe staging database runs on port 5433." in listed
    said = empty("UserPromptSubmit", session_id="s2", prompt="Which port has the staging database?").context
    assert "port 5433" in said
    assert empty.run("hook", "forget", "all", "--db", str(empty.db)).stdout == "Erased: 3.\n"
    assert sqlite(empty.db, "SELECT count(*) FROM memories", "SELECT count(*) FROM trash") == "0\n0"


async def test_a_fact_that_is_stored_is_not_kept_again_but_one_with_another_number_is(
    empty: Hooks, server: Servers, sqlite: Sqlite
) -> None:
    async with server(cwd=empty.project) as client:
        await call(client, "memory_store", content="The staging database runs on port 5433", type="learning")
    empty("Stop", prompt="Remember: The staging database runs on port 5433.", last_assistant_message="Right.")
    empty("Stop", prompt="记住：数据库端口是 5434。", last_assistant_message="好。")
    empty("Stop", prompt="Remember: The staging database runs on port 6000.", last_assistant_message="Ah.")
    assert sqlite(empty.db, "SELECT content FROM memories").splitlines() == [
        "The staging database runs on port 5433",
        "数据库端口是 5434。",
        "The staging database runs on port 6000.",
    ]


async def test_what_was_stored_again_by_a_call_is_not_erased_with_what_was_kept_unasked(
    empty: Hooks, server: Servers, sqlite: Sqlite
) -> None:
    empty("Stop", prompt="Remember: We use pnpm for the ferry shop.", last_assistant_message="Good.")
    async with server(cwd=empty.project) as client:
        stored = await call(client, "memory_store", content="We use pnpm for the ferry shop", type="learning")
        assert stored["consolidated"]
    empty.run("hook", "forget", "all", "--db", str(empty.db))
    assert sqlite(empty.db, "SELECT content FROM memories") == "We use pnpm for the ferry shop."


@pytest.mark.parametrize(
    "fields",
    [
        {"prompt": "Remember: We use pnpm.", "stop_hook_active": True},
        {"prompt": "Remember: We use pnpm. The token is ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"},
        {"prompt": "Do we use pnpm?", "last_assistant_message": "We use pnpm. The server runs on port 80."},
    ],
)
async def test_no_fact_is_kept_of_an_unfinished_turn_or_beside_a_secret_or_of_the_assistant(
    empty: Hooks, sqlite: Sqlite, fields: dict[str, Any]
) -> None:
    empty("Stop", **{"last_assistant_message": "Fine.", **fields})
    assert sqlite(empty.db, "SELECT count(*) FROM memories") == "0"


async def test_a_rule_with_another_number_is_kept_beside_what_is_stored(
    empty: Hooks, server: Servers
) -> None:
    async with server(cwd=empty.project) as client:
        await call(client, "memory_store", content="We ship the ferry app 2 times a month", type="decision")
    stated = "From now on we ship the ferry app 4 times a month."
    empty("Stop", prompt=stated, last_assistant_message="Understood.")
    assert (stated,) in empty.rows("SELECT content FROM memories")


# What is used


async def lamp(server: Servers, hooks: Hooks, *more: str) -> None:
    async with server(cwd=hooks.project) as client:
        for content in (LAMP, *more):
            await call(client, "memory_store", content=content, type="learning", project="")  # in no briefing


async def test_a_memory_that_an_answer_repeats_is_used_and_one_that_it_does_not_is_not(
    server: Servers, hooks: Hooks, sqlite: Sqlite
) -> None:
    await lamp(server, hooks)
    for session, answer in (
        ("s1", "Ingrid Solberg does, at dusk."),
        ("s2", "I cannot know who checks the lighthouse lamp."),
    ):
        assert LAMP in hooks("UserPromptSubmit", prompt=ASKED, session_id=session).context
        hooks("Stop", prompt=ASKED, last_assistant_message=answer, session_id=session)
        hooks(
            "SessionEnd", prompt=ASKED, last_assistant_message=answer, session_id=session
        )  # the same turn again
    hooks("Stop", prompt=f"Again: {ASKED}", last_assistant_message="No idea.", session_id="s2")
    assert uses(hooks, sqlite) == [{"memory_id": 1, "used_in": 1, "not_used_in": 1}]
    hooks(
        "Stop",
        prompt="Tell Ingrid Solberg to wait until dusk",
        last_assistant_message="Told.",
        session_id="s2",
    )
    assert uses(hooks, sqlite) == [{"memory_id": 1, "used_in": 2, "not_used_in": 0}]


async def test_what_is_learnt_is_told_listed_ignored_and_forgotten(
    server: Servers, hooks: Hooks, sqlite: Sqlite
) -> None:
    await lamp(server, hooks, "The harbour bell is checked by Jonas")
    hooks("UserPromptSubmit", prompt=ASKED)
    hooks("Stop", prompt=ASKED, last_assistant_message="Ingrid Solberg does, at dusk.")

    async def why(*arguments: str) -> list[str]:
        async with server(*arguments, cwd=hooks.project) as client:
            found = await call(client, "memory_search", query="lighthouse lamp", explain=True)
        reasons: list[str] = found["results"][0]["why"].get("also", [])
        return reasons

    assert "used in 1 session" in await why()
    assert await why("--no-learning") == []
    assert "+2.5 %\tused in 1 session" in hooks.run("hook", "learnt", "--db", hooks.given).stdout
    assert hooks.run("hook", "unlearn", "--db", hooks.given).returncode == 1
    assert hooks.run("hook", "unlearn", "m2", "--db", hooks.given).stdout.startswith("Forgotten: ")
    assert hooks.run("hook", "unlearn", "m1", "--db", hooks.given).stdout == "Forgotten: 1.\n"
    assert "used in 1 session" not in await why()


async def test_a_search_of_a_session_and_a_call_that_builds_on_what_it_showed_is_a_use(
    server: Servers, hooks: Hooks, sqlite: Sqlite
) -> None:
    await lamp(server, hooks)
    for session in ("a", "b", "c"):
        server.env["MEMORY_SERVER_SESSION"] = session
        async with server(cwd=hooks.project) as client:
            if session != "b":
                await call(client, "recall", query=ASKED)
            await call(client, "memory_update", id=1, importance=6)
    assert uses(hooks, sqlite) == [{"memory_id": 1, "used_in": 2, "not_used_in": 0}]


async def test_nothing_is_learnt_where_it_is_off(server: Servers, hooks: Hooks, sqlite: Sqlite) -> None:
    await lamp(server, hooks)
    hooks("UserPromptSubmit", "--no-learning", prompt=ASKED)
    hooks("Stop", "--no-learning", prompt=ASKED, last_assistant_message="Ingrid Solberg does, at dusk.")
    for session in ("a", "b"):
        hooks("Stop", "--no-learning", prompt=VAIN, last_assistant_message="No idea.", session_id=session)
        server.env["MEMORY_SERVER_SESSION"] = session
        async with server("--no-learning", cwd=hooks.project) as client:
            await call(client, "recall", query=ASKED)
            await call(client, "recall", query=VAIN)
        for question in (ASKED, VAIN):
            hooks.run("search", question, "--no-learning", "--db", hooks.given)
    counts = sqlite(hooks.db, "SELECT count(*) FROM memory_uses", "SELECT count(*) FROM open_questions")
    assert counts == "0\n0"


# What is asked in vain


async def in_vain(server: Servers, hooks: Hooks, *sessions: str, tool: str = "recall") -> None:
    for session in sessions:
        server.env["MEMORY_SERVER_SESSION"] = session
        async with server(cwd=hooks.project) as client:
            await call(client, tool, query=VAIN)


@pytest.mark.parametrize("tool", ["recall", "memory_search", "retrieve_memories"])
async def test_a_question_that_two_sessions_ask_in_vain_stands_in_the_briefing(
    server: Servers, hooks: Hooks, sqlite: Sqlite, tool: str
) -> None:
    await in_vain(server, hooks, "a", "a", tool=tool)
    assert questions(hooks, sqlite) == [{"question": VAIN, "sessions": 1}]
    assert hooks("SessionStart").out == ""
    await in_vain(server, hooks, "b", tool=tool)
    assert questions(hooks, sqlite) == [{"question": VAIN, "sessions": 2}]
    assert f"Open questions: {VAIN}" in hooks("SessionStart", session_id="c").context
    assert hooks("SessionStart", "--no-learning", session_id="d").out == ""
    assert VAIN in hooks.run("hook", "learnt", "--db", hooks.given).stdout


async def test_a_prompt_that_no_word_answers_is_asked_in_vain_and_work_is_no_question(
    empty: Hooks, server: Servers, sqlite: Sqlite
) -> None:
    for session in ("a", "b"):
        empty("Stop", prompt=VAIN, last_assistant_message="I do not know.", session_id=session)
        empty(
            "Stop",
            prompt="Can you fix the ferry gateway?",
            last_assistant_message="Done.",
            session_id=session,
        )
        empty(
            "Stop",
            prompt="Why does the ferry gateway fail?",
            last_assistant_message="Hm.",
            session_id=session,
        )
    assert questions(empty, sqlite) == [{"question": VAIN, "sessions": 2}]


async def test_an_open_question_that_something_answers_leaves_the_briefing_and_then_the_list(
    server: Servers, hooks: Hooks, sqlite: Sqlite
) -> None:
    await in_vain(server, hooks, "a", "b")
    server.env["MEMORY_SERVER_SESSION"] = "c"
    async with server(cwd=hooks.project) as client:
        await call(client, "memory_store", content="The ferry gateway uses port 7100", type="learning")
        assert "Open questions" not in (await call(client, "smart_resume"))["briefing"]
        assert "7100" in (await call(client, "recall", query=VAIN))["answer"]

        async def gone() -> bool:
            return questions(hooks, sqlite) == []

        await eventually(gone, "the question leaves the list")


async def test_no_secret_is_kept_of_a_question_and_forgetting_erases_it_from_the_file(
    server: Servers, hooks: Hooks, sqlite: Sqlite
) -> None:
    await in_vain(server, hooks, "a", "b")
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    async with server(cwd=hooks.project) as client:
        await call(client, "recall", query=f"Where does the ferry token {secret} belong?")
        assert questions(hooks, sqlite) == [{"question": VAIN, "sessions": 2}]
        assert hooks.run("hook", "forget", "b", "--db", hooks.given).stdout == "Erased: 1.\n"
        assert (
            "captured nothing of a session b" in hooks.run("hook", "forget", "b", "--db", hooks.given).stderr
        )
        assert b"ferry gateway" not in hooks.db.read_bytes()


async def test_the_questions_of_a_project_follow_it(server: Servers, hooks: Hooks, sqlite: Sqlite) -> None:
    await in_vain(server, hooks, "a", "b")
    async with server(cwd=hooks.project) as client:
        await call(client, "memory_store", content="The quay is long", type="learning")
    hooks.run("projects", "rename", "shop", "harbour", "--db", hooks.given)
    assert sqlite(hooks.db, "SELECT project FROM open_questions") == "harbour"
    sqlite(hooks.db, "DELETE FROM projects")
    assert questions(hooks, sqlite) == []
