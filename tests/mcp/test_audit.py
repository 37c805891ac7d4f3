"""The audit log where its disk is full, where it was moved, and where a process was killed in the middle of a line."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from memory_server.domain.caller import Caller
from memory_server.errors import Unavailable
from memory_server.mcp import audit as auditing
from memory_server.mcp.audit import KEPT, Audit
from memory_server.mcp.observing import Observed
from tests.cli.conftest import Terminal, ledger, terminal
from tests.conftest import Clock, Servers, SmallDisk, call, eventually

__all__ = ["ledger", "terminal"]

pytestmark = pytest.mark.anyio


def lines(path: Path) -> list[dict[str, Any]]:
    """The lines, all of which must be whole."""
    text = path.read_text(encoding="utf-8")
    assert text == "" or text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


@contextmanager
def full(disk: Path) -> Iterator[None]:
    """No byte is left on the disk within the block, but what the last block of a file has."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            pass
    yield
    filler.unlink()


def one_call(audit: Audit, name: str = "memory_get") -> None:
    audit.called(Observed(name, Caller("tests", "s1"), {"id": 1}))


JOB = "write the audit log"


@pytest.fixture
def disk(small_disk: SmallDisk) -> Path:
    return small_disk(100)


async def get(client: Client, number: int) -> bool:
    """True if the call was refused."""
    return bool((await client.call_tool("memory_get", {"ids": [number]})).is_error)


async def test_calls_that_got_no_line_on_a_full_disk_are_told_and_counted(
    server: Servers, terminal: Terminal, disk: Path
) -> None:
    path = disk / "audit.log"
    async with server("--audit", str(path)) as client:
        await get(client, 1)
        with full(disk):
            refused = [await get(client, number) for number in range(1, 41)]

            async def is_told() -> bool:
                return JOB in (await call(client, "memory_stats")).get("problems", {})

            await eventually(is_told, "memory_stats tells it")
            doctor = terminal("doctor", code=1)
            assert 'job "write the audit log": The audit log cannot be written: No space left' in doctor.out
            recorded = lines(path)
        await get(client, 99)
        (lost,) = [line for line in lines(path) if line["call"] == "(not recorded)"]

        async def is_over() -> bool:
            return "problems" not in await call(client, "memory_stats")

        await eventually(is_over, "the problem is over")
    assert refused == [False] * 40
    assert lines(path)[len(recorded)] == lost
    assert lines(path)[len(recorded) + 1]["ids"] == [99]
    looks = lost["calls"] - 41 + len(recorded)
    assert looks >= 1  # those of memory_stats
    assert recorded[-1]["at"] <= lost["since"] <= lost["at"]


async def test_calls_are_refused_where_a_line_is_required_and_cannot_be_written(
    server: Servers, disk: Path
) -> None:
    path = disk / "audit.log"
    async with server("--audit", str(path), "--audit-required") as client:
        with full(disk):
            assert any([await get(client, 1) for _ in range(50)])
            before = len(lines(path))
            result = await client.call_tool("memory_store", {"content": "It is raining", "type": "learning"})
            assert result.is_error
            assert "The audit log cannot be written: No space left on device." in str(result.content)
        assert not await get(client, 2)
        assert (await call(client, "memory_stats"))["total"] == 0
    assert lines(path)[before]["call"] == "(not recorded)"


def test_a_line_is_whole_or_not_there_on_a_full_disk_also_in_a_rotation(
    disk: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auditing, "LARGEST", 5000)
    path = disk / "audit.log"
    audit = Audit(path, clock)
    for number in range(60):
        one_call(audit, f"before-{number}")
    with full(disk):
        for number in range(60):
            one_call(audit, f"meanwhile-{number}")
        with pytest.raises(
            Unavailable, match=r"audit log cannot be written: No space left .* calls are not recorded"
        ):
            audit.tell_lost()
    audit.tell_lost()
    one_call(audit, "after")
    files = [path, *(Path(f"{path}.{number}") for number in range(1, KEPT + 1))]
    written = [line for file in reversed(files) if file.exists() for line in lines(file)]
    names = [line["call"] for line in written]
    lost = [line["calls"] for line in written if line["call"] == "(not recorded)"]
    assert names[:60] == [f"before-{number}" for number in range(60)]
    assert names[-2:] == ["(not recorded)", "after"]
    assert len(lost) == 1
    assert sum(name.startswith("meanwhile") for name in names) + lost[0] == 60
    os.close(audit._file._file)  # so the disk can be unmounted


def test_the_newest_files_are_kept(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auditing, "LARGEST", 1000)
    path = tmp_path / "audit.log"
    audit = Audit(path, clock)
    for number in range(200):
        one_call(audit, str(number))
    names = {file.name for file in tmp_path.iterdir()}
    assert names == {"audit.log", *(f"audit.log.{number}" for number in range(1, KEPT + 1))}
    assert lines(path)[-1]["call"] == "199"
    assert int(lines(path)[0]["call"]) == int(lines(Path(f"{path}.1"))[-1]["call"]) + 1
    assert all(file.stat().st_size <= 1000 for file in tmp_path.iterdir())


def test_a_file_that_was_moved_or_deleted_gets_no_more_lines(tmp_path: Path, clock: Clock) -> None:
    path, moved = tmp_path / "audit.log", tmp_path / "moved.log"
    audit = Audit(path, clock)
    one_call(audit, "first")
    path.rename(moved)
    one_call(audit, "second")
    path.unlink()
    one_call(audit, "third")
    assert [line["call"] for file in (moved, path) for line in lines(file)] == ["first", "third"]


@pytest.mark.parametrize(
    ("rest", "left"),
    [('{"at": "2026-01-05T', ""), ("a line of another program", "a line of another program\n")],
)
def test_the_rest_of_a_line_is_cut_and_a_foreign_line_is_ended(
    tmp_path: Path, clock: Clock, rest: str, left: str
) -> None:
    path = tmp_path / "audit.log"
    one_call(Audit(path, clock))
    before = path.read_text()
    with path.open("a") as file:
        file.write(rest)
    one_call(Audit(path, clock))
    assert path.read_text() == before + left + before


def test_a_log_that_cannot_be_written_keeps_the_server_from_starting(tmp_path: Path, clock: Clock) -> None:
    with pytest.raises(OSError, match=os.strerror(21)):
        Audit(tmp_path, clock)
