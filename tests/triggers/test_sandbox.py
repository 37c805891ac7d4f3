"""The worker process and what a trigger sees in it."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from memory_server.call import acting, deadline
from memory_server.domain.caller import Person
from memory_server.domain.message import Message
from memory_server.domain.situation import Situation
from memory_server.errors import TriggerRejected, Unavailable
from memory_server.triggers import Failure, FailureKind, Outcome, Skipped, Value
from memory_server.triggers.javascript import child, sandbox
from memory_server.triggers.javascript.child import Child
from memory_server.triggers.javascript.replies import Reply
from memory_server.triggers.javascript.sandbox import Sandbox
from memory_server.triggers.javascript.trial import TrialRun, check
from tests.conftest import PATIENCE, ROOT, until
from tests.triggers.vectors import ERRORS, VECTORS

SITUATION = Situation(
    messages=(
        Message("user", "Tomorrow is my birthday.", name="Ann", timestamp="2026-07-17T10:00:00.000Z"),
        Message("assistant", "Happy birthday in advance!"),
    ),
    conversation_id="c-1",
    now=datetime(2026, 7, 17, 23, 30, 15, 250_000, tzinfo=timezone(timedelta(hours=8))),
    seed=42,
    participants={"user": "Ann", "guests": ["Bea", "陳"]},
)
ENDLESS = "for (;;);"
UNSTOPPABLE = "Array(2 ** 31).join('')"
"""A long native call, in which the engine does not look at the clock."""

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals")


@pytest.fixture
def engine() -> Iterator[Sandbox]:
    engine = Sandbox()
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def shared() -> Iterator[Sandbox]:
    """For triggers that do it no harm."""
    engine = Sandbox()
    yield engine
    engine.close()


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A trigger has less time."""
    monkeypatch.setattr(sandbox, "SECONDS", 0.2)


def one(engine: Sandbox, source: str, situation: Situation = SITUATION) -> Outcome:
    (outcome,) = engine.run([source], situation, budget=5)
    return outcome


def value(engine: Sandbox, expression: str, situation: Situation = SITUATION) -> Any:
    """What an expression gives, carried out as the text of an error."""
    outcome = one(engine, f"throw JSON.stringify({expression})", situation)
    assert isinstance(outcome, Failure), outcome
    return json.loads(outcome.message.removeprefix("it throws "))


def holds(outcomes: Sequence[Outcome]) -> list[bool | str]:
    return [
        outcome.holds
        if isinstance(outcome, Value)
        else outcome.kind
        if isinstance(outcome, Failure)
        else "skipped"
        for outcome in outcomes
    ]


def running(engine: Sandbox) -> Child:
    assert engine._child is not None
    return engine._child


# ---------------------------------------------------------------- match_keys


def arguments(vector: dict[str, Any]) -> str:
    def key(key: Any) -> str:
        if isinstance(key, str):
            return json.dumps(key)
        return f"new RegExp({json.dumps(key['regex'])}, {json.dumps(key['flags'])})"

    keys = vector["keys"]
    written = f"[{', '.join(map(key, keys))}]" if isinstance(keys, list) else key(keys)
    scope = json.dumps(vector["scope"]) if "scope" in vector else "undefined"
    depth = json.dumps(vector["depth"]) if "depth" in vector else "undefined"
    return f"messages, {written}, {scope}, {depth}"


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: str(vector["name"]))
def test_the_table(shared: Sandbox, vector: dict[str, Any]) -> None:
    messages = tuple(Message(**message) for message in vector["messages"])
    outcomes = shared.run(
        [
            f"match_keys({arguments(vector)}) === {vector['count']}",
            f"match_keys_all({arguments(vector)}) === {json.dumps(vector['all'])}",
        ],
        replace(SITUATION, messages=messages),
        budget=5,
    )
    assert holds(outcomes) == [True, True]


@pytest.mark.parametrize("vector", ERRORS, ids=lambda vector: str(vector["name"]))
def test_the_table_of_errors(shared: Sandbox, vector: dict[str, Any]) -> None:
    assert holds(shared.run([f"match_keys({arguments(vector)})"], SITUATION, 5)) == ["error"]


def test_a_key_that_is_no_key_is_an_error(shared: Sandbox) -> None:
    outcome = one(shared, "\n  match_keys(messages, [7])")
    assert isinstance(outcome, Failure)
    assert outcome.message == (
        "TypeError: a key of match_keys must be a string or a regular expression, not number (line 2, column 14)"
    )


def test_what_was_found_is_told(shared: Sandbox) -> None:
    outcome = one(shared, "match_keys(messages, ['birthday', /happy/i, 'tea']) > 1")
    assert isinstance(outcome, Value)
    assert outcome.why == (
        "'birthday' in user message: Tomorrow is my birthday.; "
        "'birthday' in assistant message: Happy birthday in advance!; "
        "/happy/i in assistant message: Happy birthday in advance!"
    )


def test_what_was_found_stays_short(shared: Sandbox) -> None:
    source = "match_keys([{ role: 'x'.repeat(1e5), content: messages[0].content }], [/./, /../, /.../, 'birthday'])"
    outcome = one(shared, source)
    assert isinstance(outcome, Value)
    assert len(outcome.why) < 1000


def test_a_trigger_can_change_nothing_that_another_sees(shared: Sandbox) -> None:
    changes = [
        "messages.length = 0",
        "context.x = 1",
        "match_keys = null",
        "Array.prototype.some = null",
        "x = 1",
    ]
    look = "messages.length === 2 && !context.x && messages.some(m => match_keys([m], ['advance']))"
    sources = [
        source
        for change in changes
        for source in (f"{change}; true", f"try {{ {change} }} catch {{}} {look}")
    ]
    assert holds(shared.run([*sources, look], SITUATION, 5)) == [*["error", True] * len(changes), True]


# ---------------------------------------------------------------- what a trigger sees


def test_a_trigger_sees_the_situation(shared: Sandbox) -> None:
    seen = {
        "messages": [
            {
                "role": "user",
                "content": "Tomorrow is my birthday.",
                "name": "Ann",
                "timestamp": "2026-07-17T10:00:00.000Z",
            },
            {"role": "assistant", "content": "Happy birthday in advance!"},
        ],
        "conversation_id": "c-1",
        "participants": {"user": "Ann", "guests": ["Bea", "陳"]},
    }
    act = value(shared, "act")
    assert act["tool"] == act["command"] == ""
    assert value(shared, "context") == {**seen, "act": act}
    assert value(shared, "({ messages, conversation_id, participants })") == seen
    assert value(shared, "[messages === context.messages, participants === context.participants]") == [
        True,
        True,
    ]


def test_text_arrives_as_it_is(shared: Sandbox) -> None:
    text = "\ud800 \udc00 \U0001f600 \0 \u2028 </script> \\ \" '"
    situation = replace(SITUATION, messages=(Message("user", text),))
    units = [
        int.from_bytes(text.encode("utf-16-le", "surrogatepass")[i : i + 2], "little") for i in range(0, 2, 2)
    ]
    assert value(shared, "messages[0].content.length", situation) == len(text) + 1
    assert value(shared, "[messages[0].content.charCodeAt(0)]", situation) == units
    assert value(shared, f"messages[0].content === {json.dumps(text)}", situation) is True


def test_numbers_that_json_cannot_hold_are_null(shared: Sandbox) -> None:
    odd = replace(SITUATION, participants={"ages": [float("nan"), float("inf"), 7]})
    assert value(shared, "participants", odd) == {"ages": [None, None, 7]}


@pytest.mark.parametrize(
    ("source", "held"),
    [
        ("const x = messages.length; x > 1", True),
        ("let x = 0; for (const m of messages) x++; x === 2", True),
        ("if (messages.length) { true } else { false }", True),
        ("var messages = []; messages.length", False),
        ("function f() { return messages.length } f()", True),
        ("context.messages.some(m => m.content.includes('birthday'))", True),
        ("context.participants.user === 'Ann'", True),
        ("'use strict'; this === globalThis", True),
        ("", False),
        ("''", False),
        ("[]", True),
        ("0n", False),
        ("NaN", False),
    ],
)
def test_a_trigger_gives_its_completion_value(shared: Sandbox, source: str, held: bool) -> None:
    assert holds([one(shared, source)]) == [held]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("1 +", "SyntaxError: unexpected token in expression: '' (line 1, column 4)"),
        ("\n let a = ;", "SyntaxError: unexpected token in expression: ';' (line 2, column 10)"),
        ("true;\nnobody", "ReferenceError: nobody is not defined (line 2, column 1)"),
        ("[1].map(x => x.y.z)", "TypeError: cannot read property 'z' of undefined (line 1, column 14)"),
        ("undeclared = 1; undeclared", "ReferenceError: undeclared is not defined (line 1, column 1)"),
        ("throw 'it'", "it throws it"),
        ("async () => 1", "it returns a function instead of a value: call the function"),
        ("Promise.resolve(1)", "it returns a promise, which is never awaited here: do not use async"),
        ("Symbol()", "it returns a symbol, which cannot be true or false"),
        (
            "similar('x')",
            "TypeError: the first argument of similar must be a list of messages, such as context.messages"
            " (line 1, column 1)",
        ),
    ],
)
def test_an_error_says_what_and_where(shared: Sandbox, source: str, message: str) -> None:
    outcome = one(shared, source)
    assert isinstance(outcome, Failure)
    assert (outcome.kind, outcome.message) == (FailureKind.ERROR, message)


# ---------------------------------------------------------------- time and chance


def test_all_triggers_see_one_moment(shared: Sandbox) -> None:
    now = int(SITUATION.now.timestamp() * 1000)
    forms = """[
        Date.now(), +new Date(), new Date().getTime(), Date.parse(new Date().toISOString()),
        new (new Date().constructor)().valueOf(), new (class extends Date {})().valueOf(),
        Reflect.construct(Date, []).valueOf()
    ]"""
    assert set(value(shared, forms)) == {now}
    assert value(shared, "Date() === new Date().toString()") is True


def test_local_time_is_that_of_the_situation(shared: Sandbox) -> None:
    parts = "[new Date().getFullYear(), new Date().getMonth(), new Date().getDate(), new Date().getHours()]"
    assert value(shared, parts) == [2026, 6, 17, 23]
    later = replace(SITUATION, now=SITUATION.now.astimezone(timezone(timedelta(hours=-9, minutes=-30))))
    assert value(shared, parts, later) == [2026, 6, 17, 6]
    assert value(shared, "new Date().getTimezoneOffset()", later) == 570
    assert value(shared, parts) == [2026, 6, 17, 23]


def test_a_zone_with_a_name_knows_its_summer(shared: Sandbox) -> None:
    berlin = replace(SITUATION, now=datetime(2026, 7, 1, 12, tzinfo=ZoneInfo("Europe/Berlin")))
    assert value(shared, "[new Date().getHours(), new Date(2026, 0, 1).getTimezoneOffset()]", berlin) == [
        12,
        -60,
    ]


def test_the_zone_of_the_server_holds_where_it_agrees() -> None:
    engine = Sandbox(time_zone="America/New_York")
    now = datetime(2026, 7, 1, 12, tzinfo=timezone(timedelta(hours=-4)))
    offsets = "[new Date().getTimezoneOffset(), new Date(2026, 0, 1).getTimezoneOffset()]"
    assert value(engine, offsets, replace(SITUATION, now=now)) == [240, 300]
    engine.close()


def test_dates_can_be_made_as_ever(shared: Sandbox) -> None:
    forms = """[
        new Date(0).toISOString(), new Date('2026-01-02').getUTCDate(), new Date(2026, 1, 3).getMonth(),
        Date.UTC(1970, 0),
        new Date() instanceof Date, Object.getPrototypeOf(Date) === Function.prototype, Date.name, Date.length,
        isNaN(new Date(undefined)), new Date(new Date(5)).getTime(), typeof Date(0)
    ]"""
    made = ["1970-01-01T00:00:00.000Z", 2, 1, 0, True, True, "Date", 7, True, 5, "string"]
    assert value(shared, forms) == made


def test_no_other_clock_can_be_reached(shared: Sandbox) -> None:
    names = ["performance", "Atomics", "SharedArrayBuffer", "setTimeout", "console"]
    assert value(shared, f"{names}.map(name => typeof globalThis[name])") == ["undefined"] * 5
    stolen = """(() => {
        let stolen = [];
        try { Error.prepareStackTrace = (error, frames) => stolen = frames.map(frame => frame.getFunction()); } catch {}
        new Date({ valueOf() { new Error().stack } });
        return stolen.length
    })()"""
    assert value(shared, stolen) == 0


def test_chance_is_that_of_the_seed_and_of_the_place(shared: Sandbox) -> None:
    draw = "throw JSON.stringify([Math.random(), Math.random(), Math.random()])"

    def drawn(seed: int) -> list[list[float]]:
        outcomes = shared.run([draw, draw], replace(SITUATION, seed=seed), 5)
        return [
            json.loads(str(getattr(outcome, "message", "")).removeprefix("it throws "))
            for outcome in outcomes
        ]

    first, second = drawn(1)
    assert drawn(1) == [first, second]
    assert len({*first, *second, *drawn(2)[0]}) == 9


def test_chance_is_fair(shared: Sandbox) -> None:
    counts = value(
        shared,
        """(() => {
            const counts = Array(8).fill(0);
            for (let i = 0; i < 8000; i++) counts[Math.floor(Math.random() * 8)]++;
            return counts
        })()""",
    )
    assert sum(counts) == 8000
    assert all(850 < count < 1150 for count in counts)


# ---------------------------------------------------------------- limits


@pytest.mark.usefixtures("hurried")
def test_one_that_takes_too_long_does_not_stop_the_others(engine: Sandbox) -> None:
    outcomes = engine.run(["true", ENDLESS, "true", UNSTOPPABLE, "true"], SITUATION, 10)
    assert holds(outcomes) == [True, "timeout", True, "timeout", True]


def test_memory_is_limited(engine: Sandbox) -> None:
    fits, hoards = "new Uint8Array(2 ** 24).length", "new Uint8Array(2 ** 25).length"
    assert holds(engine.run([fits, hoards, fits], SITUATION, 10)) == [True, "memory", True]


def test_what_the_budget_does_not_reach_is_skipped(engine: Sandbox) -> None:
    engine.run(["true"], SITUATION, 5)
    outcomes = engine.run(["true", *[UNSTOPPABLE] * 4, "true"], SITUATION, 4, doubtful=5)
    ends = holds(outcomes)
    assert ends[:2] == [True, "timeout"]
    assert ends.count("timeout") <= 2  # those that were slow before share half of it, a second each
    assert outcomes[3:] == [Skipped(late=True)] * 3
    assert holds(engine.run(["true"], SITUATION, 5)) == [True]


def test_a_budget_that_one_trigger_eats_whole_is_its_fault(engine: Sandbox) -> None:
    engine.run(["true"], SITUATION, 5)
    assert holds(engine.run([ENDLESS, "true"], SITUATION, 0.3, doubtful=2)) == ["timeout", "skipped"]


def test_what_others_left_no_time_for_is_not_told_as_a_missing_worker(engine: Sandbox) -> None:
    """Its first slice cost the worker, and there is not time to start another one."""
    engine.run(["true"], SITUATION, 5)
    for budget in (0.07, 0.08, 0.09):
        assert holds(engine.run([UNSTOPPABLE], SITUATION, budget))[0] in ("timeout", "skipped")
        engine.run(["true"], SITUATION, 5)


def test_a_trigger_that_the_end_of_the_budget_cuts_short_behind_another_has_not_timed_out(
    engine: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "SLICE", 60.0)
    engine.run(["true"], SITUATION, 5)
    assert engine.run(["true", UNSTOPPABLE], SITUATION, 1)[1] == Skipped()


def test_another_person_goes_first_before_an_endless_trigger_gets_more_than_its_slice(
    engine: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "SLICE", 1.0)  # the other person comes within it
    engine.run(["true"], SITUATION, 5)
    answered: list[str] = []

    def search(person: str, source: str) -> None:
        with acting.as_(Person(person, None)):
            engine.run([source], SITUATION, 6)
        answered.append(person)

    ana = threading.Thread(target=search, args=("ana", UNSTOPPABLE))
    ana.start()
    until(lambda: engine._turns._holder is not None, "the worker evaluates the endless trigger")
    search("ben", "true")
    ana.join()
    assert answered == ["ben", "ana"]


def test_without_a_budget_all_is_skipped(engine: Sandbox) -> None:
    assert engine.run(["true", "true"], SITUATION, 0) == [Skipped(), Skipped()]
    assert engine.run([], SITUATION, 5) == []
    assert engine._child is None


@pytest.mark.parametrize(("length", "outcome"), [(16_384, True), (16_385, "error")])
def test_a_source_has_a_greatest_length(shared: Sandbox, length: int, outcome: bool | str) -> None:
    assert holds([one(shared, "'人" + "x" * (length - 5) + "'")]) == [outcome]


def test_a_conversation_of_a_megabyte_is_seen(engine: Sandbox) -> None:
    said = tuple(Message("user", "说 words " * 1000) for _ in range(100))
    situation = replace(SITUATION, messages=(*said, Message("user", "birthday")))
    source = "messages.length === 101 && match_keys(messages, ['birthday', 'word'], 'any', Infinity)"
    assert holds(engine.run([source, "messages.some(m => m.content === 'birthday')"], situation, 5)) == [
        True,
        True,
    ]


def test_threads_share_the_worker(engine: Sandbox) -> None:
    results: list[list[bool | str]] = []

    def search(number: int) -> None:
        situation = replace(SITUATION, conversation_id=f"c{number}")
        results.append(holds(engine.run([f"conversation_id === 'c{number}'"] * 20, situation, 20)))

    threads = [threading.Thread(target=search, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[True] * 20] * 6


def test_a_check_that_the_end_of_the_call_breaks_off_does_not_blame_the_trigger(engine: Sandbox) -> None:
    engine.check("true")
    with deadline.within(0.1), pytest.raises(Unavailable, match="cannot be checked"):
        engine.check(UNSTOPPABLE)


def test_a_search_need_not_wait_for_a_check(engine: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """It uses the worker between two runs of the check, which here goes on only when the searches are done."""
    between, searched = threading.Event(), threading.Event()
    run_once = engine._try

    def paused(*arguments: Any) -> Any:
        report = run_once(*arguments)
        between.set()
        assert searched.wait(PATIENCE)
        return report

    monkeypatch.setattr(engine, "_try", paused)
    checker = threading.Thread(target=engine.check, args=("messages.length > 1",))
    checker.start()
    assert between.wait(PATIENCE)
    outcomes = [engine.run(["true"], SITUATION, 5) for _ in range(5)]
    assert checker.is_alive()
    searched.set()
    checker.join()
    assert [holds(outcome) for outcome in outcomes] == [[True]] * 5


# ---------------------------------------------------------------- the life of the worker


def test_nothing_runs_before_it_is_needed() -> None:
    engine = Sandbox()
    assert engine._child is None
    engine.close()


def test_the_worker_is_kept(engine: Sandbox) -> None:
    engine.run(["true"], SITUATION, 5)
    first = running(engine).pid
    engine.run(["nobody", "throw 1", "'x'.repeat(2 ** 29)"], replace(SITUATION, seed=1), 5)
    assert running(engine).pid == first


def test_a_closed_sandbox_starts_again(engine: Sandbox) -> None:
    engine.run(["true"], SITUATION, 5)
    process = running(engine)._process
    engine.close()
    assert process.returncode is not None
    assert holds(engine.run(["true"], SITUATION, 5)) == [True]


def test_closing_ends_what_starts(engine: Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "worker.py").write_text("import time; time.sleep(60)")
    monkeypatch.setattr(child, "PROGRAM", tmp_path / "worker.py")
    monkeypatch.setattr(sandbox, "START_SECONDS", 50)
    search = threading.Thread(target=engine.run, args=(["true"], SITUATION, 60))
    search.start()
    until(lambda: engine._child is not None, "the worker starts")
    engine.close()
    search.join(10)
    assert not search.is_alive()


def test_closing_ends_what_runs(engine: Sandbox) -> None:
    engine.run(["true"], SITUATION, 5)
    threading.Timer(0.1, engine.close).start()
    outcomes = engine.run(["for (let i = 0; i < 2e6; i++); true"] * 100, SITUATION, 60)
    assert holds(outcomes)[-1] == "unavailable"


@posix
def test_a_worker_killed_while_idle_is_replaced(engine: Sandbox) -> None:
    for _ in range(3):
        assert holds(engine.run(["true", "false"], SITUATION, 5)) == [True, False]
        os.kill(running(engine).pid, signal.SIGKILL)


@posix
def test_a_worker_killed_at_work_is_replaced(engine: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "SLICE", 1.0)
    engine.run(["true"], SITUATION, 5)
    killer = threading.Timer(0.1, os.kill, (running(engine).pid, signal.SIGKILL))
    killer.start()
    outcomes = engine.run(["for (let i = 0; i < 3e6; i++); true", "true"], SITUATION, 5)
    killer.join()
    assert holds(outcomes) == [True, True]


@posix
def test_workers_killed_in_a_loop_do_not_hold_up_the_search(engine: Sandbox) -> None:
    done = threading.Event()

    def kill() -> None:
        while not done.wait(0.005):
            child = engine._child
            if child is not None and child.alive:
                with suppress(ProcessLookupError):  # it has just been reaped
                    os.kill(child.pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    began = time.monotonic()
    try:
        outcomes = engine.run(["true"] * 500, SITUATION, 1.0)
    finally:
        done.set()
        killer.join()
    assert time.monotonic() - began < 10
    assert len(outcomes) == 500
    assert holds(engine.run(["true"], SITUATION, 5)) == [True]


@posix
@pytest.mark.usefixtures("hurried")
def test_a_stopped_worker_is_replaced(engine: Sandbox) -> None:
    assert holds(engine.run(["true"], SITUATION, 5)) == [True]
    stopped = running(engine).pid
    os.kill(stopped, signal.SIGSTOP)
    assert holds(engine.run(["true", "false"], replace(SITUATION, seed=2), 5)) == [True, False]
    assert running(engine).pid != stopped


@posix
@pytest.mark.usefixtures("hurried")
def test_a_stopped_worker_cannot_be_drowned(engine: Sandbox) -> None:
    """More is written to it than a pipe holds."""
    engine.run(["true"], SITUATION, 5)
    os.kill(running(engine).pid, signal.SIGSTOP)
    long = replace(SITUATION, messages=(Message("user", "x" * 1_000_000),))
    assert holds(engine.run(["messages.length === 1"], long, 5)) == [True]


@posix
def test_a_worker_stopped_at_work_is_late(engine: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.run(["true"], SITUATION, 5)
    worker = running(engine)
    send = worker._send

    def send_and_stop(tag: bytes, body: bytes) -> None:
        send(tag, body)
        os.kill(worker.pid, signal.SIGSTOP)

    monkeypatch.setattr(worker, "_send", send_and_stop)
    assert holds(engine.run([UNSTOPPABLE, "true"], SITUATION, 5)) == ["timeout", True]
    assert not worker.alive


def test_without_an_interpreter_the_answer_says_so(engine: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(ROOT / "no-python"))
    outcomes = engine.run(["true", "true"], SITUATION, 5)
    reason = "the JavaScript worker cannot start: No such file or directory"
    assert [(o.kind, o.message) for o in outcomes if isinstance(o, Failure)] == [
        (FailureKind.UNAVAILABLE, reason)
    ] * 2
    with pytest.raises(Unavailable, match="cannot start"):
        engine.check("true")
    monkeypatch.undo()
    assert holds(engine.run(["true"], SITUATION, 5)) == [True]


@pytest.mark.parametrize("unknown", ["", None])
def test_where_python_does_not_know_its_own_place_the_answer_says_so(
    engine: Sandbox, monkeypatch: pytest.MonkeyPatch, unknown: str | None
) -> None:
    monkeypatch.setattr(sys, "executable", unknown)
    (outcome,) = engine.run(["true"], SITUATION, 5)
    assert isinstance(outcome, Failure)
    assert "the path of the Python interpreter is not known" in outcome.message


def test_without_the_engine_the_answer_says_so(engine: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert holds(engine.run(["true"], SITUATION, 5)) == ["unavailable"]


@pytest.mark.parametrize(
    "program",
    [
        "raise SystemExit(3)",
        "import sys; sys.stdout.write('x' * 100_000)",
        "import sys; sys.stdout.buffer.write(b'A\\xff\\xff\\xff\\xff')",
        "import sys; sys.stdout.buffer.write(b'A\\0\\0\\0\\4true')",
        "import sys; sys.stdout.buffer.write(b'A\\0\\0\\0\\2\\xff\\xff')",
        "import sys; sys.stdout.buffer.write(b'A\\0\\0')",
        "import sys; sys.stdout.buffer.write(b'A\\0\\0\\0\\4tr'); sys.stdout.flush(); import time; time.sleep(60)",
        "import time; time.sleep(60)",
        "import os\nwhile True: os.write(1, b'x' * 65536)",
    ],
    ids=[
        "ends",
        "noise",
        "too long",
        "no object",
        "no text",
        "half a head",
        "half a frame",
        "silence",
        "flood",
    ],
)
def test_a_worker_that_does_not_start_is_given_up(
    engine: Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str
) -> None:
    (tmp_path / "worker.py").write_text(program)
    monkeypatch.setattr(child, "PROGRAM", tmp_path / "worker.py")
    monkeypatch.setattr(sandbox, "START_SECONDS", 0.3)
    began = time.monotonic()
    assert holds(engine.run(["true", "true"], SITUATION, 20)) == ["unavailable", "unavailable"]
    assert time.monotonic() - began < 10


def test_a_worker_that_others_leave_no_time_to_start_is_nobodys_fault(
    engine: Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "worker.py").write_text("import time; time.sleep(60)")
    monkeypatch.setattr(child, "PROGRAM", tmp_path / "worker.py")
    turn = engine._turns.take("somebody else", None)
    assert turn is not None

    def give_back_when_awaited() -> None:
        until(lambda: engine._turns.are_awaited(turn), "the search waits for the worker")
        engine._turns.give_back(turn)

    other = threading.Thread(target=give_back_when_awaited)
    other.start()
    outcomes = engine.run(["true"], SITUATION, 2)
    other.join()
    assert holds(outcomes) == ["skipped"]
    assert holds(engine.run(["true"], SITUATION, 0.2)) == ["unavailable"]


SLOW_TO_RETURN = """
import pathlib, time
started = pathlib.Path(__file__).with_name("started")
if started.exists(): time.sleep(60)
started.touch()
"""


def test_a_worker_that_does_not_come_back_within_the_budget_leaves_the_rest_for_later(
    engine: Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answer = """(say(b'{"kind": "value", "holds": true, "why": ""}'), os._exit(0))"""
    (tmp_path / "worker.py").write_text(SLOW_TO_RETURN + NOISY.replace("ANSWER", answer))
    monkeypatch.setattr(child, "PROGRAM", tmp_path / "worker.py")
    assert holds(engine.run(["true"] * 3, SITUATION, 2)) == [True, "skipped", "skipped"]


NOISY = """
import os, struct, sys
def frame():
    head = sys.stdin.buffer.read(5)
    sys.stdin.buffer.read(struct.unpack('>cI', head)[1])
    return head[:1]
def say(text):
    os.write(1, struct.pack('>cI', b'A', len(text)) + text)
while True:
    tag = frame()
    if tag == b'T': ANSWER
    elif tag not in b'CLI': say(b'{"kind": "ready"}')
"""


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("say(b'{}')", "error"),
        ("""say(b'{"kind": "value", "holds": 1, "why": 2}')""", "error"),
        ("say(b'[]')", "error"),
        ("say(b'[' * 60000)", "error"),
        ("os.write(1, b'A' + bytes([255] * 70000))", "error"),
        ("os._exit(1)", "error"),
        ("os.write(1, b'A' + bytes([0, 0, 1, 0]))", "timeout"),
        ("pass", "timeout"),
    ],
)
def test_a_worker_with_malformed_output_is_replaced(
    engine: Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: str, outcome: str
) -> None:
    (tmp_path / "worker.py").write_text(NOISY.replace("ANSWER", answer))
    with monkeypatch.context() as patch:
        patch.setattr(child, "PROGRAM", tmp_path / "worker.py")
        outcomes = engine.run(["true"], SITUATION, 5)
    assert holds(outcomes) == [outcome]
    assert isinstance(outcomes[0], Failure)
    assert outcomes[0].message in (
        "the worker returned malformed output",
        "the worker ended with status 1",
        "it takes too long",
    )
    engine.close()
    assert holds(engine.run(["true"], SITUATION, 5)) == [True]


@linux
def test_the_worker_inherits_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "x")
    monkeypatch.chdir(tmp_path)
    engine = Sandbox(time_zone="Asia/Shanghai")
    with (tmp_path / "open").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        engine.run(["true"], SITUATION, 5)
        proc = Path(f"/proc/{running(engine).pid}")
        assert (proc / "environ").read_bytes().split(b"\0") == [b"TZ=Asia/Shanghai", b""]
        assert (proc / "cwd").readlink() == Path("/")
        files = {int(link.name): str(link.readlink()) for link in (proc / "fd").iterdir()}
        assert sorted(files) == [0, 1, 2]
        assert files[2] == "/dev/null"
        assert os.getsid(running(engine).pid) != os.getsid(0)
        limits = dict(line.split("  ", 1) for line in (proc / "limits").read_text().splitlines()[1:])
        assert {
            name: limits[name].split()[1] for name in ("Max address space", "Max open files", "Max file size")
        } == {
            "Max address space": str(320 * 2**20),
            "Max open files": "8",
            "Max file size": "0",
        }
        assert int(limits["Max cpu time"].split()[0]) <= 4
    engine.close()


@linux
def test_killed_workers_are_reaped(engine: Sandbox) -> None:
    watching = threading.active_count()
    pids = []
    for _ in range(3):
        engine.run(["true"], SITUATION, 5)
        pids.append(running(engine).pid)
        os.kill(pids[-1], signal.SIGKILL)
    engine.close()
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    assert threading.active_count() == watching


ORPHAN = """
import sys, threading
from datetime import UTC, datetime
from memory_server.domain.situation import Situation
from memory_server.triggers.javascript.sandbox import Sandbox
engine = Sandbox()
engine.run(["true"], Situation((), "c", datetime(2026, 1, 1, tzinfo=UTC), 1), 5)
tell = threading.Timer(0.3 * len(sys.argv[1:]), print, (engine._child.pid,), {"flush": True})
tell.start()
if sys.argv[1:]: engine.run(sys.argv[1:], Situation((), "c", datetime(2026, 1, 1, tzinfo=UTC), 1), 60)
sys.stdin.read()
"""


@linux
@pytest.mark.parametrize("at_work", [[], [ENDLESS], [UNSTOPPABLE]], ids=["idle", "at work", "out of reach"])
def test_the_worker_ends_with_its_parent(at_work: list[str]) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", ORPHAN, *at_work], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + 2  # before the limits of time: those end it after three
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not alive(pid)


def alive(pid: int) -> bool:
    """Whether it runs; a zombie, which whoever adopted it has not reaped yet, does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# ---------------------------------------------------------------- the check


@pytest.mark.parametrize(
    ("source", "held"),
    [
        ("match_keys(context.messages, ['birthday', '生日'], 'any')", True),
        (
            "match_keys(context.messages, ['anniversary'], 'any')"
            " || (new Date().getMonth() === 6 && new Date().getDate() === 17)",
            False,
        ),
        ("match_keys_all(context.messages, ['project', 'deadline'], 'user')", True),
        ("match_keys(context.messages, [/deadlines?/i, 'C++'], 'user', 6) >= 2", False),
        ("context.messages.some(m => m.content.includes('生日'))", False),
        ("context.participants.user === 'Ann'", True),
        ("Math.random() < 0.1", False),
        ("match_keys(messages, ['a']) === 1 && !match_keys(messages, ['b'])", False),
        ("match_keys(messages, ['a']) >= 4 && match_keys(messages, ['b']) >= 2", False),
        ("const found = match_keys(messages, ['a', 'b', 'c']); found > 2", False),
        ("messages.length > 100", False),
        ("conversation_id === 'here'", False),
    ],
)
def test_an_honest_trigger_passes_without_warnings(shared: Sandbox, source: str, held: bool) -> None:
    assert shared.check(source) == (held, ())


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("match_keys(messages, ['x'],", "does not compile at line 1, column 28"),
        ("const x = 1;\nconst x = 2;", "does not compile at line 2, column 9"),
        ("'use strict'; with (context) messages", "with"),
        ("true &&\n  /(/.test('')", "does not compile at line 2, column 3: expecting"),
        ("match_key(messages, ['x'])", "match_key is not defined"),
        ("match_keys(messages, ['x']) && nobody", "nobody is not defined"),
        ("match_keys(messages, ['x']) || nobody", "nobody is not defined"),
        ("(async () => true)()", "promise"),
        ("() => true", "function"),
        ("Symbol()", "symbol"),
        ("for (;;);", "too long"),
        ("'x'.repeat(2 ** 29)", "memory"),
        ("throw new Error('no')", "Error: no"),
        ("messages[0].nobody.at", "cannot read property 'at' of undefined"),
        ("similar(messages, 5) || messages.map(m => m)", "similar must be a text"),
    ],
)
@pytest.mark.usefixtures("hurried")
def test_a_bad_trigger_is_refused(shared: Sandbox, source: str, message: str) -> None:
    with pytest.raises(TriggerRejected, match=message):
        shared.check(source)


@pytest.mark.parametrize(
    ("source", "warning"),
    [
        ("true", "It is always true."),
        ("match_keys(messages, ['x']) >= 0", "It is always true."),
        ("match_keys(messages, [])", "It is never true, whatever the messages say."),
        ("match_keys(messages, ['']) > 0", "It is never true, whatever the messages say."),
        ("match_keys(messages, ['a', 'b'], 'any', 2) > 4", "It is never true, whatever the messages say."),
        ("messages.forEach(m => m.role)", "Its last statement returns no value, which counts as false."),
        (
            "messages.filter(m => m.content === 'x')",
            "It returns an object, which counts as true even if it is empty.",
        ),
        (
            "new Date().getMonth() === 12 &&\n  messages.at(0).content === nobody",
            "nobody is not defined (line 2, column 30): the trigger fails when it gets there.",
        ),
        ("match_keys(messages, [/^(foo|fo|o)+$/])", "too slow"),
        ("/(a+)+$/.test(messages.map(m => m.content).join())", "too slow"),
        ("match_keys(messages, [/^(\\w+\\s?)*$/])", "too slow"),
        ("messages.some(m => /(.*)(.*)z/.test(m.content))", "too slow"),
    ],
)
@pytest.mark.usefixtures("hurried")
def test_an_odd_trigger_is_warned_of(shared: Sandbox, source: str, warning: str) -> None:
    _, warnings = shared.check(source)
    assert any(warning in said for said in warnings), warnings


def test_a_check_of_what_is_slow_ends_soon() -> None:
    ran = []

    def ask(run: TrialRun) -> Reply:
        ran.append(run)
        if run.source.startswith("throw 'compiled'"):
            return Reply({"kind": "error", "message": "it throws compiled"}, 1.0)
        return Reply({"kind": "value", "holds": True, "why": ""}, 200.0)

    holds, warnings = check("slow()", ask)
    assert (holds, len(ran)) == (True, 4)
    assert warnings == ("It takes 200 ms even on a short conversation: a loop in it is too slow.",)


def test_a_check_has_a_moment_of_its_own(shared: Sandbox) -> None:
    assert shared.check("new Date().toISOString() === '2026-03-14T09:26:53.000Z'") == (True, ())
