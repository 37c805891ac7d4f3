"""The trial of a JavaScript trigger before it is stored: it runs on made-up conversations that reveal mistakes."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from memory_server.domain.message import Message
from memory_server.domain.situation import Situation
from memory_server.errors import TriggerRejected, Unavailable
from memory_server.triggers import Failure, FailureKind, Outcome, Value, odd_keys
from memory_server.triggers.javascript import names
from memory_server.triggers.javascript.replies import Reply
from memory_server.triggers.reading import SourceReading

SECONDS = 0.5
"""Seconds of processor time of one run; half of what a search allows, since the sample conversation is short."""

SLOW_MILLISECONDS = 50
"""Milliseconds of processor time of one run above which the author is warned; then no other run follows. For a text of
a few thousand characters only a regular expression that backtracks too much, or a slow loop, needs that long."""

SLOW_ON_LONG = 300
"""The same on a message of 3,000 characters that is made to be slow: `/(\\d+)\\s*€/` takes 113 on as many digits, which
nobody writes."""

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
"""The conversation of a dry run. Its words, languages, roles and date are typical, and it never changes."""

EMPTY = replace(SAMPLE, messages=(), participants={})
"""The same without messages: it reveals triggers that fail at `messages[0]`."""


@dataclass(frozen=True, slots=True)
class Forced:
    """The results of match_keys in a run: call number i finds its keys if bit i of `calls` is set.

    It then finds all keys in all messages, or, with `once`, one key in one message.
    """

    calls: int
    once: bool = False


@dataclass(frozen=True, slots=True)
class TrialRun:
    """One run of a trigger on trial."""

    source: str
    situation: Situation
    forced: Forced | None = None


Ask = Callable[[TrialRun], Reply]

MOST_REGEXES = 20
"""Regular expressions of a trigger that are looked at. A choice, as the next two: they bound the time of a trial."""

MOST_NAMES = 100
"""Undeclared names of a trigger that are looked at."""

MOST_NOTICED = 3
"""Warnings of what is not there."""

_NOT_THERE = (
    "It reads `{}`, which is not there. `messages` is a list, and a message has role, content, name and timestamp: "
    "messages.some(m => m.content.includes('…'))."
)

_NOTICED = {
    "messages as a text": (
        "It takes `messages` for a text. It is a list: messages.some(m => m.content.includes('…')), or "
        "messages.map(m => m.content).join(' ')."
    ),
    "message as a text": "It takes a message for a text, which gives `[object Object]`. Write m.content.",
}
"""The warning for each thing that the worker notices."""

MOST_TEXTS = 24
"""Texts on which the speed of a trigger is tried."""

PART = re.compile(r"(?<!\\)[^\W_]{1,12}")
"""A literal part of a regular expression. Repeated many times, it is a text on which that expression may be slow."""

EVERY = 0xFFFFFFFF
"""32 bits set: every call of match_keys finds its keys; calls after the 32nd share the last bit."""

PLANS = (
    Forced(EVERY),
    Forced(0),
    Forced(EVERY, once=True),
    *(Forced(1 << bit, once) for bit in range(4) for once in (False, True)),
    *(Forced(EVERY & ~(1 << bit)) for bit in range(4)),
)
"""The runs that show whether match_keys can change the value: all calls find their keys, none does, and each of the
first four is the only one that does or does not. A trigger rarely has more than four calls."""


def check(source: str, ask: Ask) -> tuple[bool, tuple[str, ...]]:
    """The trigger's value on the sample conversation, and warnings.

    Raises:
        TriggerRejected: it does not compile, returns no value or takes too long.
        Unavailable: the worker cannot run.
    """
    _compile(source, ask)
    empty = _tried(ask(TrialRun(source, EMPTY)))
    sample = ask(TrialRun(source, SAMPLE))
    holds = _value(sample)
    quick = sample.milliseconds <= SLOW_MILLISECONDS
    forced = [_tried(ask(TrialRun(source, SAMPLE, plan))) for plan in PLANS] if quick else []
    warnings = [
        *_unknown(source, ask),
        *_noticed([empty, sample, *forced]),
        *(_constant([empty, sample, *forced]) if len(forced) == len(PLANS) else ()),
        *_odd_type(sample),
        *_slow(source, sample, ask),
    ]
    return holds, tuple(warnings)


def _compile(source: str, ask: Ask) -> None:
    """Compile the trigger without running it: a `throw` in front of it ends the run first."""
    reply = ask(TrialRun(f"throw 'compiled';\n{source}", EMPTY))
    if reply.answer.get("message") == "it throws compiled":
        return
    if reply.answer.get("name") != "SyntaxError":
        _value(reply)
    where = f" at line {reply.position[0] - 1}, column {reply.position[1]}" if reply.position else ""
    raise TriggerRejected(f"The trigger does not compile{where}: {reply.answer.get('message')}.")


def _unknown(source: str, ask: Ask) -> Iterator[str]:
    """Warnings of undefined names, which the runs may not have reached."""
    mentioned = names.undeclared(SourceReading.of(source))
    listed = json.dumps(list(mentioned)[:MOST_NAMES])
    reply = ask(TrialRun(f"throw {listed}.filter(name => !(name in globalThis)).join(' ')", EMPTY))
    for name in str(reply.answer.get("message", "")).removeprefix("it throws ").split()[:3]:
        if name in mentioned:
            where = names.position(source, mentioned[name])
            yield f"{name} is not defined ({where}): the trigger fails when it gets there."


def _value(reply: Reply) -> bool:
    match reply.outcome:
        case Value(holds=holds):
            return holds
        case Failure(kind=FailureKind.UNAVAILABLE, message=message):
            raise Unavailable(message)
        case Failure(message=message):
            raise TriggerRejected(f"The trigger returns no value: {message}.")
    raise TriggerRejected("The trigger returns no value: it takes too long.")


def _tried(reply: Reply) -> Reply:
    """The reply; raises if the trigger itself is at fault, since further runs would fail or take as long."""
    if not _may_fail(reply.outcome):
        _value(reply)
    return reply


def _may_fail(outcome: Outcome) -> bool:
    """Ignore an error that the forced situation may have caused, but not that of an undefined name."""
    match outcome:
        case Failure(kind=FailureKind.ERROR, message=message):
            return not message.startswith("ReferenceError")
    return False


def _noticed(replies: list[Reply]) -> Iterator[str]:
    """Warnings of what the trigger read that is not there, and of its keys."""
    noticed = dict.fromkeys(name for reply in replies for name in reply.answer.get("noticed", ()))
    for name in list(noticed)[:MOST_NOTICED]:
        yield _NOTICED.get(name) or _NOT_THERE.format(name)
    yield from odd_keys.warnings(
        dict.fromkeys(key for reply in replies for key in reply.answer.get("keys", ()))
    )


def _constant(replies: list[Reply]) -> Iterator[str]:
    """Warns that it is always or never true, if only match_keys can change its value."""
    values = {reply.outcome.holds for reply in replies if isinstance(reply.outcome, Value)}
    if len(values) != 1 or any(reply.answer.get("touched") for reply in replies):
        return
    yield "It is always true." if values == {True} else "It is never true, whatever the messages say."


def _odd_type(sample: Reply) -> Iterator[str]:
    match sample.answer.get("type"):
        case "undefined":
            yield "Its last statement returns no value, which counts as false. If it defines a function, call it."
        case "object" if _value(sample):
            yield "It returns an object, which counts as true even if it is empty."
        case "string":
            yield "It returns a string, which counts as true unless it is empty."


def _slow(source: str, sample: Reply, ask: Ask) -> Iterator[str]:
    """Warns of the first text that takes long, of those on which regular expressions are known to be slow."""
    if sample.milliseconds > SLOW_MILLISECONDS:
        yield f"It takes {sample.milliseconds:.0f} ms even on a short conversation: a loop in it is too slow."
        return
    regexes = [token.text for token in SourceReading.of(source).tokens if token.kind == "regex"][
        :MOST_REGEXES
    ]
    parts = [part for regex in regexes for part in PART.findall(regex)]
    texts = list(dict.fromkeys((*ADVERSARIAL, *parts)))[:MOST_TEXTS]
    for length, most in ((30, SLOW_MILLISECONDS), (3000, SLOW_ON_LONG)):
        for text in texts:
            content = (text * (1 + length // len(text)))[:length] + "\0!"
            run = TrialRun(source, replace(SAMPLE, messages=(Message("user", content),)))
            reply = ask(run)
            if _is_slow(reply, most):
                reply = ask(run)  # once more: a new worker may have been started
            if _is_slow(reply, most):
                yield (
                    f"It takes {reply.milliseconds:.0f} ms on a message of {length} characters like {text!r}: "
                    "one of its regular expressions, or a loop, is too slow. Avoid nested repetitions."
                )
                return


def _is_slow(reply: Reply, most: float) -> bool:
    match reply.outcome:
        case Failure(kind=FailureKind.TIMEOUT):
            return True
    return reply.milliseconds > most


ADVERSARIAL = ("a", "1", " ", "ab", "a ", "a1_", "x@x.", "-", "人")
"""Texts that, repeated, make common regular expressions backtrack: letters, digits, spaces, words, addresses, Han."""
