"""Endless triggers beside innocent ones: whatever hangs, every innocent is evaluated in each search."""

import random
from collections.abc import Iterator, Sequence
from math import ceil, inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_server.domain.caller import Caller
from memory_server.domain.long_term import LongTermDraft
from memory_server.domain.message import Message
from memory_server.services.long_term import NO_TIME, Awakening, LongTermService
from memory_server.sqlite.database import Database
from memory_server.triggers import engine as engine_module
from memory_server.triggers.engine import BUDGET, Engine
from memory_server.triggers.javascript import sandbox as sandbox_module
from memory_server.triggers.javascript.sandbox import SLICE, Sandbox
from tests.conftest import Clock, InMemory
from tests.triggers.pretended import RESTART, Pretended

CLAUDE = Caller("Claude", "s1")
PLAIN = settings(derandomize=True, max_examples=25)


@pytest.fixture
def sandbox(monkeypatch: pytest.MonkeyPatch) -> Pretended:
    sandbox = Pretended()
    monkeypatch.setattr(sandbox_module, "time", sandbox)
    return sandbox


def fresh(sandbox: Pretended) -> tuple[LongTermService, Database, Clock]:
    """A service on a database of its own: one for each example."""
    clock = Clock()
    database = InMemory(clock)
    service = LongTermService(database, Engine(sandbox, lambda one, other: None), random.Random(3).random)
    sandbox.asked.clear()
    return service, database, clock


def costing(cost: float) -> str:
    return f"[true].reduce(() => true) /* cost {cost} */"


def add(service: LongTermService, name: str, trigger: str) -> None:
    service.add(LongTermDraft(name, f"prompt of {name}", trigger, None), "default", CLAUDE)


def add_by_hand(database: Database, name: str, trigger: str) -> None:
    """As the stock program would: nothing checks the trigger."""
    with database.write() as tx:
        place = tx.conversations.find_or_insert("default")
        tx.long_term.insert(place, LongTermDraft(name, "hangs", trigger, None), CLAUDE)


def search(service: LongTermService) -> Awakening:
    return service.search([Message("user", "hello")], "default", {}, caller=Caller())


def judged(found: Awakening) -> set[str]:
    return {woken.name for woken in found.activated}


@PLAIN
@given(
    hanging=st.integers(0, 14),
    costs=st.lists(st.floats(0.001, SLICE - 0.001), min_size=1, max_size=20),
    by_hand=st.booleans(),
    order=st.randoms(use_true_random=False),
    pauses=st.lists(st.sampled_from([1, 60, 3700, 90_000]), min_size=8, max_size=8),
)
def test_every_innocent_is_evaluated_in_each_search_from_the_second_on(
    sandbox: Pretended,
    hanging: int,
    costs: list[float],
    by_hand: bool,
    order: random.Random,
    pauses: list[int],
) -> None:
    """As long as the innocents together fit half of the budget; quarantines come and go meanwhile."""
    costs = [cost / max(1.0, sum(costs) / (BUDGET / 2 - 0.01)) for cost in costs]
    service, database, clock = fresh(sandbox)
    made = [("hangs", inf) for _ in range(hanging)] + [("innocent", cost) for cost in costs]
    order.shuffle(made)
    for number, (kind, cost) in enumerate(made):
        if kind == "hangs" and by_hand:
            add_by_hand(database, f"{kind} {number}", costing(cost))
        else:
            add(service, f"{kind} {number}", costing(cost))
        clock.advance(seconds=1)
    innocents = {f"{kind} {number}" for number, (kind, _) in enumerate(made) if kind == "innocent"}
    search(service)
    for pause in pauses:
        clock.advance(seconds=pause)
        began, sandbox.late = sandbox.now, 0.0
        found = search(service)
        assert judged(found) == innocents
        assert not any(name.startswith("innocent") for name, _ in [*found.skipped, *found.errors])
        assert sandbox.now - began <= BUDGET + 2 * RESTART
    database.close()


@PLAIN
@given(hanging=st.integers(15, 120), innocent=st.integers(1, 20))
def test_very_many_new_hangers_starve_innocents_for_a_few_searches_only(
    sandbox: Pretended, hanging: int, innocent: int
) -> None:
    service, database, clock = fresh(sandbox)
    for number in range(hanging):
        add(service, f"hangs {number}", costing(inf))
    for number in range(innocent):
        add(service, f"innocent {number}", costing(0.002))
    for _ in range(ceil(hanging * (SLICE + RESTART) / (BUDGET - SLICE - RESTART))):
        search(service)
        clock.advance(seconds=60)
    for _ in range(4):
        assert len(judged(search(service))) == innocent
        clock.advance(seconds=60)
    database.close()


@PLAIN
@given(number=st.integers(2, 150), cost=st.floats(0.01, SLICE - 0.001))
def test_where_there_is_no_time_for_all_each_has_its_turn(
    sandbox: Pretended, number: int, cost: float
) -> None:
    service, database, clock = fresh(sandbox)
    for each in range(number):
        add(service, f"{each}", costing(cost))
    together = int((BUDGET - SLICE) / cost)
    seen: list[set[str]] = []
    for _ in range(3 * ceil(number / together)):
        clock.advance(seconds=1)
        found = search(service)
        seen.append(judged(found))
        assert {name for name, _ in found.skipped} == {str(each) for each in range(number)} - seen[-1]
        assert {reason for _, reason in found.skipped} <= {NO_TIME}
    for start in range(0, len(seen), ceil(number / together)):
        assert len(set[str]().union(*seen[start : start + ceil(number / together)])) == number
    database.close()


@PLAIN
@given(hanging=st.integers(1, 12), cost=st.floats(SLICE + 0.01, 0.8))
def test_a_slow_one_among_hangers_has_its_turn_too(sandbox: Pretended, hanging: int, cost: float) -> None:
    service, database, clock = fresh(sandbox)
    for number in range(hanging):
        add_by_hand(database, f"hangs {number}", costing(inf))
    add(service, "slow", costing(cost))
    turns = 0
    for _ in range(3 * (hanging + 1)):
        clock.advance(seconds=60)
        turns += "slow" in judged(search(service))
    assert turns >= 2
    database.close()


@PLAIN
@given(hanging=st.integers(1, 30), slow=st.integers(0, 5))
def test_those_that_were_slow_share_at_most_half_of_the_budget(
    sandbox: Pretended, hanging: int, slow: int
) -> None:
    service, database, clock = fresh(sandbox)
    for number in range(hanging):
        add(service, f"hangs {number}", costing(inf))
    for number in range(slow):
        add(service, f"slow {number}", costing(0.4))
    for _ in range(8):
        clock.advance(seconds=1)
        sandbox.late = 0.0
        search(service)
        assert sandbox.late <= BUDGET / 2 + 2 * RESTART
    database.close()


def test_another_trigger_starts_without_the_past_of_the_one_before(sandbox: Pretended) -> None:
    service, database, _ = fresh(sandbox)
    add(service, "changed", costing(inf))
    add(service, "other", costing(0.001))
    search(service)
    search(service)
    with database.write() as tx:
        assert tx.value("SELECT slow OR failures > 0 FROM long_term_memories WHERE name = 'changed'") == 1
        tx.execute('UPDATE long_term_memories SET "trigger" = ? WHERE name = ?', (costing(0.001), "changed"))
        assert tx.rows("SELECT slow, failures FROM long_term_memories WHERE name = 'changed'") == [(0, 0)]
    assert judged(search(service)) == {"changed", "other"}
    database.close()


def test_one_that_was_slow_once_goes_first_again_after_it_was_quick(sandbox: Pretended) -> None:
    """A busy machine must not mark a trigger for ever."""
    service, database, clock = fresh(sandbox)
    add(service, "innocent", costing(0.001))
    add(service, "hangs", costing(inf))
    with database.write() as tx:
        tx.execute("UPDATE long_term_memories SET slow = 1 WHERE name = 'innocent'")
    for _ in range(2):
        clock.advance(seconds=1)
        search(service)
    with database.read() as tx:
        assert tx.value("SELECT slow FROM long_term_memories WHERE name = 'innocent'") == 0
    database.close()


# With the real worker

ENDLESS = (
    "(() => { while (true); })()",
    "(() => /(a+)+$/.test('a'.repeat(60) + 'b'))()",
    "(() => { let a = [1]; for (;;) { a.reverse(); } })()",
    "(() => { const f = () => f(f()); for (;;) { try { f(); } catch (e) { } } })()",
)


@pytest.fixture
def real(database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[LongTermService]:
    """With much time, so that a busy machine changes nothing: what is tested is who is evaluated."""
    monkeypatch.setattr(engine_module, "BUDGET", 7.0)
    monkeypatch.setattr(sandbox_module, "SECONDS", 0.2)  # for those that did not end in a slice
    engine = Engine(Sandbox(), lambda one, other: None)
    yield LongTermService(database, engine, random.Random(3).random)
    engine.close()


@pytest.mark.parametrize("first", ["the endless ones", "the innocent ones"])
def test_the_real_worker_evaluates_every_innocent_beside_endless_ones(
    real: LongTermService, database: Database, clock: Clock, first: str
) -> None:
    def hang() -> None:
        for number, trigger in enumerate(ENDLESS):
            add_by_hand(database, f"endless {number}", trigger)

    def stay() -> None:
        for number in range(12):
            add(real, f"innocent {number}", f"(() => messages.length + {number} > 0)()")

    for make in (hang, stay) if first == "the endless ones" else (stay, hang):
        make()
    found: Sequence[Awakening] = []
    for _ in range(3):
        clock.advance(minutes=1)
        found = [*found, search(real)]
    for each in found[1:]:
        assert judged(each) == {f"innocent {number}" for number in range(12)}
    with database.read() as tx:
        marked = tx.rows("SELECT name FROM long_term_memories WHERE slow OR failures > 0 ORDER BY id")
    assert [name for (name,) in marked] == [f"endless {number}" for number in range(len(ENDLESS))]
