"""The sandbox for JavaScript triggers: one worker process, started when needed, killed when it misses a deadline."""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any

from memory_server.call import acting, deadline
from memory_server.domain.message import Message
from memory_server.domain.situation import Situation
from memory_server.errors import Unavailable
from memory_server.language.han import SIMPLIFIED, TRADITIONAL
from memory_server.language.keys import UNSPACED
from memory_server.language.text import visible
from memory_server.triggers import (
    MOST_BYTES,
    NO_ENGINE,
    UNLOADABLE,
    Failure,
    FailureKind,
    Outcome,
    Skipped,
    size,
)
from memory_server.triggers.effort import TriggerEffort
from memory_server.triggers.javascript import reasons, trial
from memory_server.triggers.javascript.child import Answers, Child, Died
from memory_server.triggers.javascript.compat import engine_folder
from memory_server.triggers.javascript.parts import parts_of
from memory_server.triggers.javascript.replies import (
    NO_SENSE,
    SKIPPED,
    TIMEOUT,
    Evaluation,
    Nearnesses,
    Reply,
    timed,
)
from memory_server.triggers.javascript.turns import WorkerTurn, WorkerTurns

SECONDS = 1.0
"""Wall-clock seconds that one trigger may take; then the worker is killed. A choice: triggers take milliseconds."""

CPU_SHARE = 0.8
"""The share of SECONDS after which the engine itself interrupts the trigger, if it can: that needs no new worker."""

SLICE = 0.05
"""Seconds that each trigger gets before any gets more: an ordinary one takes 0.001. So a dozen endless ones, each with
a new worker after it, take half of a search's budget, and leave the other half to those not known to be slow."""

TOGETHER = 500
"""Triggers that are sent to the worker together."""

STINT = 0.05
"""Seconds after which the worker begins no other one of these, so that other people get their turn."""

START_SECONDS = 5.0
"""Seconds within which a new worker must be ready; then it is given up. A choice: far above what a start takes."""

CHECK_SECONDS = 20.0
"""Seconds for all runs of one check, the start of a worker included. A choice: on an idle machine a check takes 0.1."""

PATIENT = 4
"""How many times its processor time a run of a check may take on the clock: a busy machine is no fault of a trigger."""

TOO_LONG = f"The trigger is longer than {MOST_BYTES} bytes."
"""The error text for a trigger above MOST_BYTES."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""Where JavaScript's time, in milliseconds, begins."""

MOST_SAID = 400
"""Characters of what the system says of an engine that cannot be loaded."""

Trigger = tuple[int, str, dict[str, Any] | None]
"""What the worker is sent of a trigger: its place in the search, its source, and what a trial or its parts need."""


class Unstartable(Exception):
    """The worker cannot be started; the text says why."""


class NoEngine(Unstartable):
    """This machine has no engine that can be loaded; the text says why."""


@dataclass(frozen=True, slots=True)
class _Run:
    """A round: the data that its triggers see, how long each may take and until when, who is to blame at the end."""

    frame: bytes
    ends: float
    turn: WorkerTurn
    seconds: float
    blamed: bool
    """True if the first one has had all the time that there was."""
    behind_others: bool = False
    """True if other triggers of the search may have used up the time."""


class Sandbox:
    """The worker process that runs JavaScript triggers. Safe to call from several threads."""

    def __init__(self, time_zone: str | None = None, effort: TriggerEffort | None = None) -> None:
        """Starts no process yet. `time_zone` becomes the worker's variable TZ; it inherits nothing else. `effort`
        counts what its triggers cost."""
        self.effort = effort or TriggerEffort()
        self._had_child = False
        self._time_zone = time_zone
        self._child: Child | None = None
        self._turns = WorkerTurns()
        self._closing = False

    def run(
        self,
        sources: Sequence[str],
        situation: Situation,
        budget: float,
        doubtful: int = 0,
        near: Sequence[Nearnesses] = (),
    ) -> list[Outcome]:
        """Evaluate each source, all within `budget` seconds; the rest is skipped.

        Each first gets a SLICE, in the order given. What needs more waits until all others have had theirs; with the
        last `doubtful` ones, which wait from the start, it then shares half of the budget, at most SECONDS each. While
        other people wait, it uses the worker in turns with them. `near` has the answers to what each asked before.
        """
        started = time.monotonic()
        turn = self._turns.take(_who(), budget)
        if turn is None:
            return [Skipped() for _ in sources]
        mores = [{"near": answers} for answers in near] if near else [None] * len(sources)
        triggers = [
            (index, source, more) for index, (source, more) in enumerate(zip(sources, mores, strict=True))
        ]
        try:
            ends = started + budget
            frame = _situation_frame(situation)
            certain = len(sources) - doubtful
            run = _Run(frame, ends, turn, SLICE, blamed=not turn.waited)
            outcomes = dict(enumerate(self._run(triggers[:certain], run)))
            late = [index for index, outcome in outcomes.items() if _is_late(outcome)]
            late += range(certain, len(sources))
            if late:
                self._turns.pass_on(turn, ends - time.monotonic(), slow=True)
            now = time.monotonic()
            ends = min(ends, now + budget / 2)
            # Who gets less than a check allows is not to blame for being cut short.
            blamed = ends - now >= budget / 4
            run = _Run(frame, ends, turn, SECONDS, blamed, behind_others=bool(outcomes))
            again = self._run([triggers[index] for index in late], run)
            for index, outcome in zip(late, again, strict=True):
                outcomes[index] = Skipped(late=True) if outcome == Skipped() else outcome
            return [outcomes[index] for index in range(len(sources))]
        finally:
            self._turns.give_back(turn)

    def explain(
        self, triggers: Sequence[tuple[str, bool, Nearnesses]], situation: Situation, budget: float
    ) -> list[str]:
        """Say why each trigger has its value, with marks around what was said; '' where there is no time for it."""
        turn = self._turns.take(_who(), 0)
        if turn is None:
            return ["" for _ in triggers]
        parts = [parts_of(source) for source, _, _ in triggers]
        explained: list[Trigger] = [
            (index, source, {"parts": part.scripts(), "near": near})
            for index, ((source, _, near), part) in enumerate(zip(triggers, parts, strict=True))
        ]
        texts: list[str] = []
        try:
            run = _Run(_situation_frame(situation), time.monotonic() + budget, turn, SLICE, blamed=False)
            while len(texts) < len(triggers) and time.monotonic() < run.ends:
                if self._turns.are_awaited(turn):
                    break
                replies = self._judged(explained[len(texts) :], run)
                for (_, holds, _), part, reply in zip(
                    triggers[len(texts) :], parts[len(texts) :], replies, strict=False
                ):
                    texts.append(reasons.told(part.sources, reply.answer.get("parts"), holds))
        except Unstartable:
            pass
        finally:
            self._turns.give_back(turn)
        return [*texts, *("" for _ in triggers[len(texts) :])]

    def check(self, source: str) -> tuple[bool, tuple[str, ...]]:
        """Compile and evaluate a trigger on trial: its value on the sample conversation, and warnings for its author.

        Raises:
            TriggerRejected: it does not compile, returns no value or takes too long.
            NoEngine: no trigger can be evaluated on this machine.
            Unavailable: the worker cannot run now.
        """
        ends = time.monotonic() + deadline.left(CHECK_SECONDS)
        try:
            return trial.check(source, lambda run: self._try(run, ends))
        except NoEngine:
            raise
        except Unstartable as error:
            raise Unavailable(f"The trigger cannot be checked: {error}.") from error

    def close(self) -> None:
        """End the worker and whatever runs in it; a later call starts a new one."""
        self._closing = True
        if (child := self._child) is not None:
            child.kill()
        turn = self._turns.take("", None)
        self._drop()
        self._closing = False
        if turn is not None:
            self._turns.give_back(turn)

    def _run(self, triggers: Sequence[Trigger], run: "_Run") -> list[Outcome]:
        """The outcome of each trigger. The first that the end cuts short has timed out, if it is blamed; any other is
        skipped."""
        outcomes: list[Outcome] = []
        while len(outcomes) < len(triggers):
            batch = triggers[len(outcomes) : len(outcomes) + (1 if run.seconds > SLICE else TOGETHER)]
            fitting = list(takewhile(lambda trigger: size(trigger[1]) <= MOST_BYTES, batch))
            if not fitting:
                outcomes.append(Failure(FailureKind.ERROR, TOO_LONG, 0.0))
            elif time.monotonic() >= run.ends or not self._has_turn(run, first=not outcomes):
                outcomes.append(Skipped())
            else:
                try:
                    replies = self._judged(fitting, run, blamed=run.blamed and not outcomes)
                    outcomes += [reply.outcome for reply in replies]
                except Unstartable as error:
                    # Other triggers used up the time that the worker needed to start again.
                    after_others = outcomes or run.behind_others or run.turn.waited
                    if after_others and time.monotonic() >= run.ends:
                        outcomes.append(Skipped())
                        continue
                    missing = Failure(FailureKind.UNAVAILABLE, str(error), 0.0)
                    outcomes += [missing for _ in triggers[len(outcomes) :]]
        return outcomes

    def _has_turn(self, run: "_Run", *, first: bool) -> bool:
        """Before all but the first trigger the worker is passed on to other people who wait: so nobody else has used up
        what the first one got."""
        if first:
            return run.turn.holds
        return self._turns.pass_on(run.turn, run.ends - time.monotonic(), slow=run.seconds > SLICE)

    def _try(self, trial_run: trial.TrialRun, ends: float) -> Reply:
        """One run of a check. The worker is given back between two runs, so that a search can use it."""
        forced = None if trial_run.forced is None else asdict(trial_run.forced)
        turn = self._turns.take(_who(), ends - time.monotonic())
        if turn is None:
            raise Unstartable("the JavaScript worker is busy with other calls")
        seconds = min(SECONDS, trial.SECONDS)
        run = _Run(_situation_frame(trial_run.situation), ends, turn, seconds, blamed=True)
        try:
            trigger = (0, trial_run.source, {"trial": forced})
            (reply,) = self._judged([trigger], run, blamed=True, patience=PATIENT)
        finally:
            self._turns.give_back(turn)
        if reply.answer is TIMEOUT and time.monotonic() >= ends:
            raise Unstartable("the time of this call is over")
        if isinstance(reply.outcome, Evaluation):  # a trial answers itself
            return Reply(NO_SENSE, reply.milliseconds)
        return reply

    def _judged(
        self, triggers: Sequence[Trigger], run: "_Run", *, blamed: bool = False, patience: float = 1.0
    ) -> list[Reply]:
        """The answers to the first of these triggers, to one at least: the worker ends its stint, or dies.

        It is asked again once if it died before its deadline, since another process may have killed it.
        """
        reason = ""
        for _ in range(2):
            began = time.monotonic()
            answers = self._ask(triggers, run, patience * run.seconds)
            received = [timed(answer, began) for answer in answers.received[: len(triggers)]]
            died = answers.died
            if died is None:
                return received or [timed(NO_SENSE, began)]
            all_of_it = time.monotonic() >= answers.since + patience * run.seconds
            self._drop()
            if len(received) == len(triggers):
                return received
            if died.late:
                charged = all_of_it or (blamed and not received)
                return [*received, timed(TIMEOUT if charged else SKIPPED, answers.since)]
            if received:
                return received
            reason = str(died)
        return [timed({"kind": "error", "message": reason}, began)]

    def _ask(self, triggers: Sequence[Trigger], run: "_Run", patience: float) -> Answers:
        """Ask a worker that is ready."""
        child = self._ready(run.frame, run.ends)
        stint = min(STINT, run.ends - time.monotonic())
        request = {"seconds": run.seconds * CPU_SHARE, "stint": stint, "triggers": triggers}
        return child.judge(json.dumps(request).encode(), patience, run.ends)

    def _ready(self, situation: bytes, ends: float) -> Child:
        """A worker that runs, answers and has the situation."""
        if self._closing:
            raise Unstartable("the server is closing")
        child = self._child
        if child is not None and child.alive:
            if child.situation == situation:
                return child
            try:
                child.learn(situation, min(time.monotonic() + SECONDS / 2, ends))
                return child
            except Died:  # it died while idle, so no trigger caused it
                pass
        self._drop()
        return self._start(situation, ends)

    def _start(self, situation: bytes, ends: float) -> Child:
        folder = engine_folder()
        if not folder:
            raise NoEngine(NO_ENGINE)
        ready_by = min(time.monotonic() + START_SECONDS, ends)
        try:
            self._child = child = Child(folder, self._time_zone)
        except OSError as error:
            raise Unstartable(f"the JavaScript worker cannot start: {error.strerror or error}") from error
        self.effort.add(restarts=int(self._had_child))
        self._had_child = True
        if self._closing:
            self._drop()
            raise Unstartable("the server is closing")
        try:
            ready = child.ask(b"P", _prelude(), ready_by)
            if "message" in ready:
                self._drop()
                raise NoEngine(f"{UNLOADABLE}: {visible(str(ready['message']))[:MOST_SAID]}")
            child.learn(situation, ready_by)
        except Died as died:
            self._drop()
            raise Unstartable(f"the JavaScript worker did not start: {died}") from died
        return child

    def _drop(self) -> None:
        if self._child is not None:
            self._child.close()
            self._child = None


def _who() -> str:
    person = acting.person()
    return "" if person is None else person.name


def _is_late(outcome: Outcome) -> bool:
    return isinstance(outcome, Failure) and outcome.kind is FailureKind.TIMEOUT


def _situation_frame(situation: Situation) -> bytes:
    """Two lines of JSON: the clock of the situation, and the data that a trigger sees, which the worker parses."""
    offset = situation.now.utcoffset() or timedelta()
    clock = {
        "now": (situation.now - EPOCH) // timedelta(milliseconds=1),
        "offset": int(offset.total_seconds()),
        "zone": situation.zone,
        "seed": situation.seed % 2**32,
    }
    visible_data = {
        "messages": [_present(message) for message in situation.messages],
        "conversation_id": situation.conversation_id,
        "participants": dict(situation.participants),
        "act": situation.act,
    }
    return f"{json.dumps(clock)}\n{_strict_json(visible_data)}".encode()


def _strict_json(data: dict[str, Any]) -> str:
    """JSON with null for NaN and infinities, as JavaScript's JSON.stringify writes it."""
    try:
        return json.dumps(data, allow_nan=False)
    except ValueError:
        return json.dumps(json.loads(json.dumps(data), parse_constant=lambda _: None))


def _present(message: Message) -> dict[str, str]:
    return {name: value for name, value in asdict(message).items() if value is not None}


@cache
def _prelude() -> bytes:
    """The prelude and its arguments as JSON: a table of characters, dates in words, and the inspection.

    The table has those of scripts without spaces, U+0001, then triples: traditional character, NUL, simplified one.
    """
    pairs = (f"{a}\0{b}" for a, b in zip(TRADITIONAL, SIMPLIFIED, strict=True))
    table = UNSPACED + "\1" + "".join(pairs)
    prelude, locale, inspection = (
        Path(__file__).with_name(f"{name}.js").read_text("utf-8")
        for name in ("prelude", "locale", "inspection")
    )
    return json.dumps([prelude, table, locale, inspection], ensure_ascii=False).encode()
