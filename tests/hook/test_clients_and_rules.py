"""The real clients do not carry out what a rule denies, and their model is told why."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_server import app
from memory_server.domain import trust
from memory_server.domain.caller import Caller
from memory_server.domain.effect import Effect, RuleDraft
from memory_server.domain.long_term import LongTermDraft
from memory_server.settings import Settings
from tests.conftest import Servers, call
from tests.hook.conftest import Hooks
from tests.hook.model_stub import model_stub
from tests.hook.test_clients import COMMANDS, PROMPT, carry_out, surroundings
from tests.outside import program

pytestmark = [pytest.mark.anyio, pytest.mark.outside]

REASON = "The harbour chart is kept by hand"

ACTS: dict[str, tuple[list[str], str, Callable[[str], dict[str, Any]]]] = {
    "claude": (
        ["--dangerously-skip-permissions"],
        "Bash",
        lambda command: {"command": command, "description": "x"},
    ),
    "codex": (
        ["--dangerously-bypass-approvals-and-sandbox"],
        "exec_command",
        lambda command: {"cmd": command},
    ),
    "opencode": ([], "bash", lambda command: {"command": command, "description": "x"}),
    "gemini": (["--yolo"], "run_shell_command", lambda command: {"command": command, "description": "x"}),
}
"""The flags with which a client asks nobody, the tool with which it runs a command, and its arguments."""


WORDS = {**COMMANDS, "gemini": ["gemini", "--model", "gemini-2.5-flash", "--prompt", PROMPT]}


@pytest.mark.parametrize("effect", [Effect.DENY, Effect.ASK])
@pytest.mark.parametrize("name", ACTS)
async def test_what_a_rule_holds_does_not_happen_and_the_model_reads_why(
    server: Servers, hooks: Hooks, tmp_path: Path, name: str, effect: Effect
) -> None:
    program(name)
    flags, tool, arguments = ACTS[name]
    chart = hooks.project / "chart.txt"
    chart.write_text("depth 7")
    async with server(cwd=hooks.project) as client:
        await call(client, "memory_stats")
        services = app.build(Settings(db=hooks.db, embedder="hashing"))
        rule = RuleDraft(effect, ("rm chart.txt",), ("cat chart.txt",))
        draft = LongTermDraft("chart", REASON, "touches(act, 'chart.txt')", None, rule=rule)
        services.rules.add(draft, "default", Caller("tests", stamp=trust.typed))
        services.close()
        with model_stub() as stub:
            stub.calls = [
                (tool, arguments("bash -c 'rm chart.txt'")),
                (tool, arguments("echo seen > other.txt")),
            ]
            home = tmp_path / "home"
            env = surroundings(name, home, stub)
            own = dict.fromkeys(("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"), "")
            assert hooks.run("install", name, "--db", hooks.given, env={**env, **own}).returncode == 0
            carry_out([*WORDS[name], *flags], hooks.project, env)
        asked = json.dumps(stub.asked)
    assert chart.read_text() == "depth 7"
    assert (hooks.project / "other.txt").exists()
    assert REASON in asked or "could not be judged" in asked  # the engine of a busy machine is late
