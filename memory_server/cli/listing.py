"""`memory-server list`: memories by the moment at which they occurred."""

from typing import Any

import click

from memory_server.cli import options, output
from memory_server.cli.answers import ListAnswer
from memory_server.cli.opened import caller, opened
from memory_server.cli.output import Column, Columns
from memory_server.cli.program import verb
from memory_server.domain.memory import Memory
from memory_server.settings import Settings

COLUMNS: Columns[Memory] = (
    Column("id", lambda memory: f"m{memory.id}", "cyan"),
    Column("when", lambda memory: output.moment(memory.occurred_at), "dim"),
    Column("type", lambda memory: memory.type.value, "green"),
    Column("project", lambda memory: memory.project, "dim"),
    Column("text", lambda memory: memory.content, fills=True),
)


@verb(
    "list",
    examples=(
        "memory-server list",
        "memory-server list --type decision --project shop --since 30d",
        "memory-server list --tag staging --limit 100 --json",
    ),
)
@options.filter_options
@options.limit_option(20)
@click.option("--offset", type=options.Number(0), default=0, help="How many of the newest to skip.")
@options.json_option
def list_command(settings: Settings, limit: int, offset: int, as_json: bool, **filters: Any) -> None:
    """List memories, the newest first."""
    filter_ = options.filter_of(filters)
    with opened(settings) as services:
        result = services.search.search("", filter_, limit, "keyword", offset=offset, caller=caller(settings))
    memories, degraded = [hit.memory for hit in result.hits], output.degraded(result.degraded)
    if as_json:
        output.as_json(ListAnswer(memories, result.note, degraded))
        return
    output.table(COLUMNS, memories)
    output.note(result.note or (None if memories else "No memories found."), degraded)
