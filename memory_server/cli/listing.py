"""`memory-server list`: memories by the moment at which they occurred."""

from typing import TYPE_CHECKING, Any

import click

from memory_server.cli import options, output, terminal
from memory_server.cli.answers import ListAnswer, ShowAnswer
from memory_server.cli.opened import caller, opened
from memory_server.cli.output import Column, Columns
from memory_server.cli.program import verb
from memory_server.cli.show import shown
from memory_server.cli.terminal import translated
from memory_server.domain import trust
from memory_server.domain.change import Kind
from memory_server.domain.handles import Handle
from memory_server.domain.memory import Filter, Memory
from memory_server.domain.recall import Recallable
from memory_server.settings import Settings

if TYPE_CHECKING:
    from memory_server.services.looking import Seen

COLUMNS: Columns[Memory] = (
    Column("id", lambda memory: f"m{memory.id}", "cyan"),
    Column("when", lambda memory: output.moment(memory.occurred_at), "dim"),
    Column("type", lambda memory: translated(memory.type.value), "green"),
    Column("project", lambda memory: memory.project, "dim"),
    Column("text", lambda memory: trust.before(memory.origin, memory.content), fills=True),
)

KINDS = {
    "memories": Recallable.MEMORY,
    "turns": Recallable.TURN,
    "short-term": Recallable.SHORT_TERM,
}

LISTED_ELSEWHERE = ("facts", "triggers", "rules", "projects")
"""Commands that list something themselves."""

OF_KINDS: "Columns[Seen]" = (
    Column("id", lambda item: str(_handle(item)), "cyan"),
    Column("when", lambda item: output.moment(item.at), "dim"),
    Column("project", lambda item: item.project, "dim"),
    Column("text", lambda item: trust.before(item.origin, item.text), fills=True),
)


class ListedType(options.Word):
    """Reads the kind of what is listed; of a kind with a list of its own it says which command prints that."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        if value in LISTED_ELSEWHERE:
            hint = f"To list {value}, type `memory-server {value}`."
            return f"{value!r} is unknown. {hint}"
        return super().get_invalid_choice_message(value, ctx)


@verb(
    "list",
    examples=(
        "memory-server list",
        "memory-server list --type decision --project shop --since 30d",
        "memory-server list --tag staging --limit 100 --json",
        "memory-server list turns --since 7d",
        "memory-server list short-term",
    ),
)
@click.argument("kind", type=ListedType(list(KINDS)), default="memories")
@options.filter_options
@options.limit_option(20)
@click.option("--offset", type=options.Number(0), default=0, help="How many of the newest to skip.")
def list_command(settings: Settings, kind: str, limit: int, offset: int, **filters: Any) -> None:
    """List memories, turns or short-term memories, the newest first."""
    filter_ = options.filter_of(filters)
    if kind != "memories":
        _list(settings, KINDS[kind], filter_, limit, offset)
        return
    with opened(settings) as services:
        result = services.search.search(
            "", filter_, limit + 1, "keyword", offset=offset, caller=caller(settings)
        )
    memories, degraded = [hit.memory for hit in result.hits[:limit]], output.degraded(result.degraded)
    if output.answered(ListAnswer(memories, result.note, degraded)):
        return
    output.table(COLUMNS, memories)
    output.note(result.note or (None if memories else "No memories found."), degraded)
    output.note_more(len(result.hits), limit)


def _list(settings: Settings, kind: Recallable, filter_: Filter, limit: int, offset: int) -> None:
    """List what is no memory: whole with --json, as `show` prints it."""
    if filter_.type or filter_.tags:
        raise click.UsageError("Only memories have a type and tags.")
    from memory_server.services.looking import LookWish

    by = caller(settings)
    with opened(settings) as services:
        wish = LookWish(frozenset([kind]), filter_)
        result = services.looking.look("", wish, offset + limit + 1, by)
        items = result.items[offset : offset + limit]
        whole = tuple(shown(services, _handle(item), by) for item in items) if terminal.is_json() else ()
    if output.answered(ShowAnswer(whole)):
        return
    output.table(OF_KINDS, items)
    output.note(result.note or (None if items else "Nothing found."), output.degraded(result.degraded))
    output.note_more(len(result.items) - offset, limit)


def _handle(item: "Seen") -> Handle:
    return Handle(Kind.TURN if item.kind is Recallable.TURN else Kind.SHORT_TERM, item.id)
