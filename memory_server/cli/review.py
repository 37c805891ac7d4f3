"""`memory-server review`: what somebody outside has said, and memories whose files have changed."""

from typing import TYPE_CHECKING

import click

from memory_server.cli import options, output
from memory_server.cli.answers import ReviewAnswer
from memory_server.cli.done import ReviewedAnswer
from memory_server.cli.handles import HandleType
from memory_server.cli.opened import caller, opened
from memory_server.cli.output import Column, Columns
from memory_server.cli.program import verb
from memory_server.cli.terminal import translated
from memory_server.domain.caller import Caller
from memory_server.domain.change import Kind
from memory_server.domain.changed_ground import ChangedGround
from memory_server.domain.handles import Handle
from memory_server.domain.outside import Waiting
from memory_server.settings import Settings

if TYPE_CHECKING:
    from memory_server.app import Services

COLUMNS: Columns[Waiting] = (
    Column("id", lambda waiting: waiting.handle, "cyan"),
    Column("from", lambda waiting: waiting.origin, "yellow"),
    Column("when", lambda waiting: output.moment(waiting.at), "dim"),
    Column("session", lambda waiting: (waiting.session or "")[:8], "dim"),
    Column("text", lambda waiting: waiting.text, fills=True),
)


_SETTLED = {
    "confirm": "Confirmed {}. `memory-server log` shows how to undo it.",
    "take": "Changed {}. `memory-server log` shows how to undo it.",
    "drop": "Dropped {}. `memory-server log` shows how to undo it.",
}

OF_GROUND: Columns[ChangedGround] = (
    Column("id", lambda changed: f"m{changed.memory.id}", "cyan"),
    Column("its files", lambda changed: translated(changed.remark), "yellow"),
    Column("text", lambda changed: changed.memory.content, fills=True),
)


@verb(
    "review",
    examples=(
        "memory-server review",
        "memory-server review confirm m12",
        "memory-server review take m7",
        "memory-server review drop --from 'web evil.example'",
    ),
)
@click.argument(
    "action", type=options.Word(["list", "confirm", "take", "drop"]), default="list", metavar="[ACTION]"
)
@click.argument("ids", nargs=-1, type=HandleType(), metavar="[ID]...")
@click.option("--from", "origin", metavar="ORIGIN", help="All of one origin, such as 'web evil.example'.")
def review_command(settings: Settings, action: str, ids: tuple[Handle, ...], origin: str | None) -> None:
    """List the memories that wait for you to confirm or drop them. A page or another server said them, or
    their files have changed.

    ACTION is list, confirm (it holds), drop, or take: put the value that a file has now into the memory. Briefings and
    hooks leave out what a page or another server said until a person confirms it, on a terminal or on the pages of
    `memory-server view`.
    """
    if (action == "list") == bool(ids or origin):
        raise click.UsageError("Name the ids, or --from ORIGIN, with confirm or drop.")
    if action == "confirm" and not output.asks():
        raise click.UsageError("Only a person confirms: on a terminal, or on a page of `memory-server view`.")
    by = caller(settings)
    with opened(settings) as services:
        changed = services.ground.changed(by)
        if action == "list":
            _list(services.trust.waiting(), changed)
            return
        by_handle = {Handle(Kind.MEMORY, item.memory.id): item for item in changed}
        of_ground = [by_handle[handle] for handle in dict.fromkeys(ids) if handle in by_handle]
        remaining = [handle for handle in ids if handle not in by_handle]
        if action == "take" and (remaining or origin):
            raise click.UsageError(f"The files of these have not changed: {' '.join(map(str, remaining))}")
        for item in of_ground:
            _settle(services, action, item, by)
        settle = services.trust.confirm if action == "confirm" else services.trust.drop
        settled = settle(remaining, origin, by) if remaining or origin else []
    handles = [Handle(Kind.MEMORY, item.memory.id) for item in of_ground] + [item.handle for item in settled]
    if output.answered(ReviewedAnswer(action, list(map(str, handles)))):
        return
    if not handles:
        output.note("Nothing waits.")
        return
    output.say(_SETTLED[action].format(output.counted(len(handles), "item")))


def _settle(services: "Services", action: str, item: ChangedGround, by: Caller) -> None:
    """Keep a memory whose files have changed as it is, take over their value, or delete it."""
    memory = item.memory
    if action == "drop":
        services.memories.forget(memory.id, False, by)
    elif action == "confirm":
        services.ground.keep(memory, by)
    else:
        services.memories.update(memory.id, item.taken_over(), by)


def _list(waiting: list[Waiting], changed: list[ChangedGround]) -> None:
    if output.answered(ReviewAnswer(waiting, changed)):
        return
    if waiting or not changed:
        output.table(COLUMNS, waiting)
    if changed:
        output.table(OF_GROUND, changed)
    output.note(None if waiting or changed else "Nothing waits.")
