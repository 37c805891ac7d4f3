"""The clients, the files in which each wants the server and its hooks, and what the user must do then.

Run with the real programs: Claude Code 2.1.330, Codex 0.169.0 and opencode 1.18.33. By their documentation, read in
November 2026: Claude Desktop, Cursor, VS Code, Gemini CLI.
"""

import os
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_server.cli.install.launch import Launch, shell
from memory_server.cli.install.opencode import is_plugin, plugin
from memory_server.cli.install.parts import NAME, JsonMember, JsonServer, OwnFile, Part, TomlServer, hooks
from memory_server.hook.event import GEMINI, Name

TIMEOUT = 10
"""Seconds that a client waits for a hook, which needs a fraction of one."""

AT_THE_END = 3
"""The same at the end of a session: Codex waits no longer."""

STARTS = "startup|resume|clear|compact"
"""The ways in which a session begins, for clients that want them named."""

EVERY = frozenset(Name)


@dataclass(frozen=True, slots=True)
class Client:
    """`title` is its name for people, `then` what the user must still do. `home` shows that it is on this machine.

    `parts` gives its entries: with this program, and the hooks of these events as far as the client has them.
    """

    title: str
    home: Path
    parts: Callable[[Launch, Collection[Name]], list[Part]]
    then: str


def clients(environment: Mapping[str, str] = os.environ) -> dict[str, Client]:
    """Every client by the name that the command line has for it."""
    places = _Places(environment)
    claude, codex, cursor = places.claude, places.codex, places.home / ".cursor"
    gemini, opencode = places.home / ".gemini", places.config / "opencode"
    found = {
        "claude": ("Claude Code", claude, places.of_claude),
        "claude-desktop": ("Claude Desktop", places.desktop.parent, places.of_desktop),
        "codex": ("Codex", codex, places.of_codex),
        "cursor": ("Cursor", cursor, places.of_cursor),
        "vscode": ("VS Code", places.code.parent, places.of_vscode),
        "opencode": ("opencode", opencode, places.of_opencode),
        "gemini": ("Gemini CLI", gemini, places.of_gemini),
    }
    return {name: Client(*each, _THEN[name]) for name, each in found.items()}


_THEN = {
    "claude": "Start a new session: `claude`, then `/mcp` and `/hooks` show it.",
    "claude-desktop": "Quit Claude Desktop and start it again. It has no hooks.",
    "codex": "Start Codex and trust the hooks once: it asks, or type `/hooks`.",
    "cursor": "Start Cursor again, and switch the server on under Settings, MCP.",
    "vscode": "Reload the window. VS Code asks whether to trust the server.",
    "opencode": "Start opencode again.",
    "gemini": "Start a new session; `/mcp` and `/hooks` show it.",
}
"""What the user must still do."""


class _Places:
    """The folders of this user on this system, and the entries of each client in them."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.home = Path.home()
        own = environment.get("XDG_CONFIG_HOME")
        self.config = Path(own) if own else self.home / ".config"
        if sys.platform == "darwin":
            support = self.home / "Library" / "Application Support"
        elif sys.platform == "win32":
            support = Path(environment.get("APPDATA") or self.home / "AppData" / "Roaming")
        else:
            support = self.config
        self.desktop = support / "Claude" / "claude_desktop_config.json"
        self.code = support / "Code" / "User"
        given = environment.get("CLAUDE_CONFIG_DIR")
        self.claude = Path(given) if given else self.home / ".claude"
        self.claude_json = (self.claude if given else self.home) / ".claude.json"
        codex = environment.get("CODEX_HOME")
        self.codex = Path(codex) if codex else self.home / ".codex"

    def of_claude(self, launch: Launch, on: Collection[Name]) -> list[Part]:
        server = JsonServer(self.claude_json, ("mcpServers", NAME), {"type": "stdio", **_command(launch)})
        return [
            server,
            *hooks(self.claude / "settings.json", ["hooks"], like_claude(launch, "claude", on)),
        ]

    def of_desktop(self, launch: Launch, on: Collection[Name]) -> list[Part]:  # noqa: ARG002 - it has no hooks
        return [JsonServer(self.desktop, ("mcpServers", NAME), _command(launch))]

    def of_codex(self, launch: Launch, on: Collection[Name]) -> list[Part]:
        server = TomlServer(self.codex / "config.toml", ("mcp_servers", NAME), _command(launch))
        return [
            server,
            *hooks(self.codex / "hooks.json", ["hooks"], like_claude(launch, "codex", on)),
        ]

    def of_cursor(self, launch: Launch, on: Collection[Name]) -> list[Part]:
        folder = self.home / ".cursor"
        names = {
            Name.START: "sessionStart",
            Name.PROMPT: "beforeSubmitPrompt",
            Name.STOP: "afterAgentResponse",
            Name.COMPACT: "preCompact",
            Name.END: "sessionEnd",
        }
        entries = {
            names[event]: {"command": shell(launch.hook(event, "cursor"))} for event in names if event in on
        }
        file = folder / "hooks.json"
        return [
            JsonServer(folder / "mcp.json", ("mcpServers", NAME), _command(launch)),
            *hooks(file, ["hooks"], entries),
            *([JsonMember(file, ("version",), 1)] if entries else []),
        ]

    def of_vscode(self, launch: Launch, on: Collection[Name]) -> list[Part]:
        """Its documentation knows no context of a hook for a prompt, so that one is left out."""
        file = self.home / ".copilot" / "hooks" / "memory-server.json"
        server = JsonServer(self.code / "mcp.json", ("servers", NAME), {"type": "stdio", **_command(launch)})
        events = [each for each in (Name.START, Name.STOP, Name.COMPACT) if each in on]
        entries = {
            event.value: {
                "type": "command",
                "command": shell(launch.hook(event, "vscode")),
                "timeout": TIMEOUT,
            }
            for event in events
        }
        return [server, *hooks(file, ["hooks"], entries)]

    def of_opencode(self, launch: Launch, on: Collection[Name]) -> list[Part]:
        folder = self.config / "opencode"
        file = folder / "opencode.jsonc"
        file = file if file.exists() else folder / "opencode.json"
        value = {"type": "local", "command": launch.server(), "enabled": True}
        own = OwnFile(folder / "plugins" / "memory-server.js", plugin(launch, on), is_plugin)
        return [JsonServer(file, ("mcp", NAME), value), *([own] if on else [])]

    def of_gemini(self, launch: Launch, on: Collection[Name]) -> list[Part]:
        file = self.home / ".gemini" / "settings.json"
        entries = {}
        for event in on:
            hook = {
                "type": "command",
                "command": shell(launch.hook(event, "gemini")),
                "timeout": TIMEOUT * 1000,
            }
            entries[GEMINI.get(event, event.value)] = {"hooks": [{"name": "memory-server", **hook}]}
        ordered = {name: entries[name] for name in sorted(entries)}
        return [JsonServer(file, ("mcpServers", NAME), _command(launch)), *hooks(file, ["hooks"], ordered)]


def like_claude(launch: Launch, client: str | None, on: Collection[Name]) -> dict[str, dict[str, Any]]:
    """The hooks in the form that Claude Code and Codex share."""
    found: dict[str, dict[str, Any]] = {}
    for event in Name:
        if event in on:
            seconds = AT_THE_END if event is Name.END else TIMEOUT
            hook = {"type": "command", "command": shell(launch.hook(event, client)), "timeout": seconds}
            found[event.value] = {**({"matcher": STARTS} if event is Name.START else {}), "hooks": [hook]}
    return found


def _command(launch: Launch) -> dict[str, Any]:
    first, *rest = launch.server()
    return {"command": first, "args": rest}
