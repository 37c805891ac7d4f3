"""Other memory servers, where they are installed in one folder. Nothing is installed here.

python -m venv FOLDER; FOLDER/bin/pip install mcp-memory-service
npm install --prefix FOLDER @modelcontextprotocol/server-memory

The Python must load extensions of SQLite. The first of them embeds by hashing where it has not downloaded its model.
"""

import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from server import note
from show.results import IN_USE, START, THEIR_SEARCH, THEIR_STORE, Measured, times

from scale import texts
from scale.clients import RefusedError, connected
from scale.effort import Effort
from scale.files import temporary
from scale.texts import Text

MOST = 1000
"""Memories that others get at most: one of them needs 0.1 s for each."""

Call = tuple[str, dict[str, Any]]
"""A tool and its arguments."""


@dataclass(frozen=True, slots=True)
class Peer:
    """Another server. `program` is its path in the folder, `runner` what runs it, if it does not run by itself."""

    name: str
    program: str
    install: str
    store: Callable[[Text, int], Call]
    search: Callable[[str], Call]
    arguments: Sequence[str] = ()
    runner: str | None = None
    environment: Callable[[Path], dict[str, str]] = lambda _: {}

    def command(self, folder: Path) -> list[str] | None:
        """How it is started; None where it is not installed in the folder."""
        runner = [] if self.runner is None else [shutil.which(self.runner)]
        program = folder / self.program
        if not program.exists() or None in runner:
            return None
        return [*(each for each in runner if each), str(program), *self.arguments]


PEERS = (
    Peer(
        "mcp-memory-service",
        "bin/memory",
        "FOLDER/bin/pip install mcp-memory-service",
        lambda text, _: ("memory_store", {"content": text.content, "tags": list(text.tags)}),
        lambda question: ("memory_search", {"query": question, "limit": 10}),
        arguments=("server",),
        environment=lambda folder: {
            "MCP_MEMORY_STORAGE_BACKEND": "sqlite_vec",
            "MCP_MEMORY_SQLITE_PATH": str(folder / "peer.db"),
            "MCP_MEMORY_BASE_DIR": str(folder),
            "MCP_MEMORY_BACKUPS_PATH": str(folder / "backups"),
        },
    ),
    Peer(
        "server-memory",
        "node_modules/@modelcontextprotocol/server-memory/dist/index.js",
        "npm install --prefix FOLDER @modelcontextprotocol/server-memory",
        lambda text, number: (
            "create_entities",
            {
                "entities": [
                    {"name": f"n{number}", "entityType": text.type.value, "observations": [text.content]}
                ]
            },
        ),
        lambda question: ("search_nodes", {"query": question.split()[-1].rstrip("?")}),
        runner="node",
        environment=lambda folder: {"MEMORY_FILE_PATH": str(folder / "peer.jsonl")},
    ),
)


async def measured(folder: Path, size: int, effort: Effort) -> AsyncIterator[Measured]:
    """Start, store and search of each server that is in the folder, beside so many memories, MOST at most."""
    size = min(size, MOST)
    for peer in PEERS:
        command = peer.command(folder)
        if command is None:
            note(f"{peer.name} is left out: it is not in {folder}. To have it: {peer.install}")
            continue
        note(peer.name)
        with temporary() as place:
            for found in await _one_or_none(peer, command, place, size, effort):
                yield found


async def _one_or_none(
    peer: Peer, command: list[str], place: Path, size: int, effort: Effort
) -> list[Measured]:
    """Nothing of a server that refuses a call: the rest of the run is not lost for it."""
    try:
        return [each async for each in _one(peer, command, place, size, effort)]
    except* RefusedError as refused:
        note(f"{peer.name} is left out: {refused.exceptions}")
    return []


async def _one(
    peer: Peer, command: list[str], place: Path, size: int, effort: Effort
) -> AsyncIterator[Measured]:
    environment = peer.environment(place)
    starts = []
    for _ in range(effort.cold + effort.starts):
        async with connected(command, environment) as server:
            starts.append(server.start)
    yield Measured(peer.name, START, 0, times(starts[effort.cold :]))
    added = texts.first(size + effort.calls)
    async with connected(command, environment) as server:
        spent = [await server.spent(*peer.store(text, number)) for number, text in enumerate(added)]
        yield Measured(peer.name, THEIR_STORE, size, times(spent[size:]))
        asked = texts.questions(effort.asked)
        spent = [await server.spent(*peer.search(question)) for question in asked]
        yield Measured(peer.name, THEIR_SEARCH, size, times(spent[effort.warm :]))
        yield Measured(peer.name, IN_USE, size, {"MB": round(server.resident_mb())})
