"""Evaluates simple conditions alone, for a process that has a tenth of a second: no JavaScript, no meaning."""

import time
from collections.abc import Sequence

from memory_server.domain.situation import Situation
from memory_server.language.keys import Said
from memory_server.triggers import FALSE, Failure, FailureKind, Outcome, Skipped, Value
from memory_server.triggers.simple.shapes import is_surely_false

LOOK = 0.015
"""Seconds of processor time to look which conditions can be true at all; a thousand of ordinary shape take 0.01."""

EVALUATE = 0.01
"""The same to evaluate those that can be, each of which takes some 0.1 ms. The others are skipped."""

NO_JAVASCRIPT = "it needs JavaScript, which is not run here"


def judge(triggers: Sequence[str], situation: Situation, _doubtful: int = 0) -> list[Outcome]:
    """The outcome of each, in the same order. `similar` is false.

    Where the time does not suffice for all, chance decides which are skipped: they are evaluated from a place on that
    the seed gives.
    """
    messages = tuple(Said(message.role, message.content) for message in situation.messages)
    outcomes: list[Outcome] = [Skipped() for _ in triggers]
    ends = time.thread_time() + LOOK
    first = situation.seed % max(1, len(triggers))
    left: list[int] = []
    for index in (*range(first, len(triggers)), *range(first)):
        if time.thread_time() >= ends:
            break
        if is_surely_false(triggers[index], messages):
            outcomes[index] = Value(False, FALSE, 0, 0.0)
        else:
            left.append(index)
    if left:
        # The parser takes 25 ms to import: only where one may be true.
        from memory_server.triggers.simple.judging import judged
        from memory_server.triggers.simple.scene import Scene

        ends = time.thread_time() + EVALUATE
        scene = Scene(situation, lambda _one, _other: None)
        unknown = Failure(FailureKind.UNAVAILABLE, NO_JAVASCRIPT, 1, 0.0)
        for index in left:
            if time.thread_time() >= ends:
                break
            outcomes[index] = judged(triggers[index], scene, False) or unknown
    return outcomes
