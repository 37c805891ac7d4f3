"""What `python scripts/lab/bench` measured, as docs/performance/bench.json keeps it."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median

OURS = "memory-server"
"""Through the real server, with the official client."""
INSIDE = "inside"
"""In one process, without the embedding of the text or question."""
FLOOR = "floor"
"""What the same machine needs for the least that such a call must do."""

CPU, CPU_P95, WALL, WALL_P95 = "CPU, ms", "CPU, p95, ms", "wall, ms", "wall, p95, ms"
"""Names of values; the first and the third are medians."""


START = "start to `tools/list`"
STORE, SEARCH = "memory_store", "memory_search, hybrid"
THEIR_STORE, THEIR_SEARCH = "store", "search"
"""The same of other servers."""
AT_REST, IN_USE = "resident memory after the first search", "resident memory after all calls"
COMMIT = "one durable commit of one row"
BARE = "one tool on the same SDK"
"""What pages pick out of all that is measured."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Values by their name, which ends with the unit. `who` is one of the above, or another server.

    `size` is the number of memories in the file, 0 where there is no file or it is new.
    """

    who: str
    what: str
    size: int
    values: dict[str, float]


BUSY = 1.0
"""Processes that run or wait for a processor, over the last minute, from which on a machine counts as busy."""


@dataclass(frozen=True, slots=True)
class Results:
    """One run. `texts` identifies the generated memories: only results of the same can be compared.

    `load` is how many processes ran or waited before: the figures of a busy machine are worth less.
    """

    command: str
    machine: str
    load: float
    texts: str
    measured: list[Measured] = field(default_factory=list)

    @property
    def busy(self) -> bool:
        return self.load >= BUSY

    @property
    def sizes(self) -> list[int]:
        return sorted({each.size for each in self.measured if each.size and each.who == OURS})

    def find(self, who: str, what: str, size: int = 0) -> dict[str, float] | None:
        """The values of one row, None where it was not measured."""
        return next(
            (each.values for each in self.measured if (each.who, each.what, each.size) == (who, what, size)),
            None,
        )

    def whats(self, who: str, having: str) -> list[str]:
        """What was measured of somebody at any size, in order, where it has a value of this name."""
        found = (
            each.what for each in self.measured if each.who == who and each.size and having in each.values
        )
        return list(dict.fromkeys(found))

    def others(self) -> list[str]:
        """The other servers."""
        known = (OURS, INSIDE, FLOOR)
        return list(dict.fromkeys(each.who for each in self.measured if each.who not in known))


def times(spent: Iterable[tuple[float, float]]) -> dict[str, float]:
    """Median and 95th percentile of pairs of CPU and wall seconds, in milliseconds of three digits' meaning."""
    cpu, wall = zip(*spent, strict=True)
    return {
        CPU: _ms(median(cpu)),
        CPU_P95: _ms(_p95(cpu)),
        WALL: _ms(median(wall)),
        WALL_P95: _ms(_p95(wall)),
    }


def load(path: Path) -> Results:
    read = json.loads(path.read_text(encoding="utf-8"))
    return Results(**{**read, "measured": [Measured(**each) for each in read["measured"]]})


def save(results: Results, path: Path) -> None:
    """A line for each row, so that a change can be read."""
    head = {name: value for name, value in asdict(results).items() if name != "measured"}
    lines = ",\n".join("  " + json.dumps(asdict(each), ensure_ascii=False) for each in results.measured)
    opened = json.dumps(head, ensure_ascii=False, indent=1).removesuffix("\n}")
    path.write_text(f'{opened},\n "measured": [\n{lines}\n ]\n}}\n', encoding="utf-8")


def _p95(values: Sequence[float]) -> float:
    """The smallest value that 95 of 100 do not exceed."""
    return sorted(values)[-(-95 * len(values) // 100) - 1]


def _ms(seconds: float) -> float:
    return round(1000 * seconds, 3)
