"""Background work: jobs keep their pace, fail alone, tell their problem, and end when they are asked to."""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from memory_server.errors import Conflict, Unavailable
from memory_server.services.background import FAREWELL, SLOWEST, Background, Job
from memory_server.sqlite.database import Database
from memory_server.storage.tables.job_problems import FRESH
from tests.conftest import PATIENCE, Clock, problems, until

NEVER = 3600.0
"""Seconds between two runs of a job that only runs again when it is woken."""

SOON = 0.001

FAILURES = [
    (Unavailable("the disk is gone"), "the disk is gone"),
    (Conflict("two of them"), "two of them"),
    (RuntimeError("boom"), "failed (RuntimeError: boom); the server's standard error says more"),
    (KeyError("x"), "failed (KeyError: 'x'); the server's standard error says more"),
    (ValueError("\udcff"), "failed (ValueError: \ufffd); the server's standard error says more"),
    (OSError(28, "full"), "failed (OSError: [Errno 28] full); the server's standard error says more"),
]


@dataclass
class Work:
    """What a job does: it counts its runs, and raises `failure` while there is one."""

    failure: BaseException | None = None
    runs: int = 0
    ends: list[str] = field(default_factory=list)

    def run(self) -> None:
        self.runs += 1
        if self.failure is not None:
            raise self.failure.with_traceback(None)

    def last(self) -> None:
        self.ends.append(threading.current_thread().name)


class Stuck(Work):
    """Work that does not end before the test lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.inside, self.leave = threading.Event(), threading.Event()

    def run(self) -> None:
        super().run()
        self.inside.set()
        assert self.leave.wait(PATIENCE)


class Restless(threading.Event):
    """A wake that notes how long a job wants to rest, and does not let it rest the first times."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times
        self.rests: list[float | None] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.rests.append(timeout)
        return super().wait(0 if len(self.rests) < self.times else timeout)


@contextmanager
def running(database: Database, *jobs: Job) -> Iterator[Background]:
    background = Background(database, jobs)
    background.start()
    try:
        yield background
    finally:
        leave(background)


def leave(background: Background) -> None:
    background.stop()
    until(lambda: not alive(background), "every job has ended")


def alive(background: Background) -> list[str]:
    return [thread.name for thread in background._threads if thread.is_alive()]


def told(database: Database) -> dict[str, str]:
    with database.read() as tx:
        return tx.job_problems.select()


def ran(work: Work, times: int = 1) -> Callable[[], bool]:
    return lambda: work.runs >= times


# Pace


def test_a_job_runs_again_and_again_at_its_pace(database: Database) -> None:
    often, once = Work(), Work()
    with running(database, Job("often", often.run, SOON), Job("once", once.run, NEVER)):
        until(ran(once), "the slow one has run")
        until(ran(often, once.runs + 20), "the fast one has run often")
    assert once.runs == 1


def test_a_job_rests_as_long_as_it_says(database: Database) -> None:
    work, wake = Work(), Restless(3)
    with running(database, Job("work", work.run, 1234.5, wake=wake)):
        until(lambda: len(wake.rests) == 3, "it rests for the third time")
    assert wake.rests[:3] == [1234.5] * 3


def test_a_job_that_is_woken_runs_at_once(database: Database) -> None:
    work, job = Work(), Job("work", lambda: work.run(), NEVER)
    with running(database, job):
        for times in range(1, 6):
            until(ran(work, times), "it runs because it was woken")
            job.wake.set()
        until(ran(work, 6), "it runs for the last time")


def test_a_job_that_is_woken_while_it_works_runs_once_more(database: Database) -> None:
    work = Stuck()
    job = Job("work", work.run, NEVER)
    with running(database, job):
        until(work.inside.is_set, "it works")
        job.wake.set()
        job.wake.set()
        work.leave.set()
        until(ran(work, 2), "it runs once more")
        until(lambda: not job.wake.is_set(), "it rests")
    assert work.runs == 2


def test_a_job_begins_after_its_delay(database: Database) -> None:
    late, soon = Work(), Work()
    with running(database, Job("late", late.run, SOON, delay=NEVER), Job("soon", soon.run, SOON, delay=SOON)):
        until(ran(soon, 5), "the other one has begun")
    assert late.runs == 0


# Failures


def is_loggable(failure: Exception) -> bool:
    return "\udcff" not in str(failure)


@pytest.mark.parametrize(("failure", "problem"), FAILURES, ids=lambda each: repr(each)[:30])
def test_a_job_that_fails_stops_no_other_and_tells_its_problem_until_it_succeeds(
    database: Database, caplog: pytest.LogCaptureFixture, failure: Exception, problem: str
) -> None:
    if not is_loggable(failure):  # one test process could not report it to another
        caplog.set_level(logging.CRITICAL + 1, "memory_server.services.background")
    bad, good = Work(failure), Work()
    with running(database, Job("bad", bad.run, SOON), Job("good", good.run, SOON)):
        until(ran(bad, 3), "it is tried again and again")
        until(ran(good, good.runs + 20), "the other one goes on")
        until(lambda: told(database) == {"bad": problem}, "the problem is told")
        bad.failure = None
        until(lambda: told(database) == {}, "the problem is gone")
        assert problems(database) == []
        bad.failure = failure
        until(lambda: told(database) == {"bad": problem}, "it is told when it comes back")
    assert ("bad" in caplog.text) == is_loggable(failure)


def test_a_job_that_hangs_delays_no_other(database: Database) -> None:
    stuck, good = Stuck(), Work()
    with running(database, Job("stuck", stuck.run, SOON), Job("good", good.run, SOON)):
        until(stuck.inside.is_set, "one hangs")
        until(ran(good, good.runs + 20), "the other one goes on")
        assert stuck.runs == 1
        stuck.leave.set()


@pytest.mark.parametrize(
    ("every", "rests"),
    [
        (2.0, [2, 4, 8, 16, 32, SLOWEST]),
        (SLOWEST, [2, 4, 8, 16, 32, SLOWEST]),
        (86_400.0, [2, 4, 8, 16, 32, SLOWEST]),  # else nobody could tell it from a process that has ended
    ],
)
def test_the_pause_after_a_failure_doubles_up_to_a_minute_and_ends_with_it(
    database: Database, every: float, rests: list[float]
) -> None:
    wake = Restless(len(rests))
    work = Work(RuntimeError("boom"))
    job = Job("work", work.run, every, wake=wake)
    with running(database, job):
        until(lambda: len(wake.rests) == len(rests), "it rests for a while")
        work.failure = None
        job.wake.set()
        until(lambda: len(wake.rests) == len(rests) + 1, "it rests again")
    assert wake.rests[: len(rests) + 1] == [*rests, every]
    assert FRESH.total_seconds() > SLOWEST


def test_a_job_that_has_failed_for_days_is_tried_again(database: Database) -> None:
    """A float can be doubled a thousand times only."""
    work, wake = Work(RuntimeError("boom")), Restless(1100)
    with running(database, Job("work", work.run, 2.0, wake=wake)):
        until(lambda: len(wake.rests) == 1100, "it has failed more than a thousand times", 3 * PATIENCE)
        work.failure = None
        wake.set()
        until(lambda: told(database) == {}, "it has succeeded")


# What is told


def test_each_job_tells_its_own_problem_and_the_last_one_only(database: Database) -> None:
    one, other = Work(Unavailable("first")), Work(Unavailable("other"))
    with running(database, Job("one", one.run, SOON), Job("other", other.run, SOON)):
        until(lambda: told(database) == {"one": "first", "other": "other"}, "both are told")
        one.failure = Unavailable("second")
        until(lambda: told(database) == {"one": "second", "other": "other"}, "the last one is told")


def test_a_success_of_one_process_does_not_hide_the_problem_of_another(
    database: Database, clock: Clock
) -> None:
    ours, theirs = Work(Unavailable("ours")), Work(Unavailable("theirs"))
    with running(database, Job("work", theirs.run, SOON)):
        until(lambda: told(database) == {"work": "theirs"}, "theirs is told")
        clock.advance(seconds=1)
        with running(database, Job("work", ours.run, SOON)):
            until(lambda: count(database) == 2, "ours is told")
            ours.failure = None
            until(lambda: told(database) == {"work": "theirs"}, "theirs alone is told again")


def count(database: Database) -> int:
    with database.read() as tx:
        return int(tx.value("SELECT count(*) FROM job_problems"))


def test_a_problem_of_a_process_that_has_ended_is_told_for_five_minutes_only(
    database: Database, clock: Clock
) -> None:
    with running(database, Job("ended", Work(Unavailable("gone")).run, SOON)):
        until(lambda: told(database) == {"ended": "gone"}, "it is told")
    clock.advance(minutes=5)
    assert told(database) == {"ended": "gone"}
    clock.advance(seconds=0.001)
    assert told(database) == {}
    with running(database, Job("alive", Work(Unavailable("here")).run, SOON)):
        until(lambda: told(database) == {"alive": "here"}, "another process tells its own")
        assert count(database) == 1  # and has removed the old one


def test_a_problem_that_lasts_is_told_as_long_as_its_process_lives(database: Database, clock: Clock) -> None:
    work = Work(Unavailable("here"))
    with running(database, Job("work", work.run, SOON)):
        for _ in range(4):
            until(lambda: told(database) == {"work": "here"}, "it is told")
            clock.advance(minutes=4)


@pytest.mark.parametrize("failing", [True, False])
def test_a_file_that_cannot_be_written_costs_the_job_nothing(
    database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, failing: bool
) -> None:
    """Neither when the problem is to be told, nor when it is to be taken out again."""
    work = Work(Unavailable("the cause"))
    store = type(database)
    write = store.write
    locked = threading.Event()

    def maybe(database: Database, patience: float = 20.0) -> object:
        if locked.is_set():
            raise Unavailable("the file is locked")
        return write(database, patience)

    monkeypatch.setattr(store, "write", maybe)
    if failing:
        locked.set()
    with running(database, Job("work", work.run, SOON)):
        if not failing:
            until(lambda: told(database) == {"work": "the cause"}, "it is told")
        locked.set()
        work.failure = work.failure if failing else None
        until(lambda: "the problem of the job work was not recorded" in caplog.text, "the log says so")
        until(ran(work, work.runs + 2), "it goes on")
        assert told(database) == ({} if failing else {"work": "the cause"})
        locked.clear()
        until(lambda: told(database) == ({"work": "the cause"} if failing else {}), "the file is up to date")


def test_a_read_only_file_is_told_nothing_and_the_job_goes_on(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(database), "read_only", property(lambda _: True))
    monkeypatch.setattr(type(database), "write", lambda *_: pytest.fail("it wrote"))
    work = Work(Unavailable("boom"))
    with running(database, Job("work", work.run, SOON)):
        until(ran(work, 4), "it is tried again and again")
    assert told(database) == {}


# The end


def jobs_of(works: Sequence[Work], every: float = NEVER, delay: float = 0.0) -> list[Job]:
    return [Job(f"job {n}", work.run, every, delay, last=work.last) for n, work in enumerate(works)]


@pytest.mark.parametrize(("every", "delay"), [(NEVER, 0.0), (SOON, 0.0), (NEVER, NEVER)])
def test_stop_ends_jobs_whether_they_rest_work_or_have_not_begun(
    database: Database, every: float, delay: float
) -> None:
    works = [Work() for _ in range(5)]
    background = Background(database, jobs_of(works, every, delay))
    background.start()
    if not delay:
        until(lambda: all(work.runs for work in works), "each has run")
    background.stop()
    until(lambda: not alive(background), "every job has ended")
    runs = [work.runs for work in works]
    assert [work.ends for work in works] == [[f"job {n}"] for n in range(5)]
    assert [work.runs for work in works] == runs
    assert delay == 0 or runs == [0] * 5


def test_stop_waits_a_moment_only_for_jobs_in_the_middle_of_their_work(database: Database) -> None:
    """The moment is for all together, not for each."""
    works = [Stuck() for _ in range(20)]
    background = Background(database, jobs_of(works))
    background.start()
    until(lambda: all(work.inside.is_set() for work in works), "all work")
    began = time.monotonic()
    background.stop()
    took = time.monotonic() - began
    assert FAREWELL * 0.9 < took < FAREWELL * len(works) / 2
    assert len(alive(background)) == len(works)
    assert [work.ends for work in works] == [[]] * len(works)
    for work in works:
        work.leave.set()
    until(lambda: not alive(background), "every job has ended")
    assert [(work.runs, work.ends) for work in works] == [(1, [f"job {n}"]) for n in range(len(works))]


def test_what_is_to_be_done_last_is_done_once_after_the_work_in_the_same_thread(database: Database) -> None:
    steps: list[tuple[str, str]] = []

    def step(name: str) -> Callable[[], None]:
        return lambda: steps.append((name, threading.current_thread().name))

    with running(database, Job("work", step("run"), NEVER, last=step("last"))) as background:
        until(lambda: bool(steps), "it has run")
        background.stop()
    assert steps == [("run", "work"), ("last", "work")]


def test_what_cannot_be_done_last_hinders_no_end(database: Database) -> None:
    def last() -> None:
        raise Unavailable("The server is stopping: nothing was done.")

    work = Work(Unavailable("boom"))
    with running(database, Job("work", work.run, SOON, last=last)):
        until(ran(work), "it has run")


def test_stop_before_start_does_nothing(database: Database) -> None:
    Background(database, [Job("work", Work().run, SOON)]).stop()
