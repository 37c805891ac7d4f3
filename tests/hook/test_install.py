"""`install` and `uninstall`: what they write into the files of the clients, and that nothing else is touched."""

import contextlib
import ctypes
import itertools
import json
import os
import pty
import re
import shlex
import stat
import struct
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from venv import EnvBuilder

import pytest

from memory_server.cli.connect import SENTENCE
from memory_server.cli.install.clients import ACTS, CLIENTS, HEARD
from memory_server.mcp import listed
from tests.conftest import ROOT, Servers, call
from tests.hook.conftest import Hooks

pytestmark = pytest.mark.anyio

SERVER = '{"command": "npx", "args": ["-y", "other"], "env": {"KEY": "not-ours"}}'

FILES = {
    ".claude.json": '{\n  "numStartups": 3,\n  "mcpServers": {"other": SERVER},\n  "tip": "蓝色"\n}\n',
    ".claude/settings.json": """{
    "model": "opus",
    "hooks": {
        "Stop": [
            {"hooks": [{"type": "command", "command": "say done"}]}
        ]
    }
}
""",
    ".config/Claude/claude_desktop_config.json": '{"mcpServers":{"other":SERVER},"theme":"dark"}',
    ".codex/config.toml": """model = "gpt" # the best

[mcp_servers.other]
command = "npx"

[mcp_servers.other.env]
KEY = "not-ours"

[tui]
theme = "dark"
""",
    ".codex/hooks.json": '{"hooks": {"Stop": []}}\n',
    ".cursor/mcp.json": '{\r\n  "mcpServers": {\r\n    "other": SERVER\r\n  }\r\n}\r\n',
    ".cursor/hooks.json": '{"version": 1, "hooks": {"stop": [{"command": "say done"}]}}',
    ".config/Code/User/mcp.json": """// my servers
{
\t"servers": {
\t\t/* the first */ "other": SERVER, // keep this
\t},
\t"inputs": [],
}
""",
    ".config/opencode/opencode.jsonc": """{
  "$schema": "https://opencode.ai/config.json",
  // "model": "x",
  "mcp": {}
}
""",
    ".gemini/settings.json": '{"hooks": {"BeforeAgent": [{"hooks": [{"type": "command", "command": "x"}]}]}}',
}
"""What the files may hold before, by their paths in the home folder."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def env_of(home: Path) -> dict[str, str]:
    own = dict.fromkeys(("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"), "")
    return {**own, "HOME": str(home), "USERPROFILE": str(home)}


def run(hooks: Hooks, home: Path, *arguments: str, code: int = 0, tries: bool = False) -> str:
    """What a command says in that home; `install` starts the server only if it `tries`."""
    only_writes = ["--no-try"] if arguments[0] == "install" and not tries else []
    done = hooks.run(*arguments, *only_writes, "--db", hooks.given, env=env_of(home))
    assert done.returncode == code, done.stderr
    return done.stderr if code else done.stdout


def fill(home: Path) -> None:
    for name, text in FILES.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.replace("SERVER", SERVER).encode())
        path.chmod(0o600)


def content(home: Path) -> dict[str, bytes]:
    return {
        path.relative_to(home).as_posix(): path.read_bytes() for path in home.rglob("*") if path.is_file()
    }


def values(value: Any) -> list[str]:
    """Every text in a JSON value."""
    match value:
        case dict():
            return [text for name, each in value.items() for text in (name, *values(each))]
        case list():
            return [text for each in value for text in values(each)]
        case _:
            return [str(value)]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_without_files_gets_them_and_loses_them_again(hooks: Hooks, home: Path, client: str) -> None:
    said = run(hooks, home, "install", client)
    first = content(home)
    assert first
    assert all(f"{home / name}: written." in said for name in first)
    assert any(hooks.given.encode() in text for text in first.values())
    assert f"{CLIENTS[client][0]} is already connected. Nothing was changed.\n" in run(
        hooks, home, "install", client
    )
    assert content(home) == first
    run(hooks, home, "uninstall", client)
    assert content(home) == {}
    assert "was not connected" in run(hooks, home, "uninstall", client)


def test_a_client_that_is_not_on_this_machine_is_told_with_what_waits_for_it(
    hooks: Hooks, home: Path
) -> None:
    files = [home / ".cursor" / "mcp.json", home / ".cursor" / "hooks.json"]
    last = [
        f"No sign of Cursor was found on this machine. Once there, it reads {files[0]}, {files[1]}.",
        "Start Cursor again, and switch the server on under Settings, MCP.",
        SENTENCE,
    ]
    assert run(hooks, home, "install", "cursor").splitlines() == [
        *(f"{file}: written." for file in files), *last
    ]  # fmt: skip
    assert run(hooks, home, "install", "cursor").splitlines()[2:] == [
        "Cursor is already connected. Nothing was changed.", *last
    ]  # fmt: skip
    (home / ".gemini").mkdir()
    (home / ".gemini" / "oauth.json").write_text("{}")
    assert "Gemini CLI is connected." in run(hooks, home, "install", "gemini")


@pytest.mark.parametrize("client", CLIENTS)
def test_neither_an_empty_folder_nor_what_install_wrote_is_a_sign_of_a_client(
    hooks: Hooks, home: Path, client: str
) -> None:
    for path in FILES:
        (home / path).parent.mkdir(parents=True, exist_ok=True)
    flags = ["--allow", "--json"] if client == "claude" else ["--json"]
    answers = [json.loads(run(hooks, home, "install", client, *flags)) for _ in range(2)]
    assert [answer["on_this_machine"] for answer in answers] == [False, False]


@pytest.mark.parametrize("client", CLIENTS)
def test_the_folders_that_install_made_go_with_their_last_file(hooks: Hooks, home: Path, client: str) -> None:
    run(hooks, home, "install", client)
    run(hooks, home, "uninstall", client)
    assert list(home.iterdir()) == []


def test_the_program_of_a_client_shows_that_it_is_on_this_machine(hooks: Hooks, home: Path) -> None:
    program = home / "bin" / "code"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    path = os.pathsep.join((str(program.parent), os.environ["PATH"]))
    env = {**env_of(home), "PATH": path}
    answers = [
        json.loads(hooks.run("install", client, "--no-try", "--json", env=env).stdout)
        for client in ("vscode", "claude-desktop")
    ]
    assert [answer["on_this_machine"] for answer in answers] == [True, False]


@pytest.mark.parametrize("client", ["claude", "codex", "opencode"])
def test_install_makes_the_database_by_a_first_call(hooks: Hooks, home: Path, client: str) -> None:
    folder = home / (".config/opencode" if client == "opencode" else f".{client}")
    folder.mkdir(parents=True)
    (folder / "history").touch()
    hooks.db.unlink()
    lines = run(hooks, home, "install", client, tries=True).splitlines()
    assert lines[-3].endswith(" is connected, and the server works.")
    assert lines[-1] == SENTENCE
    assert hooks.rows("SELECT count(*) FROM memories") == [(0,)]
    again = run(hooks, home, "install", client, tries=True).splitlines()
    assert again[-3].endswith(" is already connected, and the server works. Nothing was changed.")
    assert again[-2:] == lines[-2:]


def test_the_hooks_of_a_first_session_keep_its_turn(hooks: Hooks, home: Path) -> None:
    """No server runs beside them, and the database is the user's own."""
    env = {**hooks.env, **env_of(home)}
    assert hooks.run("install", "claude", env=env).returncode == 0
    entries = json.loads((home / ".claude/settings.json").read_text())["hooks"]
    turn = {
        "session_id": "s1",
        "cwd": str(hooks.project),
        "source": "startup",
        "prompt": "We deploy on Tuesdays.",
    }
    for event in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"):
        (hook,) = entries[event][0]["hooks"]
        words = shlex.split(hook["command"])
        done = hooks.run(*words[words.index("hook") :], input=json.dumps(turn), env=env)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "short_term\tuser: We deploy on Tuesdays." in hooks.run("hook", "captured", env=env).stdout
    assert "hooks       last worked on" in hooks.run("doctor", "--embedder", "hashing", env=env).stdout


def test_permissions_are_written_when_asked_for_and_taken_out_again(hooks: Hooks, home: Path) -> None:
    fill(home)
    path = home / ".claude/settings.json"
    path.write_text(path.read_text().replace("{", '{"permissions": {"allow": ["Bash(ls)"]},', 1))
    before = content(home)
    assert "`memory-server install claude --allow` writes the permissions" in run(
        hooks, home, "install", "claude"
    )
    assert json.loads(path.read_text())["permissions"] == {"allow": ["Bash(ls)"]}
    assert "--allow" not in run(hooks, home, "install", "claude", "--allow")
    first, *reading = json.loads(path.read_text())["permissions"]["allow"]
    assert first == "Bash(ls)"
    assert {"mcp__memory__recall", "mcp__memory__memory_search"} < set(reading)
    assert "mcp__memory__memory_store" not in reading
    assert "Nothing was changed." in run(hooks, home, "install", "claude")
    run(hooks, home, "install", "claude", "--allow-all")
    allowed = json.loads(path.read_text())["permissions"]["allow"]
    assert allowed[: len(reading) + 1] == [first, *reading]
    assert allowed[1:] == list(
        dict.fromkeys([*reading, *(f"mcp__memory__{name}" for name in listed.names())])
    )
    run(hooks, home, "uninstall", "claude")
    assert content(home) == before


def test_permissions_of_a_client_that_keeps_none_in_a_file_are_refused(hooks: Hooks, home: Path) -> None:
    assert "Codex asks for permissions itself" in run(hooks, home, "install", "codex", "--allow", code=1)
    assert content(home) == {}


def test_install_tells_why_the_first_call_failed_and_leaves_the_entry(hooks: Hooks, home: Path) -> None:
    hooks.db.write_bytes(b"no database at all" * 100)
    complaint = run(hooks, home, "install", "claude", tries=True, code=1)
    assert complaint.startswith(
        f"memory-server: The files are written, but the server does not work: The file {hooks.db} is not a SQLite"
    )
    assert complaint.count("\n") == 1
    assert str(hooks.db) in (home / ".claude.json").read_text()


@pytest.mark.parametrize(("client", "name"), [("claude", "env"), ("opencode", "environment")])
def test_the_first_call_has_the_variables_of_the_entry(
    hooks: Hooks, home: Path, client: str, name: str
) -> None:
    run(hooks, home, "install", client)
    path = home / {"claude": ".claude.json", "opencode": ".config/opencode/opencode.json"}[client]
    variables = f'"{name}": {{"MEMORY_SERVER_TOOLS": "nonsense"}}, "command":'
    path.write_text(path.read_text().replace('"command":', variables, 1))
    complaint = run(hooks, home, "install", client, tries=True, code=1)
    assert "the server does not work: No tool `nonsense`." in complaint


@pytest.mark.parametrize(
    ("client", "has_core"),
    [(name, name in ("claude-desktop", "opencode", "gemini")) for name in CLIENTS],
)
def test_a_client_that_puts_every_tool_before_the_model_gets_the_toolset_core(
    hooks: Hooks, home: Path, client: str, has_core: bool
) -> None:
    run(hooks, home, "install", client)
    has_it = [name for name, text in content(home).items() if re.search(rb'"--toolsets",\s*"core"', text)]
    assert len(has_it) == has_core
    assert "Nothing was changed." in run(hooks, home, "install", client)


def test_the_tools_that_an_entry_chooses_in_its_environment_stay_chosen(hooks: Hooks, home: Path) -> None:
    run(hooks, home, "install", "opencode")
    path = home / ".config/opencode/opencode.json"
    chosen = '"environment": {"MEMORY_SERVER_TOOLSETS": "all"}, "command":'
    path.write_text(path.read_text().replace('"command":', chosen, 1))
    run(hooks, home, "install", "opencode")
    assert "--toolsets" not in path.read_text()
    assert '"MEMORY_SERVER_TOOLSETS": "all"' in path.read_text()


@pytest.mark.parametrize("client", CLIENTS)
def test_nothing_else_is_touched_and_a_file_is_restored_to_the_byte(
    hooks: Hooks, home: Path, client: str
) -> None:
    fill(home)
    before = content(home)
    run(hooks, home, "install", client)
    installed = content(home)
    changed = [name for name in before if installed[name] != before[name]]
    assert changed
    for name in changed:
        assert installed[f"{name}.before-memory-server"] == before[name]
        assert stat.S_IMODE((home / name).stat().st_mode) == 0o600
    run(hooks, home, "install", client)
    assert content(home) == installed
    run(hooks, home, "uninstall", client)
    assert content(home) == before


MIXED = [name for name in FILES if FILES[name].count("\n") > 2 and "opencode" not in name]
"""Files of several lines that hold nothing empty: what is taken out leaves no trace, even without a backup."""


@pytest.mark.parametrize("client", ["claude", "codex", "cursor", "vscode"])
@pytest.mark.parametrize(("first", "second"), [("\n", "\r\n"), ("\r\n", "\n")])
def test_line_ends_of_both_kinds_stay_and_a_backup_is_kept(
    hooks: Hooks, home: Path, client: str, first: str, second: str
) -> None:
    fill(home)
    for name in MIXED:
        lines = (home / name).read_text().splitlines()
        ends = itertools.cycle([first, second])
        (home / name).write_bytes(
            "".join(line + end for line, end in zip(lines, ends, strict=False)).encode()
        )
    before = content(home)
    run(hooks, home, "install", client)
    installed = content(home)
    changed = [name for name in MIXED if installed[name] != before[name]]
    assert changed
    for name in changed:
        backup = home / f"{name}.before-memory-server"
        assert backup.read_bytes() == before[name]
        backup.unlink()
    run(hooks, home, "uninstall", client)
    assert {name: content(home)[name] for name in MIXED} == {name: before[name] for name in MIXED}


@pytest.mark.skipif(sys.platform != "linux", reason="inotify tells of every change of a mode")
@pytest.mark.parametrize("mode", [0o400, 0o600, 0o644])
def test_nobody_else_can_read_a_copy_for_a_moment(hooks: Hooks, home: Path, mode: int) -> None:
    """Each file is created with the mode that it keeps: the folder sees no later change of one."""
    path = home / ".claude.json"
    path.write_text('{"oauthAccount": "mine"}\n')
    path.chmod(mode)
    program = [sys.executable, "-m", "memory_server", "install", "claude", "--no-try", "--db", hooks.given]
    with changes_of_modes(home) as changes:
        subprocess.run(
            program, cwd=hooks.project, env={**os.environ, **hooks.env, **env_of(home)}, umask=0, check=True
        )
    assert len(changes["created"]) == 2  # what becomes the file, and what becomes its backup
    assert changes["mode changed"] == []
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert stat.S_IMODE((home / ".claude.json.before-memory-server").stat().st_mode) == mode & 0o600
    assert stat.S_IMODE((home / ".claude/settings.json").stat().st_mode) == 0o600


@contextlib.contextmanager
def changes_of_modes(folder: Path) -> Iterator[dict[str, list[str]]]:
    """The names of the files that are created in a folder, and of those whose mode is changed afterwards."""
    names: dict[str, list[str]] = {"created": [], "mode changed": []}
    kinds = {0x100: "created", 0x4: "mode changed"}  # IN_CREATE, IN_ATTRIB
    libc = ctypes.CDLL(None, use_errno=True)
    handle = libc.inotify_init()
    assert libc.inotify_add_watch(handle, os.fsencode(folder), sum(kinds)) > 0, ctypes.get_errno()
    yield names
    events = os.read(handle, 65_536)
    os.close(handle)
    while events:
        _, mask, _, length = struct.unpack_from("iIII", events)
        if mask in kinds:  # that of a folder has another bit beside
            names[kinds[mask]].append(os.fsdecode(events[16 : 16 + length].rstrip(b"\0")))
        events = events[16 + length :]


def test_comments_order_and_indents_are_kept(hooks: Hooks, home: Path) -> None:
    fill(home)
    run(hooks, home, "install", "vscode")
    written = (home / ".config/Code/User/mcp.json").read_text()
    opening, _, rest = written.partition(', // keep this\n\t\t"memory": {\n\t\t\t"type": "stdio",')
    assert opening == f'// my servers\n{{\n\t"servers": {{\n\t\t/* the first */ "other": {SERVER}'
    assert rest.endswith('\n\t\t},\n\t},\n\t"inputs": [],\n}\n')


def test_what_the_user_changed_since_stays(hooks: Hooks, home: Path) -> None:
    fill(home)
    run(hooks, home, "install", "claude")
    path = home / ".claude/settings.json"
    path.write_text(path.read_text().replace('"opus"', '"sonnet"'))
    said = run(hooks, home, "uninstall", "claude")
    assert json.loads(path.read_text()) == json.loads(
        FILES[".claude/settings.json"].replace("opus", "sonnet")
    )
    assert "settings.json.before-memory-server is the file from before" in said
    assert not (home / ".claude.json.before-memory-server").exists()


@pytest.mark.parametrize(
    ("client", "name", "comment"),
    [
        ("codex", ".codex/config.toml", "# important\n"),
        ("cursor", ".cursor/mcp.json", "// keep\n"),
        ("vscode", ".config/Code/User/mcp.json", "// keep\n"),
    ],
)
@pytest.mark.parametrize("existed", [True, False])
def test_a_comment_that_the_user_wrote_since_stays(
    hooks: Hooks, home: Path, client: str, name: str, comment: str, existed: bool
) -> None:
    if existed:
        fill(home)
    path = home / name
    before = path.read_bytes() if existed else b""
    run(hooks, home, "install", client)
    path.write_bytes(comment.encode() + path.read_bytes())
    run(hooks, home, "uninstall", client)
    assert path.read_bytes().startswith(comment.encode() + before.rstrip()[:20])
    assert b"memory-server" not in path.read_bytes()
    backup = home / f"{name}.before-memory-server"
    assert (backup.read_bytes() == before) if existed else not backup.exists()


def test_a_comment_that_the_user_removed_since_does_not_come_back(hooks: Hooks, home: Path) -> None:
    fill(home)
    run(hooks, home, "install", "codex")
    path = home / ".codex/config.toml"
    path.write_text(path.read_text().replace(" # the best", ""))
    run(hooks, home, "uninstall", "codex")
    assert path.read_text() == FILES[".codex/config.toml"].replace(" # the best", "")


def test_what_the_user_wrote_behind_a_table_stays(hooks: Hooks, home: Path) -> None:
    fill(home)
    run(hooks, home, "install", "codex")
    path = home / ".codex/config.toml"
    added = "\n# colours\n[colours]\nred = true\n"
    path.write_text(path.read_text() + added)
    run(hooks, home, "uninstall", "codex")
    assert path.read_text() == FILES[".codex/config.toml"] + added


def test_the_hooks_stand_beside_those_of_others_and_each_event_can_be_left_out(
    hooks: Hooks, home: Path
) -> None:
    fill(home)
    run(hooks, home, "install", "claude", "--hooks-off", "PreCompact,SessionEnd")
    found = json.loads((home / ".claude/settings.json").read_text())["hooks"]
    acts = {"PreToolUse", "PostToolUse", "PostToolUseFailure"}
    assert set(found) == {"Stop", "SessionStart", "UserPromptSubmit", "SubagentStart"} | acts
    assert found["Stop"][0]["hooks"][0]["command"] == "say done"
    assert found["SessionStart"][0]["matcher"] == "startup|resume|clear|compact"
    (own,) = found["SessionStart"][0]["hooks"]
    assert own["command"].endswith(f"hook SessionStart --client claude --db {shlex.quote(hooks.given)}")
    assert own["timeout"] == 10
    assert tuple(item["matcher"] for item in found["PostToolUse"]) == HEARD["claude"]
    assert found["PreToolUse"][0]["matcher"] == ACTS["claude"] == found["PostToolUseFailure"][0]["matcher"]


def test_claude_does_not_wait_for_what_is_kept_at_a_stop_and_codex_must(hooks: Hooks, home: Path) -> None:
    fill(home)
    waits = {}
    for client, file in (("claude", ".claude/settings.json"), ("codex", ".codex/hooks.json")):
        run(hooks, home, "install", client)
        entries = json.loads((home / file).read_text())["hooks"]
        waits[client] = {
            (event, "WebFetch" in item.get("matcher", ""))
            for event, items in entries.items()
            for item in items
            if f"hook {event} " in item["hooks"][0]["command"] and "async" not in item["hooks"][0]
        }
    assert waits["codex"] - waits["claude"] == {("Stop", False), ("PostToolUse", False)}
    assert waits["claude"] - waits["codex"] == {
        ("PostToolUse", True),
        ("PostToolUseFailure", False),
        ("PostToolUseFailure", True),
    }  # Codex has no such event


def test_a_program_that_has_moved_takes_the_place_of_its_old_entries(hooks: Hooks, home: Path) -> None:
    run(hooks, home, "install", "codex")
    for name in (".codex/config.toml", ".codex/hooks.json"):
        path = home / name
        path.write_text(path.read_text().replace(str(hooks.db), "/old/memory.db"))
    run(hooks, home, "install", "codex")
    config = (home / ".codex/config.toml").read_text()
    assert config.count("[mcp_servers.memory]") == 1
    assert tomllib.loads(config)["mcp_servers"]["memory"]["args"][-1] == str(hooks.db)
    found = json.loads((home / ".codex/hooks.json").read_text())
    assert [len(each) for each in found["hooks"].values()] == [1] * 8
    assert "/old/memory.db" not in " ".join(values(found))


@pytest.mark.parametrize(
    ("client", "name", "before", "after"),
    [
        ("claude", ".claude.json", '"command":', '"env": {"A": "b"}, "command":'),
        ("codex", ".codex/config.toml", "command =", 'env = { "A" = "b" }\ntool_timeout_sec = 9\ncommand ='),
        ("codex", ".codex/config.toml", "args =", 'env.A = "b"\nargs ='),
    ],
)
def test_what_the_user_added_to_an_entry_stays(
    hooks: Hooks, home: Path, client: str, name: str, before: str, after: str
) -> None:
    path = home / name
    run(hooks, home, "install", client)
    path.write_text(path.read_text().replace(before, after))
    added = content(home)
    run(hooks, home, "install", client)
    assert content(home) == added
    path.write_text(path.read_text().replace(str(hooks.db), "/old/memory.db"))
    run(hooks, home, "install", client)
    text = path.read_text()
    found = json.loads(text)["mcpServers"] if client == "claude" else tomllib.loads(text)["mcp_servers"]
    assert found["memory"]["env"] == {"A": "b"}
    assert found["memory"]["args"][-1] == str(hooks.db)


@pytest.mark.parametrize(
    ("client", "name", "text"),
    [
        ("claude", ".claude.json", '{"mcpServers": {"memory": SERVER}}'),
        ("codex", ".codex/config.toml", '[mcp_servers.memory]\ncommand = "npx"\n'),
        ("opencode", ".config/opencode/plugins/memory-server.js", "// mine\n"),
    ],
)
def test_another_server_of_the_name_is_not_replaced(
    hooks: Hooks, home: Path, client: str, name: str, text: str
) -> None:
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.replace("SERVER", SERVER))
    before = content(home)
    assert str(path) in run(hooks, home, "install", client, code=1)
    assert content(home) == before
    run(hooks, home, "uninstall", client)
    assert content(home) == before


@pytest.mark.parametrize("text", ['{"mcpServers": ', '{"mcpServers": []}', "{} {}", "\xff"])
def test_a_file_that_cannot_be_read_is_named_and_left_alone(hooks: Hooks, home: Path, text: str) -> None:
    (home / ".cursor").mkdir()
    (home / ".cursor/mcp.json").write_bytes(text.encode("latin-1"))
    before = content(home)
    said = run(hooks, home, "install", "cursor", code=1)
    assert "mcp.json" in said
    assert "Nothing was changed." in said
    assert content(home) == before


@pytest.mark.parametrize("client", CLIENTS)
def test_print_shows_the_entries_and_writes_nothing(hooks: Hooks, home: Path, client: str) -> None:
    fill(home)
    before = content(home)
    said = run(hooks, home, "install", client, "--print")
    assert str(hooks.db) in said
    assert "not-ours" not in said
    assert content(home) == before


def test_a_file_behind_a_link_is_changed_where_it_is(hooks: Hooks, home: Path) -> None:
    kept = home / "dotfiles"
    kept.mkdir()
    (kept / "mcp.json").write_text("{}\n")
    (home / ".cursor").mkdir()
    (home / ".cursor/mcp.json").symlink_to(kept / "mcp.json")
    run(hooks, home, "install", "cursor")
    assert (home / ".cursor/mcp.json").is_symlink()
    assert "memory_server" in (kept / "mcp.json").read_text()


def test_a_client_that_is_not_known_is_refused_with_those_that_are(hooks: Hooks, home: Path) -> None:
    said = run(hooks, home, "install", "windsurf", code=2)
    assert all(client in said for client in CLIENTS)


GIT = {"url": "https://host/m", "vcs_info": {"vcs": "git", "commit_id": "c0de"}}


@pytest.mark.parametrize(
    ("place", "origin", "variables", "mend"),
    [
        ("cache/archive-v0", {}, {"UV": "uv"}, "uv tool install 'memory-server[postgres"),
        ("home/.cache/pipx", {}, {"UV": ""}, "pipx install 'memory-server[postgres"),
        (
            "temporary",
            {"url": "file:///a/b.whl"},
            {"TMPDIR": "temporary"},
            "] @ file:///a/b.whl'`, then repeat",
        ),
        ("temporary", GIT, {"TMPDIR": "temporary"}, "] @ git+https://host/m@c0de'`, then repeat"),
    ],
)
def test_a_program_that_will_be_removed_is_not_entered(
    hooks: Hooks, home: Path, place: str, origin: dict[str, Any], variables: dict[str, str], mend: str
) -> None:
    """`uvx` and `pipx run` make an environment in a cache, or among temporary files."""
    folder = home.parent
    environment = folder / place / "x1"
    EnvBuilder().create(environment)
    for name, text in {
        "cache/CACHEDIR.TAG": "",
        "package/memory_server-1.dist-info/METADATA": "Name: memory-server\nVersion: 1\n",
        "package/memory_server-1.dist-info/direct_url.json": json.dumps(origin),
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    paths = os.pathsep.join([str(folder / "package"), str(ROOT), sysconfig.get_path("purelib")])
    env = {**os.environ, **hooks.env, **env_of(home), "PYTHONPATH": paths, **variables}
    program = [str(environment / "bin/python"), "-m", "memory_server"]
    done = subprocess.run(
        [*program, "install", "claude"], env=env, cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert f"runs from {environment}, which will be removed" in done.stderr
    assert mend in done.stderr
    assert not (home / ".claude.json").exists()
    run(hooks, home, "install", "claude")
    subprocess.run([*program, "uninstall", "claude"], env=env, cwd=folder, check=True)
    assert not (home / ".claude.json").exists()


async def test_doctor_tells_which_clients_are_connected_and_mends_those_whose_program_is_gone(
    hooks: Hooks, home: Path, server: Servers
) -> None:
    async with server() as client:
        await call(client, "memory_stats")
    fill(home)
    for name in ("claude", "opencode"):
        run(hooks, home, "install", name, "--hooks-off", "PreCompact")
    doctor = ("doctor", "--embedder", "hashing")
    said = run(hooks, home, *doctor)
    assert "Claude Code: connected, 8 hooks; Claude Desktop: not connected; Codex: not connected;" in said
    assert "opencode: connected, 1 hook" in said
    for path in (home / ".claude.json", home / ".claude/settings.json"):
        path.write_text(path.read_text().replace(sys.executable, "/gone/memory-server"))
    before = content(home)
    done = hooks.run(*doctor, "--db", hooks.given, env=env_of(home))
    assert "  Claude Code starts /gone/memory-server, which does not exist" in done.stdout
    assert content(home) == before
    cached = home / ".cache/uv/x1/bin/memory-server"
    cached.parent.mkdir(parents=True)
    cached.touch()
    path = home / ".config/opencode/opencode.jsonc"
    path.write_text(path.read_text().replace(sys.executable, str(cached)))
    said = hooks.run(*doctor, "--db", hooks.given, env=env_of(home)).stdout
    assert f"  opencode starts {cached}, which will be removed" in said
    said = run(hooks, home, *doctor, "--fix")
    assert f"fixed       {home / '.claude.json'} starts this program now" in said
    assert "Claude Code: connected, 8 hooks" in said
    assert "/gone" not in (home / ".claude.json").read_text() + (home / ".claude/settings.json").read_text()
    assert json.loads((home / ".claude.json").read_text())["mcpServers"]["memory"]["args"][-1] == str(
        hooks.db
    )


def test_a_person_who_types_the_name_of_the_program_is_told_what_it_is(hooks: Hooks) -> None:
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "memory_server", "--db", hooks.given, "--embedder", "hashing"],
        stdin=follower, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **hooks.env},
    )  # fmt: skip
    assert process.stderr is not None
    line = process.stderr.readline().decode()
    assert line.startswith("memory-server: a memory for AI assistants")
    assert line.endswith("type: memory-server install CLIENT\n")
    process.terminate()
    process.communicate(timeout=20)
    os.close(follower)
    os.close(leader)
