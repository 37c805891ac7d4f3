"""Several people beside each other at the one worker: the triggers of one neither delay nor switch off another's."""

import threading
from collections.abc import Iterator

import pytest

from memory_server.call import acting
from memory_server.domain.caller import Person
from memory_server.triggers import Value
from memory_server.triggers.javascript import turns as turns_module
from memory_server.triggers.javascript.sandbox import Sandbox
from memory_server.triggers.javascript.trial import SAMPLE
from memory_server.triggers.javascript.turns import WorkerTurn, WorkerTurns
from tests.conftest import PATIENCE, until

ANA, BOB = Person("ana"), Person("bob")

ENDLESS = "for (;;);"
HOARDS = "[...messages].map(() => new Uint8Array(2 ** 25).length)"
BUSY = "(() => { const end = Date.now; let n = 0; while (n < 3e5) n++; return true })()"


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> WorkerTurns:
    monkeypatch.setattr(turns_module, "QUANTUM", 0.0)
    return WorkerTurns()


def waiting(turns: WorkerTurns, *who: str) -> list[threading.Thread]:
    """Threads that each take a turn, in this order, and note that they had it in the list `had` of the test."""
    threads = []
    for number, name in enumerate(who):
        thread = threading.Thread(target=turns.take, args=(name, PATIENCE))
        thread.start()
        until(lambda number=number: len(turns._waiting) == number + 1, "it waits")  # type: ignore[misc]
        threads.append(thread)
    return threads


def order(turns: WorkerTurns, first: WorkerTurn) -> list[str]:
    """Who has the worker, one after the other, where each gives it back."""
    turns.give_back(first)
    found = []
    while turns._holder is not None:
        found.append(turns._holder.who)
        turns.give_back(turns._holder)
    return found


def test_people_have_turns_and_the_calls_of_one_come_in_order(turns: WorkerTurns) -> None:
    first = turns.take("ana", 0)
    assert first is not None
    threads = waiting(turns, "ana", "ana", "ana", "bob", "cyn", "bob")
    assert order(turns, first) == ["bob", "cyn", "ana", "bob", "ana", "ana"]
    for thread in threads:
        thread.join()
    assert turns._served == {}


def test_the_worker_is_passed_on_to_other_people_alone(turns: WorkerTurns) -> None:
    first = turns.take("ana", 0)
    assert first is not None
    threads = waiting(turns, "ana")
    assert turns.pass_on(first, 0, slow=True)
    assert first.holds
    threads += waiting_more(turns, "bob")
    assert not turns.pass_on(first, 0, slow=False)
    assert turns._holder is not None
    assert order(turns, turns._holder) == ["ana"]
    for thread in threads:
        thread.join()


def waiting_more(turns: WorkerTurns, who: str) -> list[threading.Thread]:
    before = len(turns._waiting)
    thread = threading.Thread(target=turns.take, args=(who, PATIENCE))
    thread.start()
    until(lambda: len(turns._waiting) == before + 1, "it waits")
    return [thread]


def test_whoever_comes_new_goes_before_those_who_had_a_turn(turns: WorkerTurns) -> None:
    ana = turns.take("ana", 0)
    assert ana is not None
    threads = waiting(turns, "bob", "ana")
    passed: list[bool] = []
    again = threading.Thread(target=lambda: passed.append(turns.pass_on(ana, PATIENCE, slow=True)))
    again.start()
    until(lambda: ana in turns._waiting, "ana waits")
    threads += [again, *waiting_more(turns, "cyn")]
    assert turns._holder is not None
    assert turns._holder.who == "bob"
    assert order(turns, turns._holder) == ["cyn", "ana", "ana"]
    for thread in threads:
        thread.join()
    assert passed == [True]


def test_who_did_not_get_a_turn_in_time_keeps_nobody_waiting(turns: WorkerTurns) -> None:
    first = turns.take("ana", 0)
    assert first is not None
    assert turns.take("bob", 0.01) is None
    assert turns._waiting == []
    turns.give_back(first)
    again = turns.take("bob", 0)
    assert again is not None
    turns.give_back(again)


# With the real worker


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    sandbox = Sandbox()
    yield sandbox
    sandbox.close()


@pytest.mark.parametrize("attack", [[ENDLESS] * 40, [HOARDS] * 40, [BUSY] * 400])
def test_a_search_of_one_is_answered_while_another_never_stops(sandbox: Sandbox, attack: list[str]) -> None:
    """Four calls at a time, as many as one person can make; each is followed by the next one at once."""
    done, begun = threading.Event(), threading.Barrier(5)

    def flood() -> None:
        with acting.as_(ANA):
            begun.wait(PATIENCE)
            while not done.is_set():
                sandbox.run(attack, SAMPLE, 2.0, doubtful=len(attack) // 2)

    threads = [threading.Thread(target=flood) for _ in range(4)]
    for thread in threads:
        thread.start()
    begun.wait(PATIENCE)
    with acting.as_(BOB):
        found = [
            sandbox.run([f"messages.length + {n} > 0" for n in range(20)], SAMPLE, 6.0) for _ in range(3)
        ]
    done.set()
    for thread in threads:
        thread.join()
    assert [[type(each) for each in outcomes] for outcomes in found] == [[Value] * 20] * 3
