"""The plugin of opencode: it has no hooks that run a command, so a few lines of JavaScript do it."""

import json
from collections.abc import Collection
from pathlib import Path

from memory_server.cli.install.launch import Launch
from memory_server.hook.event import Name

_MARK = "// memory-server: written by `memory-server install opencode`, removed by `memory-server uninstall opencode`."

HOOKED = (Name.START, Name.PROMPT, Name.BEFORE, Name.WROTE, Name.STOP)
"""The events for which the plugin runs a hook."""


def plugin(launch: Launch, events: Collection[Name]) -> str:
    """Return the plugin for the hooks of these events."""
    hooked = [event for event in HOOKED if event in events]
    commands = {event.value: launch.hook(event, "opencode") for event in hooked}
    source = Path(__file__).with_name("opencode.js").read_text(encoding="utf-8")
    written = json.dumps(commands, ensure_ascii=False, indent=2)
    return f"{_MARK}\n{source.replace('@COMMANDS@', written).replace('@SECONDS@', '10')}"


def is_plugin(text: str) -> bool:
    """True for a text that this plugin begins."""
    return text.startswith(_MARK)
