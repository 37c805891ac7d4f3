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
    hooks = [
        (event, item, hook) for event, items in entries.items() for item in items for hook in item["hooks"]
    ]
    for event, _, hook in hooks:
        assert hook["command"] == f"memory-server hook {event} --client {client}"
    waits = [
        (event, "WebFetch" in item.get("matcher", "")) for event, item, hook in hooks if "async" not in hook
    ]
    assert len(hooks) == len(entries) + (2 if client == "claude" else 0)
    if client == "claude":
        assert {event for event, *_ in hooks} - {event for event, _ in waits} == {"Stop"}
        assert [fetches for event, fetches in waits if event == "PostToolUse"] == [True]
    else:
        assert len(waits) == len(hooks)


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
