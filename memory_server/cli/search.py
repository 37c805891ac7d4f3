"""`memory-server search`: memories by words, and by meaning where that is asked for."""

from typing import Any

import click

from memory_server.cli import options, output
from memory_server.cli.answers import SearchAnswer
from memory_server.cli.opened import caller, search_of
from memory_server.cli.output import Column
from memory_server.cli.program import verb
from memory_server.domain.ranking import Hit
from memory_server.settings import Settings

MOST = 10
"""Memories that are shown where no number is asked for: of these only what is likely to answer."""

COLUMNS = (
    Column("id", "cyan"),
    Column("score", right=True),
    Column("when", "dim"),
    Column("type", "green"),
    Column("project", "dim"),
    Column("text", rest=True),
)


@verb(
    "search",
    examples=(
        "memory-server search port of the staging database",
        "memory-server search 什么时候发布 --meaning",
        "memory-server search deploy --project shop --since 30d --json",
    ),
)
@click.argument("query", nargs=-1, required=True)
@options.filter_options
@click.option(
    "--limit",
    "-n",
    type=options.Number(1, 10_000),
    help="How many at most. Default: up to 10 that are likely.",
)
@click.option("--meaning", is_flag=True, help=options.MEANING)
@options.json_option
def search_command(
    settings: Settings, query: tuple[str, ...], limit: int | None, meaning: bool, as_json: bool, **given: Any
) -> None:
    """Find memories, best first: by words, and by meaning where a server of the file runs."""
    with search_of(settings, meaning) as (search, mode):
        found = search.search(
            " ".join(query),
            options.filter_of(given),
            limit or MOST,
            mode,
            likely=limit is None,
            caller=caller(settings),
        )
    worse = output.degraded(found.degraded)
    if as_json:
        output.as_json(SearchAnswer(found.hits, found.embedder, found.note, worse))
        return
    output.table(COLUMNS, [_row(hit) for hit in found.hits])
    output.note(found.note or (None if found.hits else "No memory was found."))
    output.note(worse)


def _row(hit: Hit) -> tuple[object, ...]:
    memory = hit.memory
    replaced = f"(superseded by m{memory.superseded_by}) " if memory.superseded_by else ""
    return (
        f"m{memory.id}",
        f"{hit.score:.2f}",
        output.moment(memory.occurred_at),
        memory.type.value,
        memory.project,
        replaced + hit.content,
    )
