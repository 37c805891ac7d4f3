"""Readers that hang, do not start or fail: the call is answered in time, and the server goes on."""

import asyncio
import logging
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from memory_server import app
from memory_server.call import acting, deadline
from memory_server.domain.caller import Caller
from memory_server.engine import readers as module
from memory_server.engine.readers import Readers
from memory_server.engine.served import work_of
from memory_server.errors import Unavailable
from memory_server.mcp.tool import Tool
from memory_server.settings import Settings
from memory_server.triggers.effort import TriggerEffort
from tests.conftest import ROOT, eventually

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="there are no readers")]

VALUES: dict[str, Any] = {"query": "lamp", "caller": Caller("tests", "s", is_here=False)}


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return Settings(db=tmp_path / "memory.db", embedder="hashing", workers=2)


@pytest.fixture
def search(settings: Settings) -> Iterator[Tool]:
    """`memory_search`, as the server itself carries it out."""
    services = app.build(settings, several=True)
    with acting.as_(None):
        services.queue.warm_up()
        yield work_of(services, None).tools["memory_search"]
        services.close()


@asynccontextmanager
async def running(settings: Settings, effort: TriggerEffort) -> AsyncIterator[Readers]:
    readers = Readers(settings, effort)
    tasks = asyncio.all_tasks()
    try:
        yield readers
    finally:
        readers.close()
        await asyncio.gather(*(asyncio.all_tasks() - tasks))


async def until_ready(readers: Readers, search: Tool) -> psutil.Process:
    """The first reader, once it is ready."""

    async def is_ready() -> bool:
        async with anyio.create_task_group() as tasks:
            for _ in range(2):
                tasks.start_soon(readers.carry_out, search, VALUES)
        return bool(readers.load().pids)

    await eventually(is_ready, "a reader is ready", 60)
    return psutil.Process(readers.load().pids[0])


async def test_a_reader_that_hangs_is_killed_when_the_call_is_over_and_started_anew(
    settings: Settings, search: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "GRACE", 0.1)
    async with running(settings, TriggerEffort()) as readers:
        reader = await until_ready(readers, search)
        reader.suspend()
        with deadline.within(0.1), pytest.raises(Unavailable, match="was not answered in time"):
            await readers.carry_out(search, VALUES)
        reader.wait(20)
        assert await until_ready(readers, search) != reader


async def test_a_reader_that_nobody_needs_ends(
    settings: Settings, search: Tool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "IDLE", 0.05)
    async with running(settings, TriggerEffort()) as readers:
        reader = await until_ready(readers, search)

        async def has_ended() -> bool:
            return not reader.is_running() or bool(reader.status() == psutil.STATUS_ZOMBIE)

        await eventually(has_ended, "the reader ends")
        assert readers.load().pids == []
        assert "results" in await readers.carry_out(search, VALUES)
    assert "carried out by the server" not in caplog.text


async def test_what_fails_in_a_reader_fails_in_the_server_with_its_traceback(
    settings: Settings, search: Tool
) -> None:
    effort = TriggerEffort()
    async with running(settings, effort) as readers:
        await until_ready(readers, search)
        with pytest.raises(RuntimeError, match=r"in memory_search[\s\S]+AttributeError"):
            await readers.carry_out(search, {"query": 1, "caller": VALUES["caller"]})
        assert effort.cpu > 0


async def test_without_readers_the_server_searches_itself(
    settings: Settings, search: Tool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sys, "executable", str(settings.db))
    readers = Readers(settings, TriggerEffort())
    answers = list[dict[str, Any]]()

    async def carry_out() -> None:
        answers.append(await readers.carry_out(search, VALUES))

    with caplog.at_level(logging.WARNING):
        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(carry_out)
    readers.close()
    assert [answer["results"] for answer in answers] == [[]] * 4
    assert "no reader can be started" in caplog.text
