"""Whatever a trigger tries, it is answered in time, and the next one gives its right value."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_server.domain.message import Message
from memory_server.domain.situation import Situation
from memory_server.errors import TriggerRejected
from memory_server.triggers import Failure, FailureKind, Skipped, Value
from memory_server.triggers.javascript import sandbox
from memory_server.triggers.javascript.sandbox import Sandbox
from tests.triggers.hostile import HOSTILE

LIMIT = 0.15
SHORT = 0.04
"""The limit for those that only use up time; half of it is their slice."""

LATE = 5.0
"""Seconds after which the answer counts as never given. It took 1.7 on a machine that stood still half of the time."""

SITUATION = Situation(
    messages=(Message("user", "今天是我的生日！ My birthday."), Message("assistant", "Happy birthday!")),
    conversation_id="c",
    now=datetime(2026, 7, 17, 12, tzinfo=UTC),
    seed=7,
    participants={"user": "Ann"},
)
INNOCENT = "match_keys(context.messages, ['birthday', '生日'], 'user') === 2 && new Date().getMonth() === 6"
SPENDING = ("endless loops", "regexes", "long native calls", "proxies")
CASES = [
    pytest.param(source, category in SPENDING, id=f"{category} {number}")
    for category, sources in HOSTILE.items()
    for number, source in enumerate(sources, 1)
]
linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture(scope="module")
def engine() -> Iterator[Sandbox]:
    usual, sandbox.SECONDS = sandbox.SECONDS, LIMIT
    engine = Sandbox()
    try:
        yield engine
    finally:
        engine.close()
        sandbox.SECONDS = usual


@contextmanager
def hurried() -> Iterator[None]:
    """What loops is ended sooner."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sandbox, "SECONDS", SHORT)
        patch.setattr(sandbox, "SLICE", SHORT / 2)
        yield


def children() -> int:
    """Processes that this one has started and not reaped."""
    found = 0
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        found += int(fields[1]) == os.getpid()
    return found


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_there_are_enough_of_them() -> None:
    assert sum(map(len, HOSTILE.values())) >= 300
    assert len(set().union(*HOSTILE.values())) == sum(map(len, HOSTILE.values()))


@pytest.mark.parametrize(("source", "spends"), CASES)
def test_a_hostile_trigger_is_answered_and_the_next_is_right(
    engine: Sandbox, source: str, spends: bool
) -> None:
    began = time.monotonic()
    with hurried() if spends else nullcontext():
        (hostile,) = engine.run([source], SITUATION, budget=10 * LATE)
    (innocent,) = engine.run([INNOCENT], SITUATION, budget=10)
    took = time.monotonic() - began
    assert took < LATE
    assert isinstance(hostile, Value | Failure)
    assert str(hostile).isprintable()
    if isinstance(hostile, Failure):
        assert hostile.kind != FailureKind.UNAVAILABLE
        assert len(hostile.message) < 1000
    assert isinstance(innocent, Value)
    said = "今天是我的生日! My birthday."
    assert (
        innocent.why.replace("！", "!")
        == f"'birthday' in user message: {said}; '生日' in user message: {said}"
    )


@linux
@hurried()
def test_the_server_keeps_its_size_and_one_worker(engine: Sandbox) -> None:
    every = [source for sources in HOSTILE.values() for source in sources[:9:4]]
    others = children() - bool(engine.run(["1"], SITUATION, 5))
    engine.run(every, SITUATION, 60)
    before = resident()
    for _ in range(2):
        outcomes = engine.run(every, SITUATION, 60)
        assert not any(isinstance(outcome, Skipped) for outcome in outcomes)
        assert children() - others <= 1
    assert resident() - before < 8_000_000


def test_nothing_reaches_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    engine = Sandbox()
    engine.run(HOSTILE["escapes"] + HOSTILE["thrown values"][:5], SITUATION, 20)
    engine.close()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("category", HOSTILE)
@hurried()
def test_a_check_ends_with_a_verdict(engine: Sandbox, category: str) -> None:
    for source in HOSTILE[category][::12]:
        verdict = checked(engine, source)
        assert isinstance(verdict, TriggerRejected | bool)
        assert len(str(verdict)) < 1000


def checked(engine: Sandbox, source: str) -> TriggerRejected | bool:
    try:
        return engine.check(source)[0]
    except TriggerRejected as error:
        return error
