"""The trial of a JavaScript trigger before it is kept: conversations made up to bring out what is wrong with it."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from memory_server.domain.message import Message
from memory_server.domain.situation import Situation
from memory_server.errors import TriggerRejected, Unavailable
from memory_server.triggers import Failure, FailureKind, Outcome, Value
from memory_server.triggers.javascript import names

SECONDS = 0.5
"""For one run."""

PATIENCE = 300
"""Milliseconds of runs after which no further one begins: a check is answered soon."""

SLOW_MILLISECONDS = 100
"""What no trigger needs for a text of a few thousand characters, unless a regular expression goes astray in it."""

SAMPLE = Situation(
    messages=(
        Message("system", "You are a helpful assistant."),
        Message("user", "Hello! My birthday is next week, and I have a project deadline on Friday."),
        Message("assistant", "Happy birthday in advance! Shall we plan the project first?"),
        Message("user", "好的，我们先聊聊项目吧。"),
    ),
    conversation_id="sample",
    now=datetime(2026, 3, 14, 9, 26, 53, tzinfo=UTC),
    seed=1,
    participants={"user": "Ann", "assistant": "Bea"},
)
EMPTY = replace(SAMPLE, messages=(), participants={})


@dataclass(frozen=True, slots=True)
class Forced:
    """What match_keys gives in a run: the call number i finds its keys when bit i of `pattern` is set.

    It then finds all of them everywhere, or with `once` one in one message.
    """

    pattern: int
    once: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a trigger on trial."""

    source: str
    situation: Situation
    forced: Forced | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """What came of a run; `told` has besides the value its type, the calls of match_keys, and what was looked at."""

    outcome: Outcome
    told: Mapping[str, Any]
    place: tuple[int, int] | None
    milliseconds: float


Ask = Callable[[Run], Report]

MOST_REGEXES = 20
MOST_NAMES = 100
MOST_TEXTS = 24
PART = re.compile(r"(?<!\\)[^\W_]{1,12}")
"""Of a regular expression: repeated, it is the text that a repetition of it may go astray in."""

EVERY = 0xFFFFFFFF
PATTERNS = (
    Forced(EVERY),
    Forced(0),
    Forced(EVERY, once=True),
    *(Forced(1 << bit, once) for bit in range(4) for once in (False, True)),
    *(Forced(EVERY & ~(1 << bit)) for bit in range(4)),
)


def check(source: str, ask: Ask) -> tuple[bool, tuple[str, ...]]:
    """Its value on the sample conversation, and warnings.

    Raises:
        TriggerRejected: it does not compile, gives no value or takes too long.
        Unavailable: there is no worker for it.
    """
    trial = _Trial(ask)
    _compile(source, trial)
    empty = _tried(trial.ask(Run(source, EMPTY)))
    sample = trial.ask(Run(source, SAMPLE))
    holds = _value(sample)
    forced = [_tried(trial.ask(Run(source, SAMPLE, plan))) for plan in PATTERNS if trial.goes_on]
    warnings = [
        *_unknown(source, trial),
        *_fails_when_empty(empty),
        *(_constant([empty, sample, *forced]) if len(forced) == len(PATTERNS) else ()),
        *_odd_type(sample),
        *_slow(source, sample, trial),
    ]
    return holds, tuple(warnings)


class _Trial:
    """The runs of one trigger; it `goes_on` until they have taken too long together."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._milliseconds = 0.0

    @property
    def goes_on(self) -> bool:
        return self._milliseconds < PATIENCE

    def ask(self, run: Run) -> Report:
        report = self._ask(run)
        self._milliseconds += report.milliseconds
        return report


def _compile(source: str, trial: _Trial) -> None:
    """Compile without running: what comes first stops it there."""
    report = trial.ask(Run(f"throw 'compiled';\n{source}", EMPTY))
    if report.told.get("message") == "it throws compiled":
        return
    if report.told.get("name") != "SyntaxError":
        _value(report)
    where = (
        f"line {report.place[0] - 1}, column {report.place[1]}" if report.place else _bad_regex(source, trial)
    )
    at = f" at {where}" if where else ""
    raise TriggerRejected(f"The trigger does not compile{at}: {report.told.get('message')}.")


def _bad_regex(source: str, trial: _Trial) -> str:
    """Where the regular expression stands that does not compile: the engine does not say."""
    for regex, at in names.regexes(source)[:MOST_REGEXES]:
        if trial.goes_on and trial.ask(Run(regex, EMPTY)).told.get("name") == "SyntaxError":
            return f"{names.position(source, at)}, in {regex[:100]}"
    return ""


def _unknown(source: str, trial: _Trial) -> Iterator[str]:
    """Names in parts that no run has reached."""
    mentioned = names.undeclared(source)
    listed = json.dumps(list(mentioned)[:MOST_NAMES])
    report = trial.ask(Run(f"throw {listed}.filter(name => !(name in globalThis)).join(' ')", EMPTY))
    for name in str(report.told.get("message", "")).removeprefix("it throws ").split()[:3]:
        if name in mentioned:
            where = names.position(source, mentioned[name])
            yield f"Nothing here is called {name} ({where}): where that is reached, it fails."


def _value(report: Report) -> bool:
    match report.outcome:
        case Value(holds=holds):
            return holds
        case Failure(kind=FailureKind.UNAVAILABLE, message=message):
            raise Unavailable(message)
        case Failure(message=message):
            raise TriggerRejected(f"The trigger gives no value: {message}.")
    raise TriggerRejected("The trigger gives no value: it takes too long.")


def _tried(report: Report) -> Report:
    """The report itself, unless it tells against the trigger: the runs after it would take as long."""
    if not _may_fail(report.outcome):
        _value(report)
    return report


def _may_fail(outcome: Outcome) -> bool:
    """An error is the trial's own doing where no conversation is like that, but for an unknown name."""
    match outcome:
        case Failure(kind=FailureKind.ERROR, message=message):
            return not message.startswith("ReferenceError")
    return False


def _fails_when_empty(empty: Report) -> Iterator[str]:
    match empty.outcome:
        case Failure(message=message):
            yield f"It fails where nothing has been said: {message}."


def _constant(reports: list[Report]) -> Iterator[str]:
    """That it never or always holds, as far as nothing but match_keys decides it."""
    values = {report.outcome.holds for report in reports if isinstance(report.outcome, Value)}
    if len(values) != 1 or any(report.told.get("touched") for report in reports):
        return
    yield "It always holds." if values == {True} else "It never holds, whatever is said."


def _odd_type(sample: Report) -> Iterator[str]:
    match sample.told.get("type"):
        case "undefined":
            yield "Its last statement gives no value, which counts as false; a function must be called."
        case "object" if _value(sample):
            yield "It gives an object, which counts as true whatever is in it."
        case "string":
            yield "It gives a text, which counts as true unless it is empty."


def _slow(source: str, sample: Report, trial: _Trial) -> Iterator[str]:
    """The first text which takes long, of those that regular expressions are known to go astray in."""
    if sample.milliseconds > SLOW_MILLISECONDS:
        yield f"It takes {sample.milliseconds:.0f} ms even on a short conversation: a loop in it is too slow."
        return
    own = (part for regex, _ in names.regexes(source)[:MOST_REGEXES] for part in PART.findall(regex))
    texts = list(dict.fromkeys((*ADVERSARIAL, *own)))[:MOST_TEXTS]
    for length in (30, 3000):
        for text in texts:
            said = (text * (1 + length // len(text)))[:length] + "\0!"
            if not trial.goes_on:
                return
            run = Run(source, replace(SAMPLE, messages=(Message("user", said),)))
            report = trial.ask(run)
            if SLOW_MILLISECONDS < report.milliseconds < PATIENCE:
                report = trial.ask(run)  # once more: the machine may have been busy
            if report.milliseconds > SLOW_MILLISECONDS:
                yield (
                    f"It takes {report.milliseconds:.0f} ms on a message of {length} characters like {text!r}: "
                    "one of its regular expressions, or a loop, is too slow. Avoid repetitions inside repetitions."
                )
                return


ADVERSARIAL = ("a", "1", " ", "ab", "a ", "a1_", "x@x.", "-", "人")
