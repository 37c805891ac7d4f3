"""The files that engines leave: removed when the next one ends, and never while somebody needs them."""

import fcntl
import logging
import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_server.engine import leftovers
from memory_server.engine.door import Door
from memory_server.front import finding
from memory_server.front.finding import lock, unlock
from tests.conftest import Servers, until
from tests.engine.conftest import engines, folder, kill
from tests.engine.test_process import connected

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there is no engine there")


NOW = datetime(2026, 11, 26, tzinfo=UTC)


def place_in(folder: Path, number: int = 0) -> Path:
    return folder / f"00000000-{finding.program()}-{number:08x}"


def test_an_engine_that_ends_takes_its_files_away_and_those_of_killed_ones(server: Servers) -> None:
    server.env["MEMORY_SERVER_ENGINE_IDLE"] = "60"
    with server.process() as process:
        connected(process)
        process.kill()
    kill(server)
    assert {path.suffix for path in folder(server).iterdir()} == {".sock", ".lock", ".log"}
    del server.env["MEMORY_SERVER_ENGINE_IDLE"]
    with server.process() as process:
        connected(process)
        process.kill()
    until(lambda: not engines(server), "the second engine has ended")
    assert list(folder(server).iterdir()) == []


@pytest.fixture
def runtime(user_folders: dict[str, str]) -> Path:
    """A new folder whose path is short enough for a socket."""
    return Path(tempfile.mkdtemp(dir=user_folders["XDG_RUNTIME_DIR"]))


def test_files_of_an_engine_that_runs_or_starts_stay(runtime: Path) -> None:
    running, starting, ours = (place_in(runtime, number) for number in range(3))
    door = Door(running)
    start = lock(starting.with_suffix(".starting"))
    assert start is not None
    starting.with_suffix(".log").touch()
    own_door = Door(ours)
    own_door.close()
    leftovers.tidy(ours, own_door.is_ours, NOW)
    assert {path.name for path in runtime.iterdir()} == {
        f"{running.name}.sock", f"{running.name}.lock", f"{starting.name}.starting", f"{starting.name}.log",
    }  # fmt: skip
    assert door.is_ours
    assert not own_door.is_ours
    door.give_up()
    own_door.give_up()
    unlock(starting.with_suffix(".starting"), start)


def test_an_engine_that_gave_its_place_up_leaves_it_to_the_next(runtime: Path) -> None:
    first = Door(place_in(runtime))
    first.give_up()
    second = Door(place_in(runtime))
    leftovers.tidy(place_in(runtime), first.is_ours, NOW)
    assert second.is_ours
    assert second.path.exists()
    second.give_up()


def test_what_an_engine_said_is_kept_for_a_week(runtime: Path) -> None:
    new, old, foreign = (
        place_in(runtime, 1).with_suffix(".log"),
        place_in(runtime, 2).with_suffix(".log"),
        runtime / "my-own-notes.log",
    )
    for path in (new, old, foreign):
        path.write_text("no embedder")
        os.utime(path, (0, 0))
    os.utime(new, (NOW.timestamp(), NOW.timestamp()))
    leftovers.tidy(place_in(runtime), is_ours=False, now=NOW)
    assert set(runtime.iterdir()) == {new, foreign}


def test_a_log_begins_again_when_it_is_too_long(runtime: Path) -> None:
    path = runtime / "log"
    with path.open("ab") as log:
        handler = leftovers.Bounded(log.fileno())
        log.write(b"x" * leftovers.LONGEST)
        log.flush()
        handler.emit(logging.makeLogRecord({}))
        assert path.stat().st_size == leftovers.LONGEST
        log.write(b"x")
        log.flush()
        handler.emit(logging.makeLogRecord({}))
        log.write(b"new")
    assert path.read_bytes() == b"new"


def test_a_lock_of_a_file_that_its_holder_has_removed_meanwhile_counts_for_nothing(
    runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = runtime / "lock"
    holder = lock(path)
    assert holder is not None
    assert lock(path) is None
    take, others = fcntl.flock, list[int | None]()

    def take_late(file: int, how: int) -> None:
        monkeypatch.undo()
        unlock(path, holder)
        others.append(lock(path))
        take(file, how)

    monkeypatch.setattr(fcntl, "flock", take_late)
    assert lock(path) is None
    assert others != [None]
