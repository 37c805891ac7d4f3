"""Searches of several clients are carried out by readers: with the same answers and rights, and nothing is left."""

import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, AsyncExitStack, contextmanager
from functools import partial
from typing import Any

import anyio
import httpx2
import psutil
import pytest
from mcp import Client
from mcp_types import CallToolResult

from memory_server.engine.readers import CARRIED
from tests import warm
from tests.conftest import Servers, Sqlite, call, eventually, until
from tests.http.conftest import Http, started, token
from tests.rights.prey import HUNT, OWN, fill, told
from tests.rights.test_matrix import READS, leaks

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(
        not psutil.LINUX, reason="the system ends a stopped reader with its server on Linux alone"
    ),
]

Serve = Callable[..., AbstractContextManager[Http]]

ASKED: list[tuple[str, dict[str, Any]]] = [
    ("memory_search", {"query": "Which lamp oil does the lighthouse burn?", "explain": True}),
    ("memory_search", {"query": "lamp", "mode": "keyword", "limit": 3}),
    ("memory_search", {"query": "lamp", "type": "learning", "since": "2020-01-01"}),
    ("recall", {"query": "Which lamp oil does the lighthouse burn?", "explain": True}),
    ("recall", {"query": "", "since": "2020-01-01"}),
    ("retrieve_memories", {"query": "lamp"}),
    ("smart_resume", {}),
]
"""Calls that readers carry out; the one without a question lists."""


@pytest.fixture
def serve(server: Servers) -> Serve:
    """`with serve(3) as http`: a server that may have so many readers, in a process whose children can be seen if it
    may have some."""

    @contextmanager
    def run(workers: int, *arguments: str) -> Iterator[Http]:
        flags = ("--workers", str(workers), "--http-rate", "1000000", *arguments)
        with started(server, *flags, program=warm.cold if workers > 1 else warm.program) as http:
            yield http

    return run


def metric(http: Http, name: str) -> float:
    values = dict(
        line.rsplit(" ", 1)
        for line in httpx2.get(http.base("/metrics"), timeout=60).text.splitlines()
        if not line.startswith("#")
    )
    return float(values[f"memory_server_{name}"])


async def with_readers(http: Http, client: Client, number: int) -> list[psutil.Process]:
    """Search at the same time until so many readers are ready."""

    async def are_ready() -> bool:
        async with anyio.create_task_group() as tasks:
            for _ in range(2 * number):
                tasks.start_soon(partial(call, client, "memory_search", query="nothing of all this"))
        return metric(http, "readers") == number

    await eventually(are_ready, f"{number} readers are ready", 60)
    children: list[psutil.Process] = psutil.Process(http.process.pid).children()
    return children


async def answer(client: Client, tool: str, arguments: dict[str, Any]) -> object:
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    return result.is_error, result.structured_content, result.content


async def fill_some(client: Client) -> None:
    for number, oil in enumerate(["whale oil", "colza oil", "lard", "kerosene", "gas"]):
        text = f"The lamp of lighthouse {number} burns {oil} since {1780 + 20 * number}"
        await call(client, "memory_store", content=text, type="learning" if number % 2 else "decision")
        await call(client, "write_memory", key=f"lamp.oil{number}", value=oil)
    await call(
        client,
        "register_memory",
        message="Which oil for the lamp?",
        summary="We chose colza oil for the lamp",
    )


@pytest.mark.both_stores
async def test_readers_answer_as_the_server_itself_does(serve: Serve) -> None:
    with serve(1) as http:
        async with http.client() as client:
            await fill_some(client)
            until(lambda: metric(http, "embeddings_waiting") == 0, "all is embedded")
    answers, by_readers = [], []
    for workers in (1, 2):
        with serve(workers, "--read-only") as http:
            async with http.client(project="shop") as client:
                if workers > 1:
                    await with_readers(http, client, workers)
                before = metric(http, "calls_by_readers_total")
                answers.append([await answer(client, *asked) for asked in ASKED])
                by_readers.append(metric(http, "calls_by_readers_total") - before)
    assert answers[0] == answers[1]
    assert "All since 2020-01-01." in str(answers[1][4])
    assert by_readers == [0, len(ASKED)]


async def test_a_session_sees_at_once_what_it_stores_and_what_its_searches_count(
    serve: Serve, sqlite: Sqlite
) -> None:
    with serve(2) as http:
        async with http.client() as client:
            await with_readers(http, client, 2)
            for number in range(5):
                stored = await call(
                    client, "memory_store", content=f"Beacon {number} is grey", type="learning", project=""
                )
                counts = []
                for _ in range(2):
                    hits = await call(client, "memory_search", query=f"Beacon {number}", limit=1)
                    assert [hit["id"] for hit in hits["results"]] == [stored["id"]]
                    (memory,) = (await call(client, "memory_get", ids=[stored["id"]]))["memories"]
                    counts.append(memory["access_count"])
                assert counts == [1, 2]
            await call(client, "memory_search", query="Beacon 4", limit=1)
            assert http.end() == 0
    assert sqlite(http.servers.db, f"SELECT access_count FROM memories WHERE id = {stored['id']}") == "3"


async def test_two_people_at_once_never_get_each_others_memories(serve: Serve) -> None:
    with serve(2) as http:
        tokens = [
            token(http.servers, name, "--project", of) for name, of in (("ana", "shop"), ("bob", "blog"))
        ]
        async with AsyncExitStack() as stack:
            ana, bob = [await stack.enter_async_context(http.client(bearer)) for bearer in tokens]
            prey = await fill(ana)
            await with_readers(http, bob, 2)
            hers, his = list[str](), list[tuple[str, list[str]]]()

            async def hunt() -> None:
                for tool in sorted(CARRIED):
                    for arguments in READS[tool](prey):
                        his.append((tool, leaks(await told(bob, tool, arguments), [arguments], "bob")))

            async def look() -> None:
                while len(his) < 20:
                    hers.append(await told(ana, "memory_search", {"query": HUNT, "limit": 50}))

            before = metric(http, "calls_by_readers_total")
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(hunt)
                tasks.start_soon(look)
            assert metric(http, "calls_by_readers_total") - before == len(hers) + len(his)
    assert [found for found in his if found[1]] == []
    assert all(OWN[0] in text for text in hers)


async def test_what_a_reader_does_when_it_is_killed_the_server_does_itself(serve: Serve) -> None:
    with serve(2) as http:
        async with http.client() as client, http.client() as other:
            await call(client, "memory_store", content="The lamp burns colza oil", type="decision")
            readers = await with_readers(http, client, 2)
            for reader in readers:
                reader.suspend()
            texts = list[str]()

            async def search() -> None:
                texts.append(await told(client, "memory_search", {"query": "lamp"}))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(search)
                running = 'calls_running{of="calls"}'
                until_it_runs = partial(anyio.to_thread.run_sync, lambda: metric(http, running) == 1)
                await eventually(until_it_runs, "the call runs")
                assert texts == []
                for reader in readers:
                    reader.kill()
            assert "colza" in texts[0]
            pids = {reader.pid for reader in readers}
            assert not pids & {reader.pid for reader in await with_readers(http, other, 2)}


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGKILL])
async def test_no_reader_outlives_the_server(serve: Serve, by: signal.Signals) -> None:
    with serve(2) as http:
        async with http.client() as client:
            readers = await with_readers(http, client, 2)
        family = [process for reader in readers for process in (reader, *reader.children(recursive=True))]
        readers[1].suspend()
        http.end(by)
        until(lambda: not any(map(_runs, family)), "no process is left")


def _runs(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
