"""Records what the triggers of long-term memories gave: how they fail, which are slow, and what woke."""

import logging
from collections.abc import Sequence
from datetime import datetime

from memory_server.domain.caller import Caller
from memory_server.domain.long_term import MOST_COUNTED, LongTermId, Watch, quarantine
from memory_server.domain.moment import timestamp
from memory_server.services.waking import mark_woken, rests
from memory_server.storage.database import Database
from memory_server.storage.tx import WriteTx
from memory_server.triggers import Failure, FailureKind, Outcome, Skipped, Value

logger = logging.getLogger(__name__)

SLOW = 50.0
"""Milliseconds beyond which a trigger is evaluated after the others in later searches; an ordinary one takes 1."""

_WEARING = (FailureKind.TIMEOUT, FailureKind.MEMORY)
"""Failures that cost the others their time."""


def record(
    database: Database,
    outcomes: Sequence[tuple[Watch, Outcome]],
    woken: Sequence[tuple[LongTermId, str]],
    caller: Caller,
) -> None:
    """Record what judging the triggers has shown, and which memories woke, each with its reason."""
    changed = [(watch, outcome) for watch, outcome in outcomes if _is_news(watch, outcome)]
    skipped = any(isinstance(outcome, Skipped) for _, outcome in outcomes)
    had_turn = [watch.id for watch, outcome in outcomes if skipped and not isinstance(outcome, Skipped)]
    if not (woken or changed or had_turn):
        return

    def mark(tx: WriteTx) -> None:
        if woken:
            mark_woken(tx, woken, caller)
        tx.long_term.mark_turn(had_turn)
        for watch, outcome in changed:
            _mark(tx, watch, outcome)

    problem = database.record(mark)
    if problem is not None:
        logger.warning("what the triggers did was not recorded: %s", problem.text)


def _mark(tx: WriteTx, watch: Watch, outcome: Outcome) -> None:
    """Record the outcome of a trigger, unless it was changed meanwhile. Other searches may have counted failures."""
    current = tx.long_term.find_watch(watch.id)
    if current is None or current.trigger != watch.trigger:
        return
    match outcome:
        case Value():
            tx.long_term.mark_judged(watch.id, None, 0, None)
            tx.long_term.mark_slow(watch.id, _is_slow(outcome))
        case Skipped(late):
            tx.long_term.mark_slow(watch.id, late)
        case Failure(kind, message) if kind in _WEARING:
            if rests(current, tx.now):
                return
            failures = min(current.failures, MOST_COUNTED) + 1
            pause = quarantine(failures)
            until = None if pause is None else timestamp(datetime.fromisoformat(tx.now) + pause)
            tx.long_term.mark_judged(watch.id, message, failures, until)
        case Failure(FailureKind.ERROR, message):
            tx.long_term.mark_judged(watch.id, message, 0, None)


def _is_news(watch: Watch, outcome: Outcome) -> bool:
    """True if the outcome differs from what is recorded."""
    match outcome:
        case Value():
            return watch.error is not None or watch.failures > 0 or watch.slow != _is_slow(outcome)
        case Skipped(late):
            return late and not watch.slow
        case Failure(kind, message):
            return kind in _WEARING or (kind is FailureKind.ERROR and message != watch.error)
        case _:
            return False


def _is_slow(outcome: Value) -> bool:
    return outcome.milliseconds > SLOW
