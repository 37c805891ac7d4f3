"""Servers over HTTP: official clients with a token each, a page that looks for changes, a stream that hears of them."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import httpx2
from http_server import port_of
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Implementation
from torture.wire import PATIENCE, ROOT, Answer, Silent

from failover.gates import LOOPBACK
from memory_server.call import acting
from memory_server.domain.caller import Caller
from memory_server.domain.token import TokenDraft
from memory_server.services.tokens import TokenService
from memory_server.stores import at, clock
from memory_server.where import Postgres

ERAS = ("legacy", "2026-07-28")

LOOK = 1.5
"""Seconds between two looks of a page, as page.js has it."""

BEAT = 0.1
"""Seconds between two looks whether this program stands still."""

CONNECTING = 120.0
"""Seconds in which all clients of a server are connected."""

Result = TypeVar("Result")


def make_tokens(place: Postgres, names: Sequence[str]) -> list[str]:
    """Make a token for each person; the first one makes the schema."""
    database = at(place, clock)
    with acting.as_(None):
        tokens = [TokenService(database, os.urandom).add(TokenDraft(name), Caller())[0] for name in names]
    database.close()
    return tokens


class Loop:
    """An event loop in a thread, for all clients."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._stall = 0.0
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self.begin(self._beat())

    def take_stall(self) -> float:
        """Return the longest time for which this program stood still since the last time, on a busy machine."""
        stall, self._stall = self._stall, 0.0
        return stall

    async def _beat(self) -> None:
        while True:
            at = time.monotonic()
            await asyncio.sleep(BEAT)
            self._stall = max(self._stall, time.monotonic() - at - BEAT)

    def run(self, work: Coroutine[Any, Any, Result], seconds: float) -> Result:
        """Raises TimeoutError: it took longer."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(seconds)

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop)


class HttpServer:
    """`memory-server serve --http`, with as many clients as tokens; the last token is that of its page and stream."""

    def __init__(
        self, place: Postgres, folder: Path, number: int, tokens: Sequence[str], rate: int, loop: Loop
    ) -> None:
        """`rate`: requests of a token in a minute."""
        self.log = folder / "server.log"
        self.stamp = ""
        """The number of writes that its page saw last."""
        self.changes = 0
        self.told = 0
        """How often its stream has been told of them."""
        self.faults: list[str] = []
        """What ended that should not."""
        self.loop = loop
        self._key = f"failover.{number}"
        self._clients: list[Client] = []
        self._ends = False
        self.process = self._started(place, folder, rate)
        self._base = f"http://{LOOPBACK}:{port_of(self.process, self.log, 0)}"
        try:
            self._connect(tokens)
        except RuntimeError:
            self.kill()
            raise

    def _connect(self, tokens: Sequence[str]) -> None:
        *writers, watcher = tokens
        for place_in_order, token in enumerate(writers):
            self.loop.begin(self._stay(token, ERAS[place_in_order % len(ERAS)]))
            self._await(lambda: len(self._clients) > place_in_order, "a client is connected")  # noqa: B023
        self.loop.begin(self._look(watcher))
        self.loop.begin(self._hear(watcher))
        self._await(lambda: len(self._clients) == len(tokens), "the stream is open")

    def _started(self, place: Postgres, folder: Path, rate: int) -> "subprocess.Popen[bytes]":
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("MEMORY_", "CLAUDE_"))
        }
        home = {name: str(folder) for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")}
        command = [sys.executable, "-m", "memory_server", "serve", "--http", "0", "--db", place.given]
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [*command, "--embedder", "hashing", "--http-rate", str(rate)], stdin=subprocess.DEVNULL, stderr=log,
                stdout=log, cwd=folder, env={**kept, **home, "PYTHONPATH": str(ROOT)},
            )  # fmt: skip

    def call(self, tool: str, arguments: dict[str, Any], client: int) -> Answer:
        """Raises Silent: there is no answer."""
        try:
            return self.loop.run(_called(self._clients[client], tool, arguments), PATIENCE + 5)
        except TimeoutError:
            raise Silent(f"no answer in {PATIENCE:.0f} s to {tool}") from None

    def change(self) -> list[str]:
        """Change what the stream watches, as the person of the stream; return why that is refused."""
        self.changes += 1
        fact = {"key": self._key, "value": self.changes, "scope": "shared"}
        answer = self.call("write_memory", fact, -1)
        return [answer] if isinstance(answer, str) else []

    def kill(self) -> None:
        self._ends = True
        self.process.kill()
        self.process.wait()

    async def _stay(self, token: str, era: str) -> None:
        """Connect a client, and keep it."""
        try:
            async with _client(self._base, token, era) as client:
                await (
                    client.list_tools()
                )  # it would ask for them behind its first call, and fail where they are refused
                self._clients.append(client)
                while not self._ends:
                    await asyncio.sleep(1)
        except Exception as error:
            self._report("a client", error)

    async def _look(self, token: str) -> None:
        """Look for changes as an open page does."""
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(timeout=PATIENCE, headers=headers) as http:
            while not self._ends:
                with suppress(httpx2.TransportError):
                    answer = await http.get(f"{self._base}/stamp")
                    self.stamp = answer.text if answer.status_code == 200 else self.stamp
                await asyncio.sleep(LOOK)

    async def _hear(self, token: str) -> None:
        """Listen to what `change` changes, by a client that makes the change too."""
        address = f"memory://fact/shared/{self._key}"
        try:
            async with (
                _client(self._base, token, ERAS[1]) as client,
                client.listen(resource_subscriptions=[address]) as stream,
            ):
                self._clients.append(client)
                async for _ in stream:
                    self.told += 1
        except Exception as error:
            self._report("the stream", error)

    def _report(self, what: str, error: Exception) -> None:
        if not self._ends:
            self.faults.append(f"{self._key}: {what} ended: {type(error).__name__} {error}")

    def _await(self, is_so: Any, what: str) -> None:
        end = time.monotonic() + CONNECTING
        while not is_so():
            if self.faults or time.monotonic() > end:
                raise RuntimeError(f"after {CONNECTING} s not: {what}: {self.faults}")
            time.sleep(0.02)


def _client(base: str, token: str, era: str) -> Any:
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE)
    transport = streamable_http_client(f"{base}/mcp", http_client=http)
    info = Implementation(name="failover", version="1")
    return Client(transport, mode=era, client_info=info, read_timeout_seconds=PATIENCE)


async def _called(client: Client, tool: str, arguments: dict[str, Any]) -> Answer:
    try:
        result = await client.call_tool(tool, arguments)
    except MCPError as error:
        return str(error)
    if result.is_error:
        return str(result.content[0].text)  # type: ignore[union-attr]
    facts: dict[str, Any] = result.structured_content or {}
    return facts
