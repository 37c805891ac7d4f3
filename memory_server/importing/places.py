"""The places on this machine where other programs keep what they know of their user: a table, from the home folder on.

Nothing in them is read here: files are counted by name and date. Of configurations alone the paths are read that they
name. What lies outside the home folder is no place of the user's, unless a variable moves the home of a client there.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_server.flags import HERE
from memory_server.importing import cursor

PLACES = (
    ("Claude Code", "transcripts", ".claude/projects", "*/*.jsonl"),
    ("Claude Code", "memories", ".claude/projects/*/memory", "*.md"),
    ("Claude Code", "instructions", ".claude/CLAUDE.md", ""),
    ("Claude Code", "instructions", ".claude/rules", "**/*.md"),
    ("Codex", "transcripts", ".codex/sessions", "**/rollout-*.jsonl"),
    ("Codex", "memories", ".codex/memories", "*.md"),
    ("Codex", "instructions", ".codex/AGENTS.md", ""),
    ("opencode", "transcripts", ".local/share/opencode", "opencode*.db"),
    ("opencode", "transcripts", ".local/share/opencode", "storage/session/*/*.json"),
    ("opencode", "instructions", ".config/opencode/AGENTS.md", ""),
    ("Gemini CLI", "transcripts", ".gemini/tmp", "*/chats/session-*.json*"),
    ("Gemini CLI", "memories", ".gemini/GEMINI.md", ""),
    *(("Cursor", "transcripts", folder, cursor.DATABASE) for folder in cursor.USER_FOLDERS),
    ("Cursor", "transcripts", ".cursor/projects", "*/agent-transcripts/**/*.jsonl"),
    ("Cursor", "rules", ".cursor/rules", "**/*.mdc"),
    ("Windsurf", "memories", ".codeium/windsurf/memories", "*.md"),
    (
        "server-memory",
        "graph",
        ".npm/_npx/*/node_modules/@modelcontextprotocol/server-memory/dist/memory.jsonl",
        "",
    ),
    ("mcp-memory-service", "database", ".local/share/mcp-memory/sqlite_vec.db", ""),
    ("mcp-memory-service", "database", "Library/Application Support/mcp-memory/sqlite_vec.db", ""),
    ("mem0", "database", ".mem0/history.db", ""),
    ("claude-mem", "database", ".claude-mem/claude-mem.db", ""),
    ("Token Saver MCP", "database", ".token-saver-mcp/memory.db", ""),
    ("Claude", "account export", "Downloads/data-20*.zip", ""),
    ("ChatGPT", "account export", "Downloads/*-20[0-9][0-9]-[0-9][0-9]-[0-9][0-9]-*.zip", ""),
    ("Claude or ChatGPT", "account export", "Downloads/*/conversations.json", ""),
)
"""The program, what it keeps there, where, and which files of a folder count."""

OF_PROJECTS = (
    ("CLAUDE.md", ""),
    ("AGENTS.md", ""),
    ("GEMINI.md", ""),
    (".github/copilot-instructions.md", ""),
    (".cursor/rules", "**/*.mdc"),
    (".clinerules", "*.md"),
    (".windsurf/rules", "*.md"),
    ("memory-bank", "**/*.md"),
)
"""The same of a project that a client knows: what its assistants are told, and their memory banks."""

MOVED = {
    ".claude": ("CLAUDE_CONFIG_DIR", ""),
    ".codex": ("CODEX_HOME", ""),
    ".gemini": ("GEMINI_CLI_HOME", ".gemini"),
    ".cursor": ("CURSOR_CONFIG_DIR", ""),
    ".mem0": ("MEM0_DIR", ""),
    ".local/share": ("XDG_DATA_HOME", ""),
    ".config": ("XDG_CONFIG_HOME", ""),
    "AppData/Roaming": ("APPDATA", ""),
}
"""Homes of clients, the variables that move them, and their names in the folder that a variable names."""

CONFIGURATIONS = (
    ".claude.json",
    ".claude/.claude.json",
    ".codex/config.toml",
    ".cursor/mcp.json",
    ".gemini/settings.json",
    ".config/Claude/claude_desktop_config.json",
    "Library/Application Support/Claude/claude_desktop_config.json",
    "AppData/Roaming/Claude/claude_desktop_config.json",
    ".basic-memory/config.json",
    ".config/obsidian/obsidian.json",
    "Library/Application Support/obsidian/obsidian.json",
    "AppData/Roaming/obsidian/obsidian.json",
)
"""Files that name projects, vaults, and the files of servers."""

VARIABLES = {
    "MEMORY_FILE_PATH": ("server-memory", "graph"),
    "MCP_MEMORY_SQLITE_PATH": ("mcp-memory-service", "database"),
}
"""Variables of a server that name its file."""

OPENCODE = "OPENCODE_DB"
"""The variable that names the database of opencode."""

LARGEST = 20 << 20
"""Bytes of a configuration that is read."""


@dataclass(frozen=True, slots=True)
class Place:
    """Files of a program on this machine: paths to import, how many, and when the first and the last was changed."""

    program: str
    what: str
    paths: tuple[Path, ...]
    files: int
    first: float
    last: float


def places(home: Path, environment: Mapping[str, str] = HERE) -> list[Place]:
    """Return the places that have files, in the order of the table."""
    moved = {
        name: Path(environment[variable]) / inside
        for name, (variable, inside) in MOVED.items()
        if environment.get(variable)
    }
    roots = [path.resolve() for path in (home, *moved.values())]
    opencode = (
        home / ".local/share/opencode" / environment.get(OPENCODE, "")
    )  # a whole path takes the place of all
    paths: dict[tuple[str, str], dict[Path, list[float]]] = {}
    listed: set[Path] = set()
    for program, what, path, pattern in (
        *_candidates(home, moved),
        ("opencode", "transcripts", opencode, ""),
    ):
        real = path.resolve()
        if real in listed or real in roots or not any(map(real.is_relative_to, (*roots, opencode.resolve()))):
            continue
        changed = [file.stat().st_mtime for file in _files(path, pattern)]
        if changed:
            listed.add(real)
            paths.setdefault((program, what), {})[path] = changed
    all_places = []
    for (program, what), changed_at in paths.items():
        moments = [moment for of_path in changed_at.values() for moment in of_path]
        all_places.append(Place(program, what, tuple(changed_at), len(moments), min(moments), max(moments)))
    return all_places


def _candidates(home: Path, moved: Mapping[str, Path]) -> Iterator[tuple[str, str, Path, str]]:
    """Yield program, kind, path and pattern of every place that there may be."""
    for program, what, where, pattern in PLACES:
        for path in _at(where, home, moved):
            yield program, what, path, pattern
    for name in CONFIGURATIONS:
        for configuration in _at(name, home, moved):
            values = _values(configuration)
            yield from _named(home, values)
            for project in _members(values, "projects") if name.startswith((".claude", ".codex")) else ():
                for where, pattern in OF_PROJECTS:
                    yield "projects", "instructions and memory banks", Path(project) / where, pattern


def _at(where: str, home: Path, moved: Mapping[str, Path]) -> Iterator[Path]:
    """Yield the paths of a pattern in the home folder, and where the home of its client was moved to."""
    yield from sorted(home.glob(where))
    for name, folder in moved.items():
        if where.startswith(f"{name}/"):
            yield from sorted(folder.glob(where.removeprefix(f"{name}/")))


def _named(home: Path, values: dict[str, Any]) -> Iterator[tuple[str, str, Path, str]]:
    """Yield the places that a configuration names."""
    for variable, text in _texts(values):
        if variable in VARIABLES:
            yield *VARIABLES[variable], home / text, ""
    for vault in _members(values, "vaults").values():
        if isinstance(vault, dict) and isinstance(vault.get("path"), str):
            yield "Obsidian", "vaults", home / vault["path"], "**/*.md"
    for project in _members(values, "projects").values():
        path = project.get("path") if isinstance(project, dict) else project
        if isinstance(path, str):
            yield "basic-memory", "notes", home / path.removeprefix("~/"), "**/*.md"


def _files(path: Path, pattern: str) -> list[Path]:
    if not pattern:
        return [path] if path.is_file() else []
    return [file for file in path.glob(pattern) if file.is_file()]


def _values(path: Path) -> dict[str, Any]:
    """Return a configuration; an empty one where there is none that can be read."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return {}
        text = path.read_text(encoding="utf-8-sig")
        values = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except (OSError, ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}


def _members(values: dict[str, Any], name: str) -> dict[str, Any]:
    members = values.get(name)
    return members if isinstance(members, dict) else {}


def _texts(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text of a configuration with its name."""
    match value:
        case str():
            yield name, value
        case dict():
            for key, member in value.items():
                yield from _texts(member, key)
        case list():
            for member in value:
                yield from _texts(member)
