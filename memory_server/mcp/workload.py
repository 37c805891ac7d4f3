"""Sums of calls: writes by kind, reads and writes that did not succeed, and the cost of triggers."""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from memory_server.domain.calls import Calls
from memory_server.mcp.listed import by_toolset
from memory_server.triggers.effort import TriggerEffort


@dataclass(frozen=True, slots=True)
class Workload:
    """`writes` that succeeded, by toolset. Failed are those that were refused too."""

    writes: dict[str, int]
    failed_reads: int
    failed_writes: int


@dataclass(frozen=True, slots=True)
class ProcessLoad:
    """The work of this process and its readers since its start; times in seconds."""

    workload: Workload
    triggers: int
    trigger_seconds: float
    engine_restarts: int
    cpu_seconds: float


def workload(calls: Mapping[str, Calls]) -> Workload:
    """Sum up calls by tool. Names that are no tool are left out."""
    writes, failed = Counter[str](), Counter[bool]()
    for name, counts in calls.items():
        toolset, reads = _tools().get(name, (None, True))
        if toolset is None:
            continue
        lost = counts.refused + counts.failed
        failed[reads] += lost
        if not reads and counts.calls > lost:
            writes[toolset] += counts.calls - lost
    return Workload(dict(writes), failed[True], failed[False])


def process_load(calls: Mapping[str, Calls], effort: TriggerEffort) -> ProcessLoad:
    return ProcessLoad(
        workload(calls),
        effort.evaluated,
        round(effort.seconds, 3),
        effort.restarts,
        round(time.process_time() + effort.cpu, 2),
    )


@cache
def _tools() -> dict[str, tuple[str, bool]]:
    """The toolset of each tool, and whether the tool only reads."""
    return {
        tool["name"]: (toolset, tool["annotations"]["readOnlyHint"])
        for toolset, tools in by_toolset().items()
        for tool in tools
    }
