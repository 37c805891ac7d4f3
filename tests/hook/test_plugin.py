"""The plugin for Claude Code and Codex: as its script writes it, and valid for Claude Code."""

import json
import subprocess
from pathlib import Path

import pytest

import plugin
from memory_server.cli.install.clients import EVERY
from tests.conftest import ROOT
from tests.outside import PATH, program


def test_the_plugin_is_as_its_script_writes_it() -> None:
    assert plugin.stale() == []


@pytest.mark.parametrize(("client", "file"), [("claude", "hooks.json"), ("codex", "codex.json")])
def test_the_hooks_of_the_plugin_are_those_of_install(client: str, file: str) -> None:
    entries = json.loads((ROOT / "plugin/hooks" / file).read_text())["hooks"]
    missing = {"PostToolUseFailure"} if client == "codex" else set()
    assert set(entries) == {event.value for event in EVERY} - missing
    hooks = {event: entry["hooks"][0] for event, (entry,) in entries.items()}
    commands = {event: hook["command"] for event, hook in hooks.items()}
    assert commands == {event: f"memory-server hook {event} --client {client}" for event in hooks}
    nobody_waits = {event for event, hook in hooks.items() if "async" in hook}
    assert nobody_waits == ({"Stop", "PostToolUse"} if client == "claude" else set())


@pytest.mark.outside
def test_claude_code_finds_the_plugin_and_the_catalogue_valid(tmp_path: Path) -> None:
    claude = program("claude")
    env = {"HOME": str(tmp_path), "PATH": PATH, "DISABLE_AUTOUPDATER": "1"}
    for place in (ROOT / "plugin", ROOT):
        done = subprocess.run(
            [claude, "plugin", "validate", str(place)],
            env=env,
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        assert "Validation passed" in done.stdout
        assert "ignored" not in done.stdout
