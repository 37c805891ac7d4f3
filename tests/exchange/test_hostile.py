"""What somebody else has made is read within bounds: a line of error, no file that the person has not named."""

import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_server.importing.opened import MOST
from tests.exchange import sources
from tests.exchange.conftest import Run

posix_only = pytest.mark.skipif(
    os.name == "nt", reason="Windows has no such files, or asks for a right to make them"
)

CONVERSATION = {
    "uuid": "c1",
    "name": "Ports",
    "chat_messages": [{"uuid": "m1", "sender": "human", "text": "Name a port"}],
}


def packed(path: Path, *members: tuple[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in members:
            file.writestr(name, text)
    return path


def bomb(folder: Path) -> Path:
    """A small zip that holds more JSON than is read."""
    path = folder / "bomb.zip"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file,
        file.open("conversations.json", "w", force_zip64=True) as member,
    ):
        for _ in range((MOST >> 20) + 1):
            member.write(b" " * (1 << 20))
    return path


def deep(folder: Path) -> Path:
    return packed(
        folder / "deep.zip", ("conversations.json", "[" * 200_000), ("memories.json", "[" * 200_000)
    )


def sparse(name: str, start: bytes) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        with (folder / name).open("wb") as file:
            file.write(start)
            file.truncate(1 << 30)
        return folder / name

    return make


def pipe(folder: Path) -> Path:
    os.mkfifo(folder / "notes.md")
    return folder / "notes.md"


HOSTILE = {
    "bomb": (bomb, "bytes of JSON"),
    "deep": (deep, "without an account export"),
    "sparse-markdown": (sparse("notes.md", b"- The audit is in May\n"), "1,073,741,824 bytes"),
    "sparse-text": (sparse("notes.txt", b"The audit is in May\n" * 5_000), "1,073,741,824 bytes"),
    "sparse-csv": (sparse("notes.csv", b"text;date\nThe audit;2025-01-02\n" * 5_000), "1,073,741,824 bytes"),
    "sparse-database": (sparse("notes.db", b"SQLite format 3\0"), "is not a database"),
    "pipe": (pipe, "neither a file nor a folder"),
}


@posix_only
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_a_line_of_error_and_nothing_is_written(
    name: str, tmp_path: Path, run: Run
) -> None:
    make, words = HOSTILE[name]
    done = run(tmp_path / "memory.db", "import", make(tmp_path))
    assert (done.out, done.code, len(done.err.strip().splitlines())) == ("", 1, 1)
    assert words in done.err
    assert not (tmp_path / "memory.db").exists() or run(tmp_path / "memory.db", "export").out.count("\n") == 1


def test_paths_in_a_zip_lead_nowhere(
    tmp_path: Path, taken: Callable[..., dict[str, Any]], exported: Callable[..., str]
) -> None:
    text = json.dumps([CONVERSATION])
    path = packed(
        tmp_path / "export.zip", ("../../conversations.json", text), ("/etc/conversations.json", text)
    )
    before = sorted(tmp_path.rglob("*"))
    assert taken(tmp_path / "memory.db", path)["added"] == 1
    assert [file for file in sorted(tmp_path.rglob("*")) if file.name != "memory.db"] == before
    assert "user: Name a port" in exported(tmp_path / "memory.db")


def test_a_zip_of_many_files_is_read_once(tmp_path: Path, taken: Callable[..., dict[str, Any]]) -> None:
    """Each file of it opened the zip anew: that of 70,000 files took hours."""
    projects = [(f"projects/{number}.json", "[]") for number in range(20_000)]
    path = packed(tmp_path / "export.zip", ("conversations.json", json.dumps([CONVERSATION])), *projects)
    assert taken(tmp_path / "memory.db", path)["added"] == 1


@posix_only
@pytest.mark.parametrize("name", ["basic-memory", "claude-code", "markdown", "claude", "memory-mcp-server"])
def test_a_link_out_of_a_folder_is_told_and_not_read(
    name: str, tmp_path: Path, taken: Callable[..., dict[str, Any]], exported: Callable[..., str]
) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "outside").mkdir()
    path = sources.SOURCES[name](tmp_path / "inside")
    path = path if path.is_dir() else path.parent
    secret = tmp_path / "outside/secret.md"
    secret.write_text("---\nname: secret\ntype: user\n---\n- [secret] The harbour opens at dawn\n", "utf-8")
    folder = sources.earlier_short_long(tmp_path / "outside") / "my_chat"
    (folder / "projects.json").write_text(
        json.dumps([{"uuid": "p", "name": "Outside", "docs": [], "description": "The harbour opens at dawn"}])
    )
    db = tmp_path / "memory.db"
    alone = taken(db, path)["added"]
    (path / "link.md").symlink_to(secret)
    (path / "linked").symlink_to(folder)
    again = taken(db, path)
    assert alone > 0
    assert (again["added"], again["ended"]) == (0, 0)
    assert "harbour opens" not in exported(db)
    told = [item for item in again["sources"][0]["refused_items"] if item["where"] == "link.md"]
    assert told == [{"where": "link.md", "why": f"leads out of the folder, to {secret.resolve()}"}]
