"""`memory-server stats`: how much there is."""

import click

from memory_server.cli import options, output
from memory_server.cli.answers import CallLine, CallsAnswer, StatsAnswer
from memory_server.cli.opened import caller, opened, rows
from memory_server.cli.output import Column
from memory_server.cli.program import verb
from memory_server.settings import Settings

COLUMNS = (
    Column("tool", "cyan"),
    Column("calls", right=True),
    Column("refused", right=True),
    Column("failed", right=True),
    Column("degraded", right=True),
    Column("timed out", right=True),
    Column("p50 ms", right=True),
    Column("p95 ms", right=True),
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
    help="With --calls: of the last so many days.",
)
@options.json_option
def stats_command(settings: Settings, project: str | None, of_calls: bool, days: int, as_json: bool) -> None:
    """Count memories by type and project; tell the size of the file and how far the embeddings are."""
    if of_calls and project is not None:
        raise click.UsageError("--calls counts the calls of all projects together: leave out --project.")
    if of_calls:
        _tell_calls(settings, days, as_json)
        return
    with opened(settings) as services:
        services.queue.go_without()
        found = services.memories.statistics(project, caller(settings))
        coverage = services.queue.kept()
    answer = StatsAnswer(
        found.total,
        dict(found.by_type),
        dict(found.by_project),
        coverage.embedder,
        coverage.embedded,
        coverage.waiting,
        str(settings.db),
        found.size or 0,
        dict(found.jobs),
        found.note,
    )
    if as_json:
        output.as_json(answer)
        return
    output.fields(
        [
            ("memories", f"{answer.memories:,}"),
            *((f"  {name}", f"{number:,}") for name, number in answer.by_type.items()),
            ("projects", f"{len(answer.by_project):,}"),
            *((f"  {name or '(none)'}", f"{number:,}") for name, number in answer.by_project.items()),
            ("embedder", answer.embedder),
            ("embedded", f"{answer.embedded:,} ready, {answer.waiting:,} waiting"),
            ("database", f"{answer.database} ({answer.bytes:,} bytes)"),
            *((f"job {name}", problem) for name, problem in answer.jobs.items()),
        ]
    )
    output.note(answer.note)


def _tell_calls(settings: Settings, days: int, as_json: bool) -> None:
    with rows(settings) as services:
        found = services.calls.select(days)
    lines = tuple(CallLine.of(tool, calls) for tool, calls in found.items())
    if as_json:
        output.as_json(CallsAnswer(days, lines))
        return
    output.table(COLUMNS, [_row(each) for each in lines])
    output.note(None if lines else f"There were no calls in the last {days} days.")


def _row(line: CallLine) -> list[object]:
    counts = (line.calls, line.refused, line.failed, line.degraded, line.timed_out)
    times = ("-" if each is None else f"{each:,.0f}" for each in (line.p50, line.p95))
    return [line.tool, *(f"{each:,}" for each in counts), *times]
