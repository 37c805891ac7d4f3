"""A prompt that corrects something stored says so to the model at once, in one line; all others are silent."""

import json
from pathlib import Path

import pytest

from memory_server import stores
from memory_server.domain.caller import Caller
from memory_server.project import Project
from memory_server.services.correcting import CorrectingService
from tests.conftest import Servers, call
from tests.hook.conftest import Hooks

pytestmark = [pytest.mark.anyio, pytest.mark.both_stores]

STORED = (
    "The staging database runs on port 5433.",
    "We deploy the ledger on Tuesdays.",
    "The customer's contact is called Marika.",
    "We use yarn for the web packages.",
    "The rate limit of the API is 60 requests a minute.",
    "押金是房租的 20%",
    "Mia is six and goes to the kindergarten at Birkenweg.",
    "The AGM of the club is in March.",
)

LABELLED = Path(__file__).parents[2] / "scripts" / "lab" / "quality" / "prompts_labelled"


@pytest.fixture
async def stored(server: Servers, hooks: Hooks) -> Hooks:
    async with server(cwd=hooks.project) as client:
        for text in STORED:
            await call(client, "memory_store", content=text, type="learning")
        await call(client, "write_memory", key="project.standup", value="Standup is at 9:15 in room Oak")
    return hooks


def heard(hooks: Hooks, prompt: str) -> str:
    """Return the line about a correction."""
    said = hooks("UserPromptSubmit", prompt=prompt).out
    lines = json.loads(said)["hookSpecificOutput"]["additionalContext"].splitlines() if said else []
    return "".join(line for line in lines if line.startswith("The user corrects"))


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        ("No, the staging database is on 5500.", "m1 (5433). Call memory_update"),
        ("no, we deploy the ledger on Thursdays", "m2 (tuesday). Call memory_update"),
        ("Actually, the rate limit is 100, not 60.", "m5 (60). Call memory_update"),
        ("wrong. Mia is seven", "m7 (six). Call memory_update"),
        ("no, the AGM is in April", "m8 (march). Call memory_update"),
        ("no, standup is at 9:30", "the fact project.standup (9:15). Call write_memory"),
        ("No, the staging database runs on port 5433.", ""),
        ("no, the production cluster is on 5500", ""),
        ("no, try 5500 rows instead", ""),
        ("The staging database is on 5500.", ""),
    ],
)
async def test_a_correction_names_what_it_corrects(stored: Hooks, prompt: str, line: str) -> None:
    assert heard(stored, prompt) == (f"The user corrects {line} to change it." if line else "")


@pytest.mark.parametrize(
    ("reply", "prompt", "line"),
    [
        ("The staging database runs on port 5433.", "no, we use 5500", "The user corrects m1 (5433)"),
        ("Its port is 5433.", "不对，是5500", "The user corrects m1 (5433)"),
        ("You use yarn.", "no, we use pnpm", "The user corrects m4 (yarn)"),
        ("I changed the rows.", "no, we use 5500", ""),
    ],
)
async def test_a_value_alone_corrects_what_the_answer_before_it_said(
    stored: Hooks, reply: str, prompt: str, line: str
) -> None:
    for question in ("On which port does the staging database run?", "Do we use yarn for the web packages?"):
        assert "[m" in stored("UserPromptSubmit", prompt=question).context
    stored("Stop", prompt="Which one do we use?", last_assistant_message=reply)
    said = heard(stored, prompt)
    assert said.startswith(line)
    assert bool(said) is bool(line)


async def test_five_hundred_prompts_that_correct_nothing_are_silent(stored: Hooks) -> None:
    """Prompts of ordinary work, each with "no," before it."""
    texts = [(LABELLED / f"{name}.txt").read_text("utf-8") for name in ("work", "en1", "en2", "zh")]
    lines = [line for text in texts for line in text.splitlines()]
    prompts = [f"no, {line}" for line in lines if line and "{" not in line and not line.startswith("##")]
    for text in STORED:
        stored("UserPromptSubmit", prompt=f"{text} Right?")
    database = stores.at(stored.place, stores.clock)
    service, caller = CorrectingService(database), Caller("test", "s1", Project("shop", "shop"))
    alarms = [prompt for prompt in prompts if service.corrected(prompt, caller)]
    database.close()
    assert len(prompts) >= 500
    assert alarms == []


async def test_a_note_in_another_language_is_corrected_once_the_session_was_shown_it(stored: Hooks) -> None:
    prompt = "no, the deposit is 25 % of the rent, not 20 %"
    assert heard(stored, prompt) == ""
    assert "押金" in stored("UserPromptSubmit", prompt="押金是房租的多少？").out
    assert "m6 (20). Call memory_update" in heard(stored, prompt)
    assert heard(stored, "no, the deposit is 25 % of the rent, not 30 %") == ""
