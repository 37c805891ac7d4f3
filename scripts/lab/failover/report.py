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
    setup: str = "HTTP, three etcd"
    limited: int = 0
    """Calls that a limit of requests refused."""
    queued: int = 0
    """Texts that waited to be embedded after the event."""
    settled: float = 0.0
    """Seconds after which none waited, one server led, and each of them had told its page and its stream."""
    late: int = 0
    """Calls that took longer than they may."""
    stall: float = 0.0
    """The longest time for which the laboratory itself stood still, and with it probably the servers beside it."""
    faults: list[str] = field(default_factory=list)

    def told(self) -> str:
        state = f"{len(self.faults)} faults" if self.faults else "all there"
        return (
            f"{self.seed} {self.kind} ({self.moved}): no write for {self.outage} s, whole after {self.whole} s, "
            f"{self.acknowledged} written, {self.refused} refused, {self.limited} too many, {self.untold} cannot be "
            f"told, longest call {self.longest} s, {self.before} / {self.during} / {self.after} writes a second, "
            f"{self.queued} texts embedded, all as before {self.settled} s later, {self.late} late, "
            f"stood still for {self.stall} s: {state}"
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
    """Return for each set-up the table of events by kind."""
    setups: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        setups[f"{line.setup}, {line.servers} servers with {line.writers} writers, {line.way}"].append(line)
    return "\n\n".join(f"{len(group)} events: {setup}\n\n{_table(group)}" for setup, group in setups.items())


def _table(lines: list[Line]) -> str:
    groups: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        groups[line.kind].append(line)
    head = (
        "| event | times | no write for, p50 | p95 | written | refused | cannot be told | lost | twice "
        "| longest call | writes a second before, during, after | texts that waited | as before after, p95 |"
    )
    by_outage = sorted(groups.items(), key=lambda item: _middle(sorted(line.outage for line in item[1])))
    rows = [_row(kind, group) for kind, group in by_outage]
    return "\n".join([head, "|" + " --- |" * 13, *rows, _row("all", lines)])


def _row(kind: str, lines: list[Line]) -> str:
    outages, settled = (sorted(getattr(line, name) for line in lines) for name in ("outage", "settled"))
    sums = [
        sum(getattr(line, name) for line in lines)
        for name in ("acknowledged", "refused", "untold", "lost", "twice")
    ]
    rates = [_middle(sorted(getattr(line, name) for line in lines)) for name in ("before", "during", "after")]
    cells = [
        kind, len(lines), f"{_middle(outages)} s", f"{_late(outages)} s",
        *(f"{sum:,}" for sum in sums), f"{max(line.longest for line in lines)} s",
        ", ".join(str(rate) for rate in rates), sum(line.queued for line in lines), f"{_late(settled)} s",
    ]  # fmt: skip
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def _late(values: list[float]) -> float:
    return values[int(0.95 * len(values))]


def _middle(values: list[float]) -> float:
    return values[len(values) // 2]


def _line(row: dict[str, str]) -> Line:
    kinds = {column.name: column.type for column in fields(Line)}
    values = {name: kinds[name](text) for name, text in row.items() if name != "faults"}  # type: ignore[operator]
    return Line(**values, faults=["?"] * int(row["faults"]))
