"""`import` without a path: a made-up home folder is listed by name, and what is ticked is taken in."""

import io
import json
import os
import shutil
from pathlib import Path

import pytest

from memory_server.cli import machine, output
from memory_server.importing.places import Place, places
from tests.exchange import sources
from tests.exchange.conftest import Run
from tests.exchange.sources import FIXTURES

SESSION = "f9fde369-0ed9-4b20-8e71-f231071dc618"


def put(path: Path, text: str = "- Use tabs\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, (1_750_000_000, 1_750_000_000))
    return path


@pytest.fixture
def home(user_folders: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder in which most programs of the table keep something."""
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setitem(user_folders, "HOME", str(home))
    shutil.copytree(FIXTURES / "transcripts/claude-code", home / ".claude")
    shutil.copytree(FIXTURES / "transcripts/codex", home / ".codex")
    header = "---\nname: tabs\ndescription: Tabs in Go\nmetadata:\n  type: feedback\n---\n"
    put(home / ".claude/projects/-srv-shop/memory/tabs.md", f"{header}Use tabs in Go files\n")
    put(home / ".claude/CLAUDE.md")
    put(home / "shop/AGENTS.md", "- Release on Tuesdays\n")
    put(home / "shop/memory-bank/progress.md", "- The crane is painted\n")
    put(home / "vault/Lamp.md", "The lamp is red\n")
    put(
        home / "notes/Pier.md",
        "---\ntitle: Pier\ntype: note\npermalink: pier\n---\n- [fact] The pier is long\n",
    )
    shutil.copy(FIXTURES / "server-memory.jsonl", home / "graph.jsonl")
    server = {"env": {"MEMORY_FILE_PATH": str(home / "graph.jsonl")}}
    put(
        home / ".claude.json", json.dumps({"projects": {str(home / "shop"): {}}, "mcpServers": {"m": server}})
    )
    put(home / ".config/obsidian/obsidian.json", json.dumps({"vaults": {"a": {"path": str(home / "vault")}}}))
    put(home / ".basic-memory/config.json", json.dumps({"projects": {"main": str(home / "notes")}}))
    put(home / "Downloads/data-2026-01-02-03-04-05-batch-0000.zip", "no zip")
    return home


def names(listed: list[Place], home: Path) -> list[str]:
    return [
        f"{place.program}, {place.what}: {' '.join(str(path.relative_to(home)) for path in place.paths)}"
        for place in listed
    ]


def test_each_place_is_listed_with_its_files(home: Path) -> None:
    listed = places(home)
    assert names(listed, home) == [
        "Claude Code, transcripts: .claude/projects",
        "Claude Code, memories: .claude/projects/-srv-shop/memory",
        "Claude Code, instructions: .claude/CLAUDE.md",
        "Codex, transcripts: .codex/sessions",
        "Claude, account export: Downloads/data-2026-01-02-03-04-05-batch-0000.zip",
        "server-memory, graph: graph.jsonl",
        "projects, instructions and memory banks: shop/AGENTS.md shop/memory-bank",
        "basic-memory, notes: notes",
        "Obsidian, vaults: vault",
    ]
    assert [place.files for place in listed] == [1, 1, 1, 1, 1, 1, 2, 1, 1]
    assert (listed[1].first, listed[1].last) == (1_750_000_000, 1_750_000_000)


def test_the_file_of_token_saver_is_a_place(home: Path) -> None:
    put(home / ".token-saver-mcp/memory.db")
    assert "Token Saver MCP, database: .token-saver-mcp/memory.db" in names(places(home), home)


def test_what_lies_outside_the_home_folder_is_no_place(home: Path, tmp_path: Path) -> None:
    before = names(places(home), home)
    outside = put(tmp_path / "outside/CLAUDE.md").parent
    (home / ".codex/AGENTS.md").symlink_to(outside / "CLAUDE.md")
    vaults = {"a": {"path": str(home / "vault")}, "b": {"path": str(outside)}, "c": {"path": "../../outside"}}
    put(home / ".config/obsidian/obsidian.json", json.dumps({"vaults": vaults, "d": {"path": str(home)}}))
    assert names(places(home), home) == before


def test_the_homes_that_variables_move_are_looked_at_too(home: Path, tmp_path: Path) -> None:
    claude, codex = tmp_path / "disk/claude", tmp_path / "disk/codex"
    (home / ".claude.json").rename(home / ".claude/.claude.json")
    shutil.move(home / ".claude", claude)
    shutil.copytree(home / ".codex", codex)
    (codex / "AGENTS.md").symlink_to(put(tmp_path / "outside/AGENTS.md"))
    moved = {"CLAUDE_CONFIG_DIR": str(claude), "CODEX_HOME": str(codex)}
    listed = places(home, moved)
    assert [(place.program, place.what, list(place.paths)) for place in listed[:4]] == [
        ("Claude Code", "transcripts", [claude / "projects"]),
        ("Claude Code", "memories", [claude / "projects/-srv-shop/memory"]),
        ("Claude Code", "instructions", [claude / "CLAUDE.md"]),
        ("Codex", "transcripts", [home / ".codex/sessions", codex / "sessions"]),
    ]
    assert [place.program for place in listed[4:]] == [
        "Claude", "server-memory", "projects", "basic-memory", "Obsidian",
    ]  # fmt: skip
    assert len(places(home, {})) == 4


EDITORS = (".config/Cursor", "Library/Application Support/Cursor", "AppData/Roaming/Cursor")


def made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.mark.parametrize("editor", EDITORS)
def test_sessions_that_are_read_whole_are_listed_and_taken_once(
    editor: str, home: Path, run: Run, tmp_path: Path
) -> None:
    sources.opencode(made(home / ".local/share/opencode"))
    sources.gemini(made(home / ".gemini"))
    sources.cursor(made(home / editor))
    sources.cursor_agent(made(home / ".cursor"))
    sessions = [place for place in places(home) if place.what == "transcripts"]
    assert [(name, place.files) for name, place in zip(names(sessions, home), sessions, strict=True)] == [
        ("Claude Code, transcripts: .claude/projects", 1),
        ("Codex, transcripts: .codex/sessions", 1),
        ("opencode, transcripts: .local/share/opencode", 1),
        ("Gemini CLI, transcripts: .gemini/tmp", 1),
        (f"Cursor, transcripts: {editor}/User .cursor/projects", 3),
    ]
    db = tmp_path / "memory.db"
    first = run(db, "import", "--all", "--json").summary["sources"]
    turns = [source["counts"]["turn"]["added"] for source in first if source["format"] == "transcript"]
    assert sorted(turns) == [2, 4, 4, 4, 4, 6]
    again = run(db, "import", "--all", "--json").summary
    assert (again["added"], again["updated"], again["ended"]) == (0, 0, 0)


def test_sessions_are_listed_where_variables_move_them(home: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    sources.opencode(made(disk / "data/opencode"))
    sources.gemini(made(disk / "gemini/.gemini"))
    sources.cursor(made(disk / "config/Cursor"))
    sources.cursor_agent(made(disk / "cursor"))
    (home / ".claude.json").unlink()
    moved = {
        "XDG_DATA_HOME": str(disk / "data"),
        "GEMINI_CLI_HOME": str(disk / "gemini"),
        "XDG_CONFIG_HOME": str(disk / "config"),
        "CURSOR_CONFIG_DIR": str(disk / "cursor"),
    }
    listed = {place.program: place.paths for place in places(home, moved) if place.what == "transcripts"}
    assert listed["opencode"] == (disk / "data/opencode",)
    assert listed["Gemini CLI"] == (disk / "gemini/.gemini/tmp",)
    apart = (disk / "data/opencode/opencode.db").rename(disk / "sessions.db")
    placed = {place.program: place.paths for place in places(home, {"OPENCODE_DB": str(apart)})}
    assert placed["opencode"] == (apart,)
    assert listed["Cursor"] == (disk / "config/Cursor/User", disk / "cursor/projects")


@pytest.mark.parametrize("text", ["", "{", "[1]", "[" * 200_000, '{"projects": 7, "vaults": [1]}', "\x00"])
def test_a_configuration_that_cannot_be_read_names_nothing(home: Path, text: str) -> None:
    for name in (".claude.json", ".config/obsidian/obsidian.json", ".basic-memory/config.json"):
        put(home / name, text)
    put(home / ".codex/config.toml", text)
    assert len(places(home)) == 5


def test_nothing_is_read_unless_somebody_says_so(home: Path, run: Run, tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    done = run(db, "import")
    assert (done.code, done.out) == (0, "")
    assert "  1  Claude Code, transcripts: 1 file, " in done.err
    banks = "projects, instructions and memory banks: 2 files, 2025-06-15, ~/shop/AGENTS.md and 1 more"
    assert f"  7  {banks}\n" in done.err
    assert done.err.endswith("Nothing was read. --all imports all of it; or name a path.\n")
    assert not db.exists()


def test_all_is_taken_in_once_and_what_cannot_be_read_is_named(home: Path, run: Run, tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    first = run(db, "import", "--all", "--json")
    assert first.code == 0
    assert [source["format"] for source in first.summary["sources"]] == [
        "transcript", "claude-code", "markdown", "transcript", "server-memory", "markdown", "markdown",
        "basic-memory", "markdown",
    ]  # fmt: skip
    assert "batch-0000.zip is of no format that is known." in first.err
    assert first.summary["added"] > 15
    again = run(db, "import", "--all", "--json").summary
    assert (again["added"], again["updated"]) == (0, 0)


def test_numbers_choose_among_the_places(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "asks", lambda: True)
    for answer, expected in (("none", []), ("", []), ("x\n99\n3, 2 3", ["CLAUDE.md", "memory"])):
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{answer}\n"))
        assert [path.name for path in machine.chosen(False)] == expected
    assert "'99' is none of that." in capsys.readouterr().err


def test_all_goes_without_a_path(run: Run, tmp_path: Path) -> None:
    done = run(tmp_path / "memory.db", "import", "--all", tmp_path)
    assert (done.code, done.err.splitlines()[-1][-26:]) == (2, "--all goes without a path.")
