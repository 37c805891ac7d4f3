"""`memory-server list`: memories by the moment at which they occurred."""

from typing import Any

import click

from memory_server.cli import options, output
from memory_server.cli.answers import ListAnswer
from memory_server.cli.opened import caller, search_of
from memory_server.cli.output import Column
from memory_server.cli.program import verb
from memory_server.domain.memory import Memory
from memory_server.settings import Settings

COLUMNS = (
    Column("id", "cyan"),
    Column("when", "dim"),
    Column("type", "green"),
    Column("project", "dim"),
    Column("text", rest=True),
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
@click.option("--offset", type=options.Number(0), default=0, help="How many of the newest to leave out.")
@options.json_option
def list_command(settings: Settings, limit: int, offset: int, as_json: bool, **given: Any) -> None:
    """List memories, the newest first."""
    with search_of(settings) as (search, _):
        found = search.search(
            "", options.filter_of(given), limit, "keyword", offset=offset, caller=caller(settings)
        )
    worse = output.degraded(found.degraded)
    if as_json:
        output.as_json(ListAnswer([hit.memory for hit in found.hits], found.note, worse))
        return
    output.table(COLUMNS, [row(hit.memory) for hit in found.hits])
    output.note(found.note or (None if found.hits else "There is no such memory."))
    output.note(worse)


def row(memory: Memory) -> tuple[object, ...]:
    """A memory as a row of a table."""
    return (
        f"m{memory.id}",
        output.moment(memory.occurred_at),
        memory.type.value,
        memory.project,
        memory.content,
    )
