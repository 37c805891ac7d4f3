"""`memory-server forget`: deletes things, so that they can be brought back for 30 days, or erases them for good."""

from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

import click

from memory_server.call import deadline
from memory_server.call.deadline import CALL
from memory_server.cli import options, output
from memory_server.cli.answers import Shown, ShownFact, ShownMemory, ShownTrigger
from memory_server.cli.guard import complain
from memory_server.cli.handles import HandleType
from memory_server.cli.hints import WORDS
from memory_server.cli.opened import caller, erased, opened
from memory_server.cli.output import Column
from memory_server.cli.program import verb
from memory_server.cli.show import shown
from memory_server.domain.caller import Caller
from memory_server.domain.handles import Handle
from memory_server.domain.short_term import ShortTermMemory
from memory_server.domain.turn import Turn
from memory_server.errors import NotFound, told
from memory_server.settings import Settings

if TYPE_CHECKING:
    from memory_server.app import Services


@verb(
    "forget",
    examples=(
        "memory-server forget 12 13 t7",
        "memory-server forget f:current.task 'w:before a release'",
        "memory-server forget 12 --dry-run",
        "memory-server forget 12 --purge --yes",
    ),
)
@click.argument("ids", nargs=-1, required=True, type=HandleType(), metavar="ID...")
@click.option("--purge", is_flag=True, help="Erase for good, with history and edges; it cannot be restored.")
@options.dry_run_option
@options.yes_option
def forget_command(settings: Settings, ids: tuple[Handle, ...], purge: bool, dry_run: bool, yes: bool) -> int:
    """Delete memories and other things; `memory-server undo` restores them for 30 days."""
    handles = list(dict.fromkeys(ids))
    by = caller(settings)
    with opened(settings) as services:
        if dry_run or purge:
            _list(services, handles, by)
        if dry_run:
            output.say(
                f"Would {'erase' if purge else 'delete'} {output.counted(len(handles), 'item')}. Nothing was changed."
            )
            return 0
        if purge:
            output.confirm("Erase this for good? It cannot be restored.", yes, "--yes")
        with deadline.within(CALL):  # to purge and to overwrite
            return 0 if _forget_all(services, handles, purge, by) else 1


def _forget_all(services: "Services", handles: Sequence[Handle], purge: bool, by: Caller) -> bool:
    """Forget each; true if all of it is gone as was asked."""
    gone, until, elsewhere = list[Handle](), None, dict[str, None]()
    try:
        for handle in handles:
            try:
                done = services.things.forget(handle, purge, by)
            except NotFound as error:
                complain(told([error.problem], WORDS) or "")
                continue
            until, elsewhere = done.undo_until, elsewhere | dict.fromkeys(done.elsewhere)
            gone.append(handle)
    finally:  # also where the next one failed
        overwritten = not (purge and gone) or erased(services.erasure)
        for handle in gone:
            output.say(
                f"{handle} {'deleted' if not purge else 'erased for good' if overwritten else 'purged'}."
            )
    if until is not None:
        output.note(f"`memory-server undo` restores it until {output.moment(until)}.")
    for path in elsewhere:
        output.note(f"This file may still hold it: {path}.")
    return overwritten and len(gone) == len(handles)


def _list(services: "Services", handles: Sequence[Handle], by: Caller) -> None:
    rows = list[tuple[Handle, str]]()
    for handle in handles:
        try:
            rows.append((handle, _text(shown(services, handle, by))))
        except NotFound as error:
            rows.append((handle, f"({error})"))
    output.table((Column("id", itemgetter(0), "cyan"), Column("text", itemgetter(1), fills=True)), rows)


def _text(item: Shown) -> str:
    match item:
        case ShownMemory():
            return item.memory.content
        case Turn():
            return item.summary
        case ShownFact():
            return output.shown_value(item.fact.value) if item.fact else "(no value now)"
        case ShownTrigger():
            return item.trigger.memory.prompt
        case ShortTermMemory():
            return item.text
