"""The clients, the files in which each wants the server and its hooks, and what the user must do then.

Run with the real programs: Claude Code 2.1.330, Codex 0.169.0, opencode 1.18.33 and, before acts, Gemini CLI 0.61.0. By
their documentation, read in November 2026: Claude Desktop, Cursor, VS Code, and the rest of Gemini CLI.

Claude Code, Codex (openai/codex#29486), Cursor (its post "Dynamic context discovery") and VS Code show a model the
tools that it looks for. The others put all before it, so they get the toolset `core`.
"""

import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_server.cli.install import files
from memory_server.cli.install.launch import Launch
from memory_server.cli.install.opencode import is_plugin, plugin
from memory_server.cli.install.parts import (
    NAME,
    InstallPart,
    JsonItems,
    JsonMember,
    OwnFile,
    ServerEntry,
    hooks,
)
from memory_server.hook.event import GEMINI, Name
from memory_server.installation import shell

TIMEOUT = 10
"""Seconds that a client waits for a hook, which needs a fraction of one."""

AT_THE_END = 3
"""The same at the end of a session: Codex waits no longer."""

STARTS = "startup|resume|clear|compact"
"""The ways in which a session begins, for clients that want them named."""

HEARD = {
    "claude": (
        "Write|Edit|MultiEdit|Read|Grep|Bash|BashOutput",
        "WebFetch|WebSearch|mcp__.*|ReadMcpResourceTool|Task|Agent",
    ),
    "codex": ("Bash|mcp__.*",),
}
"""The tools after which a hook runs: those that write files, and those whose output may come back as a memory. Claude
Code waits for the hook of the second ones, so that the next call knows that what they fetched is from outside."""

ACTS = {
    "claude": "Read|Edit|Write|MultiEdit|NotebookEdit|Bash",
    "codex": "Bash|apply_patch",
    "cursor": "Write|Delete|Edit|StrReplace",
    "gemini": "run_shell_command|read_file|write_file|replace",
}
"""The tools before which a hook runs, and after which it does where they fail: those that act on the user's machine.
Cursor has events of their own for commands and for what is read. VS Code reads no matcher."""

EVERY = frozenset(Name)

CLIENTS = {
    "claude": ("Claude Code", "Start a new session: `claude`, then `/mcp` and `/hooks` show it."),
    "claude-desktop": ("Claude Desktop", "Quit Claude Desktop and start it again. It has no hooks."),
    "codex": ("Codex", "Start Codex and trust the hooks once: it asks, or type `/hooks`."),
    "cursor": ("Cursor", "Start Cursor again, and switch the server on under Settings, MCP."),
    "vscode": ("VS Code", "Reload the window. VS Code asks whether to trust the server."),
    "opencode": ("opencode", "Start opencode again."),
    "gemini": ("Gemini CLI", "Start a new session; `/mcp` and `/hooks` show it."),
}
"""By its name on the command line: the client's name for people, and what the user must do after the change."""

PROGRAMS = {"claude-desktop": "", "vscode": "code"}
"""The programs of clients that have another name, or none, on the path."""


@dataclass(frozen=True, slots=True)
class Client:
    """`title` is its name for people, `then` what the user must still do. `home` or `program` shows that it is on this
    machine.

    `parts` gives its entries: with this program, and the hooks of these events as far as the client has them.
    `permissions` gives those that let it call these tools without asking; None where it keeps none in a file.
    """

    title: str
    home: Path
    parts: Callable[[Launch, Collection[Name]], list[InstallPart]]
    then: str
    permissions: Callable[[Iterable[str]], InstallPart] | None = None
    program: str = ""

    def is_here(self, parts: Sequence[InstallPart]) -> bool:
        """Return True where something on this machine shows the client: its program, or a file with more than these
        parts, which are all of ours.
        """
        if self.program and shutil.which(self.program):
            return True
        if not self.home.is_dir():
            return False
        ours = {change.path for change in files.taken_out(parts) if change.after is None}
        return any(path.is_file() and path.resolve() not in ours for path in self.home.rglob("*"))


def clients(environment: Mapping[str, str] = os.environ) -> dict[str, Client]:
    """Every client by the name that the command line has for it."""
    places = _Places(environment)
    homes_and_parts: dict[str, tuple[Path, Callable[[Launch, Collection[Name]], list[InstallPart]]]] = {
        "claude": (places.claude, places.of_claude),
        "claude-desktop": (places.desktop.parent, places.of_desktop),
        "codex": (places.codex, places.of_codex),
        "cursor": (places.cursor, places.of_cursor),
        "vscode": (places.code.parent, places.of_vscode),
        "opencode": (places.opencode, places.of_opencode),
        "gemini": (places.gemini, places.of_gemini),
    }
    permissions = {"claude": places.permissions_of_claude}
    return {
        name: Client(title, *homes_and_parts[name], then, permissions.get(name), PROGRAMS.get(name, name))
        for name, (title, then) in CLIENTS.items()
    }


class _Places:
    """The folders of this user on this system, and the entries of each client in them."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.home = Path.home()
        config = Path(environment.get("XDG_CONFIG_HOME") or self.home / ".config")
        if sys.platform == "darwin":
            support = self.home / "Library" / "Application Support"
        elif sys.platform == "win32":
            support = Path(environment.get("APPDATA") or self.home / "AppData" / "Roaming")
        else:
            support = config
        self.desktop = support / "Claude" / "claude_desktop_config.json"
        self.code = support / "Code" / "User"
        claude = environment.get("CLAUDE_CONFIG_DIR")
        self.claude = Path(claude) if claude else self.home / ".claude"
        self.claude_json = (self.claude if claude else self.home) / ".claude.json"
        self.codex = Path(environment.get("CODEX_HOME") or self.home / ".codex")
        self.cursor, self.gemini = self.home / ".cursor", self.home / ".gemini"
        self.opencode = config / "opencode"

    def of_claude(self, launch: Launch, events: Collection[Name]) -> list[InstallPart]:
        server = ServerEntry(
            self.claude_json, ("mcpServers", NAME), {"type": "stdio", **_command(launch.server())}
        )
        return [
            server,
            *hooks(self.claude / "settings.json", like_claude(launch, "claude", events)),
        ]

    def permissions_of_claude(self, tools: Iterable[str]) -> InstallPart:
        names = tuple(f"mcp__{NAME}__{tool}" for tool in tools)
        return JsonItems(self.claude / "settings.json", ("permissions", "allow"), names)

    def of_desktop(self, launch: Launch, events: Collection[Name]) -> list[InstallPart]:  # noqa: ARG002 - it has no hooks
        return [ServerEntry(self.desktop, ("mcpServers", NAME), _command(launch.core()))]

    def of_codex(self, launch: Launch, events: Collection[Name]) -> list[InstallPart]:
        server = ServerEntry(self.codex / "config.toml", ("mcp_servers", NAME), _command(launch.server()))
        return [
            server,
            *hooks(self.codex / "hooks.json", like_claude(launch, "codex", events)),
        ]

    def of_cursor(self, launch: Launch, events: Collection[Name]) -> list[InstallPart]:
        names = {
            Name.START: "sessionStart",
            Name.PROMPT: "beforeSubmitPrompt",
            Name.STOP: "afterAgentResponse",
            Name.COMPACT: "preCompact",
            Name.END: "sessionEnd",
        }
        entries: dict[str, list[dict[str, Any]]] = {
            names[event]: [{"command": shell(launch.hook(event, "cursor"))}]
            for event in names
            if event in events
        }
        if Name.BEFORE in events:
            hook = {"command": shell(launch.hook(Name.BEFORE, "cursor"))}
            entries |= {"beforeShellExecution": [hook], "beforeReadFile": [hook]}
            entries["preToolUse"] = [{**hook, "matcher": ACTS["cursor"]}]
        file = self.cursor / "hooks.json"
        return [
            ServerEntry(self.cursor / "mcp.json", ("mcpServers", NAME), _command(launch.server())),
            *hooks(file, entries),
            *([JsonMember(file, "version", 1)] if entries else []),
        ]

    def of_vscode(self, launch: Launch, events: Collection[Name]) -> list[InstallPart]:
        """Its documentation knows no context of a hook for a prompt, so that one is left out."""
        file = self.home / ".copilot" / "hooks" / "memory-server.json"
        server = ServerEntry(
            self.code / "mcp.json", ("servers", NAME), {"type": "stdio", **_command(launch.server())}
        )
        hooked = [event for event in (Name.START, Name.BEFORE, Name.STOP, Name.COMPACT) if event in events]
        entries = {
            event.value: [
                {"type": "command", "command": shell(launch.hook(event, "vscode")), "timeout": TIMEOUT}
            ]
            for event in hooked
        }
        return [server, *hooks(file, entries)]

    def of_opencode(self, launch: Launch, events: Collection[Name]) -> list[InstallPart]:
        file = self.opencode / "opencode.jsonc"
        file = file if file.exists() else self.opencode / "opencode.json"
        value = {"type": "local", "command": launch.core(), "enabled": True}
        plugin_file = OwnFile(
            self.opencode / "plugins" / "memory-server.js", plugin(launch, events), is_plugin
        )
        return [ServerEntry(file, ("mcp", NAME), value), *([plugin_file] if events else [])]

    def of_gemini(self, launch: Launch, events: Collection[Name]) -> list[InstallPart]:
        file = self.gemini / "settings.json"
        entries = {}
        for event in set(events) - {Name.SUBAGENT, Name.WROTE, Name.FAILED}:
            hook = {
                "type": "command",
                "command": shell(launch.hook(event, "gemini")),
                "timeout": TIMEOUT * 1000,
            }
            matcher = {"matcher": ACTS["gemini"]} if event is Name.BEFORE else {}
            entries[GEMINI.get(event, event.value)] = [
                {**matcher, "hooks": [{"name": "memory-server", **hook}]}
            ]
        ordered = {name: entries[name] for name in sorted(entries)}
        return [
            ServerEntry(file, ("mcpServers", NAME), _command(launch.core())),
            *hooks(file, ordered),
        ]


def like_claude(
    launch: Launch, client: str | None, events: Collection[Name]
) -> dict[str, list[dict[str, Any]]]:
    """Return the hooks in the form that Claude Code and Codex share.

    Claude Code does not wait for what is kept at a stop, or after a tool that fetches nothing. Codex 0.169.0 runs no
    hook that says `async`, and tells after a tool too that it has failed.
    """
    acts, heard = ACTS[client or "claude"], HEARD[client or "claude"]
    matchers = {
        Name.START: (STARTS,),
        Name.BEFORE: (acts,),
        Name.WROTE: heard,
        Name.FAILED: (acts, *heard[1:]),
    }
    entries: dict[str, list[dict[str, Any]]] = {}
    for event in Name:
        if event in events and not (event is Name.FAILED and client == "codex"):
            seconds = AT_THE_END if event is Name.END else TIMEOUT
            hook = {"type": "command", "command": shell(launch.hook(event, client)), "timeout": seconds}
            unawaited = {**hook, "async": True} if client == "claude" else hook
            first = unawaited if event in (Name.STOP, Name.WROTE) else hook
            named = [{"matcher": matcher} for matcher in matchers.get(event, ())] or [{}]
            entries[event.value] = [
                {**matcher, "hooks": [hook if number else first]} for number, matcher in enumerate(named)
            ]
    return entries


def _command(words: Sequence[str]) -> dict[str, Any]:
    program, *arguments = words
    return {"command": program, "args": arguments}
