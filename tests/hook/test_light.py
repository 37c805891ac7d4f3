"""A hook starts without the libraries that take a second to import."""

import json
import os
import subprocess
import sys

import pytest

from memory_server import __version__
from tests.conftest import Servers, call
from tests.hook.conftest import Hooks

pytestmark = [pytest.mark.anyio, pytest.mark.both_stores]

HEAVY = ("mcp", "pydantic", "onnxruntime", "numpy", "jieba", "quickjs", "memory_server.app")

PROGRAM = f"""
import os, sys
from memory_server.__main__ import main
os._exit = sys.exit  # else nothing could be looked at
try:
    sys.exit(main())
except SystemExit as end:
    code = end.code
print(sorted(set(sys.modules) & set({HEAVY!r})), file=sys.stderr)
sys.exit(code)
"""


def imported(hooks: Hooks, *arguments: str, **event: object) -> str:
    """Which heavy libraries a command has imported at its end."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], input=json.dumps({"cwd": str(hooks.project), **event}),
        env={**os.environ, **hooks.env}, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    return done.stderr.strip()


def test_the_version_imports_no_server(hooks: Hooks) -> None:
    assert imported(hooks, "--version") == "[]"
    assert hooks.run("--version").stdout == f"memory-server {__version__}\n"


@pytest.mark.parametrize(
    "event",
    [
        "SessionStart", "UserPromptSubmit", "SubagentStart", "PreToolUse", "PostToolUseFailure", "Stop", "PreCompact",
        "SessionEnd",
    ],
)  # fmt: skip
async def test_a_hook_imports_no_server(server: Servers, hooks: Hooks, event: str) -> None:
    async with server(cwd=hooks.project) as client:
        await call(client, "memory_store", content="The lighthouse keeper sleeps at noon", type="learning")
        trigger = "messages.length > 0 && match_keys(messages, ['keeper'])"
        await call(client, "add_long_term_memory", name="n", prompt="He is called Ada.", trigger=trigger)
    prompt = "When does the lighthouse keeper sleep?"
    said = imported(hooks, "hook", event, "--db", hooks.given, session_id="s", prompt=prompt)
    assert said == "[]"
    assert not any("failed" in line for line in hooks.log)


def test_a_hook_of_a_file_that_is_no_memory_imports_nothing_of_a_hook(hooks: Hooks) -> None:
    program = PROGRAM.replace(repr(HEAVY), repr(("json", "memory_server.front.hook")))
    said = {}
    for path in ("/srv/shop/app.py", "/srv/projects/shop/memory/a.md"):
        event = json.dumps({"cwd": str(hooks.project), "tool_input": {"file_path": path}})
        done = subprocess.run(
            [sys.executable, "-c", program, "hook", "PostToolUse", "--db", hooks.given], input=event,
            env={**os.environ, **hooks.env}, capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        assert done.stdout == ""
        said[path] = done.stderr.strip()
    assert said == {
        "/srv/shop/app.py": "[]",
        "/srv/projects/shop/memory/a.md": "['json', 'memory_server.front.hook']",
    }
