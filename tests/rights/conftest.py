"""A server with three people, in the process of the test: ana and cyn have the project `shop`, bob has `blog`."""

from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_types import Implementation

from memory_server import app
from memory_server.app import Services
from memory_server.call import acting
from memory_server.domain.caller import Caller, Person
from memory_server.mcp import listed
from memory_server.mcp.offers import offers
from memory_server.mcp.server import MemoryServer
from memory_server.mcp.tool import Tool
from memory_server.mcp.toolsets import toolsets
from memory_server.mcp.work import Work
from memory_server.project import Project
from memory_server.settings import Settings
from memory_server.sqlite.database import Database as File
from memory_server.sqlite.rights import RIGHTS
from memory_server.storage.database import Database
from tests.conftest import new_place

SHOP, BLOG = Project("shop", "shop"), Project("blog", "blog")

SESSION = "the same session"
"""Everybody names the same: it must not matter."""

PEOPLE: Mapping[str, tuple[Person, Project]] = {
    "ana": (Person("ana", frozenset({"shop"})), SHOP),
    "bob": (Person("bob", frozenset({"blog"})), BLOG),
    "cyn": (Person("cyn", frozenset({"shop"})), SHOP),
    "eve": (Person("eve", None), SHOP),
    "max": (Person("max", frozenset({"shop"}), reads_only=True), SHOP),
}
"""By the name that their client tells the server."""

Rows = dict[tuple[str, object], tuple[Any, ...]]


@dataclass(frozen=True)
class Team:
    """async with team("ana") as client: ..."""

    services: Services
    server: MemoryServer
    tools: Mapping[str, Tool]

    def __call__(self, name: str, mode: str = "auto") -> AbstractAsyncContextManager[Client]:
        return self._connected(name, mode)

    @asynccontextmanager
    async def _connected(self, name: str, mode: str) -> AsyncIterator[Client]:
        info = Implementation(name=name, version="1")
        async with Client(self.server, client_info=info, mode=mode) as client:
            yield client

    @property
    def database(self) -> Database:
        return self.services.database

    def seen(self, person: Person | None) -> Rows:
        """Every row of every table that a person sees, by its table and its key."""
        with acting.as_(person):
            return {
                (table, row[0] if table not in KEYLESS else row): row
                for table in self.tables
                for row in self.rows(f"SELECT * FROM {table}")
            }

    def embed(self) -> None:
        """Embed what waits, as background work does."""
        with acting.as_(None):
            self.services.queue.work()

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """What a statement gives that both stores understand; of a tenant without the number of the tenant."""
        with self.database.read() as opened:
            tx: Any = opened
            if self.on_file:
                return [tuple(row) for row in tx.rows(sql, values)]
            begin = 1 if sql.startswith("SELECT *") else 0
            return [row[begin:] for row in tx.rows(_sent(sql), values)]

    def value(self, sql: str, *values: Any) -> Any:
        """One value, as the owner reads it."""
        with acting.as_(None):
            return self.rows(sql, *values)[0][0]

    def change(self, sql: str) -> None:
        """One statement of the owner."""
        with acting.as_(None), self.database.write() as opened:
            tx: Any = opened
            tx.execute(sql if self.on_file else _sent(sql))

    @property
    def on_file(self) -> bool:
        return isinstance(self.database, File)

    @property
    def tables(self) -> Collection[str]:
        return RIGHTS if self.on_file else RIGHTS.keys() - OF_FILES


def _sent(sql: str) -> str:
    """A statement as the driver of PostgreSQL takes it."""
    return sql.replace("%", "%%").replace("?", "%s")


OF_FILES = frozenset({"embedding_bits", "memory_overwritten"})
"""Tables that only a file has."""

KEYLESS = frozenset(
    name
    for name in RIGHTS
    if "embed" in name or name in ("memory_counts", "project_keys", "short_term_keywords", "job_problems")
)
"""Tables whose first column is not the key of a row."""


def caller(client: str | None, _: object) -> Caller:
    if client is None or client not in PEOPLE:
        return Caller(client, SESSION, SHOP)
    person, project = PEOPLE[client]
    return Caller("Claude Code", SESSION, project, person)


@pytest.fixture
def team(tmp_path: Path, store: str) -> Any:
    services = app.build(Settings(db=new_place(store, tmp_path), embedder="hashing"), several=True)
    tools = [tool for tools in toolsets(services).values() for tool in tools]
    names = {tool.name: tool for tool in tools}
    work = Work(names, offers(services))
    server = MemoryServer(listed.chosen(services.settings), work, caller, "ERROR")
    with acting.as_(None):
        services.queue.work()
        yield Team(services, server, names)
        services.close()
