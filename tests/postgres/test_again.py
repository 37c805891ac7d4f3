"""A call that PostgreSQL has rolled back because of another program is repeated, if nothing of it is committed."""

import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from memory_server import app
from memory_server.call import again, deadline
from memory_server.domain.caller import Caller
from memory_server.errors import Mend, Undone
from memory_server.mcp.tool import Tool
from memory_server.mcp.toolsets import toolsets
from memory_server.postgres.database import Database
from memory_server.settings import Settings
from memory_server.where import Postgres
from tests.conftest import Clock, until
from tests.postgres_server import new_database

CALLER = Caller("tests", "s1")

TEXT = "The ferry leaves at noon"

PATIENCE = 3
"""Seconds after which a connection of the server looks whether it waits in a circle; that of the person never does."""


@pytest.fixture
def place() -> Postgres:
    place = Postgres(new_database())
    with psycopg.connect(place.url, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(f"ALTER DATABASE {name} SET deadlock_timeout = '{PATIENCE}s'".encode())
    return place


@pytest.fixture
def tools(place: Postgres) -> Iterator[dict[str, Tool]]:
    """Every tool, without background work."""
    services = app.build(Settings(db=place, embedder="hashing"))
    services.queue.work()
    yield {tool.name: tool for tools in toolsets(services).values() for tool in tools}
    services.close()


class Person:
    """A person at psql, whose transaction stands in the way: it has the words, and will want the memory."""

    def __init__(self, place: Postgres) -> None:
        self._connection = psycopg.connect(place.url)
        self._connection.execute("SET deadlock_timeout = '1h'")
        self._connection.execute("SET search_path = memory_server")
        self._connection.execute("LOCK TABLE memory_history IN ACCESS EXCLUSIVE MODE")
        self._thread = threading.Thread(target=self._close_the_circle)
        self._watching = psycopg.connect(place.url, autocommit=True, options="-c search_path=memory_server")

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._thread.join()
        self._connection.close()
        self._watching.close()

    def _close_the_circle(self) -> None:
        """Wait for the memory that the server has, while the server waits for the table."""
        waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'memory_history'::regclass"
        until(lambda: self._watching.execute(waiting).fetchone() != (0,), "the server waits")
        self._connection.execute("UPDATE memories SET importance = 9")
        self._connection.commit()


async def called(tools: dict[str, Tool], name: str, **arguments: Any) -> dict[str, Any]:
    found: dict[str, Any] | None = (await tools[name].call(arguments, CALLER)).structured_content
    assert found is not None
    return found


@pytest.mark.anyio
async def test_a_deadlock_is_not_told_to_a_client(place: Postgres, tools: dict[str, Tool]) -> None:
    stored = await called(tools, "memory_store", content=TEXT, type="decision")
    with Person(place):
        changed = await called(tools, "memory_update", id=stored["id"], content=f"{TEXT} and at six")
    assert changed["content"] == f"{TEXT} and at six"
    (whole,) = (await called(tools, "memory_get", ids=[stored["id"]]))["memories"]
    assert (whole["importance"], whole["earlier"]) == (9, [TEXT])


@pytest.mark.anyio
async def test_a_call_of_which_a_part_is_committed_is_not_repeated(
    place: Postgres, tools: dict[str, Tool], clock: Clock
) -> None:
    stored = await called(tools, "memory_store", content=TEXT, type="decision")
    database = Database(place, clock)
    times = []

    def write_twice() -> None:
        times.append(1)
        with database.write() as tx:
            tx.memories.mark_accessed([stored["id"]])
        with database.write() as tx:
            tx.send("UPDATE memories SET content = 'x'")

    with Person(place), pytest.raises(Undone, match="Nothing was written") as error:
        again.whole(write_twice)
    assert error.value.problem.hints[0].mend is Mend.TRY_AGAIN
    assert len(times) == 1
    database.close()


def test_a_call_whose_connection_an_administrator_ends_is_repeated(place: Postgres, clock: Clock) -> None:
    database = Database(place, clock)
    ended: list[int] = []

    def look() -> int:
        with database.read() as tx:
            pid = int(tx.value("SELECT pg_backend_pid()"))
            if not ended:
                with psycopg.connect(place.url) as administrator:
                    administrator.execute("SELECT pg_terminate_backend(%s)", (pid,))
                ended.append(pid)
            return int(tx.value("SELECT pg_backend_pid()"))

    assert again.whole(look) not in ended
    database.close()


def test_a_call_is_repeated_a_few_times_and_no_longer_than_it_may_take() -> None:
    times = []

    def undone() -> None:
        times.append(1)
        raise Undone("in the way")

    with pytest.raises(Undone), deadline.within(0):
        again.whole(undone)
    assert len(times) == 1
    with pytest.raises(Undone):
        again.whole(undone)
    assert len(times) == 1 + again.TIMES
