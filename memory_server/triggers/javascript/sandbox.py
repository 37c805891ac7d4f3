"""The sandbox of JavaScript triggers: one worker process, started when it is needed, killed when it is late."""

import json
import re
import threading
import time
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from memory_server.domain.message import Message
from memory_server.domain.situation import Situation
from memory_server.errors import TriggerRejected, Unavailable
from memory_server.language.han import SIMPLIFIED, TRADITIONAL
from memory_server.language.keys import UNSPACED
from memory_server.language.text import visible
from memory_server.triggers import MOST_BYTES, Failure, FailureKind, Outcome, Skipped, Value, size
from memory_server.triggers.javascript import trial
from memory_server.triggers.javascript.child import Child, Died

SECONDS = 1.0
"""For one trigger, by the clock on the wall; then the worker is killed."""

CPU_SHARE = 0.8
"""The share of them after which the engine gives up by itself, where it can: that costs no new worker."""

SLICE = 0.05
"""Seconds that each trigger gets before any gets more: an ordinary one takes 0.001. So a dozen endless ones, each with
a new worker after it, take half of a search's budget, and leave the other half to those that are not known to be slow."""

START_SECONDS = 5.0
CHECK_SECONDS = 6.0
TOO_LONG = f"The trigger is longer than {MOST_BYTES} bytes."
TIER = 1
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

FRAME = re.compile(r" *at (?:(?P<function>.*) \()?<input>:(?P<line>\d{1,9}):(?P<column>\d{1,9})\)?")
OF_THE_PRELUDE = frozenset({"match_keys", "match_keys_all", "similar", "FrozenDate", "Date"})

TIMEOUT = {"kind": "timeout", "message": "it takes too long"}
SKIPPED = {"kind": "skipped"}


class Unstartable(Exception):
    """The worker cannot be started, and why."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the worker says of one trigger, and how long that took."""

    told: dict[str, Any]
    milliseconds: float

    def outcome(self) -> Outcome:
        match self.told:
            case {"kind": "value", "holds": bool(holds), "why": str(why)}:
                default = "the condition holds" if holds else "the condition does not hold"
                return Value(holds, why or default, TIER, self.milliseconds)
            case {"kind": "error" | "timeout" | "memory" as kind}:
                return Failure(FailureKind(kind), self.message, TIER, self.milliseconds)
            case {"kind": "skipped"}:
                return Skipped()
        return Failure(FailureKind.ERROR, "its worker answers with noise", TIER, self.milliseconds)

    @property
    def message(self) -> str:
        """What went wrong, where it did: `TypeError: x is not a function (line 1, column 5)`."""
        name, message, stack = (str(self.told.get(part, ""))[:2000] for part in ("name", "message", "stack"))
        text = f"{name}: {message}" if name else message
        at = place(stack)
        return text if at is None else f"{text} (line {at[0]}, column {at[1]})"


def place(stack: str) -> tuple[int, int] | None:
    """Line and column in the trigger, from the frames above `eval`; those of the prelude do not count."""
    found = None
    for frame in stack.splitlines():
        if "at eval (native)" in frame:
            break
        at = FRAME.fullmatch(frame)
        if at is None:
            continue
        if at["function"] in OF_THE_PRELUDE:
            found = None
        elif found is None:
            found = int(at["line"]), int(at["column"])
    return found


class Sandbox:
    """The worker process that runs JavaScript triggers. Safe to call from several threads."""

    def __init__(self, time_zone: str | None = None) -> None:
        """Nothing starts yet. `time_zone` is the variable TZ for the worker, which inherits nothing else."""
        self._time_zone = time_zone
        self._child: Child | None = None
        self._lock = threading.Lock()
        self._closing = False

    def run(
        self, sources: Sequence[str], situation: Situation, budget: float, doubtful: int = 0
    ) -> list[Outcome]:
        """Evaluate each source in its own fresh context, all within `budget` seconds; the rest is skipped.

        Each first gets a SLICE, in the order given. What needs more waits until all others have had theirs; with the
        last `doubtful` ones, which wait from the start, it then shares half of the budget, at most SECONDS each.
        """
        alone = self._lock.acquire(blocking=False)
        started = time.monotonic()
        if not alone and not self._lock.acquire(timeout=max(0.0, budget)):
            return [Skipped() for _ in sources]
        try:
            ends = started + budget
            frame = _situation_frame(situation)
            certain = len(sources) - doubtful
            outcomes = dict(enumerate(self._run(sources[:certain], situation, frame, ends, alone, SLICE)))
            late = [index for index, outcome in outcomes.items() if _is_late(outcome)]
            late += range(certain, len(sources))
            ends = min(ends, time.monotonic() + budget / 2)
            again = self._run([sources[index] for index in late], situation, frame, ends, alone, SECONDS)
            for index, outcome in zip(late, again, strict=True):
                outcomes[index] = Skipped(late=True) if isinstance(outcome, Skipped) else outcome
            return [outcomes[index] for index in range(len(sources))]
        finally:
            self._lock.release()

    def check(self, source: str) -> tuple[bool, tuple[str, ...]]:
        """Compile and dry-run: its value on the sample conversation, and what its author should know.

        Raises:
            TriggerRejected: it does not compile, gives no value or takes too long.
            Unavailable: no JavaScript can be run now.
        """
        if size(source) > MOST_BYTES:
            raise TriggerRejected(TOO_LONG)
        ends = time.monotonic() + CHECK_SECONDS
        try:
            return trial.check(source, lambda run: self._try(run, ends))
        except Unstartable as error:
            raise Unavailable(f"The trigger cannot be checked: {error}.") from error

    def close(self) -> None:
        """End the worker, and what runs in it; a later call starts another."""
        self._closing = True
        if (child := self._child) is not None:
            child.kill()
        with self._lock:
            self._drop()
            self._closing = False

    def _run(
        self,
        sources: Sequence[str],
        situation: Situation,
        frame: bytes,
        ends: float,
        alone: bool,
        seconds: float,
    ) -> list[Outcome]:
        """The outcome of each source, at most `seconds` each, until a moment."""
        outcomes: list[Outcome] = []
        missing: str | None = None
        for index, source in enumerate(sources):
            if missing is not None:
                outcomes.append(Failure(FailureKind.UNAVAILABLE, missing, TIER, 0.0))
            elif size(source) > MOST_BYTES:
                outcomes.append(Failure(FailureKind.ERROR, TOO_LONG, TIER, 0.0))
            elif time.monotonic() >= ends:
                outcomes.append(Skipped())
            else:
                request = _request(source, situation, index, seconds)
                try:
                    answer = self._judge(request, frame, seconds, ends, first=not outcomes)
                    outcomes.append(answer.outcome())
                except Unstartable as error:
                    if (
                        outcomes or not alone
                    ) and time.monotonic() >= ends:  # others had used up its time to start again
                        outcomes.append(Skipped())
                        continue
                    missing = str(error)
                    outcomes.append(Failure(FailureKind.UNAVAILABLE, missing, TIER, 0.0))
        return outcomes

    def _try(self, run: trial.Run, ends: float) -> trial.Report:
        """One run of a check. Between two of them a search may have the worker."""
        seconds = min(SECONDS, trial.SECONDS)
        request = _request(run.source, run.situation, 0, seconds, run.forced)
        if not self._lock.acquire(timeout=max(0.0, ends - time.monotonic())):
            raise Unstartable("others keep the JavaScript worker busy")
        try:
            answer = self._judge(request, _situation_frame(run.situation), seconds, ends, first=True)
        finally:
            self._lock.release()
        return trial.Report(
            answer.outcome(), answer.told, place(str(answer.told.get("stack", ""))), answer.milliseconds
        )

    def _judge(self, request: bytes, situation: bytes, seconds: float, ends: float, *, first: bool) -> Answer:
        """Ask the worker; once more if it died without being late, since somebody else may have killed it."""
        reason = ""
        started = time.monotonic()
        for _ in range(2):
            child = self._ready(situation, ends)
            started = time.monotonic()
            try:
                told = _visible(child.ask(b"T", request, min(started + seconds, ends)))
                return Answer(told, 1000 * (time.monotonic() - started))
            except Died as died:
                self._drop()
                reason = str(died)
                if died.late:
                    cut_short = time.monotonic() < started + seconds and not first
                    return Answer(SKIPPED if cut_short else TIMEOUT, 1000 * (time.monotonic() - started))
        told = {"kind": "error", "message": f"its worker died: {reason}"}
        return Answer(told, 1000 * (time.monotonic() - started))

    def _ready(self, situation: bytes, ends: float) -> Child:
        """A worker that lives, answers and knows the situation."""
        if self._closing:
            raise Unstartable("the server is closing")
        child = self._child
        if child is not None and child.alive:
            if child.situation is situation:
                return child
            try:
                child.learn(situation, min(time.monotonic() + SECONDS / 2, ends))
                return child
            except Died:  # while it was idle: that is no trigger's doing
                pass
        self._drop()
        return self._start(situation, ends)

    def _start(self, situation: bytes, ends: float) -> Child:
        deadline = min(time.monotonic() + START_SECONDS, ends)
        try:
            self._child = child = Child(self._time_zone)
        except OSError as error:
            raise Unstartable(f"the JavaScript worker cannot start: {error.strerror or error}") from error
        if self._closing:
            self._drop()
            raise Unstartable("the server is closing")
        try:
            child.tell(b"C", _table(), deadline)
            child.ask(b"P", _prelude(), deadline)
            child.learn(situation, deadline)
        except Died as died:
            self._drop()
            raise Unstartable(f"the JavaScript worker did not start: {died}") from died
        return child

    def _drop(self) -> None:
        if self._child is not None:
            self._child.close()
            self._child = None


def _is_late(outcome: Outcome) -> bool:
    return isinstance(outcome, Failure) and outcome.kind is FailureKind.TIMEOUT


def _visible(told: dict[str, Any]) -> dict[str, Any]:
    """What the worker says is partly in words of the trigger's choice: lone surrogates too, which cannot be sent."""
    return {name: visible(value) if isinstance(value, str) else value for name, value in told.items()}


def _request(
    source: str, situation: Situation, index: int, seconds: float, forced: trial.Forced | None = None
) -> bytes:
    chance = zlib.crc32(f"{situation.seed} {index}".encode())
    return json.dumps(
        {
            "source": source,
            "now": (situation.now - EPOCH) // timedelta(milliseconds=1),
            "seed": chance,
            "seconds": seconds * CPU_SHARE,
            "trial": None if forced is None else asdict(forced),
        }
    ).encode()


def _situation_frame(situation: Situation) -> bytes:
    """The clock of the situation, and below it what a trigger sees, as the text that JSON.parse gets there."""
    offset = situation.now.utcoffset() or timedelta()
    clock = {
        "now": situation.now.timestamp(),
        "offset": int(offset.total_seconds()),
        "zone": getattr(situation.now.tzinfo, "key", None),
    }
    seen = {
        "messages": [_present(message) for message in situation.messages],
        "conversation_id": situation.conversation_id,
        "participants": dict(situation.participants),
    }
    return f"{json.dumps(clock)}\n{_strict_json(seen)}".encode()


def _strict_json(seen: dict[str, Any]) -> str:
    """JSON with null for a number that it cannot hold, as JavaScript writes it."""
    try:
        return json.dumps(seen, allow_nan=False)
    except ValueError:
        return json.dumps(json.loads(json.dumps(seen), parse_constant=lambda _: None))


def _present(message: Message) -> dict[str, str]:
    return {name: value for name, value in asdict(message).items() if value is not None}


@cache
def _table() -> bytes:
    """The class of scripts without spaces, U+0001, then each traditional character, NUL and its simplified one."""
    pairs = (f"{a}\0{b}" for a, b in zip(TRADITIONAL, SIMPLIFIED, strict=True))
    return (UNSPACED + "\1" + "".join(pairs)).encode()


@cache
def _prelude() -> bytes:
    return Path(__file__).with_name("prelude.js").read_bytes()
