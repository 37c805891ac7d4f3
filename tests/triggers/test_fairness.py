"""Endless triggers beside innocent ones that may be slow: who is evaluated in each search of the service."""

import random
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_server.domain.caller import Caller
from memory_server.domain.long_term import LongTermDraft
from memory_server.domain.message import Message
from memory_server.services.long_term import Awakening, LongTermService
from memory_server.sqlite.database import Database
from memory_server.triggers import engine as engine_module
from memory_server.triggers.engine import BUDGET, Engine
from memory_server.triggers.javascript import sandbox as sandbox_module
from memory_server.triggers.javascript.sandbox import SLICE, Sandbox
from tests.conftest import Clock, InMemory
from tests.triggers.pretended import RESTART, Pretended


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> Pretended:
    pretended = Pretended()
    monkeypatch.setattr(sandbox_module, "time", pretended)
    return pretended


def serving(engine: Sandbox, database: Database) -> LongTermService:
    return LongTermService(database, Engine(engine, lambda one, other: None), random.Random(3).random)


def add(service: LongTermService, name: str, trigger: str | float) -> None:
    if not isinstance(trigger, str):
        trigger = f"[true].reduce(() => true) /* cost {trigger} */"
    service.add(LongTermDraft(name, "p", trigger, None), "default", Caller("Claude", "s1"))


def search(service: LongTermService, clock: Clock) -> Awakening:
    clock.advance(seconds=60)
    return service.search([Message("user", "hello")], "default", {}, caller=Caller())


def judged(found: Awakening) -> set[str]:
    return {woken.name for woken in found.activated}


@settings(derandomize=True, max_examples=40)
@given(
    endless=st.integers(0, 12),
    costs=st.lists(st.one_of(st.floats(0.001, SLICE), st.floats(SLICE, 0.5)), min_size=1, max_size=15),
    order=st.randoms(use_true_random=False),
    pause=st.sampled_from([1, 3700, 90_000]),
)
def test_each_innocent_is_evaluated_in_each_search_after_the_endless_ones_failed(
    pretended: Pretended, endless: int, costs: list[float], order: random.Random, pause: int
) -> None:
    """Also slow ones, where together they fit half of the budget: those that failed come after them."""
    costs = [cost / max(1.0, sum(costs) / (BUDGET / 2 - 0.05)) for cost in costs]
    made = [
        *((f"endless {n}", inf) for n in range(endless)),
        *((f"innocent {n}", c) for n, c in enumerate(costs)),
    ]
    order.shuffle(made)
    clock = Clock()
    database = InMemory(clock)
    service = serving(pretended, database)
    for name, cost in made:
        add(service, name, cost)
        clock.advance(seconds=1)
    for _ in range(2 * endless + 2):
        search(service, clock)
    innocents = {name for name, cost in made if cost != inf}
    for _ in range(8):
        clock.advance(seconds=pause)
        began = pretended.now
        assert judged(search(service, clock)) == innocents
        assert pretended.now - began <= BUDGET + 2 * RESTART
    database.close()


def test_who_got_less_time_than_a_check_allows_is_not_blamed(pretended: Pretended) -> None:
    """Many new endless ones leave a tenth of a second to the first of those that need more than a slice."""
    clock = Clock()
    database = InMemory(clock)
    service = serving(pretended, database)
    add(service, "slow", 0.3)
    for number in range(int((BUDGET - 0.1) / (SLICE + RESTART)) - 1):
        clock.advance(seconds=1)
        add(service, f"endless {number}", inf)
    assert search(service, clock).errors == []
    assert "slow" in judged(search(service, clock))
    database.close()


def test_the_real_worker_evaluates_slow_innocents_beside_endless_ones(
    database: Database, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "BUDGET", 6.0)  # so that a busy machine changes nothing
    monkeypatch.setattr(sandbox_module, "SLICE", 0.2)
    monkeypatch.setattr(sandbox_module, "SECONDS", 0.3)
    sandbox = Sandbox()
    service = serving(sandbox, database)
    for number in range(6):
        add(service, f"innocent {number}", f"[...messages].length + {number} > 0")
    found = search(service, clock)
    assert len(judged(found)) == 6
    for number in range(4):
        hang = "for (;;);" if number % 2 else "Array(2 ** 32 - 1).indexOf(1);"
        add(service, f"endless {number}", f"if ([...messages].some(m => m.content === 'hello')) {hang} false")
    for _ in range(4):
        found = search(service, clock)
        assert judged(found) == {f"innocent {number}" for number in range(6)}
    assert {name.split()[0] for name, _ in [*found.errors, *found.skipped]} == {"endless"}
    service.engine.close()
