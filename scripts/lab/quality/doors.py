"""The two doors to a store under evaluation: the services in this process, and a server over stdio."""

import dataclasses
import os
import sys
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol
from unittest.mock import patch

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters, stdio_client

from memory_server import app, embedders
from memory_server.demo.stage import call, embedded
from memory_server.domain.caller import Caller
from memory_server.domain.confidence import Signals
from memory_server.domain.embedding import Embedded
from memory_server.domain.memory import Filter, MemoryDraft, MemoryId, MemoryType, Stored
from memory_server.domain.moment import timestamp
from memory_server.domain.similar import Compared
from memory_server.embedding import Embedder
from memory_server.mcp.tools import fields
from memory_server.services import comparing, retrieval, search
from memory_server.services.comparing import WrittenText
from memory_server.services.gathering import KindSearch
from memory_server.services.meaning import Meaning, Unanswered
from memory_server.services.memories import MemoryService
from memory_server.settings import Settings
from memory_server.storage.tx import Tx
from memory_server.where import Postgres
from quality.data import JSON, Memory, Question, Store
from quality.measures import FIRST

ROOT = Path(__file__).resolve().parents[3]

LONGEST_TEXT = fields.MAX_CONTENT
"""Characters of a memory: what is longer is cut, as the tool would refuse it."""

LONGEST_QUESTION = fields.MAX_QUERY

LATER = timedelta(hours=1)
"""After the newest memory of a store, questions are asked that do not say when."""

PATIENCE = 120.0
"""Seconds until one call over stdio counts as lost."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The ids and scores of the hits, best first; times are in ms, `cpu` only where it can be known."""

    hits: list[tuple[int, float]]
    cpu: float | None
    wall: float


class Door(Protocol):
    def store(self, memories: Sequence[Memory]) -> list[int]:
        """Store the memories in order and wait for their embeddings; the id of each in the store."""
        ...

    def ask(self, question: Question, mode: str) -> Answer: ...


class Unmerged(MemoryService):
    """Stores near-duplicates beside each other, so that each memory of a set can be found."""

    __slots__ = ()

    def _compared(self, *_: object) -> Compared:
        return Compared()


class Comparing(MemoryService):
    """Compares each memory with those before it, as a server does, and merges none."""

    __slots__ = ()

    def _compared(self, tx: Tx, written: WrittenText, without: Collection[MemoryId]) -> Compared:
        return dataclasses.replace(comparing.compare(tx, written, self.texts, without), twin=None)


class NoSegmenter:
    """The dictionary serves only the search for near-duplicates; to load it takes a second for each store."""

    def segment(self, text: str) -> list[str]:
        return [text]


def unmerged(service: MemoryService, compared: bool = False) -> MemoryService:
    """The same service, which merges nothing; `compared`: it looks for what a memory may replace all the same."""
    own = {each.name: getattr(service, each.name) for each in dataclasses.fields(MemoryService) if each.init}
    if compared:
        return Comparing(**own)
    return Unmerged(**{**own, "segmenter": NoSegmenter()})


class ServicesDoor:
    """The services on a database of their own. Their clock stands at the moment that a question is asked.

    Accesses are not counted, so that no question changes what the next one finds.
    """

    def __init__(
        self, services: app.Services, set_clock: Callable[[datetime], None], compared: bool = False
    ) -> None:
        self._compared = compared
        self._queue = services.queue
        self._search = dataclasses.replace(services.search, count_access=False)
        self._set_clock = set_clock
        self._memories = unmerged(services.memories, compared)
        self._last = datetime.now(UTC)

    def store(self, memories: Sequence[Memory]) -> list[int]:
        self._last = max((each.time for each in memories if each.time), default=self._last) + LATER
        self._set_clock(self._last)
        ids: list[int] = []
        if self._compared:
            self._queue.warm_up()
        for memory in memories:
            ids.append(stored(self._memories, memory).memory.id)
            if self._compared:  # the next one is compared by meaning
                self._queue.drain()
        self._queue.warm_up()
        self._queue.drain()
        return ids

    def ask(self, question: Question, mode: str) -> Answer:
        self._set_clock(question.asked_at or self._last)
        cpu, wall = time.process_time(), time.perf_counter()
        found = self._search.search(question.text[:LONGEST_QUESTION], Filter(), FIRST, mode, caller=Caller())
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        return Answer([(hit.memory.id, hit.score) for hit in found.hits], 1000 * cpu, 1000 * wall)

    def signals(self, question: Question, mode: str) -> list[tuple[int, Signals]]:
        """What the ranking knows of each candidate, best first."""
        self._set_clock(question.asked_at or self._last)
        text = question.text[:LONGEST_QUESTION]
        kind_search = KindSearch(Embedded.MEMORIES, search.load, Filter(), FIRST, mode, None)

        def ask(tx: Tx, meaning: Meaning | Unanswered) -> list[tuple[int, Signals]]:
            assert isinstance(meaning, Meaning)
            ranked = retrieval.rank_all(tx, text, (kind_search,), None if mode == "keyword" else meaning)
            return [(each.id, each.signals) for each in ranked]

        return self._queue.read(retrieval.questions(text), ask)


def stored(service: MemoryService, memory: Memory) -> Stored:
    """Store one memory of a set, with its time and session where a draft has them."""
    occurred = memory.time and timestamp(memory.time)
    optional: dict[str, Any] = {"session": memory.session, "occurred_at": occurred}
    known = {each.name for each in dataclasses.fields(MemoryDraft)}
    given = {name: value for name, value in optional.items() if name in known}
    text = memory.text[:LONGEST_TEXT]
    draft = MemoryDraft(text, memory_type(memory), project=memory.project, **given)
    return service.store(draft, None, Caller("evaluate", memory.session))


def memory_type(memory: Memory) -> MemoryType:
    """Sets of conversations have types of their own: those become observations."""
    return MemoryType(memory.type) if memory.type in list(MemoryType) else MemoryType.OBSERVATION


@contextmanager
def built(
    embedder: Embedder, postgres: str | None = None
) -> Iterator[tuple[app.Services, Callable[[datetime], None]]]:
    """The services on a temporary file, or a new tenant of a PostgreSQL database; and what sets their clock."""
    now = datetime.now(UTC)

    def set_clock(moment: datetime) -> None:
        nonlocal now
        now = moment

    with (
        TemporaryDirectory(prefix="memory-server-evaluate-") as folder,
        patch.object(embedders, "choose", lambda *_: embedder),
        patch.object(app, "clock", lambda: now),
    ):
        place = Postgres(postgres, uuid.uuid4().hex) if postgres else Path(folder) / "memory.db"
        services = app.build(Settings(db=place, embedder="bundled", allow_secrets=True))
        try:
            yield services, set_clock
        finally:
            services.close(-1)


@contextmanager
def through_services(
    embedder: Embedder, postgres: str | None = None, compared: bool = False
) -> Iterator[Door]:
    """The services on a temporary database."""
    with built(embedder, postgres) as (services, set_clock):
        yield ServicesDoor(services, set_clock, compared)


class McpDoor:
    """A server process, called by the official client. Its clock is the real one, and it counts accesses."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal = portal
        self._client = client
        tools = portal.call(client.list_tools).tools
        schema = next(tool.input_schema for tool in tools if tool.name == "memory_store")
        self._known = frozenset(schema["properties"])

    def store(self, memories: Sequence[Memory]) -> list[int]:
        ids = [int(self._call("memory_store", **self._arguments(memory))["id"]) for memory in memories]
        self._portal.call(embedded, self._client)
        return ids

    def ask(self, question: Question, mode: str) -> Answer:
        began = time.perf_counter()
        found = self._call("memory_search", query=question.text[:LONGEST_QUESTION], limit=FIRST, mode=mode)
        wall = time.perf_counter() - began
        return Answer([(hit["id"], hit["score"]) for hit in found["results"]], None, 1000 * wall)

    def _arguments(self, memory: Memory) -> JSON:
        """What `memory_store` gets: the time and the session where the tool takes them."""
        occurred = memory.time and timestamp(memory.time)
        optional = {"session": memory.session, "occurred_at": occurred, "occurredAt": occurred}
        given = {name: value for name, value in optional.items() if value and name in self._known}
        return {
            "content": memory.text[:LONGEST_TEXT],
            "type": memory_type(memory).value,
            "project": memory.project or "",
            **given,
        }

    def _call(self, tool: str, **arguments: Any) -> JSON:
        async def called() -> JSON:
            return await call(self._client, tool, **arguments)

        return self._portal.call(called)


def connected(folder: Path, *flags: str) -> Client:
    """`async with connected(…) as client` starts a server of this checkout on `memory.db` in the folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MEMORY_", "CLAUDE_"))}
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "memory_server", "--db", f"{folder}/memory.db", *flags],
        env={**kept, "MEMORY_SERVER_ENGINE": "off", "PYTHONPATH": str(ROOT)},
        cwd=folder,
    )
    return Client(stdio_client(server), read_timeout_seconds=PATIENCE)


@contextmanager
def through_mcp(_: Embedder) -> Iterator[Door]:
    """A server of this checkout over stdio, on a temporary database."""
    with TemporaryDirectory(prefix="memory-server-evaluate-") as folder, start_blocking_portal() as portal:
        client = connected(Path(folder), "--embedder", "bundled", "--allow-secrets", "--project", "")
        with portal.wrap_async_context_manager(client):
            yield McpDoor(portal, client)


def names_of(store: Store, ids: Sequence[int]) -> dict[int, tuple[str, ...]]:
    """The memories of a set that each id of the store stands for: several where near-duplicates were merged."""
    names: dict[int, tuple[str, ...]] = {}
    for memory, id in zip(store.memories, ids, strict=True):
        names[id] = (*names.get(id, ()), memory.id)
    return names
