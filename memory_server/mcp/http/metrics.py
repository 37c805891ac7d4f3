"""The metrics of this process, as Prometheus reads them (text format 0.0.4). Numbers by tool; no names of people."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory_server.domain.calls import BOUNDS, Calls
from memory_server.mcp.server import MemoryServer
from memory_server.mcp.workload import process_load
from memory_server.services.calls import Counted
from memory_server.triggers.effort import TriggerEffort

KIND = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True, slots=True)
class ReaderLoad:
    """The processes that carry out searches, and how many they have carried out."""

    pids: Sequence[int] = ()
    answered: int = 0


@dataclass(frozen=True, slots=True)
class TenantLoad:
    """One of several memories that are open: its calls since it was opened, and how many of its texts wait."""

    name: str
    calls: Calls
    waiting: int


_BY_TOOL = (
    ("calls_total", "calls", "Calls of tools."),
    ("calls_refused_total", "refused", "Calls answered with an error that says what mends it."),
    ("calls_failed_total", "failed", "Calls that a bug of the server broke."),
    ("calls_degraded_total", "degraded", "Calls answered without what they should have used."),
    ("triggers_timed_out_total", "timed_out", "Triggers that exceeded their time, or were left over."),
)
"""Metrics of each tool, and of each tenant: the name, the field of `Calls`, and the help."""


def written(
    servers: Sequence[MemoryServer], total: Counted, effort: TriggerEffort, queued: int, readers: ReaderLoad
) -> str:
    """All metrics. `queued` is how many memories wait for their embedding."""
    counted = total.calls()
    load = process_load(counted, effort)
    lines: list[str] = []

    def metric(name: str, help: str, values: float | Mapping[str, float], label: str = "") -> None:
        lines.extend(_metric(name, help, values, label))

    for name, field, help in _BY_TOOL:
        metric(name, help, {tool: getattr(counts, field) for tool, counts in counted.items()}, "tool")
    lines += _histograms(counted)
    slots = {
        "calls": [server.slots for server in servers],
        "triggers": [server.trigger_slots for server in servers],
    }
    running = {name: sum(place.running for place in places) for name, places in slots.items()}
    waiting = {name: sum(place.waiting for place in places) for name, places in slots.items()}
    metric("calls_running", "Calls that run now.", running, "of")
    metric("calls_waiting", "Calls that wait for a place.", waiting, "of")
    metric("embeddings_waiting", "Memories that wait for their embedding.", queued)
    metric(
        "short_term_cleaned_total", "Short-term memories that the daily cleanup has removed.", total.cleaned
    )
    metric("writes_total", "Writes that succeeded, by toolset.", load.workload.writes, "toolset")
    metric("reads_failed_total", "Reads that were refused or failed.", load.workload.failed_reads)
    metric("writes_failed_total", "Writes that were refused or failed.", load.workload.failed_writes)
    metric("triggers_evaluated_total", "Triggers that were evaluated.", load.triggers)
    metric("trigger_seconds_total", "Time of these, with their waits.", load.trigger_seconds)
    metric("engine_restarts_total", "Starts of a JavaScript engine that had ended.", load.engine_restarts)
    metric("process_cpu_seconds_total", "CPU time of the process and its readers.", load.cpu_seconds)
    metric("readers", "Processes that carry out searches.", len(readers.pids))
    metric("calls_by_readers_total", "Calls that these have carried out.", readers.answered)
    if (memory := _resident(os.getpid())) is not None:
        metric("resident_memory_bytes", "Memory of the process.", memory)
        of_readers = sum(_resident(pid) or 0 for pid in readers.pids)
        metric("readers_resident_memory_bytes", "Memory of the readers.", of_readers)
    return "\n".join(lines) + "\n"


def by_tenant(loads: Sequence[TenantLoad]) -> str:
    """The metrics of each tenant that is open. They name it, so they are for this machine alone."""
    lines: list[str] = []
    for name, field, help in _BY_TOOL:
        numbers: dict[str, float] = {load.name: getattr(load.calls, field) for load in loads}
        lines += _metric(f"tenant_{name}", help, numbers, "tenant")
    seconds = {load.name: load.calls.milliseconds / 1000 for load in loads}
    lines += _metric("tenant_call_seconds_total", "Time of calls, with their waits.", seconds, "tenant")
    waiting = {load.name: load.waiting for load in loads}
    lines += _metric("tenant_embeddings_waiting", "Texts that wait for their embedding.", waiting, "tenant")
    return "\n".join(lines) + "\n"


def _metric(name: str, help: str, values: float | Mapping[str, float], label: str = "") -> Iterator[str]:
    kind = "counter" if name.endswith("_total") else "gauge"
    yield f"# HELP memory_server_{name} {help}"
    yield f"# TYPE memory_server_{name} {kind}"
    if isinstance(values, Mapping):
        yield from (f'memory_server_{name}{{{label}="{of}"}} {value:g}' for of, value in values.items())
    else:
        yield f"memory_server_{name} {values:g}"


def _resident(pid: int) -> int | None:
    """Return the bytes of memory of a process; None where it has ended, or the system does not tell them so."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None


def _histograms(counted: Mapping[str, Calls]) -> Iterator[str]:
    yield "# HELP memory_server_call_seconds How long calls took, with their waits."
    yield "# TYPE memory_server_call_seconds histogram"
    for tool, calls in counted.items():
        before = 0
        for bound, number in zip(BOUNDS, calls.times, strict=False):
            before += number
            yield f'memory_server_call_seconds_bucket{{tool="{tool}",le="{bound / 1000:g}"}} {before}'
        yield f'memory_server_call_seconds_bucket{{tool="{tool}",le="+Inf"}} {calls.calls}'
        yield f'memory_server_call_seconds_sum{{tool="{tool}"}} {calls.milliseconds / 1000:g}'
        yield f'memory_server_call_seconds_count{{tool="{tool}"}} {calls.calls}'
