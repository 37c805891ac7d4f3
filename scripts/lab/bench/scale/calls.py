"""The real server through the official client: calls of each kind on files of each size, and hooks."""

import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import anyio
import hooks
from show.pages import ROOT
from show.results import AT_REST, CPU, IN_USE, OURS, SEARCH, STORE, WALL, Measured, times

from memory_server.front import running
from scale import texts
from scale.clients import Connected, Spent, connected
from scale.effort import Effort
from scale.files import existing_key
from scale.texts import LARGE, SMALL, Text

FIRST = "start to the first answer by meaning"
FIRST_TEN = "memory_search, the first ten of a process"
TEN = 10
FILE = "the file"
SMALL_PROJECT = "memory_search, small project"
"""The project holds 0.8 % of the memories."""


def command(db: Path, embedder: str) -> list[str]:
    """The server from this repository."""
    return [
        sys.executable, "-m", "memory_server",
        "--db", str(db), "--embedder", embedder, "--project", LARGE, "--log-level", "ERROR",
    ]  # fmt: skip


def environment() -> dict[str, str]:
    return {"PYTHONPATH": str(ROOT)}


async def measured(db: Path, size: int, embedder: str, effort: Effort) -> AsyncIterator[Measured]:
    """All that is measured through the server on a file of this size, which grows by the calls that write."""
    yield Measured(OURS, FILE, size, {"bytes a memory": round(db.stat().st_size / size)})

    def engines() -> list[int]:
        return [engine.pid for engine in running.of(db) if engine.pid is not None]

    async with connected(command(db, embedder), environment(), engines) as server:
        await _first_by_meaning(server)
        cpu, wall = server.since_start()
        yield Measured(OURS, FIRST, size, {CPU: round(1000 * cpu), WALL: round(1000 * wall)})
        yield Measured(OURS, AT_REST, size, {"MB": round(server.resident_mb())})
        asked = texts.questions(4 * effort.asked + TEN)[-TEN:]
        first = [await server.spent("memory_search", {"query": question}) for question in asked]
        yield Measured(OURS, FIRST_TEN, size, times(first))
        await server.idle()
        for what, (tool, calls) in _kinds(size, effort.asked).items():
            spent = [await server.spent(tool, arguments) for arguments in calls]
            yield Measured(OURS, what, size, times(spent[effort.warm :]))
        yield Measured(OURS, IN_USE, size, {"MB": round(server.resident_mb())})


def hooked(db: Path, size: int, effort: Effort) -> Iterator[Measured]:
    """A process for each event, without a server."""
    for event in ("SessionStart", "UserPromptSubmit"):
        spent = [_event(event, db, question) for question in texts.questions(effort.cold + effort.events)]
        yield Measured(OURS, f"hook {event}, the process", size, times(spent[effort.cold :]))


def stored(text: Text) -> dict[str, Any]:
    """The arguments of `memory_store`."""
    return {
        "content": text.content,
        "type": text.type.value,
        "project": text.project,
        "importance": text.importance,
        "tags": list(text.tags),
    }


async def _first_by_meaning(server: Connected) -> None:
    with anyio.fail_after(120):
        while True:
            answer = await server.call("memory_search", {"query": texts.questions(1)[0]})
            if "degraded" not in answer:
                return
            await anyio.sleep(0.02)


def _kinds(size: int, count: int) -> dict[str, tuple[str, list[dict[str, Any]]]]:
    """Of each kind of call its tool and the arguments of so many: no two kinds ask the same questions."""
    asked = texts.questions(4 * count)
    numbers = range(count)
    return {
        SEARCH: ("memory_search", [{"query": each} for each in asked[0::4]]),
        "memory_search, by words": (
            "memory_search",
            [{"query": each, "mode": "keyword"} for each in asked[1::4]],
        ),
        SMALL_PROJECT: ("memory_search", [{"query": each, "project": SMALL} for each in asked[2::4]]),
        "recall": ("recall", [{"query": each} for each in asked[3::4]]),
        "memory_get": ("memory_get", [{"ids": [1 + 7 * number % size]} for number in numbers]),
        "read_memory, a fact": ("read_memory", [{"key": existing_key(number, size)} for number in numbers]),
        "memory_stats": ("memory_stats", [{} for _ in numbers]),
        "smart_resume": ("smart_resume", [{} for _ in numbers]),
        STORE: ("memory_store", [stored(text) for text in texts.first(count, after=size)]),
        "write_memory, a fact": (
            "write_memory",
            [{"key": f"current.n{number}", "value": asked[number]} for number in numbers],
        ),
    }


def _event(event: str, db: Path, prompt: str) -> Spent:
    sent = {"cwd": str(db.parent), "source": "startup", "prompt": prompt, "session_id": prompt}
    return hooks.run(["-m", "memory_server", "hook", event, "--db", str(db), "--project", LARGE], sent)
