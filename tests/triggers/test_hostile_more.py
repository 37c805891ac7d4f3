"""More hostile triggers, through the service: what becomes of each when it is added, tried out and searched for."""

import random
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from memory_server.domain.caller import Caller
from memory_server.domain.long_term import LongTermDraft
from memory_server.domain.message import Message
from memory_server.errors import TriggerRejected
from memory_server.services.long_term import Awakening, LongTermService
from memory_server.triggers import Failure, Value
from memory_server.triggers.engine import BUDGET, Engine
from memory_server.triggers.javascript import sandbox, trial
from memory_server.triggers.javascript.sandbox import Sandbox
from tests.conftest import Clock, InMemory, file_of
from tests.triggers import hostile
from tests.triggers.hostile_more import HOSTILE, LATE, Hostile

pytestmark = pytest.mark.slow

LIMIT = 0.15
SLACK = 1.5
"""What workers that end and start may take beside the limits, on a busy machine."""

ENOUGH = 0.06
"""Seconds of a run of the check of a trigger that takes too long whatever it gets."""

CLAUDE = Caller("Claude", "s1")
PLACE = "attacked"
TOKEN = "ghp_" + "a1B2" * 9
SAID = [
    *(Message("user", f"message {number}") for number in range(3)),
    Message("system", f"the key is {TOKEN}"),
    Message("assistant", "Happy birthday!"),
    Message("user", "wake up"),
    Message("user", "今天是我的生日！ My birthday."),
]
INNOCENT = "[match_keys(messages, ['birthday', '生日'], 'user') === 2 && new Date().getMonth() === 6][0]"
CLEAN = """[
  'leaked' in {}, 'why' in {}, 'tries' in {}, typeof tries, Array.isArray(1), messages.length, Math.max(1, 2),
  conversation_id, `${new Date().getFullYear()}`, JSON.stringify([true]), /x/.n, String(Symbol.tries),
].join() === 'false,false,false,undefined,false,7,2,attacked,2026,[true],,undefined'"""
"""Whether it sees nothing of those before it."""

CASES = [
    pytest.param(case, id=f"{category} {number}")
    for category, cases in HOSTILE.items()
    for number, case in enumerate(cases, 1)
]
linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@dataclass
class Attacked:
    """A service with two innocent triggers, one evaluated before and one after whatever is added."""

    service: LongTermService
    engine: Sandbox
    clock: Clock

    def add(self, trigger: str, name: str = "hostile") -> bool | str:
        """The value on the sample, or why it was refused; then it is there as if written by hand."""
        try:
            return self.service.add(LongTermDraft(name, "p", trigger, None), PLACE, CLAUDE).dry_run
        except TriggerRejected as refused:
            with file_of(self.service.database).write() as tx:
                tx.execute(
                    """
                    INSERT INTO long_term_memories (conversation_id, name, prompt, "trigger")
                    SELECT id, ?, 'p', ? FROM conversations WHERE name = ?
                    """,
                    (name, trigger, PLACE),
                )
            return str(refused)

    def search(self) -> Awakening:
        self.clock.advance(seconds=1)
        return self.service.search(SAID, PLACE, {"user": "Mallory"}, caller=Caller())

    def stored(self) -> str:
        with file_of(self.service.database).read() as tx:
            return str(tx.value("SELECT error FROM long_term_memories WHERE name = 'hostile'"))

    def fill(self) -> None:
        """Add the innocent ones, and keep their rows."""
        for name, trigger, judged_at in (
            ("before", INNOCENT, "2026-01-01T00:00:00.000Z"),
            ("clean", CLEAN, "2026-12-01T00:00:00.000Z"),
        ):
            self.add(trigger, name)
            with file_of(self.service.database).write() as tx:
                tx.execute("UPDATE long_term_memories SET judged_at = ? WHERE name = ?", (judged_at, name))
        with file_of(self.service.database).write() as tx:
            tx.execute("CREATE TEMP TABLE innocent AS SELECT * FROM long_term_memories")

    def clear(self) -> None:
        """As after `fill`."""
        with file_of(self.service.database).write() as tx:
            tx.execute("DELETE FROM long_term_memories")
            tx.execute("INSERT INTO long_term_memories SELECT * FROM innocent")


@pytest.fixture(scope="module")
def world() -> Iterator[Attacked]:
    usual, sandbox.SECONDS = sandbox.SECONDS, LIMIT
    clock = Clock(datetime(2026, 7, 17, 12, tzinfo=UTC))
    database = InMemory(clock)
    engine = Sandbox()
    service = LongTermService(
        database, Engine(engine, lambda one, other: None), random.Random(3).random, zone=UTC
    )
    attacked = Attacked(service, engine, clock)
    try:
        attacked.fill()
        yield attacked
    finally:
        engine.close()
        database.close()
        sandbox.SECONDS = usual


@pytest.fixture
def attacked(world: Attacked) -> Attacked:
    world.clear()
    return world


def test_there_are_enough_of_them_and_all_are_new() -> None:
    mine = [case.source for cases in HOSTILE.values() for case in cases]
    assert len(set(mine)) == len(mine) >= 70
    assert not set(mine) & set().union(*hostile.HOSTILE.values())


@pytest.mark.parametrize("case", CASES)
def test_it_is_judged_as_foreseen_and_harms_no_other(
    attacked: Attacked, case: Hostile, monkeypatch: pytest.MonkeyPatch
) -> None:
    if case.ends == LATE:
        monkeypatch.setattr(trial, "SECONDS", ENOUGH)
    added = attacked.add(case.source)
    if isinstance(case.ends, bool):
        assert added == case.ends
    else:
        assert isinstance(added, str)
        assert told_well(added)
    began = time.monotonic()
    found = attacked.search()
    assert time.monotonic() - began < BUDGET / 2 + SLACK
    errors, skipped = dict(found.errors), dict(found.skipped)
    assert "before" not in errors | skipped
    assert "clean" not in errors | skipped
    expected = case.ends if case.searched is None else case.searched
    holds = {"hostile"} if expected is True else set()
    assert {woken.name for woken in found.activated} == {"before", "clean"} | holds
    reason = next(woken for woken in found.activated if woken.name == "before").why
    assert reason is not None
    assert reason.startswith("'birthday' in user message: 今天是我的生日")
    reason = next(woken for woken in found.activated if woken.name == "clean").why
    assert reason is not None
    # Its parts are told where there is time for them after the hostile one.
    assert reason in ("the year is 2026", "the condition is true")
    if isinstance(expected, bool):
        assert not errors
        assert not skipped
    else:
        assert re.search(expected, errors.get("hostile", "")), errors
        assert "hostile" in errors | skipped
        assert told_well(errors.get("hostile", ""))
        assert "hostile" in skipped or attacked.stored() == errors["hostile"]


def told_well(text: str) -> bool:
    """Whether nothing hidden is in it, and no secret, and it is not long."""
    return text.isprintable() and TOKEN not in text and len(text) < 1000


@pytest.mark.parametrize("category", HOSTILE)
def test_trying_it_out_tells_the_same(attacked: Attacked, category: str) -> None:
    for case in HOSTILE[category][3::9]:
        try:
            checked, outcome = attacked.service.try_out(case.source, SAID, None)
        except TriggerRejected as error:
            refused = str(error)
        else:
            assert checked.dry_run == case.ends
            assert isinstance(outcome, Value | Failure)
            refused = ""
            assert told_well(str(outcome).replace(TOKEN, ""))
        assert bool(refused) == isinstance(case.ends, str)
        assert told_well(refused)
