"""The assistant's side: the server as a process of its own, called with the official client."""

import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters, stdio_client
from mcp_types import Implementation

from memory_server import __version__
from memory_server.demo.log import Entry
from memory_server.settings import Settings

PATIENCE = 120.0
"""Seconds that a call may take before the demo gives up."""


class Refused(Exception):
    """The server answered a call with an error, or against its own schema; the text says what."""


@dataclass(frozen=True, slots=True)
class Server:
    """The running server; times are what the client waits, in milliseconds."""

    client: Client

    async def store(self, entry: Entry, related_to: int | None = None) -> tuple[dict[str, Any], float]:
        """Stores in the entry's project, or in none: the folder in which the demo runs is not meant."""
        arguments: dict[str, Any] = entry.model_dump(exclude={"date"}) | {"project": entry.project or ""}
        if entry.date is not None:
            arguments["metadata"] = {"date": entry.date}
        if related_to is not None:
            arguments["relatedTo"] = related_to
        return await self._call("memory_store", arguments)

    async def search(self, query: str, project: str | None, limit: int = 5) -> tuple[dict[str, Any], float]:
        arguments = {"query": query, "limit": limit} | ({"project": project} if project else {})
        return await self._call("memory_search", arguments)

    async def connect(self, source: int, relation: str, target: int) -> None:
        await self._call("graph_connect", {"sourceId": source, "targetId": target, "relation": relation})

    async def explore(self, id: int) -> dict[str, Any]:
        """What lies within two edges."""
        facts, _ = await self._call("graph_explore", {"memoryId": id})
        return facts

    async def write_fact(self, key: str, value: object, scope: str = "project") -> None:
        await self._call("write_memory", {"key": key, "value": value, "scope": scope})

    async def read_fact(self, key: str) -> dict[str, Any] | None:
        facts, _ = await self._call("read_memory", {"key": key})
        fact: dict[str, Any] | None = facts["memory"]
        return fact

    async def register(self, message: str, summary: str) -> None:
        await self._call("register_memory", {"message": message, "summary": summary})

    async def retrieve(self, query: str) -> dict[str, Any]:
        facts, _ = await self._call("retrieve_memories", {"query": query})
        return facts

    async def add_short_term(self, conversation: str, role: str, content: str, timestamp: str) -> None:
        message = {"role": role, "content": content, "timestamp": timestamp}
        await self._call("add_short_term_memory", {"messages": [message], "conversation_id": conversation})

    async def search_short_term(self, conversation: str, content: str) -> dict[str, Any]:
        arguments = {
            "recentMessages": [{"role": "user", "content": content}],
            "conversation_id": conversation,
        }
        facts, _ = await self._call("search_short_term_memories", arguments)
        return facts

    async def add_long_term(self, name: str, prompt: str, trigger: str) -> None:
        await self._call("add_long_term_memory", {"name": name, "prompt": prompt, "trigger": trigger})

    async def search_long_term(self, said: list[str]) -> dict[str, Any]:
        messages = [{"role": "user", "content": content} for content in said]
        facts, _ = await self._call("search_long_term_memories", {"messages": messages})
        return facts

    async def test_trigger(self, trigger: str, at: str) -> dict[str, Any]:
        facts, _ = await self._call("test_trigger", {"trigger": trigger, "at": at})
        return facts

    async def resume(self) -> dict[str, Any]:
        facts, _ = await self._call("smart_resume", {"max_tokens": 300})
        return facts

    async def get(self, ids: list[int]) -> dict[int, dict[str, Any]]:
        """The memories by id, however many."""
        found: dict[int, dict[str, Any]] = {}
        for start in range(0, len(ids), 20):
            facts, _ = await self._call("memory_get", {"ids": ids[start : start + 20]})
            found |= {memory["id"]: memory for memory in facts["memories"]}
        return found

    async def all_embedded(self) -> str | None:
        """Waits until every memory has its embedding; gives the reason where there will be none."""
        with anyio.move_on_after(PATIENCE):
            while True:
                facts, _ = await self._call("memory_stats", {})
                embeddings = facts["embeddings"]
                if embeddings.get("problem"):
                    return str(embeddings["problem"])
                if embeddings["waiting"] == 0:
                    return None
                await anyio.sleep(0.1)
        return f"after {PATIENCE:.0f} s some memories still wait for their embedding"

    async def _call(self, tool: str, arguments: dict[str, Any]) -> tuple[dict[str, Any], float]:
        started = time.perf_counter()
        try:
            result = await self.client.call_tool(tool, arguments)
        except RuntimeError as error:  # how the client says that an answer breaks the tool's own schema
            raise Refused(str(error).partition("\n")[0]) from error
        took = 1000 * (time.perf_counter() - started)
        if result.is_error:
            raise Refused(" ".join(block.text for block in result.content if block.type == "text"))
        return result.structured_content, took


def command(db: Path, settings: Settings) -> list[str]:
    """What starts the server on this file, with the settings that matter here."""
    flags = ["--db", str(db), "--embedder", settings.embedder, "--log-level", settings.log_level]
    return [
        sys.executable,
        "-m",
        "memory_server",
        *flags,
        *(["--allow-secrets"] if settings.allow_secrets else []),
    ]


@asynccontextmanager
async def started(command: list[str], name: str = "memory-server demo") -> AsyncIterator[Server]:
    """Starts the server for a client of this name; ends it when left."""
    parameters = StdioServerParameters(command=command[0], args=command[1:])
    about = Implementation(name=name, version=__version__)
    async with Client(stdio_client(parameters), read_timeout_seconds=PATIENCE, client_info=about) as client:
        yield Server(client)
