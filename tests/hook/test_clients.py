"""The real clients, connected by `install`, and what their first request to the model holds."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_server.mcp.server import INSTRUCTIONS
from tests.conftest import ROOT, Servers, Sqlite, call
from tests.hook.conftest import Hooks
from tests.hook.model_stub import ANSWER, Arguments, Stub, model_stub
from tests.outside import PATH, program

pytestmark = [pytest.mark.anyio, pytest.mark.outside]

NOTE = "The lighthouse keeper of my village sleeps at noon"
PROMPT = "When does the lighthouse keeper sleep?"
TASK = "rewrite the invoice exporter"


def codex_settings(home: Path, stub: Stub) -> None:
    (home / ".codex").mkdir(parents=True)
    (home / ".codex/config.toml").write_text(
        f"""model = "stub"
model_provider = "stub"

[model_providers.stub]
name = "stub"
base_url = "{stub.url}/v1"
wire_api = "responses"
requires_openai_auth = false
"""
    )


def opencode_settings(home: Path, stub: Stub) -> None:
    options = {"baseURL": f"{stub.url}/v1", "apiKey": "none"}
    model = {"name": "stub", "limit": {"context": 200_000, "output": 8_000}, "tool_call": True}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "stub",
        "options": options,
        "models": {"stub": model},
    }
    folder = home / ".config/opencode"
    folder.mkdir(parents=True)
    settings = {
        "autoupdate": False,
        "model": "stub/stub",
        "small_model": "stub/stub",
        "provider": {"stub": provider},
    }
    (folder / "opencode.json").write_text(json.dumps(settings, indent=2))


COMMANDS = {
    "claude": ["claude", "-p", PROMPT],
    "codex": ["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", PROMPT],
    "opencode": ["opencode", "run", PROMPT],
}


FLAGS = {
    "claude": ["--dangerously-skip-permissions"],
    "codex": ["--dangerously-bypass-approvals-and-sandbox"],
}
"""They let a client run commands without asking."""


def gemini_settings(home: Path) -> None:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
    }
    (home / ".gemini").mkdir(exist_ok=True)
    (home / ".gemini/settings.json").write_text(json.dumps(settings), encoding="utf-8")


def surroundings(name: str, home: Path, stub: Stub) -> dict[str, str]:
    """Make a home for a client that asks the stub; its environment."""
    home.mkdir(exist_ok=True)
    if name == "codex":
        codex_settings(home, stub)
    if name == "opencode":
        opencode_settings(home, stub)
    if name == "gemini":
        gemini_settings(home)
    return {
        "HOME": str(home), "PATH": PATH, "PYTHONPATH": str(ROOT), "TERM": "dumb", "IS_SANDBOX": "1",
        "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "OPENCODE_DISABLE_AUTOUPDATE": "1", "ANTHROPIC_BASE_URL": stub.url, "ANTHROPIC_API_KEY": "not-a-key",
        "GOOGLE_GEMINI_BASE_URL": stub.url, "GEMINI_API_KEY": "not-a-key", "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }  # fmt: skip


def carry_out(words: list[str], folder: Path, env: dict[str, str]) -> None:
    subprocess.run(
        [program(words[0]), *words[1:]], cwd=folder, env=env, stdin=subprocess.DEVNULL, timeout=180,
        capture_output=True, check=True,
    )  # fmt: skip


def run(name: str, hooks: Hooks, home: Path, stub: Stub, *flags: str, acts: bool = False) -> str:
    """Connect a client in a home of its own, ask it once, and give all that it asked the model. It `acts` unasked."""
    env = surroundings(name, home, stub)
    own = dict.fromkeys(("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"), "")
    done = hooks.run("install", name, *flags, "--db", hooks.given, env={**env, **own})
    assert done.returncode == 0, done.stderr
    carry_out([*COMMANDS[name], *(FLAGS.get(name, ()) if acts else ())], hooks.project, env)
    assert stub.asked
    return json.dumps(stub.asked, ensure_ascii=False)


def again(name: str, hooks: Hooks, home: Path, stub: Stub) -> None:
    """Ask a client that is connected once more, with another stand-in for the model."""
    for path in (home / ".codex/config.toml", home / ".config/opencode/opencode.json"):
        if path.exists():
            path.write_text(re.sub(r"http://127\.0\.0\.1:\d+", stub.url, path.read_text()))
    env = surroundings("", home, stub)
    carry_out([*COMMANDS[name], *FLAGS.get(name, ())], hooks.project, env)


@pytest.mark.parametrize("name", COMMANDS)
async def test_the_first_request_holds_the_briefing_and_what_the_prompt_is_about(
    server: Servers, hooks: Hooks, tmp_path: Path, name: str, sqlite: Sqlite
) -> None:
    program(name)
    async with server(cwd=hooks.project) as client:
        await call(client, "write_memory", key="current.task", value=TASK)
        await call(client, "memory_store", content=NOTE, type="learning", project="")  # in no briefing
    with model_stub() as stub:
        said = run(name, hooks, tmp_path / "home", stub)
    assert TASK in said
    assert NOTE in said
    kept = sqlite(hooks.db, "SELECT text FROM readable_hook_captures WHERE kind = 'short_term'")
    assert (
        kept.replace('"', "") == f"user: {PROMPT}\nassistant: {ANSWER}"
    )  # opencode puts the words between quotes


async def test_the_first_request_of_claude_has_the_tools_and_the_instructions(
    hooks: Hooks, tmp_path: Path
) -> None:
    """It waits for no server: a memory of which it knows nothing yet is not in its request."""
    program("claude")
    with model_stub() as stub:
        said = run("claude", hooks, tmp_path / "home", stub)
    assert "memory__recall" in said
    assert INSTRUCTIONS in said


async def test_claude_calls_without_asking_what_install_allows(
    server: Servers, hooks: Hooks, tmp_path: Path
) -> None:
    program("claude")
    async with server(cwd=hooks.project) as client:
        await call(client, "memory_store", content=NOTE, type="learning")
    with model_stub() as stub:
        stub.calls = [
            ("mcp__memory__recall", {"query": NOTE}),
            ("mcp__memory__memory_store", {"content": TASK, "type": "decision"}),
        ]
        run("claude", hooks, tmp_path / "home", stub, "--allow")
    first, second = stub.results()
    assert NOTE in first
    assert "requested permissions to use mcp__memory__memory_store" in second


async def test_what_claude_code_writes_into_its_own_memory_is_told_in_the_next_session_of_codex(
    hooks: Hooks, tmp_path: Path
) -> None:
    program("claude")
    home = tmp_path / "home"
    folder = home / ".claude/projects" / re.sub(r"\W", "-", str(hooks.project)) / "memory"
    folder.mkdir(parents=True)
    header = "---\nname: {0}\ndescription: {1}\nmetadata:\n  type: project\n---\n{1}\n"
    (folder / "boats.md").write_text(header.format("boats", "The boats are painted in March"))
    assert hooks.run("import", str(folder), "--db", hooks.given).returncode == 0
    with model_stub() as stub:
        env = surroundings("claude", home, stub)
        own = dict.fromkeys(("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"), "")
        assert hooks.run("install", "claude", "--db", hooks.given, env={**env, **own}).returncode == 0
        only_after_tools(home / ".claude/settings.json")
        stub.calls = [
            ("Write", {"file_path": str(folder / "keeper.md"), "content": header.format("keeper", NOTE)}),
            (
                "Bash",
                {
                    "command": "sleep 5",
                    "description": "wait for the hook, for which the client does not wait",
                },
            ),
        ]
        carry_out([*COMMANDS["claude"], "--dangerously-skip-permissions"], hooks.project, env)
    assert (NOTE,) in hooks.rows("SELECT content FROM memories")
    with model_stub() as stub:
        assert NOTE in run("codex", hooks, home, stub)


def only_after_tools(path: Path) -> None:
    """Leave a client no hook but that after a tool: no other one can take in what it writes."""
    settings = json.loads(path.read_text())
    settings["hooks"] = {"PostToolUse": settings["hooks"]["PostToolUse"]}
    path.write_text(json.dumps(settings))


def test_a_session_of_opencode_is_read_on_once_its_sessions_were_imported(
    hooks: Hooks, tmp_path: Path, sqlite: Sqlite
) -> None:
    program("opencode")
    home = tmp_path / "home"
    with model_stub() as stub:
        env = surroundings("opencode", home, stub)
        own = dict.fromkeys(("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"), "")
        assert hooks.run("install", "opencode", "--db", hooks.given, env={**env, **own}).returncode == 0
        carry_out(["opencode", "run", "Paint"], hooks.project, env)
        assert hooks.run("import", str(home / ".local/share/opencode"), "--db", hooks.given).returncode == 0
        carry_out(["opencode", "run", "--continue", "Sweep"], hooks.project, env)
    said = sqlite(
        hooks.db, "SELECT message FROM turns WHERE created_by LIKE '%opencode (transcript)' ORDER BY id"
    )
    assert said.split() == ["Paint", ANSWER, "Sweep", ANSWER]


def begun_agent(asked: dict[str, Any]) -> dict[str, Any]:
    """The arguments with which Codex waits for the subagent that it has begun."""
    return {"targets": [json.loads(asked["input"][-1]["output"])["agent_id"]]}


ERRAND = "Look where the harbour is measured."
SUBAGENTS: dict[str, list[tuple[str, Arguments]]] = {
    "claude": [("Agent", {"description": "look", "prompt": ERRAND, "subagent_type": "general-purpose"})],
    "codex": [("spawn_agent", {"message": ERRAND, "fork_context": False}), ("wait_agent", begun_agent)],
}


@pytest.mark.parametrize("name", SUBAGENTS)
async def test_a_subagent_is_told_the_notes_of_the_project(
    server: Servers, hooks: Hooks, tmp_path: Path, name: str
) -> None:
    program(name)
    async with server(cwd=hooks.project) as client:
        await call(client, "write_memory", key="current.task", value=TASK)
    with model_stub() as stub:
        stub.calls = list(SUBAGENTS[name])
        run(name, hooks, tmp_path / "home", stub)
    requests = [json.dumps(request) for request in stub.asked]
    (first, *_) = [request for request in requests if ERRAND in request and PROMPT not in request]
    assert TASK in first


CALLS: dict[str, tuple[str, Callable[[str], dict[str, Any]]]] = {
    "claude": ("Bash", lambda command: {"command": command, "description": "x"}),
    "codex": ("exec_command", lambda command: {"cmd": command}),
    "opencode": ("bash", lambda command: {"command": command, "description": "x"}),
}
"""The tool with which each client runs a command, and its arguments."""

RULE = "Tests run with `make check`; plain `pytest` misses the database"


@pytest.mark.parametrize("name", CALLS)
async def test_what_is_known_of_a_command_and_of_its_error_stands_in_the_next_request(
    server: Servers, hooks: Hooks, tmp_path: Path, name: str
) -> None:
    program(name)
    tool, of = CALLS[name]
    (hooks.project / "check.sh").write_text("cat harbour.txt && echo pytest\n")
    async with server(cwd=hooks.project) as client:
        await call(client, "memory_store", content=RULE, type="pattern")
        with model_stub() as stub:
            stub.calls = [
                (tool, of("pytest --version; true")),
                (tool, of("bash check.sh")),
                (tool, of("echo open > harbour.txt")),
                (tool, of("bash check.sh")),
                (tool, of("sleep 3")),  # Claude Code waits for no hook after a tool
            ]
            run(name, hooks, tmp_path / "home", stub, acts=True)
        requests = [json.dumps(request) for request in stub.asked]
        behind = next(place for place, request in enumerate(requests) if "pytest --version" in request)
        assert requests[behind].count(RULE) == requests[behind - 1].count(RULE) + 1
        (hooks.project / "harbour.txt").unlink()
        ((content,),) = hooks.rows("SELECT content FROM memories WHERE type = 'error'")
        assert content.endswith("What ended it: `echo open > harbour.txt`.")
        with model_stub() as stub:
            stub.calls = [(tool, of("bash check.sh"))]
            again(name, hooks, tmp_path / "home", stub)
    assert "What ended it: `echo open > harbour.txt`" in json.dumps(stub.asked[-1])


@pytest.mark.parametrize("name", COMMANDS)
async def test_a_broken_database_keeps_nobody_from_working(hooks: Hooks, tmp_path: Path, name: str) -> None:
    program(name)
    hooks.db.write_bytes(b"no database at all" * 100)
    with model_stub() as stub:
        said = run(name, hooks, tmp_path / "home", stub, "--no-try")
    assert PROMPT in said
    assert "recorded-notes" not in said
    assert any("SessionStart failed" in line for line in hooks.log)
    assert any("UserPromptSubmit failed" in line for line in hooks.log)


PLUGIN = {
    "claude": [[*COMMANDS["claude"], "--plugin-dir", str(ROOT / "plugin")]],
    "codex": [
        ["codex", "plugin", "marketplace", "add", str(ROOT)],
        ["codex", "plugin", "add", "memory-server@memory-server"],
        COMMANDS["codex"],
    ],
}
"""What a person types to use the plugin, and asks."""


@pytest.mark.parametrize("name", PLUGIN)
def test_each_client_runs_its_own_hooks_of_the_plugin(tmp_path: Path, name: str) -> None:
    """Codex runs no hook that says `async`, and of the two files only that which its manifest names."""
    program(name)
    log, memory_server = tmp_path / "log", tmp_path / "bin/memory-server"
    memory_server.parent.mkdir()
    memory_server.write_text(f'#!/bin/sh\necho "$@" >> {log}\n')
    memory_server.chmod(0o755)
    with model_stub() as stub:
        env = surroundings(name, tmp_path / "home", stub)
        env["PATH"] = f"{memory_server.parent}{os.pathsep}{env['PATH']}"
        for words in PLUGIN[name]:
            carry_out(words, tmp_path, env)
    events = ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"]
    called = [line for line in log.read_text().splitlines() if line.startswith("hook")]
    if name == "claude":  # it may end before a hook that nobody waits for; SessionEnd keeps the turn then
        events.remove("Stop")
        called = [line for line in called if "Stop" not in line]
    assert called == [f"hook {event} --client {name}" for event in events]
