"""An engine that is created at its first use, because importing its modules takes about 5 % of the start-up time."""

import threading
import time
from collections.abc import Callable, Sequence

from memory_server.domain.situation import Situation
from memory_server.triggers import Checked, Outcome, TriggerEngine
from memory_server.triggers.effort import Effort


class LazyEngine:
    """Creates the engine with `make` at the first call, then passes every call to it."""

    def __init__(self, make: Callable[[], TriggerEngine], effort: Effort) -> None:
        """`effort` counts what its evaluations cost."""
        self._make = make
        self._effort = effort
        self._lock = threading.Lock()
        self._engine: TriggerEngine | None = None

    def check(self, trigger: str) -> Checked:
        return self._made().check(trigger)

    def judge(self, triggers: Sequence[str], situation: Situation, doubtful: int = 0) -> list[Outcome]:
        begin = time.monotonic()
        try:
            return self._made().judge(triggers, situation, doubtful)
        finally:
            self._effort.add(evaluated=len(triggers), seconds=time.monotonic() - begin)

    def similarity(self, trigger: str, situation: Situation) -> float | None:
        return self._made().similarity(trigger, situation)

    def parts(self, trigger: str) -> list[tuple[str, str]]:
        return self._made().parts(trigger)

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()

    def _made(self) -> TriggerEngine:
        with self._lock:
            if self._engine is None:
                self._engine = self._make()
            return self._engine
