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


def test_the_hooks_of_the_plugin_are_those_of_install() -> None:
    hooks = json.loads((ROOT / "plugin/hooks/hooks.json").read_text())["hooks"]
    assert set(hooks) == {event.value for event in EVERY}
    commands = {event: entry["hooks"][0]["command"] for event, (entry,) in hooks.items()}
    assert commands == {event: f"memory-server hook {event}" for event in hooks}


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
