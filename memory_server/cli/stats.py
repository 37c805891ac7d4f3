"""`memory-server stats`: how much there is."""

import click

from memory_server.cli import options, output
from memory_server.cli.answers import CallLine, CallsAnswer, StatsAnswer
from memory_server.cli.opened import caller, opened
from memory_server.cli.output import Column, Columns
from memory_server.cli.program import verb
from memory_server.cli.terminal import filled, translated
from memory_server.domain.calls import Calls
from memory_server.mcp.workload import workload
from memory_server.services.calls import CPU, RESTARTS, TRIGGERS
from memory_server.services.coverage import stored_coverage
from memory_server.settings import Settings

COLUMNS: Columns[CallLine] = (
    Column("tool", lambda line: line.tool, "cyan"),
    Column("calls", lambda line: f"{line.calls:,}", right=True),
    Column("refused", lambda line: f"{line.refused:,}", right=True),
    Column("failed", lambda line: f"{line.failed:,}", right=True),
    Column("degraded", lambda line: f"{line.degraded:,}", right=True),
    Column("timed out", lambda line: f"{line.timed_out:,}", right=True),
    Column("p50 ms", lambda line: _milliseconds(line.p50), right=True),
    Column("p95 ms", lambda line: _milliseconds(line.p95), right=True),
)


@verb(
    "stats",
    examples=(
        "memory-server stats",
        "memory-server stats --project shop --json",
        "memory-server stats --calls --days 7",
    ),
)
@options.project_option
@click.option(
    "--calls",
    "of_calls",
    is_flag=True,
    help="Count calls of tools instead, of all projects, and how long they took.",
)
@click.option(
    "--days",
    type=options.Number(1, 400),
    default=30,
    show_default=True,
    help="With --calls: of this many days, up to now.",
)
def stats_command(settings: Settings, project: str | None, of_calls: bool, days: int) -> None:
    """Count memories by type and project. It shows the size of the file and the progress of embeddings too."""
    if of_calls and project is not None:
        raise click.UsageError("--calls counts the calls of all projects together: leave out --project.")
    if of_calls:
        _tell_calls(settings, days)
        return
    with opened(settings) as services:
        services.queue.go_without()
        statistics = services.memories.statistics(project, caller(settings))
        coverage = stored_coverage(services.database)
    answer = StatsAnswer(
        statistics.total,
        dict(statistics.by_type),
        dict(statistics.by_project),
        coverage.embedder,
        coverage.embedded,
        coverage.waiting,
        str(settings.db),
        statistics.size or 0,
        dict(statistics.jobs),
        statistics.note,
    )
    if output.answered(answer):
        return
    output.fields(
        ("memories", f"{answer.memories:,}"),
        *((f"  {translated(name)}", f"{number:,}") for name, number in answer.by_type.items()),
        ("projects", f"{len(answer.by_project):,}"),
        *((f"  {name or translated('(none)')}", f"{number:,}") for name, number in answer.by_project.items()),
        ("embedder", answer.embedder),
        ("embedded", translated(f"{answer.embedded:,} ready, {answer.waiting:,} waiting")),
        ("database", translated(f"{answer.database} ({answer.bytes:,} bytes)")),
        *((f"job {name}", translated(problem)) for name, problem in answer.jobs.items()),
    )
    output.note(answer.note)


def _tell_calls(settings: Settings, days: int) -> None:
    with opened(settings) as services:
        calls_by_tool = dict(services.calls.select(days))
    triggers, restarts, cpu = (calls_by_tool.pop(name, Calls()) for name in (TRIGGERS, RESTARTS, CPU))
    lines = tuple(CallLine.of(tool, calls) for tool, calls in calls_by_tool.items())
    sums = workload(calls_by_tool)
    if output.answered(
        CallsAnswer(
            days,
            lines,
            sums.writes,
            sums.failed_reads,
            sums.failed_writes,
            triggers.calls,
            triggers.milliseconds / 1000,
            restarts.calls,
            cpu.milliseconds / 1000,
        )
    ):
        return
    output.table(COLUMNS, lines)
    if lines:
        output.fields(
            *((f"writes, {toolset}", f"{number:,}") for toolset, number in sums.writes.items()),
            ("reads that failed", f"{sums.failed_reads:,}"),
            ("writes that failed", f"{sums.failed_writes:,}"),
            (
                "triggers",
                filled(
                    "{calls} in {seconds} s",
                    calls=f"{triggers.calls:,}",
                    seconds=f"{triggers.milliseconds / 1000:,.1f}",
                ),
            ),
            ("engine restarts", f"{restarts.calls:,}"),
            ("CPU", filled("{seconds} s", seconds=f"{cpu.milliseconds / 1000:,.1f}")),
        )
    output.note(None if lines else f"There were no calls in the last {days} days.")


def _milliseconds(time: float | None) -> str:
    return "-" if time is None else f"{time:,.0f}"
