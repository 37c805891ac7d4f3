"""Reads the replies of the worker: each gives the outcome of a trigger."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memory_server.language.text import visible
from memory_server.triggers import FALSE, TRUE, Failure, FailureKind, Outcome, Skipped, Value
from memory_server.triggers.javascript import reasons
from memory_server.triggers.javascript.child import MALFORMED
from memory_server.triggers.javascript.compat import position

TIMEOUT = {"kind": "timeout", "message": "it takes too long"}
"""The answer in the place of a worker that was killed at the deadline."""

SKIPPED = {"kind": "skipped"}
"""The answer in the place of a worker whose time was cut by the budget."""

NO_SENSE = {"kind": "error", "message": MALFORMED}
"""The answer in the place of one that makes no sense."""


@dataclass(frozen=True, slots=True)
class Evaluation(Skipped):
    """The trigger must run again, with the answers to its questions how near in meaning texts are.

    Each of `asks` is a list in JSON: a text, and those that it is compared with, messages by their index.
    """

    asks: tuple[str, ...] = ()
    milliseconds: float = 0.0


Nearnesses = Mapping[str, float | None]
"""For each ask of an `Evaluation` the highest similarity; None without an embedder."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The worker's answer for one trigger, and how long that took.

    On trial the answer also has the type of the value, the keys, and which data was read.
    """

    answer: Mapping[str, Any]
    milliseconds: float

    @property
    def outcome(self) -> Outcome:
        match self.answer:
            case {"kind": "value", "holds": bool(holds), "why": str(why)}:
                text = TRUE if holds else FALSE
                shown, plain = (reasons.shown(why), reasons.kept(why)) if why else (text, text)
                return Value(holds, shown, self.milliseconds, plain, self.answer.get("doubted") is True)
            case {"kind": "ask", "asks": list(asks)}:
                return Evaluation(False, tuple(_written(ask) for ask in asks), self.milliseconds)
            case {"kind": "error" | "timeout" | "memory" as kind}:
                return Failure(FailureKind(kind), self._message, self.milliseconds)
            case {"kind": "skipped"}:
                return Skipped()
        return Failure(FailureKind.ERROR, MALFORMED, self.milliseconds)

    @property
    def position(self) -> tuple[int, int] | None:
        """The line and the column of an error in the trigger."""
        return position(self._text("stack"))

    @property
    def _message(self) -> str:
        """The error and its place, in one line: `TypeError: x is not a function (line 1, column 5)`."""
        name, message, at = self._text("name"), self._text("message"), self.position
        text = " ".join((f"{name}: {message}" if name else message).split())
        return text if at is None else f"{text} (line {at[0]}, column {at[1]})"

    def _text(self, part: str) -> str:
        return visible(str(self.answer.get(part, ""))[:2000])


def timed(answer: Mapping[str, Any], began: float) -> Reply:
    """With the processor time that the worker tells, since a busy machine makes no trigger slow; else what passed."""
    cpu = answer.get("cpu")
    return Reply(answer, cpu if isinstance(cpu, float) else 1000 * (time.monotonic() - began))


def _written(ask: Any) -> str:
    """An ask as the worker writes it."""
    return json.dumps(ask, ensure_ascii=False, separators=(",", ":"))
