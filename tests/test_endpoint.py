"""The whole server with an embedder behind an endpoint: it stops, it comes back, and the key is nowhere to be read."""

import os
import subprocess
import time
from collections.abc import Iterator
from typing import Any

import pytest
from mcp import Client

from memory_server import app
from memory_server.services.answering import PATIENCE
from memory_server.settings import Settings
from tests.conftest import Servers, call, eventually
from tests.endpoint import Local, embedded, local_endpoint, stall
from tests.rerankers import tei

KEY = "sk-nobody-may-read-this-1234567890"


@pytest.fixture
def local() -> Iterator[Local]:
    with local_endpoint() as server:
        yield server


@pytest.fixture
def flags(server: Servers, local: Local) -> list[str]:
    """The settings of a server that asks the endpoint. Its key is in the environment."""
    server.env["MEMORY_SERVER_EMBEDDER_KEY"] = KEY
    return ["--embedder", "openai:some-model", "--embedder-url", local.url, "--log-level", "DEBUG"]


async def meaning(client: Client, query: str) -> dict[str, Any]:
    return await call(client, "memory_search", query=query, mode="semantic")


@pytest.mark.anyio
async def test_searches_go_on_by_words_while_the_endpoint_is_away_and_by_meaning_when_it_is_back(
    server: Servers, local: Local, flags: list[str]
) -> None:
    async with server(*flags) as client:

        async def ready() -> bool:
            return "degraded" not in await meaning(client, "anything")

        await eventually(ready, "the endpoint has been asked")
        stored = await call(client, "memory_store", content="The harbour opens at noon", type="learning")
        found = await meaning(client, "harbours opening")
        assert [hit["id"] for hit in found["results"]] == [stored["id"]]
        assert found["embedder"] == "openai:some-model"

        local.answer = stall
        began = time.monotonic()
        found = await call(client, "memory_search", query="harbour")
        assert time.monotonic() - began < PATIENCE + 10
        assert [hit["id"] for hit in found["results"]] == [stored["id"]]
        assert f"found by words only: {local.url} did not answer within 2 s." in found["degraded"]
        assert "--embedder-url" in found["degraded"]

        local.stop()
        second = await call(
            client, "memory_store", content="The lighthouse is white", type="learning", session="other"
        )
        found = await call(client, "memory_search", query="lighthouse")
        assert [hit["id"] for hit in found["results"]] == [second["id"]]
        assert local.url in (await call(client, "memory_stats"))["embeddings"]["problem"]

        local.answer = embedded
        local.start()
        await eventually(ready, "the endpoint is back", 60)
        found = await meaning(client, "lighthouses whitened")
        assert found["results"][0]["id"] == second["id"]
    assert {asked.headers["Authorization"] for asked in local.asked} == {f"Bearer {KEY}"}
    assert KEY not in server.log.read_text()
    assert KEY.encode() not in server.db.read_bytes()


@pytest.mark.parametrize("embedder", ["openai:some-model", "auto"])
def test_the_doctor_says_what_is_wrong_with_the_endpoint_and_tells_no_key(
    server: Servers, local: Local, flags: list[str], embedder: str
) -> None:
    def doctor(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*server.program(*flags, *arguments), "doctor"],
            env={**os.environ, **server.env},
            cwd=server.folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    services = app.build(Settings(db=server.db, embedder=flags[1], embedder_url=local.url))
    services.queue.work()
    services.close()
    done = doctor()
    assert (done.returncode, "openai:some-model" in done.stdout) == (0, True), done.stdout + done.stderr
    local.stop()
    asked = len(local.asked)
    done = doctor("--embedder", embedder)
    assert done.returncode == 1
    if embedder == "auto":
        assert "To use it, start memory-server with --embedder openai:some-model" in done.stdout
        assert len(local.asked) == asked
    else:
        assert f"{local.url} cannot be reached" in done.stdout
        assert "Check that it runs" in done.stdout
    assert KEY not in done.stdout + done.stderr


@pytest.mark.anyio
async def test_the_re_ranker_orders_what_is_found_until_it_is_away_and_the_doctor_says_so(
    server: Servers, local: Local
) -> None:
    local.answer = tei
    server.env["MEMORY_SERVER_RERANKER_KEY"] = KEY
    flags = ["--reranker", "endpoint", "--reranker-url", f"{local.url}/rerank", "--log-level", "DEBUG"]
    async with server(*flags) as client:
        for content in ("The harbour opens at noon", "Gold is at the harbour, which opens later"):
            await call(client, "memory_store", content=content, type="learning")

        async def ordered() -> bool:
            found = await call(client, "memory_search", query="When does the harbour open?")
            return "degraded" not in found and "Gold" in found["results"][0]["content"]

        await eventually(ordered, "the re-ranker has been asked")
        recalled = await call(client, "recall", query="When does the harbour open?")
        assert "Gold" in recalled["answer"].splitlines()[0]
        local.stop()
        found = await call(client, "memory_search", query="When does the harbour open?")
        assert found["results"][0]["content"] == "The harbour opens at noon"
        assert f"ordered without the re-ranker: {local.url} cannot be reached" in found["degraded"]
        assert "--reranker-url" in found["degraded"]
        recalled = await call(client, "recall", query="When does the harbour open?")
        assert "ordered without the re-ranker" in recalled["degraded"]

    def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
        command = [*server.program(*flags), *arguments]
        env = {**os.environ, **server.env}
        return subprocess.run(
            command, env=env, cwd=server.folder, capture_output=True, text=True, timeout=60, check=False
        )

    done = run("doctor")
    assert done.returncode == 1
    assert "re-ranker   endpoint" in done.stdout
    assert f"{local.url} cannot be reached" in done.stdout
    local.start()
    searched = run("search", "When does the harbour open?")
    assert searched.stdout.index("Gold is") < searched.stdout.index("opens at noon"), searched
    sick, done = done, run("doctor")
    assert done.returncode == 0, done.stdout
    assert {asked.headers["Authorization"] for asked in local.asked} == {f"Bearer {KEY}"}
    for text in (server.log.read_text(), sick.stdout + sick.stderr, done.stdout + done.stderr):
        assert KEY not in text


def test_no_key_is_in_the_help(server: Servers, flags: list[str]) -> None:
    done = subprocess.run(
        [*server.command("serve", "--help")],
        env={**os.environ, **server.env},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "--embedder-url" in done.stdout
    assert KEY not in done.stdout
