"""The commands: what they print for people and for programs, and an import that is killed."""

import json
import os
import pty
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import warm
from tests.conftest import ROOT, Sqlite, damage, until
from tests.exchange import sources
from tests.exchange.conftest import Run

Taken = Callable[..., dict[str, Any]]
Exported = Callable[..., str]

OUTCOMES = {
    "added",
    "updated",
    "present",
    "duplicate",
    "deleted",
    "ended",
    "changed_here",
    "secret",
    "refused",
}


def many(path: Path, number: int) -> Path:
    rows = ({"id": f"n{each}", "text": f"The audit of branch {each} is due 审计"} for each in range(number))
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_the_summary_has_a_schema(tmp_path: Path, taken: Taken) -> None:
    summary = taken(tmp_path / "memory.db", sources.jsonl(tmp_path), sources.earlier_short_long(tmp_path))
    assert set(summary) == {"dry_run", "sources", *OUTCOMES}
    assert summary["dry_run"] is False
    assert all(isinstance(summary[outcome], int) for outcome in OUTCOMES)
    for source in summary["sources"]:
        keys = {
            "path",
            "format",
            "counts",
            "refused_items",
            "conflicts",
            "undo",
            "written_back",
            "rules",
            "lowered",
        }
        assert set(source) == keys
        assert all(set(each) <= OUTCOMES for each in source["counts"].values())
        assert all(set(each) == {"where", "why"} for each in source["refused_items"])
        assert all(isinstance(each, str) for each in source["conflicts"])
    assert [source["format"] for source in summary["sources"]] == ["jsonl", "memory-mcp-server"]


def test_people_read_what_was_done(tmp_path: Path, run: Run) -> None:
    done = run(tmp_path / "memory.db", "import", sources.jsonl(tmp_path))
    assert done.out.splitlines() == [
        f"{tmp_path / 'notes.jsonl'} (JSON, a memory a line or in a list)",
        "  memories: added 2",
        "  unreadable: left out 1",
        "  in no project, so all projects find it; for one, undo it and add --project NAME",
        "  `memory-server undo i1` takes it back",
        "  not taken over:",
        "    line 3: has no text",
    ]
    assert (done.err, done.code) == ("", 1)


def test_a_table_without_a_text_is_refused_with_the_name_of_the_column_that_it_needs(
    tmp_path: Path, run: Run
) -> None:
    (tmp_path / "ages.csv").write_text("who,age\nAnn,31\n")
    done = run(tmp_path / "memory.db", "import", str(tmp_path / "ages.csv"))
    assert done.code == 1
    assert "ages.csv has no column for the text. Name that column `text`." in done.err


def test_people_read_into_which_projects_it_went(tmp_path: Path, run: Run) -> None:
    (tmp_path / "notes.csv").write_text(
        "text,project\nThe lamp is lit,shop\nThe lens is cleaned,shop\nFog comes,\n"
    )
    (tmp_path / "notes.txt").write_text("The harbour opens at noon")
    done = run(tmp_path / "memory.db", "import", str(tmp_path / "notes.csv"))
    assert "  project: shop 2, no project 1" in done.out.splitlines()
    done = run(tmp_path / "memory.db", "import", str(tmp_path / "notes.txt"), "--project", "harbour")
    assert "  project: harbour" in done.out.splitlines()


def test_an_import_that_is_killed_goes_on_where_it_was(
    tmp_path: Path, user_folders: dict[str, str], taken: Taken, sqlite: Sqlite
) -> None:
    db, path, number = tmp_path / "memory.db", many(tmp_path / "many.jsonl", 3000), 3000
    command = [
        sys.executable,
        "-m",
        "memory_server",
        "import",
        str(path),
        "--db",
        str(db),
        "--embedder",
        "hashing",
    ]
    chance = random.Random(7)
    for _ in range(3):
        before = int(sqlite(db, "SELECT count(*) FROM memories")) if db.exists() else 0
        process = subprocess.Popen(
            command, env={**os.environ, **user_folders, "PYTHONPATH": str(ROOT)}, cwd=tmp_path
        )
        while _count(db) <= before and process.poll() is None:
            time.sleep(0.005)
        time.sleep(chance.random() / 10)
        process.send_signal(signal.SIGKILL)
        process.wait()
    summary = taken(db, path)
    assert summary["added"] + summary["present"] == number
    assert sqlite(db, "SELECT count(*), count(DISTINCT content) FROM memories") == f"{number}|{number}"
    assert sqlite(db, "SELECT count(*), count(DISTINCT item_id) FROM origins") == f"{number}|{number}"
    assert damage(db) == []


def _count(db: Path) -> int:
    """The memories, read by the stock program's own rules: another process may be writing."""
    if not db.exists() or not db.stat().st_size:
        return 0
    done = subprocess.run(
        ["sqlite3", "-cmd", ".timeout 5000", str(db), "SELECT count(*) FROM memories"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return int(done.stdout or 0)


def test_progress_is_shown_on_a_terminal_and_not_in_a_pipe(
    tmp_path: Path, user_folders: dict[str, str], run: Run
) -> None:
    path = many(tmp_path / "many.jsonl", 9000)
    assert run(tmp_path / "pipe.db", "import", path).err == ""
    ours, theirs = pty.openpty()
    command = warm.cold("import", str(path), "--db", str(tmp_path / "terminal.db"))
    env = {**os.environ, **user_folders, "PYTHONPATH": str(ROOT), "MEMORY_SERVER_EMBEDDER": "hashing"}
    process = subprocess.Popen(command, env=env, cwd=tmp_path, stderr=theirs, stdout=subprocess.DEVNULL)
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    assert process.wait() == 0
    text = shown.decode()
    assert re.search(r"/9000\D.*a second", text)


def test_markdown_has_a_page_for_each_project(copy: Path, tmp_path: Path, run: Run) -> None:
    done = run(copy, "export", "--format", "markdown", tmp_path / "pages")
    pages = tmp_path / "pages"
    assert (done.out, done.err, done.code) == ("", f"Exported to {pages}: no project.md, ledger.md\n", 0)
    assert sorted(path.name for path in (tmp_path / "pages").iterdir()) == ["ledger.md", "no project.md"]
    page = (tmp_path / "pages" / "ledger.md").read_text(encoding="utf-8")
    assert page.startswith("# ledger\n\n## Decisions\n\n- 生产环境每周二上午十点发布，周五不发布。 (")
    assert '- `手写.键`: {"a": [1, null, "零"]}' in page
    assert "## Prompts\n\n- **n**: 提示\n  when `match_keys(messages, ['x'])`" in page
    assert "About it" in page


def test_a_page_goes_to_standard_output(copy: Path, run: Run) -> None:
    done = run(copy, "export", "--format", "markdown", "--project", "ledger")
    assert done.out.startswith("# ledger\n")


@pytest.mark.skipif(os.name == "nt", reason="there are no pipes with names there")
def test_an_export_goes_through_a_pipe_or_a_device_and_does_not_replace_it(
    copy: Path, tmp_path: Path, run: Run
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True, encoding="utf-8") as reader:
        assert run(copy, "export", pipe).code == 0
        shown, _ = reader.communicate(timeout=60)
    assert pipe.is_fifo()
    assert shown == run(copy, "export").out
    assert "was not replaced" in run(copy, "backup", pipe).err


def test_an_export_goes_whole_into_a_file_that_only_its_owner_reads(
    copy: Path, tmp_path: Path, run: Run, exported: Exported
) -> None:
    target = tmp_path / "export.jsonl"
    for _ in range(2):  # the second takes the place of the first
        done = run(copy, "export", target)
        assert (done.out, done.code) == ("", 0)
        assert re.fullmatch(rf"Exported to {re.escape(str(target))}: memories 8, edges 3, .*\n", done.err)
    assert target.read_text(encoding="utf-8") == exported(copy)
    assert target.stat().st_mode & 0o777 == 0o600
    assert not list(tmp_path.glob(".export*"))


SQLITE = b"SQLite format 3\0"
JOURNAL = bytes.fromhex("d9d505f920a163d7")


@pytest.mark.parametrize(
    ("content", "flags", "replaced"),
    [
        (b"# Notes of somebody\n", (), False),
        (b'{"kind": "other"}\n', (), False),
        (b"\x00\xff" * 9000, (), False),
        (b"# Notes of somebody\n", ("--force",), True),
        (b"", (), True),
        (SQLITE + bytes(4080), (), False),
        (SQLITE + bytes(4080), ("--force",), False),
        (JOURNAL + bytes(500), ("--force",), False),
    ],
)
@pytest.mark.parametrize("form", ["jsonl", "markdown"])
def test_an_export_replaces_no_file_that_is_not_an_export(
    copy: Path, tmp_path: Path, run: Run, form: str, content: bytes, flags: tuple[str, ...], replaced: bool
) -> None:
    target = given = tmp_path / "notes"
    if form == "markdown":
        target.mkdir()
        target = target / "no project.md"
    target.write_bytes(content)
    done = run(copy, "export", "--format", form, *flags, given)
    assert (done.code == 0, target.read_bytes() != content) == (replaced, replaced), done
    if not replaced:
        assert done.err.count("\n") == 1
        assert (
            f"{target} {'is a SQLite file' if content[:1] in (SQLITE[:1], JOURNAL[:1]) else 'exists'}"
            in done.err
        )
        assert [path for path in target.parent.iterdir() if path not in (target, copy)] == []


def test_an_export_over_its_own_database_is_refused(copy: Path, run: Run) -> None:
    before = copy.read_bytes()
    for flags in ((), ("--force",)):
        assert "is a SQLite file" in run(copy, "export", *flags, copy).err
    assert copy.read_bytes() == before


def test_a_page_is_replaced_until_somebody_writes_to_it(copy: Path, tmp_path: Path, run: Run) -> None:
    pages = tmp_path / "pages"
    for _ in range(2):
        assert run(copy, "export", "--format", "markdown", pages).code == 0
    page = pages / "ledger.md"
    with page.open("a", encoding="utf-8") as file:
        file.write("By hand.\n")
    assert f"{page} exists" in run(copy, "export", "--format", "markdown", pages).err
    assert page.read_text(encoding="utf-8").endswith("By hand.\n")


@pytest.mark.parametrize("command", ["export", "merge"])
def test_without_a_database_nothing_is_made(command: str, tmp_path: Path, run: Run) -> None:
    done = run(tmp_path / "gone.db", command, *([tmp_path / "other.db"] if command == "merge" else []))
    assert done.code == 1
    assert list(tmp_path.glob("*.db")) == []


def test_a_copy_that_a_killed_export_leaves_is_removed_by_the_next_command(
    copy: Path, tmp_path: Path, user_folders: dict[str, str], sqlite: Sqlite
) -> None:
    long = "INSERT INTO memories (content, type) VALUES (hex(zeroblob(49000)), 'error')"
    sqlite(copy, long, long)
    there = tmp_path / "temporary"
    there.mkdir()
    (there / "memory-server-copy-link").symlink_to(tmp_path)
    env = {**os.environ, **user_folders, "PYTHONPATH": str(ROOT), "TMPDIR": str(there)}

    def started(*arguments: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "memory_server", *arguments, "--db", str(copy)]
        return subprocess.Popen(command, env=env, cwd=tmp_path, stdout=subprocess.PIPE)

    def copies() -> list[str]:
        return [each.name for each in there.iterdir() if not each.is_symlink()]

    stuck = started("export")  # nobody reads what it prints, so it waits with its copy
    until(lambda: any((there / each / "memory.db").exists() for each in copies()), "the export copies")
    (left,) = copies()
    assert (there / left).stat().st_mode & 0o777 == 0o700
    started("list").communicate(timeout=60)
    assert copies() == [left]
    stuck.kill()
    stuck.communicate()
    assert copies() == [left]
    (tmp_path / f".{left}").write_text("of an export into a file here", encoding="utf-8")
    started("export", "export.jsonl").communicate(timeout=60)
    assert copies() == []
    assert not (tmp_path / f".{left}").exists()
    assert (tmp_path / "export.jsonl").stat().st_size > 100_000
    assert (there / "memory-server-copy-link").is_symlink()
