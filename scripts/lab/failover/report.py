"""The ledger of events: a line for each, kept in ledger.tsv, and a table of all."""

import csv
from collections import defaultdict
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

KEPT = Path(__file__).with_name("ledger.tsv")


@dataclass(slots=True)
class Line:
    """What one event did. Times in seconds, rates in acknowledged writes a second."""

    kind: str
    way: str
    """Of replication: synchronous or asynchronous."""
    seed: str
    servers: int
    writers: int
    moved: str
    """The primary before and after."""
    outage: float
    """The longest time in which a server acknowledged no write."""
    whole: float
    """From the harm until all three nodes were whole again."""
    longest: float
    """The longest call."""
    before: float
    during: float
    after: float
    acknowledged: int
    refused: int
    untold: int
    lost: int
    twice: int
    faults: list[str] = field(default_factory=list)

    def told(self) -> str:
        state = f"{len(self.faults)} faults" if self.faults else "all there"
        return (
            f"{self.seed} {self.kind} ({self.moved}): no write for {self.outage} s, whole after {self.whole} s, "
            f"{self.acknowledged} written, {self.refused} refused, {self.untold} cannot be told, longest call "
            f"{self.longest} s, {self.before} / {self.during} / {self.after} writes a second: {state}"
        )


_COLUMNS = [column.name for column in fields(Line)]


def append(line: Line) -> None:
    fresh = not KEPT.exists()
    with KEPT.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, _COLUMNS, delimiter="\t", lineterminator="\n")
        if fresh:
            writer.writeheader()
        writer.writerow({**asdict(line), "faults": len(line.faults)})


def read() -> list[Line]:
    with KEPT.open(encoding="utf-8", newline="") as file:
        return [_line(row) for row in csv.DictReader(file, delimiter="\t")]


def summary(lines: list[Line]) -> str:
    """Return the table of events by kind."""
    groups: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        groups[f"{line.kind}{'' if line.way == 'synchronous' else ' (asynchronous)'}"].append(line)
    head = (
        "| event | times | no write for, p50 | p95 | written | refused | cannot be told | lost | twice "
        "| longest call | writes a second before, during, after |"
    )
    return "\n".join([head, "|" + " --- |" * 11, *(_row(kind, group) for kind, group in groups.items())])


def _row(kind: str, lines: list[Line]) -> str:
    outages = sorted(line.outage for line in lines)
    sums = [
        sum(getattr(line, name) for line in lines)
        for name in ("acknowledged", "refused", "untold", "lost", "twice")
    ]
    rates = [_middle(sorted(getattr(line, name) for line in lines)) for name in ("before", "during", "after")]
    cells = [
        kind, len(lines), f"{_middle(outages)} s", f"{outages[int(0.95 * len(outages))]} s",
        *(f"{sum:,}" for sum in sums), f"{max(line.longest for line in lines)} s",
        ", ".join(str(rate) for rate in rates),
    ]  # fmt: skip
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def _middle(values: list[float]) -> float:
    return values[len(values) // 2]


def _line(row: dict[str, str]) -> Line:
    kinds = {column.name: column.type for column in fields(Line)}
    values = {name: kinds[name](text) for name, text in row.items() if name != "faults"}  # type: ignore[operator]
    return Line(**values, faults=["?"] * int(row["faults"]))
