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
    return "".join(line for line in lines if line.startswith(("The user corrects", "The user may change")))


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        ("No, the staging database is on 5500.", "m1 (5433). Call memory_update"),
        ("no, we deploy the ledger on Thursdays", "m2 (tuesday). Call memory_update"),
        ("Actually, the rate limit is 100, not 60.", "m5 (60). Call memory_update"),
        ("wrong. Mia is seven", "m7 (six). Call memory_update"),
        ("no, the AGM is in April", "m8 (march). Call memory_update"),
        ("Actually we deploy on Thursdays now", "m2 (tuesday). Call memory_update"),
        (
            "Remember I told you the staging database is on 5433? It's on 5500 now.",
            "m1 (5433). Call memory_update",
        ),
        ("the customer's contact is Joanna, not Marika", "m3 (marika). Call memory_update"),
        ("no, standup is at 9:30", "the fact project.standup (9:15). Call write_memory"),
        ("No, the staging database runs on port 5433.", ""),
        ("no, the production cluster is on 5500", ""),
        ("no, try 5500 rows instead", ""),
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


@pytest.mark.parametrize(
    ("written", "said", "prompt", "line"),
    [
        ("Port of the staging database is 5433", "the port is 5433", "no, we use 5500", "m1 (5433)"),
        ("Sourdough proofs for 14 hours", "we proof sourdough for 14 hours", "wait, 16 hours", "m1 (14)"),
        ("The card terminal is a SumUp Solo", "we have a SumUp Solo", "no, it's a Zettle", "m1 (sumup solo)"),
        ("面粉库存80袋", "面粉有80袋", "不对，是95袋", "m1 (80)"),
        ("店周一休息", "店周一休息", "不是，周二", "m1 (周一)"),
        ({"key": "staging.port", "value": 5433}, "the port is 5433", "no, we use 5500", "the fact staging.port (5433)"),
        ("Returns are taken for 28 days", "make the heading 28 px", "no, 32 px", ""),
        ("The crew meets at 9", "list 9 cities", "no, 8", ""),
        ("Ask Lena about the gates", "write to Lena", "no, to Viktor", ""),
    ],
)  # fmt: skip
async def test_a_value_that_the_session_has_just_stored_is_corrected_and_no_half_sentence_is_kept(
    server: Servers, hooks: Hooks, written: str | dict[str, object], said: str, prompt: str, line: str
) -> None:
    async with server("--session", "s1", cwd=hooks.project) as client:
        if isinstance(written, str):
            await call(client, "memory_store", content=written, type="learning")
        else:
            await call(client, "write_memory", **written)
    hooks("Stop", prompt=said, last_assistant_message="Stored.")
    kept = hooks.rows("SELECT content FROM memories ORDER BY id")
    heard_line = heard(hooks, prompt)
    assert heard_line.startswith(f"The user corrects {line}.") if line else heard_line == ""
    hooks.of_engine("Stop", prompt=prompt, last_assistant_message="Changed.")
    assert hooks.rows("SELECT content FROM memories ORDER BY id") == kept


@pytest.mark.parametrize(
    ("question", "answer", "prompt", "line"),
    [
        ("When do we deploy the ledger?", "On Tuesdays.", "No, Thursdays.", "m2 (tuesday)"),
        ("When is the standup?", "Standup is at 9:15.", "no, at 8", "the fact project.standup (9:15)"),
        ("What is the rate limit of the API?", "It is 60 requests a minute.", "no, 100", "m5 (60)"),
        ("Who is the contact of the customer?", "Marika.", "no, Joanna", "m3 (marika)"),
        ("How old is Mia?", "Mia is six.", "oh no, seven", "m7 (six)"),
        ("When do we deploy the ledger?", "On Tuesdays.", "not Tuesdays, Thursdays", "m2 (tuesday)"),
        ("When do we deploy the ledger?", "On Tuesdays.", "Since last week it is Thursday.", "m2 (tuesday)"),
        (
            "Do we use yarn?",
            "Yes, you use yarn for the web packages.",
            "that's wrong, it is pnpm",
            "m4 (yarn)",
        ),
        (
            "Do we use yarn?",
            "Yes, you use yarn for the web packages.",
            "we switched to pnpm in May",
            "m4 (yarn)",
        ),
        ("Who is the contact of the customer?", "Marika.", "no wait, Joanna", "m3 (marika)"),
        ("Which port has staging?", "5433.", "5433 was last year. 5500.", "m1 (5433)"),
        ("How many files changed?", "60 files.", "no, 100", ""),
        ("Do we use yarn?", "Yes, you use yarn for the web packages.", "that's wrong, it is broken", ""),
        ("Do we use yarn?", "Yes, you use yarn for the web packages.", "now it takes 9 minutes", ""),
        ("Which port has staging?", "5433.", "I moved to page 5500 now", ""),
        ("Write to Marika.", "Dear Marika, …", "No. Shorter.", ""),
    ],
)
async def test_a_value_alone_corrects_what_was_just_answered(
    stored: Hooks, question: str, answer: str, prompt: str, line: str
) -> None:
    stored("Stop", session_id="s2", prompt=question, last_assistant_message=answer)
    said = stored("UserPromptSubmit", session_id="s2", prompt=prompt).out
    assert f"The user corrects {line}." in said if line else "The user corrects" not in said


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        (
            "point the smoke test at staging, its database moved to 5544",
            "may change m1 (5433). If so, call memory_update.",
        ),
        ("hm, Mia turned a year older, she is seven now", "may change m7 (6). If so, call memory_update."),
        ("The staging database is on 5500.", "may change m1 (5433). If so, call memory_update."),
        ("standup is at 9:30", "may change the fact project.standup (9:15). If so, call write_memory."),
        ("set the port of the staging database to 5544", ""),
    ],
)
async def test_a_statement_in_passing_names_what_it_changes(stored: Hooks, prompt: str, line: str) -> None:
    said = heard(stored, prompt)
    assert said.startswith(f"The user {line}") if line else said == ""


async def test_a_pronoun_corrects_the_name_that_the_session_was_shown(stored: Hooks) -> None:
    prompt = "her name is Joanna, not Marika"
    assert heard(stored, prompt) == ""
    assert "Marika" in stored("UserPromptSubmit", prompt="Who is the customer's contact?").out
    assert "m3 (marika). Call memory_update" in heard(stored, prompt)
    assert heard(stored, "her name is Joanna, not Monika") == ""


async def test_five_hundred_prompts_that_correct_nothing_are_silent(stored: Hooks) -> None:
    """Prompts of ordinary work, alone, with "no," before or "now" behind, after a turn that says all stored texts."""
    texts = [(LABELLED / f"{name}.txt").read_text("utf-8") for name in ("work", "en1", "en2", "zh")]
    lines = [line for text in texts for line in text.splitlines()]
    prompts = [line for line in lines if line and "{" not in line and not line.startswith("##")]
    prompts = [f"no, {prompt}" for prompt in prompts] + [f"{prompt} now" for prompt in prompts] + prompts
    for text in STORED:
        stored("UserPromptSubmit", prompt=f"{text} Right?")
    stored("Stop", prompt="What do you know?", last_assistant_message=" ".join(STORED))
    database = stores.at(stored.place, stores.clock)
    service, caller = CorrectingService(database), Caller("test", "s1", Project("shop", "shop"))
    alarms = [prompt for prompt in prompts if service.corrected(prompt, caller)]
    database.close()
    assert len(prompts) >= 1500
    assert alarms == []


async def test_a_note_in_another_language_is_corrected_once_the_session_was_shown_it(stored: Hooks) -> None:
    prompt = "no, the deposit is 25 % of the rent, not 20 %"
    assert heard(stored, prompt) == ""
    assert "押金" in stored("UserPromptSubmit", prompt="押金是房租的多少？").out
    assert "m6 (20). Call memory_update" in heard(stored, prompt)
    assert heard(stored, "no, the deposit is 25 % of the rent, not 30 %") == ""
