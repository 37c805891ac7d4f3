"""A hook that fails prints nothing and leaves with 0; what failed stands in a log, and `doctor` shows it."""

import json
import os
import socket
import subprocess
import sys
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_server import where
from memory_server.cli.doctor import _hooks
from memory_server.hook.journal import Record
from tests import terminal
from tests.conftest import Holder, Servers, call
from tests.hook.conftest import Hooks

pytestmark = pytest.mark.anyio

EVENTS = ["SessionStart", "UserPromptSubmit", "SubagentStart", "Stop", "PreCompact", "SessionEnd"]


async def filled(server: Servers, hooks: Hooks) -> None:
    async with server(cwd=hooks.project) as client:
        await call(client, "write_memory", key="current.task", value="rewrite the invoice exporter")


def failure(hooks: Hooks) -> str:
    """The only line of the log."""
    (line,) = hooks.log
    return line


async def test_without_an_engine_nothing_is_said_before_a_prompt_and_doctor_tells_that(
    server: Servers, hooks: Hooks
) -> None:
    alone = replace(hooks, has_engine=False)
    async with server(cwd=hooks.project) as client:
        await call(client, "memory_store", content="The lighthouse keeper sleeps at noon", type="learning")
    assert "lighthouse" in alone("SessionStart").context
    assert (
        alone("UserPromptSubmit", prompt="When does the lighthouse keeper sleep?", session_id="s2").out == ""
    )
    assert not [line for line in hooks.log if "failed" in line]
    report = hooks.run("doctor", "--db", hooks.given, "--embedder", "hashing").stdout
    assert (
        "engine      off: each window has a process of its own; the hook before a prompt says nothing\n"
        in report
    )


@pytest.mark.parametrize("event", EVENTS)
def test_a_database_that_is_missing_is_not_made(hooks: Hooks, event: str) -> None:
    hooks.db.unlink()
    assert hooks(event, prompt="the harbour opens at noon").out == ""
    assert not hooks.db.exists()
    assert hooks.log == []


@pytest.mark.both_stores
async def test_a_first_session_keeps_its_turn_once_its_server_has_made_the_file(
    server: Servers, hooks: Hooks
) -> None:
    """The hooks of a plugin may come before its server."""
    if isinstance(hooks.place, Path):  # a tenant of PostgreSQL is not made yet
        hooks.place.unlink()
    alone = replace(hooks, has_engine=False)
    for event in ("SessionStart", "UserPromptSubmit"):
        alone(event, prompt="The staging database runs on port 5433.", source="startup")
    async with server(cwd=hooks.project) as client:
        await call(client, "recall", query="staging")
        hooks(
            "Stop",
            prompt="Remember: The staging database runs on port 5433.",
            last_assistant_message="Noted.",
        )
    assert hooks.rows("SELECT content FROM memories") == [("The staging database runs on port 5433.",)]
    (line,) = hooks.log
    assert line.endswith("Stop works")


def test_a_folder_that_is_missing_is_not_made(hooks: Hooks, tmp_path: Path) -> None:
    assert hooks("SessionStart", "--db", str(tmp_path / "none" / "memory.db")).out == ""
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("content", [b"", b"no database at all" * 100])
@pytest.mark.parametrize("event", [event for event in EVENTS if event != "UserPromptSubmit"])
def test_a_database_that_is_broken_stays_as_it_is(hooks: Hooks, event: str, content: bytes) -> None:
    hooks.db.write_bytes(content)
    assert hooks(event, prompt="the harbour opens at noon").out == ""
    assert hooks.db.read_bytes() == content
    assert f"{event} failed: Unavailable" in failure(hooks)


async def test_a_database_that_is_locked_is_left_alone(server: Servers, hooks: Hooks) -> None:
    await filled(server, hooks)
    with Holder(hooks.db, "COMMIT; BEGIN EXCLUSIVE; SELECT 1"):
        assert hooks("SessionStart").out == ""
    assert "SessionStart failed: Unavailable" in failure(hooks)


def test_a_database_that_does_not_answer_is_left_alone(hooks: Hooks) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = where.of(f"postgresql://me@127.0.0.1:{silent.getsockname()[1]}/memory")
        assert isinstance(place, where.Postgres)
        asked = replace(hooks, servers=copy(hooks.servers))
        asked.servers.place = place
        assert asked("SessionStart").out == ""
    assert "SessionStart failed: Unavailable" in failure(asked)
    assert "cannot be reached" in failure(asked)


@pytest.mark.parametrize("input", ["{", "[]", '"text"', "\x00"])
async def test_what_a_client_sends_may_be_anything(server: Servers, hooks: Hooks, input: str) -> None:
    await filled(server, hooks)
    assert hooks("SessionStart", input=input).out == ""
    assert "SessionStart failed" in failure(hooks)


def test_an_event_that_is_not_known_does_nothing(hooks: Hooks) -> None:
    assert hooks("SesionStart").out == ""
    assert failure(hooks).endswith(
        "SesionStart failed: NotFound: There is no hook `SesionStart`. Did you mean `SessionStart`?"
    )


def test_a_person_who_mistypes_a_word_is_told_and_nothing_is_logged(hooks: Hooks) -> None:
    for word, hint in (("logs", "Did you mean `log`?"), ("foo", "There are: log,")):
        printed, code = terminal.typed(
            "hook", word, "--db", hooks.given, env={**os.environ, **hooks.env}, folder=hooks.project
        )
        assert (code, f"EVENT: '{word}' is unknown. {hint}" in printed) == (2, True)
        done = hooks.run("hook", word, "--db", hooks.given)
        assert (done.returncode, hint in done.stderr) == (2, True)
    assert hooks.log == []


async def test_doctor_tells_what_failed_since_the_last_success(server: Servers, hooks: Hooks) -> None:
    await filled(server, hooks)
    hooks("SessionStart")
    hooks("SessionStart", input="{")
    hooks("UserPromptSubmit", input="[]")
    done = hooks.run("doctor", "--db", hooks.given, "--embedder", "hashing")
    today = datetime.now(UTC).date().isoformat()
    assert f"hooks       last worked on {today}; failed 2 times since" in done.stdout
    assert "  the last hook that failed: " in done.stdout
    assert "no JSON object" in done.stdout
    assert done.returncode == 1
    hooks("SessionStart")
    done = hooks.run("doctor", "--db", hooks.given, "--embedder", "hashing")
    assert f"hooks       last worked on {today}\n" in done.stdout
    assert done.returncode == 0


async def test_each_event_can_be_turned_off(server: Servers, hooks: Hooks) -> None:
    await filled(server, hooks)
    assert hooks("SessionStart", "--hooks-off", "Stop,SessionStart").out == ""
    assert hooks("SessionStart", env={"MEMORY_SERVER_HOOKS_OFF": "all"}).out == ""
    assert hooks("SessionStart", "--hooks-off", "sessionstart").out == ""
    assert hooks("SessionStart", "--hooks-off", "Stop").out != ""


async def test_a_name_that_no_hook_has_is_refused(server: Servers, hooks: Hooks) -> None:
    """Only the rules are read all the same."""
    await filled(server, hooks)
    wrong = "'SesionStart' is unknown. There are: SessionStart, UserPromptSubmit,"
    for words, name in (
        (("--hooks-off", "SesionStart", "hook", "SessionStart"), "--hooks-off"),
        (("hook", "SessionStart"), "MEMORY_SERVER_HOOKS_OFF"),
    ):
        env = {"MEMORY_SERVER_HOOKS_OFF": "SesionStart"}
        done = hooks.run(*words, "--db", hooks.given, env=env)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"memory-server: {name}: {wrong}")
        assert len(done.stderr.splitlines()) == 1
    done = hooks.run("hook", "PreToolUse", "--db", hooks.given, env={"MEMORY_SERVER_HOOKS_OFF": "x"})
    assert (done.returncode, done.stderr.count("'x' is unknown")) == (0, 1)


def test_the_log_does_not_grow_for_ever(hooks: Hooks) -> None:
    log = hooks.db.with_name("memory.db.hooks.log")
    log.write_text("2026-01-02T03:04:05.000Z Stop failed: it was locked\n" * 2000, encoding="utf-8")
    hooks("SessionStart")
    assert len(hooks.log) == 1001
    assert log.stat().st_mode & 0o077 == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
async def test_a_folder_that_cannot_be_written_is_no_reason_to_fail(server: Servers, hooks: Hooks) -> None:
    await filled(server, hooks)
    hooks.db.parent.chmod(0o500)
    try:
        assert hooks("SessionStart").out
    finally:
        hooks.db.parent.chmod(0o700)


async def test_a_log_that_cannot_be_written_is_no_reason_to_fail(server: Servers, hooks: Hooks) -> None:
    await filled(server, hooks)
    hooks.db.with_name("memory.db.hooks.log").mkdir()
    assert hooks("SessionStart").out
    assert hooks("SessionStart", input="{").out == ""


async def test_a_client_that_does_not_listen_is_no_reason_to_fail(server: Servers, hooks: Hooks) -> None:
    await filled(server, hooks)
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "memory_server", "hook", "SessionStart", "--db", hooks.given],
        input=json.dumps({"cwd": str(hooks.project)}).encode(), stdout=write, stderr=subprocess.PIPE,
        env={**os.environ, **hooks.env}, timeout=60, check=False,
    )  # fmt: skip
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


def test_one_failure_is_counted_in_words() -> None:
    assert _hooks(Record("2026-03-14", ("x failed: y",))) == "last worked on 2026-03-14; failed once since"
