"""Servers as clients use them: the official client over stdio, and what the process of the server has spent."""

import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, get_default_environment, stdio_client
from mcp_types import CallToolResult
from server import cpu_seconds, cpu_seconds_with_children, resident_mb

LOOK = 0.5
"""Seconds between two looks whether a server is idle: three in a row must find it so."""

QUIET = 0.03
"""Share of a core below which a server counts as idle."""

Spent = tuple[float, float]
"""Seconds of the server's CPU, and of wall time as the client sees it."""


class RefusedError(Exception):
    """A server answered an error."""


@dataclass(frozen=True, slots=True)
class Connected:
    """A server that has listed its tools. `start` is what that took from the start of the process; `engines` finds the
    processes that do its work and that it does not have as its children.
    """

    client: Client
    pid: int
    start: Spent
    began: float
    engines: Callable[[], list[int]]

    async def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The structured answer, empty where there is none.

        Raises:
            RefusedError: it is an error.
        """
        result = await self.client.call_tool(tool, arguments)
        if not isinstance(result, CallToolResult) or result.is_error:
            raise RefusedError(f"{tool}: {result}")
        answer: dict[str, Any] = result.structured_content or {}
        return answer

    async def spent(self, tool: str, arguments: dict[str, Any]) -> Spent:
        """What one call takes."""
        cpu, wall = self._cpu(), time.perf_counter()
        await self.call(tool, arguments)
        return self._cpu() - cpu, time.perf_counter() - wall

    async def idle(self) -> None:
        """Wait until the server has loaded what it loads in the background, half a minute at most.

        The last of it begins a second after the start.
        """
        quiet = 0
        for _ in range(60):
            before = self._cpu()
            await anyio.sleep(LOOK)
            quiet = quiet + 1 if self._cpu() - before < LOOK * QUIET else 0
            if quiet == 3:
                return

    def since_start(self) -> Spent:
        return self._cpu(), time.perf_counter() - self.began

    def resident_mb(self) -> float:
        return sum(map(resident_mb, [self.pid, *self.engines()]))

    def _cpu(self) -> float:
        """The CPU time of what the client has started, and of the engine that does its work."""
        return sum(map(cpu_seconds_with_children, [self.pid, *self.engines()]))


@asynccontextmanager
async def connected(
    command: Sequence[str], env: Mapping[str, str], engines: Callable[[], list[int]] = list
) -> AsyncIterator[Connected]:
    """Start a server with these variables beside the usual ones, and connect the official client."""
    with TemporaryDirectory(prefix="bench-pid-") as folder:
        pid, log = Path(folder) / "pid", Path(folder) / "log"
        parameters = StdioServerParameters(
            command="/bin/sh",
            args=["-c", 'echo $$ > "$0"; exec "$@"', str(pid), *command],
            env={**get_default_environment(), **env},
            cwd=folder,
        )
        with log.open("w", encoding="utf-8") as errors:
            began = time.perf_counter()
            async with Client(stdio_client(parameters, errlog=errors), read_timeout_seconds=120) as client:
                await client.list_tools()
                wall, number = time.perf_counter() - began, int(pid.read_text())
                yield Connected(client, number, (cpu_seconds(number), wall), began, engines)
