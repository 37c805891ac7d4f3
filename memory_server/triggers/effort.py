"""Counts what the triggers of a process and its readers cost. Numbers only."""

import threading
from dataclasses import dataclass, field


@dataclass(slots=True)
class TriggerEffort:
    """`evaluated` triggers took `seconds` together, with their waits; `restarts` of a worker that had ended. `cpu`
    seconds were used by readers, which carry out searches for a server over HTTP. `whole` adds up several.
    """

    evaluated: int = 0
    seconds: float = 0.0
    restarts: int = 0
    cpu: float = 0.0
    whole: "TriggerEffort | None" = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, evaluated: int = 0, seconds: float = 0.0, restarts: int = 0, cpu: float = 0.0) -> None:
        with self._lock:
            self.evaluated += evaluated
            self.seconds += seconds
            self.restarts += restarts
            self.cpu += cpu
        if self.whole is not None:
            self.whole.add(evaluated, seconds, restarts, cpu)
