"""Hooks as clients of the engine: it answers them with meaning, and is started by the first that needs it."""

import json
import os
import signal
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from memory_server.front import finding, place
from memory_server.hook import journal
from tests import warm
from tests.conftest import Servers, call, until
from tests.engine.conftest import engines, folder
from tests.hook.test_prompt import NOTES

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(os.name == "nt", reason="there is no engine there")]


def hook(server: Servers, event: str, *arguments: str, **members: Any) -> str:
    """What a hook prints."""
    done = subprocess.run(
        warm.cold("hook", event, "--db", server.given, "--embedder", "hashing", *arguments),
        input=json.dumps({"session_id": "s1", "cwd": str(server.folder), **members}).encode(),
        env={**os.environ, **server.env}, cwd=server.folder, capture_output=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stderr == b""
    return done.stdout.decode()


def log_of(server: Servers) -> str:
    """The log of the hooks."""
    return journal.path_of(server.db).read_text()


def context(printed: str) -> str:
    text: str = json.loads(printed)["hookSpecificOutput"]["additionalContext"]
    return text


@pytest.mark.usefixtures("cold_engine")
async def test_a_hook_starts_the_engine_that_a_window_then_finds(server: Servers) -> None:
    server.env["MEMORY_SERVER_ENGINE_IDLE"] = "30"
    async with server("--engine", "off") as client:
        await call(client, "memory_store", content="Deploys are on Thursday", type="decision")
        assert engines(server) == []
    assert "Deploys are on Thursday" in context(hook(server, "SessionStart"))
    before = engines(server)
    async with server() as client:
        await call(client, "memory_stats")
    assert len(before) == 1
    assert engines(server) == before


async def test_a_turn_that_a_hook_keeps_is_there_and_signed(server: Servers) -> None:
    async with server() as client:
        await call(client, "memory_stats")
        hook(
            server,
            "Stop",
            "--client",
            "claude",
            prompt="I prefer tabs over spaces",
            last_assistant_message="Noted.",
        )
    assert server.rows("SELECT count(*) FROM short_term_memories") == [(1,)]


async def test_a_hook_of_other_settings_asks_the_engine_that_runs(server: Servers) -> None:
    async with server("--score-share", "0.5") as client:
        await call(client, "memory_store", content="Deploys are on Thursday", type="decision")
        assert "Thursday" in context(hook(server, "SessionStart"))
        assert len(engines(server)) == 1


async def test_an_engine_that_runs_says_what_is_known_of_an_act_and_of_its_error(server: Servers) -> None:
    async with server() as client:
        await call(
            client, "memory_store", content="Tests: `make check`, never plain `pytest`", type="pattern"
        )
        bash = {"tool_name": "Bash", "tool_input": {"command": "pytest -q; true"}}
        assert "`make check`" in context(hook(server, "PreToolUse", **bash))
        mends = {"tool_name": "Bash", "tool_input": {"command": "touch a.txt"}}
        fails = {"tool_name": "Bash", "tool_input": {"command": "./run.sh"}}
        hook(server, "PostToolUseFailure", **fails, error="Exit code 1\na.txt: No such file or directory")
        hook(server, "PostToolUse", **mends, tool_response={"stdout": ""})
        hook(server, "PostToolUse", **fails, tool_response={"stdout": "fine"})
        error = {"error": "Exit code 1\na.txt: No such file or directory", "session_id": "s2"}
        assert "`touch a.txt`" in context(hook(server, "PostToolUseFailure", **fails, **error))


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse", "PostToolUseFailure"])
async def test_an_act_starts_no_engine(server: Servers, event: str) -> None:
    async with server("--engine", "off") as client:
        await call(client, "memory_stats")
    assert hook(server, event, tool_name="Bash", tool_input={"command": "make"}) == ""
    assert engines(server) == []


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "Stop"])
def test_a_hook_makes_neither_a_database_nor_an_engine_for_none(server: Servers, event: str) -> None:
    server.db.unlink()
    assert hook(server, event, prompt="I prefer tabs") == ""
    assert not server.db.exists()
    assert not folder(server).exists()


async def test_a_hook_of_an_engine_that_is_stopped_says_nothing_and_doctor_tells_that(
    server: Servers,
) -> None:
    async with server() as client:
        await call(client, "memory_store", content="Deploys are on Thursday", type="decision")
        (engine,) = engines(server)
        os.kill(engine, signal.SIGSTOP)
        assert hook(server, "UserPromptSubmit", prompt="When are deploys?") == ""
        assert "UserPromptSubmit failed: the engine did not answer in time" in log_of(server)
        doctor = server.command("doctor", "--embedder", "hashing")
        report = subprocess.run(doctor, env={**os.environ, **server.env}, capture_output=True, check=False)
        assert b"the last hook that failed: " in report.stdout
        assert b"the engine did not answer in time" in report.stdout
        os.kill(engine, signal.SIGCONT)
        await call(client, "memory_stats")


async def test_before_a_prompt_a_slow_start_of_an_engine_holds_nobody(server: Servers) -> None:
    async with server("--engine", "off") as client:
        await call(client, "memory_store", content="Deploys are on Thursday", type="decision")
    engine = finding.wanted({"db": server.given, "embedder": "hashing"}, {**os.environ, **server.env})
    folder(server).mkdir(mode=0o700)
    path = folder(server) / f"{engine.name}.starting"
    start = finding.lock(path)  # as the process that starts one has it
    assert start is not None
    assert hook(server, "UserPromptSubmit", prompt="On which day are deploys?") == ""
    assert "UserPromptSubmit failed: the engine did not answer in time" in log_of(server)
    assert engines(server) == []
    finding.unlock(path, start)
    assert "Thursday" in context(hook(server, "SessionStart"))


async def test_events_that_are_off_do_nothing(server: Servers) -> None:
    async with server() as client:
        await call(client, "memory_store", content="Deploys are on Thursday", type="decision")
        assert hook(server, "SessionStart", "--hooks-off", "SessionStart") == ""
        assert "Thursday" in hook(server, "SessionStart")


NOTE = "The lighthouse keeper sleeps at noon"
DUE = "Ask for the keeper's name first."


async def test_a_prompt_is_told_once_what_it_wakes_by_meaning_and_what_it_is_about(server: Servers) -> None:
    prompt = "When does the lighthouse keeper sleep?"
    async with server() as client:
        await call(client, "memory_store", content=NOTE, type="learning")
        trigger = f"similar(messages, '{prompt}', 0.9)"
        await call(client, "add_long_term_memory", name="name", prompt=DUE, trigger=trigger)
        said = context(hook(server, "UserPromptSubmit", prompt=prompt))
        assert said.index(f"{DUE} [w name]") < said.index(NOTE)
        assert hook(server, "UserPromptSubmit", prompt=prompt) == ""
        assert hook(server, "UserPromptSubmit", prompt="yes, go on", session_id="s2") == ""
    assert server.rows("SELECT session FROM wakes") == [("s1",)]


async def test_a_prompt_brings_to_mind_what_shares_too_few_words(server: Servers) -> None:
    prompt = "Which database did we choose, and why Postgres?"
    async with server("--embedder", "bundled") as client:
        for note in NOTES:
            await call(client, "memory_store", content=note, type="learning")

        def is_said() -> bool:
            return NOTES[3] in hook(server, "UserPromptSubmit", prompt=prompt, session_id=os.urandom(4).hex())

        until(is_said, "the embedder is loaded")


async def test_only_its_owner_reaches_the_socket(server: Servers) -> None:
    async with server() as client:
        await call(client, "memory_stats")
        (path,) = folder(server).glob("*.sock")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_no_path_is_too_long_for_a_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    far = tmp_path / ("run" * 40)
    far.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(far))
    assert not finding.own_folder().is_relative_to(far)


def test_a_folder_through_a_link_is_not_private(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(real)
    assert place.is_private(real)
    assert not place.is_private(tmp_path / "link")
    assert not place.is_private(tmp_path / "none")


async def test_where_no_engine_may_run_a_hook_does_its_work_itself(server: Servers) -> None:
    async with server("--engine", "off") as client:
        await call(client, "memory_store", content="Deploys are on Thursday", type="decision")
    assert "Thursday" in context(hook(server, "SessionStart", "--engine", "off"))
    prompt = "On which day are deploys?"
    assert hook(server, "UserPromptSubmit", "--engine", "off", prompt=prompt, session_id="s2") == ""
    until(lambda: not engines(server), "no engine runs")
