"""Threads wait in order, a read does not wait for writes, and no call waits longer than it may."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from memory_server.call import deadline
from memory_server.call.places import Places
from memory_server.errors import Unavailable
from memory_server.sqlite import checks
from memory_server.sqlite.database import Database, _Handles
from tests.conftest import Clock, Holder, problems, until

INSERT = "INSERT INTO memories (content, type) VALUES ('x', 'error')"


def test_threads_enter_in_the_order_in_which_they_came() -> None:
    places = Places(1)
    assert places.enter(0)
    entered: list[int] = []

    def come(number: int) -> None:
        places.enter(20)
        entered.append(number)
        places.leave()

    threads = []
    for number in range(8):
        thread = threading.Thread(target=come, args=(number,))
        thread.start()
        threads.append(thread)
        until(lambda: len(places._waiting) == len(threads), "it waits")
    places.leave()
    for thread in threads:
        thread.join()
    assert entered == list(range(8))


def test_a_thread_that_gives_up_leaves_the_queue() -> None:
    places = Places(1)
    assert places.enter(0)
    assert not places.enter(0.01)
    places.leave()
    assert places.enter(0)


def test_a_turn_that_comes_at_the_last_moment_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    places = Places(1)
    assert places.enter(0)

    class Late(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            places.leave()  # the wait is over, and only then the place becomes free
            return False

    with monkeypatch.context() as patched:
        patched.setattr(threading, "Event", Late)
        assert places.enter(0.01)
    assert not places.enter(0)
    places.leave()
    assert places.enter(0)


def test_reads_go_on_behind_writes_that_wait_for_another_program(tmp_path: Path, clock: Clock) -> None:
    database = Database(tmp_path / "memory.db", clock)
    database.open()

    def write() -> None:
        with deadline.within(10), database.write() as tx:
            tx.execute(INSERT)

    with Holder(tmp_path / "memory.db", INSERT):
        writers = [threading.Thread(target=write) for _ in range(3)]
        for writer in writers:
            writer.start()
        until(lambda: len(database._writing._waiting) == 2, "two writes wait behind the first")
        for _ in range(20):
            with database.read() as tx:
                assert tx.value("SELECT count(*) FROM memories") == 0
        assert all(writer.is_alive() for writer in writers)
    for writer in writers:
        writer.join()
    with database.read() as tx:
        assert tx.value("SELECT count(*) FROM memories") == 3
    database.close()


class Counting(Database):
    """A database that counts how often somebody tried to open it."""

    attempts = 0

    def _opened(self) -> _Handles:
        self.attempts += 1
        return super()._opened()


@pytest.fixture
def locked(tmp_path: Path, clock: Clock) -> Iterator[Counting]:
    """A file that another program keeps locked, even for reading; not open yet."""
    path = tmp_path / "memory.db"
    made = Database(path, clock)
    made.open()
    made.close()
    database = Counting(path, clock)
    with Holder(path, "PRAGMA locking_mode = EXCLUSIVE; COMMIT; BEGIN EXCLUSIVE; SELECT 1"):
        yield database
    database.close()


def wait_for_place(database: Database, threads: int) -> None:
    until(lambda: len(database._opening._waiting) == threads, "they wait for the attempt")


@pytest.mark.skipif(os.name == "nt", reason="SQLite's locks are others there")
def test_a_call_ends_in_its_time_although_a_job_is_still_opening_the_file(
    locked: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_server.sqlite.database.CALL", 5.0)
    ends: list[str] = []

    def job() -> None:
        with suppress(Unavailable):
            locked.open()
        ends.append("job")

    def call() -> None:
        with deadline.within(0.2), pytest.raises(Unavailable, match="busy"), locked.read():
            pass
        ends.append("call")

    jobs = [threading.Thread(target=job) for _ in range(3)]
    for thread in jobs:
        thread.start()
    wait_for_place(locked, 2)
    call()
    for thread in jobs:
        thread.join()
    assert ends == ["call", "job", "job", "job"]


@pytest.mark.skipif(os.name == "nt", reason="SQLite's locks are others there")
def test_jobs_that_wait_for_an_attempt_to_open_the_file_share_its_result(locked: Counting) -> None:
    failures: list[Unavailable] = []

    def call() -> None:
        with deadline.within(2), pytest.raises(Unavailable, match="Another process has kept"):
            locked.open()

    def job() -> None:
        with pytest.raises(Unavailable, match="Another process has kept") as error:
            locked.open()
        failures.append(error.value)

    calling = threading.Thread(target=call)
    calling.start()
    until(lambda: locked.attempts == 1, "the call opens the file")
    jobs = [threading.Thread(target=job) for _ in range(4)]
    for thread in jobs:
        thread.start()
    wait_for_place(locked, 4)
    for thread in (calling, *jobs):
        thread.join()
    assert (locked.attempts, len(failures)) == (1, 4)
    with deadline.within(0.1), pytest.raises(Unavailable, match="Another process has kept"):
        locked.open()
    assert locked.attempts == 2


def test_the_deadline_of_a_call_counts_the_wait_behind_other_calls(tmp_path: Path, clock: Clock) -> None:
    database = Database(tmp_path / "memory.db", clock)
    database.open()
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with database.write():
            inside.set()
            leave.wait(20)

    holder = threading.Thread(target=hold)
    holder.start()
    inside.wait(20)
    started = time.monotonic()
    with (
        pytest.raises(Unavailable, match=r"Other calls have kept .* busy for 0\.[12] s\."),
        deadline.within(0.2),
        database.write(),
    ):
        pass
    assert time.monotonic() - started < 10
    leave.set()
    holder.join()
    database.close()


def test_two_waits_of_one_call_share_its_time() -> None:
    with deadline.within(5):
        assert deadline.left() <= 5
        with deadline.within(60):
            assert deadline.left() <= 5
        with deadline.within(0):
            assert deadline.left() == 0
    assert deadline.left() == deadline.CALL


def test_readers_share_the_file(tmp_path: Path, clock: Clock) -> None:
    database = Database(tmp_path / "memory.db", clock)
    database.open()
    both = threading.Barrier(3, timeout=20)

    def read() -> None:
        with database.read() as tx:
            tx.value("SELECT count(*) FROM memories")
            both.wait()

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not both.broken
    database.close()


def test_a_reader_finds_the_word_indexes_whole_after_another_connection_has_written(
    tmp_path: Path, clock: Clock
) -> None:
    database = Database(tmp_path / "memory.db", clock)
    for number in range(5):
        with database.read() as tx:
            tx.rows("SELECT rowid FROM memory_words WHERE memory_words MATCH 'word'")
        with database.write() as tx:
            tx.execute("INSERT INTO memories (content, type) VALUES (?, 'error')", (f"word {number}",))
        with database.read() as tx:
            checks.refuse_damaged(tx.connection, None)
        assert problems(database) == []
    database.close()
