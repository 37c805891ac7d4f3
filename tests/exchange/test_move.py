"""`memory-server copy --move`: a tenant moves into another database while it is used, and after a kill at each step."""

import os
import random
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path

import anyio
import anyio.from_thread
import anyio.to_thread
import psycopg
import pytest

from memory_server import app
from memory_server.call import again
from memory_server.domain.caller import Caller
from memory_server.domain.memory import MemoryDraft, MemoryType
from memory_server.errors import MemoryServerError, Unavailable
from memory_server.postgres.copied import Copied
from memory_server.postgres.database import Database
from memory_server.postgres.filling import Filling
from memory_server.postgres.leaving import Leaving
from memory_server.project import NONE
from memory_server.settings import Settings
from memory_server.storage.columns import TABLES
from memory_server.stores import clock
from memory_server.transfer import moving
from memory_server.where import Postgres
from tests import warm
from tests.conftest import ROOT, rounds, until
from tests.exchange.conftest import Run
from tests.postgres_server import new_database
from tests.storage.replay import Side, calls, difference

CALLER = Caller("tests", "s1", NONE)


@pytest.fixture
def source() -> Postgres:
    return Postgres(new_database(), "shop")


@pytest.fixture
def target() -> Postgres:
    return Postgres(new_database(), "shop")


class Server:
    """A server whose writers store notes without a pause, and remember those that were acknowledged."""

    def __init__(self, place: Postgres, name: str) -> None:
        self.services = app.build(Settings(db=place, embedder="hashing"))
        self.services.queue.go_without()
        self.name = name
        self.acknowledged: list[str] = []
        self.refused: list[str] = []
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._write)

    def _write(self) -> None:
        number = 0
        while not self._ending.is_set():
            number += 1
            note = f"note {number} of {self.name}"
            try:
                again.whole(partial(self.store, note))
            except MemoryServerError as error:
                self.refused.append(str(error))
            else:
                self.acknowledged.append(note)

    def store(self, note: str) -> None:
        with self.services.database.write() as tx:
            tx.memories.insert(MemoryDraft(note, MemoryType.LEARNING), CALLER)

    def end(self) -> None:
        self._ending.set()
        self._thread.join()
        self.services.close()


@contextmanager
def servers(place: Postgres) -> Iterator[list[Server]]:
    """Two servers that are used."""
    running = [Server(place, name) for name in ("one", "two")]
    for server in running:
        server._thread.start()
    until(lambda: all(server.acknowledged for server in running), "both write")
    try:
        yield running
    finally:
        for server in running:
            server.end()


def notes(place: Postgres) -> list[str]:
    with psycopg.connect(place.url) as connection:
        rows = connection.execute(
            """
            SELECT content FROM memory_server.memories
            WHERE tenant_id = (SELECT id FROM memory_server.tenants WHERE name = %s) AND content LIKE 'note %%'
            """,
            (place.tenant,),
        )
        return sorted(content for (content,) in rows)


def problems(place: Postgres) -> list[str]:
    database = Database(place, clock)
    found = database.problems()
    database.close()
    return found


def test_servers_go_along_with_a_tenant_that_moves_and_no_write_is_lost_or_doubled(
    source: Postgres, target: Postgres, run: Run
) -> None:
    with servers(source) as running:
        done = run(Path("unused.db"), "copy", "--move", source.given, target.given)
        assert (done.err, done.code) == ("", 0)
        before = [len(server.acknowledged) for server in running]
        until(
            lambda: all(
                len(server.acknowledged) > number for server, number in zip(running, before, strict=True)
            ),
            "both write in the new database",
        )
    assert [server.refused for server in running] == [[], []]
    assert notes(target) == sorted(note for server in running for note in server.acknowledged)
    assert len(notes(source)) < len(notes(target))
    assert problems(target) == []
    assert problems(source) == []  # who still has the old address is led to the new one
    assert run(Path("unused.db"), "copy", "--move", source.given, target.given).code == 0
    other = Postgres(new_database(), "shop")
    assert f"has moved to {target}" in run(Path("unused.db"), "copy", "--move", source.given, other.given).err


STEPS = [
    "Filling.begin",
    "Filling.put",
    "Filling.prepare",
    "Filling.check",
    "Filling.mark",
    "Filling.changed",
    "Filling.replace",
    "Filling.complete",
    "Filling.complete after",
    "Filling.open",
    "Filling.open after",
]

KILLED_AT = """
import os, signal, sys
from memory_server.__main__ import main
from memory_server.postgres.filling import Filling

name, _, after = os.environ["STEP"].removeprefix("Filling.").partition(" ")
do = getattr(Filling, name)

def killed(*arguments):
    if after:
        do(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)

setattr(Filling, name, killed)
sys.exit(main())
"""


@pytest.mark.parametrize("step", STEPS)
def test_a_move_that_is_killed_at_any_step_goes_on_and_loses_nothing(
    source: Postgres, target: Postgres, run: Run, user_folders: dict[str, str], tmp_path: Path, step: str
) -> None:
    with servers(source) as running:
        killed = subprocess.run(
            warm.text(KILLED_AT, "copy", "--move", source.given, target.given),
            env={**os.environ, **user_folders, "PYTHONPATH": str(ROOT), "STEP": step},
            cwd=tmp_path, capture_output=True, check=False, timeout=120,
        )  # fmt: skip
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        before = [len(server.acknowledged) for server in running]
        until(
            lambda: all(
                len(server.acknowledged) > number for server, number in zip(running, before, strict=True)
            ),
            "both write after the kill, without anybody's help",
        )
        done = run(Path("unused.db"), "copy", "--move", source.given, target.given)
        assert (done.err, done.code) == ("", 0)
    assert [server.refused for server in running] == [[], []]
    assert notes(target) == sorted(note for server in running for note in server.acknowledged)
    assert problems(target) == []


def test_a_move_that_fails_while_the_writes_wait_is_given_up_and_the_writes_go_on(
    source: Postgres, target: Postgres
) -> None:
    class Failing(Filling):
        def complete(self, highest_ids: object) -> None:
            raise Unavailable("the disk is full")

    with servers(source) as running:
        with pytest.raises(Unavailable, match="disk is full"):
            moving.move(Leaving(source, clock), str(source), Failing(target, clock), str(target))
        before = [len(server.acknowledged) for server in running]
        until(
            lambda: all(
                len(server.acknowledged) > number for server, number in zip(running, before, strict=True)
            ),
            "both go on",
        )
    assert notes(source) == sorted(note for server in running for note in server.acknowledged)
    with pytest.raises(Unavailable, match="is an unfinished copy of"):
        Database(target, clock).open()


@pytest.mark.parametrize("seed", range(1, 1 + rounds(2)))
def test_after_a_random_history_with_a_move_in_it_both_databases_are_equal_and_answer_alike(
    source: Postgres, target: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """The same calls on a file, which does not move."""
    anyio.run(replayed, tmp_path / "memory.db", source, target, seed, monkeypatch)


async def replayed(
    file: Path, source: Postgres, target: Postgres, seed: int, patch: pytest.MonkeyPatch
) -> None:
    sides = [Side(where, seed, patch) for where in (file, source)]
    history = calls(random.Random(seed))
    leaving = Leaving(source, clock)

    async def go_on(number: int) -> None:
        for call, caller, later in islice(history, number):
            answers = []
            for side in sides:
                side.clock.advance(seconds=later.total_seconds())
                answers.append(await side.answer(call, caller))
            assert difference(answers[0], answers[1]) is None, call

    class Watched(Filling):
        """Lets the history go on between the passes, and compares all rows at the end."""

        def check(self) -> None:
            super().check()
            anyio.from_thread.run(go_on, 80)

        def mark(self) -> str:
            if not leaving._tx.connection.info.transaction_status:
                anyio.from_thread.run(go_on, 20)
            return super().mark()

        def complete(self, highest_ids: object) -> None:
            super().complete(highest_ids)  # type: ignore[arg-type]
            for table in TABLES:
                rows = Copied(leaving._tx).rows(table, None, None, None)
                assert self.rows(table, None, None, None) == rows, table.name

    try:
        await go_on(80)
        arriving = Watched(target, clock)
        move = partial(moving.move, leaving, str(source), arriving, str(target))
        assert await anyio.to_thread.run_sync(move) is not None
        await go_on(80)
        assert sides[1].services.database.problems() == []
        assert str(sides[1].services.database.place) == str(target)  # type: ignore[attr-defined]
        purge = partial(moving.purge, Leaving(source, clock), Filling(target, clock), str(target))
        assert await anyio.to_thread.run_sync(purge) > 100
        assert rows_of(source) == []
        await go_on(20)
    finally:
        for side in sides:
            side.close()


def rows_of(place: Postgres) -> list[str]:
    """Return the tables that hold a row of the tenant."""
    with psycopg.connect(place.url, options="-c search_path=memory_server") as connection:
        names = connection.execute(
            """
            SELECT relname FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid
            WHERE relnamespace = 'memory_server'::regnamespace AND relkind = 'r' AND attname = 'tenant_id'
            """
        ).fetchall()
        of_tenant = "tenant_id = (SELECT id FROM tenants WHERE name = %s)"
        return [
            name
            for (name,) in names
            if connection.execute(
                f"SELECT EXISTS (SELECT 1 FROM {name} WHERE {of_tenant})".encode(), (place.tenant,)
            ).fetchone()
            == (True,)
        ]


def test_what_a_move_left_behind_is_deleted_on_request_and_who_comes_there_is_led_on(
    source: Postgres, target: Postgres, run: Run
) -> None:
    other = Postgres(source.url, "till")
    for place in (source, other):
        assert run(place.given, "add", "The crane is red").code == 0
    purge = ("copy", "--move", "--purge", source.given, target.given)
    assert "has not moved to" in run(Path("unused.db"), *purge).err
    assert run(Path("unused.db"), "copy", "--move", source.given, target.given).code == 0
    assert "rows deleted" in run(Path("unused.db"), *purge).out
    assert rows_of(source) == []
    for place in (source, other, target):
        assert "The crane is red" in run(place.given, "search", "crane").out
    assert run(Path("unused.db"), *purge).out.startswith(f"{source}: 0 rows deleted")


def test_what_cannot_move_is_told(source: Postgres, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    assert "Only a tenant of PostgreSQL moves" in run(file, "copy", "--move", source.given, file).err
    assert "is both the source and the target" in run(file, "copy", "--move", source.given, source.given).err
    there = run(file, "copy", "--move", source.given, Postgres(source.url, "till").given)
    assert f"There is no tenant shop in {source}" in there.err
