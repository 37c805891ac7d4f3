"""The sandbox with its real order and budget; what a trigger costs stands in it, and the time is pretended."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from memory_server.triggers.javascript import sandbox as sandbox_module
from memory_server.triggers.javascript.child import Answers, Died
from memory_server.triggers.javascript.sandbox import SECONDS, Sandbox, Trigger
from memory_server.triggers.javascript.sandbox import _Run as Run

RESTART = 0.03
"""Seconds that the pretended worker takes to start again after it was killed."""


@dataclass
class Pretended(Sandbox):
    """`/* cost 0.2 */` in a trigger says how many seconds it takes; one that is cut short costs the worker."""

    now: float = 0.0
    late: float = 0.0
    """Seconds that second rounds took since this was last set to 0."""

    asked: list[str] = field(default_factory=list)
    """The sources in the order in which they were evaluated."""

    def __post_init__(self) -> None:
        super().__init__()

    def monotonic(self) -> float:
        return self.now

    def check(self, source: str) -> tuple[bool, tuple[str, ...]]:
        return True, ()

    def _ask(self, triggers: Sequence[Trigger], run: Run, patience: float) -> Answers:
        began, answers = self.now, Answers([], None, self.now)
        for _, source, _ in triggers:
            self.asked.append(source)
            cost = re.search(r"cost (\S+)", source)
            seconds = float(cost[1]) if cost else 0.0
            until = min(self.now + patience, run.ends)
            if self.now + seconds > until:
                answers.died = Died("", late=True)
                self.now = until
                break
            self.now += seconds
            answers.received.append({"kind": "value", "holds": True, "why": "so", "cpu": 1000 * seconds})
            answers.since = self.now
            if self.now >= began + sandbox_module.STINT:
                break
        if run.seconds == SECONDS:
            self.late += self.now - began
        return answers

    def _drop(self) -> None:
        self.now += RESTART
