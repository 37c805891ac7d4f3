"""`memory-server log`: who stored, edited, merged and deleted what when."""

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from memory_server.cli import options, output
from memory_server.cli.answers import LogAnswer
from memory_server.cli.handles import HandleType
from memory_server.cli.opened import caller, opened
from memory_server.cli.output import Column, Columns
from memory_server.cli.program import verb
from memory_server.cli.show import did
from memory_server.cli.terminal import filled, is_chinese, translated
from memory_server.domain import trust
from memory_server.domain.caller import Caller
from memory_server.domain.change import UNDONE, Change, ChangeFilter, Kind
from memory_server.domain.handles import Handle
from memory_server.errors import Mend, NotFound
from memory_server.settings import Settings

if TYPE_CHECKING:
    from memory_server.app import Services

COLUMNS: Columns[Change] = (
    Column("undo", lambda change: change.id or "", "yellow"),
    Column("when", lambda change: output.moment(change.at), "dim"),
    Column("by", lambda change: translated("hand") if change.by is None else change.by, "green"),
    Column("did", lambda change: did(change) + (filled(UNDONE) if _was_undone(change) else "")),
    Column("id", lambda change: change.handle, "cyan"),
    Column("text", lambda change: trust.before(change.origin, _text(change)), fills=True),
)


@verb(
    "log",
    examples=(
        "memory-server log",
        "memory-server log i1",
        "memory-server log --since 7d --by terminal",
        "memory-server log --undoable --project shop --json",
    ),
)
@click.argument("event", required=False, type=HandleType(), metavar="[IMPORT]")
@options.project_option
@options.since_option
@options.until_option
@click.option("--by", metavar="CLIENT", help="Only by this client; `hand` is edits in the file.")
@click.option("--undoable", is_flag=True, help="Only what `undo` can undo.")
@options.limit_option(20)
def log_command(
    settings: Settings,
    event: Handle | None,
    project: str | None,
    since: str | None,
    until: str | None,
    by: str | None,
    undoable: bool,
    limit: int,
) -> None:
    """Show what was stored, changed, deleted and imported. It says by whom and when, the latest first.

    An import is one line. Its number, such as i1, shows what came with it.
    """
    if event is not None and event.kind not in (Kind.IMPORT, Kind.FORGETTING):
        raise click.BadParameter(f"{event} is not the number of an import. `show {event}` tells its history.")
    with opened(settings) as services:
        whole = _line_of(services, event, caller(settings)) if event is not None else None
        result = services.changes.select(
            ChangeFilter(project, by, since, until, undoable, event=None if event is None else event.id),
            limit + 1,
            caller(settings),
        )
    changes, degraded = result.changes[:limit], output.degraded(result.degraded)
    if output.answered(LogAnswer(changes, result.note, degraded)):
        return
    output.note(whole)
    output.table(COLUMNS, changes)
    output.note(result.note or (None if changes or whole else "No changes found."), degraded)
    output.note_more(len(result.changes), limit)


def _line_of(services: "Services", event: Handle, by: Caller) -> str:
    """Return what is told of an import or a forgetting as a whole.

    Raises:
        NotFound: there is none of this number.
    """
    changes = services.changes.select(ChangeFilter(kind=event.kind, item=event.id), 1, by).changes
    if not changes:
        raise NotFound(f"There is no {event.kind.value} {event}.", Mend.LIST_CHANGES)
    (change,) = changes
    return _text(change) + (filled(UNDONE) if _was_undone(change) else "")


def _was_undone(change: Change) -> bool:
    return change.kind in (Kind.IMPORT, Kind.FORGETTING) and change.text.endswith(UNDONE)


def _text(change: Change) -> str:
    """Return the text of a change; a relation and the counts of an import are in the language of the person."""
    change = replace(change, text=change.text.removesuffix(UNDONE)) if _was_undone(change) else change
    if not is_chinese():
        return change.text
    from memory_server.transfer import counts  # what imports, which the others do without

    return counts.change_in_chinese(change)
