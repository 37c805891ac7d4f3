"""Evaluates simple conditions alone, for a process that has a tenth of a second: no JavaScript, no meaning."""

import time
from collections.abc import Sequence

from memory_server.domain.situation import Situation
from memory_server.language.keys import Said
from memory_server.triggers import Failure, FailureKind, Outcome, Skipped, Value
from memory_server.triggers.simple.explain import FALSE
from memory_server.triggers.simple.judging import judged
from memory_server.triggers.simple.scene import Scene
from memory_server.triggers.simple.shapes import is_surely_false

CPU = 0.04
"""Seconds of processor time for all conditions; the others are skipped. A condition that must be parsed takes 0.1 ms or
more, one whose shape shows that it is false a hundredth of that."""

NO_JAVASCRIPT = "it needs JavaScript, which is not run here"


def judge(triggers: Sequence[str], situation: Situation, _doubtful: int = 0) -> list[Outcome]:
    """The outcome of each, in the same order. `similar` is false.

    Where the time does not suffice for all, chance decides which are skipped: they are evaluated from a place on that
    the seed gives.
    """
    scene = Scene(situation, lambda _one, _other: None)
    messages = tuple(Said(message.role, message.content) for message in situation.messages)
    outcomes: list[Outcome] = [Skipped() for _ in triggers]
    ends = time.thread_time() + CPU
    first = situation.seed % max(1, len(triggers))
    for index in (*range(first, len(triggers)), *range(first)):
        if time.thread_time() >= ends:
            break
        if is_surely_false(triggers[index], messages):
            outcomes[index] = Value(False, FALSE, 0, 0.0)
        else:
            unknown = Failure(FailureKind.UNAVAILABLE, NO_JAVASCRIPT, 1, 0.0)
            outcomes[index] = judged(triggers[index], scene, False) or unknown
    return outcomes
