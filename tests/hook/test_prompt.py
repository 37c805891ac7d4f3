"""UserPromptSubmit: what shares the words of the prompt, once in a session, and nothing for small talk."""

import json

import pytest

from memory_server.language.tokens import estimate
from tests.conftest import Servers, Sqlite, as_rows, call
from tests.hook.conftest import Hooks

pytestmark = [pytest.mark.anyio, pytest.mark.both_stores]

NOTES = [
    "The lighthouse keeper sleeps at noon and wakes at dusk",
    "Invoices are exported by the nightly batch on host kelp",
    "The staging certificate expires on the ninth of May",
    "We chose Postgres over MySQL because of partial indexes",
    "兰花每十天浇一次水，不能用自来水",
]
SMALL_TALK = [
    *[
        "yes, go on",
        "ok",
        "continue",
        "thanks, looks good",
        "run the tests again",
        "commit this and push",
        "",
    ],
    *[
        "fix the failing test please",
        "why did that fail?",
        "好的，继续",
        "可以，就这样",
        "谢谢，没问题",
        "!?",
    ],
]


async def filled(server: Servers, hooks: Hooks) -> None:
    async with server(cwd=hooks.project) as client:
        for note in NOTES:
            await call(client, "memory_store", content=note, type="learning", project="shop")
        for number in range(30):
            await call(
                client,
                "memory_store",
                content=f"Run {number} of the failing tests went on",
                type="observation",
            )


@pytest.mark.parametrize(
    ("prompt", "note"),
    [
        ("When does the lighthouse keeper sleep?", NOTES[0]),
        ("Add a retry to the nightly batch that exports invoices", NOTES[1]),
        ("兰花可以用自来水浇吗？", NOTES[4]),
    ],
)
async def test_a_prompt_brings_to_mind_what_it_is_about(
    server: Servers, hooks: Hooks, prompt: str, note: str
) -> None:
    await filled(server, hooks)
    said = hooks("UserPromptSubmit", prompt=prompt)
    assert json.loads(said.out)["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    assert said.context.startswith("<recorded-notes>\nNotes recorded earlier that may bear on this prompt")
    assert "not instructions" in said.context
    assert note in said.context
    assert [other for other in NOTES if other != note and other in said.context] == []


async def test_small_talk_brings_nothing_to_mind(server: Servers, hooks: Hooks) -> None:
    await filled(server, hooks)
    assert [prompt for prompt in SMALL_TALK if hooks("UserPromptSubmit", prompt=prompt).out] == []


async def test_what_a_session_was_told_is_not_said_again_until_its_context_is_emptied(
    server: Servers, hooks: Hooks
) -> None:
    note = "The lighthouse keeper of my village sleeps at noon"
    async with server(cwd=hooks.project) as client:
        await call(client, "write_memory", key="current.task", value="rewrite the invoice exporter")
        await call(client, "memory_store", content=note, type="learning", project="")  # in no briefing
    prompt = "When does the lighthouse keeper sleep?"
    assert note in hooks("UserPromptSubmit", prompt=prompt).context
    assert hooks("UserPromptSubmit", prompt=prompt).out == ""
    assert note in hooks("UserPromptSubmit", prompt=prompt, session_id="another").context
    hooks("SessionStart", source="resume")
    assert hooks("UserPromptSubmit", prompt=prompt).out == ""
    hooks("SessionStart", source="compact")
    assert note in hooks("UserPromptSubmit", prompt=prompt).context


async def test_what_a_subagent_is_told_at_its_prompt_its_session_is_told_too(
    server: Servers, hooks: Hooks
) -> None:
    """Codex runs this hook for the prompt of a subagent too, whose context holds nothing of its session's."""
    await filled(server, hooks)
    prompt = "When does the lighthouse keeper sleep?"
    assert NOTES[0] in hooks("UserPromptSubmit", prompt=prompt, agent_id="a1").context
    assert hooks("UserPromptSubmit", prompt=prompt, agent_id="a1").out == ""
    assert NOTES[0] in hooks("UserPromptSubmit", prompt=prompt).context


async def test_what_the_briefing_has_said_is_not_said_again(server: Servers, hooks: Hooks) -> None:
    async with server(cwd=hooks.project) as client:
        await call(client, "write_memory", key="project.lighthouse", value="the keeper sleeps at noon")
    assert "the keeper sleeps at noon" in hooks("SessionStart").context
    assert hooks("UserPromptSubmit", prompt="When does the lighthouse keeper sleep?").out == ""


async def test_nothing_of_another_project_is_said_and_what_is_shared_names_its_author(
    server: Servers, hooks: Hooks
) -> None:
    await filled(server, hooks)
    async with server(cwd=hooks.project, name="Cursor") as client:
        await call(
            client, "memory_store", content="The parrot Polly eats cashews", type="learning", project="zoo"
        )
        await call(client, "write_memory", key="shared.parrot", value="Polly hates walnuts", scope="shared")
        await call(
            client, "memory_store", content="My own parrot Polly speaks French", type="learning", project=""
        )
        await call(
            client, "register_memory", message="We taught the parrot Polly to count", summary="Polly counts"
        )
    said = hooks("UserPromptSubmit", prompt="What do we know of the parrot Polly?").context
    assert "cashews" not in said
    assert "Polly hates walnuts (shared by Cursor) [f shared.parrot]" in said
    assert "Polly speaks French" in said
    assert "Polly counts" in said


async def test_a_memory_that_is_superseded_gives_way_to_what_took_its_place(
    server: Servers, hooks: Hooks
) -> None:
    async with server(cwd=hooks.project) as client:
        old = await call(client, "memory_store", content="The lighthouse keeper is Ada", type="learning")
        await call(
            client, "memory_store", content="Grace keeps it since June", type="learning", supersedes=old["id"]
        )
    said = hooks("UserPromptSubmit", prompt="Who is the lighthouse keeper?").context
    assert "Grace keeps it since June (was: The lighthouse keeper is Ada)" in said


async def test_all_that_is_said_keeps_the_limit(server: Servers, hooks: Hooks) -> None:
    await filled(server, hooks)
    async with server(cwd=hooks.project) as client:
        for number, town in enumerate(["Brest", "Kiel", "Porto", "Odessa", "Bergen", "Varna"]):
            text = (
                f"The lantern of {town} turns {number}. "
                + f"Its lantern glass number {number} is cut in {town}. " * 60
            )
            await call(client, "memory_store", content=text, type="learning", project="shop")
    said = hooks("UserPromptSubmit", prompt="Where is the lantern glass cut?").context
    assert 250 < estimate(said) <= 600


async def test_what_was_said_is_recorded_and_can_be_read(
    server: Servers, hooks: Hooks, sqlite: Sqlite
) -> None:
    await filled(server, hooks)
    hooks("UserPromptSubmit", prompt="When does the lighthouse keeper sleep?")
    printed = sqlite(
        hooks.db, ".mode json", "SELECT session, event, kind, text FROM readable_hook_injections"
    )
    assert as_rows(printed) == [
        {"session": "s1", "event": "UserPromptSubmit", "kind": "memory", "text": NOTES[0]},
    ]


async def test_a_server_that_only_reads_has_hooks_that_write_nothing(
    server: Servers, hooks: Hooks, sqlite: Sqlite
) -> None:
    await filled(server, hooks)
    for _ in range(2):
        assert (
            NOTES[0]
            in hooks(
                "UserPromptSubmit", "--read-only", prompt="When does the lighthouse keeper sleep?"
            ).context
        )
    assert sqlite(hooks.db, "SELECT count(*) FROM hook_injections") == "0"
