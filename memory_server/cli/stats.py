"""`memory-server stats`: how much there is."""

from memory_server.cli import options, output
from memory_server.cli.answers import StatsAnswer
from memory_server.cli.opened import caller, opened
from memory_server.cli.program import verb
from memory_server.settings import Settings


@verb(
    "stats",
    examples=("memory-server stats", "memory-server stats --project shop", "memory-server stats --json"),
)
@options.project_option
@options.json_option
def stats_command(settings: Settings, project: str | None, as_json: bool) -> None:
    """Count memories by type and project; tell the size of the file and how far the embeddings are."""
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
        found.size,
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
