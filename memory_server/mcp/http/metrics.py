"""The metrics of this process, as Prometheus reads them (text format 0.0.4). Numbers by tool; no names of people."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory_server.domain.calls import BOUNDS, Calls
from memory_server.mcp.server import MemoryServer
from memory_server.mcp.workload import process_load
from memory_server.services.calls import Counted
from memory_server.triggers.effort import TriggerEffort

KIND = "text/plain; version=0.0.4; charset=utf-8"

Sample = tuple[str, float]
"""The labels in braces, or nothing, and the value."""


@dataclass(frozen=True, slots=True)
class ReaderLoad:
    """The processes that carry out searches, and how many they have carried out."""

    pids: Sequence[int] = ()
    answered: int = 0


def written(
    servers: Callable[[], Sequence[MemoryServer]],
    total: Counted,
    effort: TriggerEffort,
    queued: Callable[[], int],
    readers: Callable[[], ReaderLoad],
) -> str:
    """All metrics. `queued` is how many memories wait for their embedding; it reads the file."""
    counted = total.calls()
    lines: list[str] = []

    def metric(name: str, kind: str, help: str, samples: Iterable[Sample]) -> None:
        lines.extend((f"# HELP memory_server_{name} {help}", f"# TYPE memory_server_{name} {kind}"))
        lines.extend(f"memory_server_{name}{labels} {value:g}" for labels, value in samples)

    def by_tool(number: Callable[[Calls], int]) -> list[Sample]:
        return [(f'{{tool="{tool}"}}', number(counts)) for tool, counts in counted.items()]

    metric("calls_total", "counter", "Calls of tools.", by_tool(lambda counts: counts.calls))
    metric("calls_refused_total", "counter", "Calls answered with an error that says what mends it.",
           by_tool(lambda counts: counts.refused))  # fmt: skip
    metric(
        "calls_failed_total",
        "counter",
        "Calls that a bug of the server broke.",
        by_tool(lambda counts: counts.failed),
    )
    metric("calls_degraded_total", "counter", "Calls answered without what they should have used.",
           by_tool(lambda counts: counts.degraded))  # fmt: skip
    metric("triggers_timed_out_total", "counter", "Triggers that exceeded their time, or were left over.",
           by_tool(lambda counts: counts.timed_out))  # fmt: skip
    lines += ["# HELP memory_server_call_seconds How long calls took, with their waits.",
              "# TYPE memory_server_call_seconds histogram"]  # fmt: skip
    for tool, counts in counted.items():
        lines.extend(_histogram(tool, counts))
    now = servers()
    queues = [
        ("calls", [server.slots for server in now]),
        ("triggers", [server.trigger_slots for server in now]),
    ]
    metric(
        "calls_running",
        "gauge",
        "Calls that run now.",
        [(f'{{of="{name}"}}', sum(slots.running for slots in all_slots)) for name, all_slots in queues],
    )
    metric("calls_waiting", "gauge", "Calls that wait for a place.",
           [(f'{{of="{name}"}}', sum(slots.waiting for slots in all_slots)) for name, all_slots in queues])  # fmt: skip
    metric("embeddings_waiting", "gauge", "Memories that wait for their embedding.", [("", queued())])
    metric("short_term_cleaned_total", "counter", "Short-term memories that the daily cleanup has removed.",
           [("", total.cleaned)])  # fmt: skip
    load = process_load(counted, effort)
    metric("writes_total", "counter", "Writes that succeeded, by toolset.",
           [(f'{{toolset="{name}"}}', number) for name, number in load.workload.writes.items()])  # fmt: skip
    metric("reads_failed_total", "counter", "Reads that were refused or failed.",
           [("", load.workload.failed_reads)])  # fmt: skip
    metric("writes_failed_total", "counter", "Writes that were refused or failed.",
           [("", load.workload.failed_writes)])  # fmt: skip
    metric("triggers_evaluated_total", "counter", "Triggers that were evaluated.", [("", load.triggers)])
    metric("trigger_seconds_total", "counter", "Time of these, with their waits.",
           [("", load.trigger_seconds)])  # fmt: skip
    metric("engine_restarts_total", "counter", "Starts of a JavaScript engine that had ended.",
           [("", load.engine_restarts)])  # fmt: skip
    metric("process_cpu_seconds_total", "counter", "CPU time of the process and its readers.",
           [("", load.cpu_seconds)])  # fmt: skip
    by_readers = readers()
    metric("readers", "gauge", "Processes that carry out searches.", [("", len(by_readers.pids))])
    metric("calls_by_readers_total", "counter", "Calls that these have carried out.",
           [("", by_readers.answered)])  # fmt: skip
    if (memory := _resident(os.getpid())) is not None:
        metric("resident_memory_bytes", "gauge", "Memory of the process.", [("", memory)])
        metric("readers_resident_memory_bytes", "gauge", "Memory of the readers.",
               [("", sum(_resident(pid) or 0 for pid in by_readers.pids))])  # fmt: skip
    return "\n".join(lines) + "\n"


def _resident(pid: int) -> int | None:
    """Return the bytes of memory of a process; None where it has ended, or the system does not tell them so."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None


def _histogram(tool: str, calls: Calls) -> Iterator[str]:
    before = 0
    for bound, number in zip(BOUNDS, calls.times, strict=False):
        before += number
        yield f'memory_server_call_seconds_bucket{{tool="{tool}",le="{bound / 1000:g}"}} {before}'
    yield f'memory_server_call_seconds_bucket{{tool="{tool}",le="+Inf"}} {calls.calls}'
    yield f'memory_server_call_seconds_sum{{tool="{tool}"}} {calls.milliseconds / 1000:g}'
    yield f'memory_server_call_seconds_count{{tool="{tool}"}} {calls.calls}'
