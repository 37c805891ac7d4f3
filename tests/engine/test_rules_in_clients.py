"""Rules in clients without a program to run here: the JSON that their documents give, and the answer that they take.

cursor.com/docs/hooks, geminicli.com/docs/hooks/reference and
code.visualstudio.com/docs/agents/reference/hooks-reference, read in November 2026.
"""

import json
import os
import subprocess
from typing import Any

import pytest

from memory_server.domain.effect import Effect
from tests import warm
from tests.conftest import Servers, call
from tests.engine.test_rules import put

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(os.name == "nt", reason="there is no engine there")]

CURSOR = {
    "conversation_id": "c1", "generation_id": "g1", "model": "m", "cursor_version": "3.14.7",
    "workspace_roots": ["/srv/shop"], "user_email": None, "transcript_path": None,
}  # fmt: skip
GEMINI = {
    "session_id": "s1", "transcript_path": "/tmp/t.json", "cwd": "/srv/shop", "hook_event_name": "BeforeTool",
    "timestamp": "2026-11-27T10:00:00Z",
}  # fmt: skip
VSCODE = {
    "timestamp": "2026-02-09T10:30:00.000Z", "cwd": "/srv/shop", "sessionId": "s1", "hookEventName": "PreToolUse",
    "transcript_path": "/tmp/t.json", "tool_use_id": "tool-123",
}  # fmt: skip

PUSH = "git push origin main"
TRIGGER = "runs(act, 'git push main') || touches(act, 'vendor/**') || reads(act, '.env')"


def of_cursor(event: str, **members: Any) -> tuple[str, dict[str, Any]]:
    return "cursor", {**CURSOR, "hook_event_name": event, **members}


def of_gemini(tool: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    return "gemini", {**GEMINI, "tool_name": tool, "tool_input": arguments}


def of_vscode(tool: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    return "vscode", {**VSCODE, "tool_name": tool, "tool_input": arguments}


HELD = [
    of_cursor("beforeShellExecution", command=f"cd app && {PUSH}", cwd="/srv/shop", sandbox=False),
    of_cursor("beforeReadFile", file_path="/srv/shop/.env", content="KEY=1", attachments=[]),
    of_cursor("preToolUse", tool_name="Write", tool_input={"file_path": "/srv/shop/vendor/x.js"}, cwd="/srv/shop"),
    of_cursor("preToolUse", tool_name="Delete", tool_input={"path": "/srv/shop/vendor/x.js"}, cwd="/srv/shop"),
    of_gemini("run_shell_command", command=PUSH, description="push"),
    of_gemini("read_file", file_path=".env"),
    of_gemini("replace", file_path="vendor/x.js", old_string="a", new_string="b"),
    of_vscode("run_in_terminal", command=PUSH, explanation="push", isBackground=False),
    of_vscode("editFiles", files=["src/main.ts", "vendor/x.js"]),
    of_vscode("multi_replace_string_in_file", replacements=[{"filePath": "/srv/shop/vendor/x.js", "oldString": "a"}]),
    of_vscode("apply_patch", explanation="mend", input="*** Begin Patch\n*** Update File: vendor/x.js\n@@\n-a\n+b\n"),
    of_vscode("read_file", filePath="/srv/shop/.env", startLine=1),
]  # fmt: skip
PASSING = [
    of_cursor("beforeShellExecution", command="git push origin feature", cwd="/srv/shop", sandbox=False),
    of_cursor("beforeReadFile", file_path="/srv/shop/README.md", content="# Shop", attachments=[]),
    of_cursor(
        "preToolUse", tool_name="Write", tool_input={"file_path": "/srv/shop/src/x.js"}, cwd="/srv/shop"
    ),
    of_gemini("run_shell_command", command="ls"),
    of_vscode("editFiles", files=["src/main.ts"]),
    of_vscode("memory_search", query="git push origin main"),
]


def printed(server: Servers, client: str, event: dict[str, Any], *arguments: str) -> str:
    words = ("hook", "PreToolUse", "--client", client, "--db", server.given, "--embedder", "hashing")
    done = subprocess.run(
        warm.cold(*words, *arguments), input=json.dumps(event).encode(), env={**os.environ, **server.env},
        cwd=server.folder, capture_output=True, timeout=60, check=True,
    )  # fmt: skip
    return done.stdout.decode()


def decided(answer: str) -> tuple[str, str]:
    """What an answer decides, and the reason that the model reads."""
    members = json.loads(answer)
    if "permission" in members:
        return members["permission"], members.get("agent_message", "")
    if "decision" in members:
        return members["decision"], members["reason"]
    of_hook = members["hookSpecificOutput"]
    assert of_hook["hookEventName"] == "PreToolUse"
    return of_hook["permissionDecision"], of_hook["permissionDecisionReason"]


@pytest.mark.parametrize("effect", [Effect.DENY, Effect.ASK])
async def test_what_a_rule_holds_is_held_as_the_client_takes_it(server: Servers, effect: Effect) -> None:
    async with server() as client:
        await call(client, "memory_stats")
        put(server, effect, TRIGGER)
        for name, event in HELD:
            decision, reason = decided(printed(server, name, event))
            can_ask = name == "vscode" or event.get("hook_event_name") == "beforeShellExecution"
            assert decision == ("ask" if effect is Effect.ASK and can_ask else "deny"), (name, event)
            assert "Main is protected." in reason
            assert ("Ask the user first" in reason) is (effect is Effect.ASK and not can_ask)


async def test_what_no_rule_holds_passes(server: Servers) -> None:
    async with server() as client:
        await call(client, "memory_stats")
        put(server, Effect.DENY, TRIGGER)
        for name, event in PASSING:
            answer = printed(server, name, event)
            assert answer == ('{"permission": "allow"}\n' if name == "cursor" else ""), (name, event)


@pytest.mark.parametrize("flags", [(), ("--engine", "off"), ("--hooks-off", "all")])
async def test_cursor_takes_silence_for_a_no_so_it_is_told(server: Servers, flags: tuple[str, ...]) -> None:
    name, event = PASSING[0]
    assert printed(server, name, event, *flags) == '{"permission": "allow"}\n'
    assert (
        printed(server, "claude", event, *flags) == '{"permission": "allow"}\n'
    )  # it runs Claude Code's hooks too


async def test_where_no_engine_runs_a_rule_holds_all_the_same(server: Servers) -> None:
    async with server("--engine", "off") as client:
        await call(client, "memory_stats")
        put(server, Effect.DENY, TRIGGER)
        held = [decided(printed(server, *case, "--engine", "off"))[0] for case in (HELD[0], HELD[1], HELD[4])]
        assert held == ["deny"] * 3
        assert decided(printed(server, *PASSING[0], "--engine", "off"))[0] == "allow"
        assert printed(server, *PASSING[3], "--engine", "off") == ""
