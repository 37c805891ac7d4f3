"""`memory-server search`: memories by words and by meaning."""

from typing import Any

import click

from memory_server.cli import options, output
from memory_server.cli.answers import SearchAnswer
from memory_server.cli.opened import caller, embedding
from memory_server.cli.output import Column, Columns
from memory_server.cli.program import verb
from memory_server.cli.terminal import bracketed, filled, is_chinese, translated
from memory_server.domain import trust
from memory_server.domain.memory import Memory
from memory_server.domain.ranking import Hit
from memory_server.settings import Settings

MOST = 10
"""Memories that are shown where no number is asked for: of these only what is likely to answer."""

COLUMNS: Columns[Hit] = (
    Column("id", lambda hit: f"m{hit.memory.id}", "cyan"),
    Column("score", lambda hit: "" if hit.memory.superseded_by else f"{hit.score:.2f}", right=True),
    Column("when", lambda hit: output.moment(hit.memory.occurred_at), "dim"),
    Column("type", lambda hit: translated(hit.memory.type.value), "green"),
    Column("project", lambda hit: hit.memory.project, "dim"),
    Column("text", lambda hit: _text(hit), fills=True),
)


def _text(hit: Hit) -> str:
    now = bracketed(translated(hit.remark)) if hit.remark else ""
    return trust.before(hit.memory.origin, _mark(hit.memory) + hit.content + now)


@verb(
    "search",
    examples=(
        "memory-server search port of the staging database",
        "memory-server search 什么时候发布",
        "memory-server search deploy --project shop --since 30d --json",
    ),
)
@click.argument("query", nargs=-1, metavar="QUERY...")
@options.filter_options
@click.option(
    "--limit",
    "-n",
    type=options.Number(1, output.MOST_ROWS),
    help="How many at most. Default: up to 10 that are likely.",
)
@options.meaning_option
def search_command(
    settings: Settings,
    query: tuple[str, ...],
    limit: int | None,
    **filters: Any,
) -> None:
    """Find memories by words and by meaning, best first."""
    text = " ".join(query).strip()
    if not text:
        raise click.UsageError(
            "Say what to look for. `memory-server list` lists memories, also by --tag, --type and --since."
        )
    with embedding(settings) as services:
        result = services.search.search(
            text,
            options.filter_of(filters),
            limit or MOST,
            "hybrid",
            likely=limit is None,
            for_people=True,
            caller=caller(settings),
        )
    degraded = output.degraded(result.degraded)
    if output.answered(SearchAnswer(result.hits, result.embedder, result.note, degraded)):
        return
    output.table(COLUMNS, result.hits)
    output.note(result.note or (None if result.hits else "No memories found."), degraded)


def _mark(memory: Memory) -> str:
    newer = memory.superseded_by
    remark = bracketed(filled("superseded by m{id}", id=newer)) if newer else ""
    return remark if is_chinese() or not remark else f"{remark.lstrip()} "
