"""What a person tells is kept by the hooks at the end of a turn, whole, and heard again in the next session."""

from dataclasses import replace
from typing import Any

import pytest

from tests.conftest import Servers, call
from tests.hook.conftest import Hooks

pytestmark = [pytest.mark.anyio, pytest.mark.both_stores]

REPLY = "Noted, I go on with it."

TOLD = (
    "We always squash merge PRs here.",
    "My daughter's name is Mia and she's six",
    "Our flour supplier is now Grainland",
    "我不喝咖啡，只喝茶",
    "不要用 axios",
    "The bug was caused by the timezone of the container; TZ=UTC fixed it.",
    "I work in Berlin, so timestamps in reports should be CET",
    "From now on use metric units",
)

WORK = (
    "Fix the failing test and run it again.",
    "Is it true that we always need two reviewers?",
    "translate to french: I live in Paris and I never drink wine",
    "The app crashes when I rotate the phone.",
    "Suppose our server runs on port 9999. Which rule is needed?",
    "remember to buy milk tomorrow at 5",
    "Our team lost again today haha",
    "他说公司周五五点下班",
)


@pytest.fixture
async def engine(server: Servers, hooks: Hooks) -> Hooks:
    """The hooks of an engine with the embedder of the package, on a file that a server has made."""
    async with server("--embedder", "bundled", cwd=hooks.project) as client:
        await call(client, "memory_stats")
    return replace(hooks, embedder="bundled")


def memories(hooks: Hooks) -> list[tuple[Any, ...]]:
    return hooks.rows("SELECT content, project FROM memories ORDER BY id")


async def test_what_a_person_tells_is_kept_whole_and_their_work_is_not(engine: Hooks) -> None:
    for number, prompt in enumerate([*TOLD, *WORK]):
        assert (
            engine.of_engine("Stop", session_id=f"s{number}", prompt=prompt, last_assistant_message=REPLY)
            == ""
        )
    assert [content for content, _ in memories(engine)] == list(TOLD)


async def test_what_a_person_tells_of_themselves_is_heard_in_every_project(engine: Hooks) -> None:
    prompt = "I'm allergic to peanuts. We always squash merge PRs here."
    engine.of_engine("Stop", prompt=prompt, last_assistant_message=REPLY)
    assert memories(engine) == [
        ("I'm allergic to peanuts.", None),
        ("We always squash merge PRs here.", "shop"),
    ]
    other = engine.project.parent / "bakery"
    other.mkdir()
    assert "allergic to peanuts" in engine("SessionStart", session_id="s2", cwd=str(other)).context


async def test_what_is_asked_to_be_remembered_is_kept_without_an_engine(engine: Hooks) -> None:
    prompt = "Remember that the customer Globex pays on invoice only. What is next?"
    engine("Stop", prompt=prompt, last_assistant_message=REPLY)
    assert memories(engine) == [("the customer Globex pays on invoice only.", "shop")]


@pytest.mark.parametrize(
    ("prompt", "kept"),
    [
        ("I changed the port. Remember it's 5500 now.", ["I changed the port. Remember it's 5500 now."]),
        ("端口改了。记住现在是5500。", ["端口改了。记住现在是5500。"]),
        ("The hall is ours. Remember that it is cold.", ["The hall is ours. Remember that it is cold."]),
        ("Remember it's 5500 now.", []),
        ("No, it's Grainland.", []),
        ("不对，我们用5500", []),
        ("Anna wrote on Slack: we deploy on Fridays. We never merge then.", []),
        ("安娜在群里说：以后都用五号门", []),
    ],
)  # fmt: skip
async def test_what_is_kept_has_its_subject_and_is_the_persons_own(
    engine: Hooks, prompt: str, kept: list[str]
) -> None:
    engine.of_engine("Stop", prompt=prompt, last_assistant_message=REPLY)
    assert [content for content, _ in memories(engine)] == kept


async def test_what_has_no_subject_is_suggested_to_the_model(engine: Hooks) -> None:
    engine.of_engine("Stop", prompt="Remember it's 5500 now.", last_assistant_message=REPLY)
    context = engine("UserPromptSubmit", prompt="Next: the mails.").context
    assert 'Not stored yet: "it\'s 5500 now."' in context


async def test_what_is_unsure_is_kept_once_another_session_says_it_again(engine: Hooks) -> None:
    unsure = "The ledger team has two phones."
    for session, kept in (("s1", False), ("s1", False), ("s2", True)):
        prompt = f"{unsure} Fix the rota of {session}."
        engine("Stop", session_id=session, prompt=prompt, last_assistant_message=REPLY)
        assert memories(engine) == ([(unsure, "shop")] if kept else [])


async def test_another_number_confirms_nothing(engine: Hooks) -> None:
    for session, number in (("s1", 30), ("s2", 60)):
        prompt = f"The ledger team has {number} on-call phones."
        engine("Stop", session_id=session, prompt=prompt, last_assistant_message=REPLY)
    assert memories(engine) == []
