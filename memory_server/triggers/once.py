"""Evaluates triggers in a worker that ends with the call, for a process that answers once: a hook.

It compares no meanings: `similar` is false.
"""

from collections.abc import Sequence

from memory_server.call import deadline
from memory_server.domain.situation import Situation
from memory_server.triggers import Outcome

SECONDS = 0.4
"""Seconds for all triggers, the start of the worker included: a person waits. It takes 0.03, and 0.05 of CPU."""


def judge(triggers: Sequence[str], situation: Situation, doubtful: int = 0) -> list[Outcome]:
    """The outcome of each, in the same order."""
    if not triggers:
        return []
    from memory_server.triggers.engine import Engine  # 25 ms, where there is a trigger
    from memory_server.triggers.javascript.sandbox import Sandbox

    engine = Engine(Sandbox(), lambda _said, _wanted: None)
    try:
        with deadline.within(SECONDS):
            return engine.judge(triggers, situation, doubtful)
    finally:
        engine.close()
