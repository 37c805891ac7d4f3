"""Judges acts by the rules of a project, and logs what these held."""

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memory_server.call import deadline
from memory_server.domain import rules, sight
from memory_server.domain.act import Act
from memory_server.domain.caller import Caller
from memory_server.domain.rules import HeldAct, Rule, Ruling
from memory_server.domain.secrets import redacted
from memory_server.domain.situation import Situation
from memory_server.ground import tree
from memory_server.services.waking import Judge, places
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx
from memory_server.triggers import Failure, Outcome, Value

PATIENCE = 0.4
"""Seconds in which all rules are judged: a person waits for the act."""

EVER = "2026-01-01T00:00:00.000Z"
"""A moment at which nothing is judged."""

_SIGNED_IN = re.compile(r"://[^/\s@]+@")
"""Who signs in, in an address: perhaps a token."""


@dataclass(frozen=True, slots=True)
class RulingService:
    """`judge` judges acts while a person waits, in a worker of its own; all rules together have so many `seconds`."""

    database: Database
    judge: Judge
    seconds: float = PATIENCE

    def judged(self, act: Act, caller: Caller) -> Ruling:
        """Return what the rules say to an act; what they held is logged. A rule that cannot be judged asks."""
        holding = self._holding(act, caller)
        ruling = rules.ruling(holding)
        if ruling.effect is not None:
            marks = [(item.rule.id, item.effect) for item in holding]
            self.database.record(lambda tx: tx.rules.log(marks, _logged(act), caller))
        return ruling

    def looked(self, act: Act, caller: Caller) -> Ruling:
        """Return what the rules would say to an act. Nothing is logged."""
        return rules.ruling(self._holding(act, caller))

    def ran(self, act: Act, caller: Caller) -> None:
        """Mark that an act ran: a person has overruled the rules that asked about it."""
        with self.database.read() as tx:
            if not standing(tx, caller):
                return
        self.database.record(lambda tx: tx.rules.overrule(_logged(act), caller.session))

    def prepare(self) -> None:
        """Start what judges acts, where a rule stands: the first act must not wait for it."""
        with self.database.read() as tx:
            stand = tx.rules.stand()
        if stand:
            self.warm_up("true")

    def warm_up(self, trigger: str) -> None:
        """Judge nothing with a trigger, so that the next act does not wait for the worker."""
        self.judge([trigger], situation_of(sight.of_text("true"), EVER, None), 0)

    def _holding(self, act: Act, caller: Caller) -> list[HeldAct]:
        with self.database.read() as tx:
            judging, now = standing(tx, caller), tx.now
        if not judging:
            return []
        with deadline.within(self.seconds):
            situation = situation_of(act, now, caller.folder)
            outcomes = self.judge([rule.trigger for rule in judging], situation, 0)
        pairs = zip(judging, outcomes, strict=True)
        return [hit for rule, outcome in pairs if (hit := _held(rule, outcome))]


def standing(tx: Tx, caller: Caller) -> list[Rule]:
    """Return the rules that judge an act of this caller: those of its project, and of all projects."""
    return tx.rules.standing(places(tx, [None], caller))


def situation_of(act: Act, now: str, folder: Path | None, branch: str | None = None) -> Situation:
    """Return what a trigger sees of an act. `branch` is checked out, where the folder does not say it."""
    working_tree = tree.around(folder) if folder and "push" in act.command else None
    if working_tree is not None:
        branch = working_tree.head()[1] or None
    moment = datetime.fromisoformat(now).astimezone()
    return Situation((), "act", moment, 0, act=sight.data(act, folder, branch))


def _held(rule: Rule, outcome: Outcome) -> HeldAct | None:
    match outcome:
        case Value(holds=True):
            return HeldAct(rule, outcome.kept, outcome.doubted)
        case Value():
            return None
        case Failure(message=message):
            return HeldAct(rule, "", failed=message)
    return HeldAct(rule, "", failed="there was no time for it")


def _logged(act: Act) -> str:
    return redacted(_SIGNED_IN.sub("://", sight.line_of(act)))[: rules.MOST_LOGGED]
