"""What a merge, an import and a copy say when the disk fills up half way, and what the same command does afterwards."""

import json
import re
import shutil
from pathlib import Path

import apsw
import pytest

from memory_server import stores
from memory_server.errors import Mend, Unavailable, Written
from memory_server.stores import clock
from memory_server.transfer import copying
from tests.conftest import SmallDisk, lay_empty_file
from tests.exchange.conftest import Run

MEMORIES = 2000
"""More than fit on the disk, and several batches."""

DISK = 1400
"""Kilobytes: room for some hundred of them."""


def counted(path: Path) -> int:
    with apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY) as connection:
        number = int(connection.execute("SELECT count(*) FROM memories").get)
    connection.close()
    return number


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.db"
    lay_empty_file(path)
    connection = apsw.Connection(str(path))
    with connection:
        connection.executemany(
            "INSERT INTO memories (content, type) VALUES (?, 'learning')",
            [(f"Lighthouse {number} is painted red. {number * 7919}",) for number in range(MEMORIES)],
        )
    connection.close()
    return path


@pytest.fixture
def target(small_disk: SmallDisk) -> Path:
    disk = small_disk(DISK)
    (disk / "ballast").write_bytes(bytes(100_000))
    lay_empty_file(disk / "memory.db")
    return disk / "memory.db"


def assert_part(said: str, rows: int) -> None:
    assert 0 < rows < MEMORIES
    assert f"{rows:,} rows were written and stay." in said
    assert "Nothing was written" not in said


@pytest.mark.parametrize("command", ["merge", "import"])
def test_a_merge_or_an_import_that_fills_the_disk_says_what_stays_and_goes_on(
    source: Path, target: Path, tmp_path: Path, run: Run, command: str
) -> None:
    given = source
    if command == "import":
        given = tmp_path / "memories.jsonl"
        given.write_text(run(source, "export").out, encoding="utf-8")
    stopped = run(target, command, given)
    assert (stopped.code, stopped.err.count("\n")) == (1, 1), stopped
    assert_part(stopped.err, counted(target))
    assert stopped.err.endswith("Then run the same command again: it adds only what is missing.\n")
    moved = tmp_path / "memory.db"
    moved.write_bytes(target.read_bytes())
    rows = counted(moved)
    counts = run(moved, command, given, "--json").summary["sources"][0]["counts"]["memory"]
    assert counts == counts | {"present": rows, "added": MEMORIES - rows}
    assert counted(moved) == MEMORIES


def test_what_was_imported_from_an_earlier_path_counts(
    target: Path, source: Path, tmp_path: Path, run: Run
) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    first.write_text(
        "".join(
            json.dumps({"type": "entity", "name": f"n{number}", "entityType": "x", "observations": ["o"]})
            + "\n"
            for number in range(3)
        )
    )
    second.write_text(run(source, "export").out, encoding="utf-8")
    stopped = run(target, "import", first, second, "--json")
    assert_part(json.loads(stopped.out)["error"], counted(target))


def test_a_trial_that_fills_the_disk_has_written_nothing(
    small_disk: SmallDisk,
    source: Path,
    tmp_path: Path,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    user_folders: dict[str, str],
) -> None:
    target, exported = tmp_path / "memory.db", tmp_path / "memories.jsonl"
    lay_empty_file(target)
    before = target.read_bytes()
    exported.write_text(run(source, "export").out, encoding="utf-8")
    monkeypatch.setitem(user_folders, "TMPDIR", str(small_disk(DISK)))
    stopped = run(target, "import", exported, "--dry-run")
    assert (stopped.code, stopped.err.count("\n")) == (1, 1), stopped
    assert "is full. Space must be freed. Nothing was written. Then run the same command again" in stopped.err
    assert target.read_bytes() == before


def test_a_copy_that_fills_the_disk_says_what_stays_and_goes_on(
    source: Path, target: Path, tmp_path: Path
) -> None:
    copy = target.with_name("copy.db")
    target.unlink()
    database, filled = stores.at(source, clock), stores.filling(copy, clock)
    with pytest.raises(Unavailable, match="is full") as error:
        copying.copy(database, str(source), filled)
    assert error.value.problem.written is Written.PART
    assert [hint.mend for hint in error.value.problem.hints] == [Mend.COPY_AGAIN]
    rows = error.value.problem.rows
    assert re.search(rf" {rows:,} rows were written and stay\.$", str(error.value))
    assert rows >= counted(copy.with_name("copy.db.unfinished")) >= 1000
    moved = tmp_path / copy.name
    shutil.copyfile(copy.with_name("copy.db.unfinished"), moved.with_name("copy.db.unfinished"))
    filled = stores.filling(moved, clock)
    assert copying.copy(database, str(source), filled).resumed
    database.close()
    assert counted(moved) == MEMORIES
