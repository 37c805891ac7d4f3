"""What Claude Code writes into its own memory is taken in by the next hook, once that memory was imported."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from memory_server.hook import written
from tests.conftest import Servers, call
from tests.hook.conftest import Hooks

pytestmark = [pytest.mark.anyio, pytest.mark.both_stores]


def write(folder: Path, name: str, text: str, seconds: int) -> Path:
    """Write a memory as Claude Code does; the clock of its file is set, since a test waits for none."""
    path = folder / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nname: {name}\ndescription: {text}\nmetadata:\n  type: project\n---\n{text}\n")
    os.utime(path, (4_000_000_000 + seconds, 4_000_000_000 + seconds))
    return path


async def test_a_memory_of_claude_code_is_followed(server: Servers, hooks: Hooks, tmp_path: Path) -> None:
    async with server(cwd=hooks.project) as client:
        await call(client, "memory_stats")
    session = tmp_path / "home/.claude/projects/-srv-shop/s1.jsonl"
    folder = session.parent / "memory"
    release = write(folder, "release", "Releases are on Tuesdays", 1)
    (folder / "MEMORY.md").write_text("- [Release](release.md)\n")

    def contents(event: str) -> list[Any]:
        hooks.of_engine(event, transcript_path=str(session))
        return [text for (text,) in hooks.rows("SELECT content FROM memories ORDER BY id")]

    assert contents("Stop") == []
    assert hooks.run("import", str(folder), "--db", hooks.given).returncode == 0
    write(folder, "lamp", "The lamp is lit at dusk", 2)
    assert contents("Stop") == ["Releases are on Tuesdays", "The lamp is lit at dusk"]
    write(folder, "release", "Releases are on Mondays", 3)
    assert contents("SessionStart") == ["Releases are on Mondays", "The lamp is lit at dusk"]
    assert hooks.rows("SELECT content FROM memory_history") == [("Releases are on Tuesdays",)]
    assert contents("UserPromptSubmit") == ["Releases are on Mondays", "The lamp is lit at dusk"]
    broken = folder / "broken.md"
    broken.write_bytes(b"---\nname: x\n---\n\xff\xfe\n")
    release.unlink()
    assert len(contents("Stop")) == 2  # where a file cannot be read, nothing ends
    broken.unlink()
    assert contents("Stop") == ["The lamp is lit at dusk"]
    assert not any("failed" in line for line in hooks.log)


async def test_a_memory_is_taken_in_as_soon_as_it_is_written(
    server: Servers, hooks: Hooks, tmp_path: Path
) -> None:
    async with server(cwd=hooks.project) as client:
        await call(client, "memory_stats")
    projects = tmp_path / "home/.claude/projects"
    notes = tmp_path / "home/notes/memory"

    def contents(path: Path, event: str = "PostToolUse") -> list[Any]:
        hooks.of_engine(event, tool_name="Write", tool_input={"file_path": str(path), "content": "x"})
        return [text for (text,) in hooks.rows("SELECT content FROM memories ORDER BY id")]

    release = write(projects / "-srv-shop/memory", "release", "Releases are on Tuesdays", 1)
    assert contents(release) == []  # the person has not imported that folder
    assert hooks.run("import", str(release.parent), "--db", hooks.given).returncode == 0
    lamp = write(projects / "-srv-lamp/memory", "lamp", "The lamp is lit at dusk", 2)
    assert contents(write(notes, "pier", "The pier is long", 3)) == ["Releases are on Tuesdays"]
    assert contents(lamp) == ["Releases are on Tuesdays", "The lamp is lit at dusk"]
    write(projects / "-srv-shop/memory", "release", "Releases are on Mondays", 4)
    assert contents(release) == ["Releases are on Mondays", "The lamp is lit at dusk"]
    assert hooks.rows("SELECT count(*) FROM short_term_memories") == [(0,)]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/home/me/.claude/projects/-srv-shop/memory/a.md", True),
        ("C:\\Users\\me\\.claude\\projects\\C--shop\\memory\\a.md", True),
        ("/srv/shop/memory.md", False),
        ("/srv/shop/memory/a.py", False),
        ("/srv/memory/shop/a.md", False),
    ],
)
def test_only_a_note_in_a_folder_of_memories_is_looked_at(path: str, expected: bool) -> None:
    content = json.dumps({"file_path": "/home/me/.claude/projects/-srv-shop/memory/a.md"})
    arguments = {"content": content, "file_path": path}
    assert written.is_memory(json.dumps({"session_id": "s1", "tool_input": arguments}).encode()) is expected
    compact = json.dumps({"tool_input": arguments}, separators=(",", ":"))
    assert written.is_memory(compact.encode()) is expected
    assert not written.is_memory(b"")
