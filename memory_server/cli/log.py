"""`memory-server log`: who stored, edited, merged and deleted what when."""

import click

from memory_server.cli import answers, options, output
from memory_server.cli.answers import LogAnswer
from memory_server.cli.opened import caller, rows
from memory_server.cli.output import Column
from memory_server.cli.program import verb
from memory_server.domain.change import Change, ChangeFilter
from memory_server.settings import Settings

COLUMNS = (
    Column("undo", "yellow"),
    Column("when", "dim"),
    Column("by", "green"),
    Column("did"),
    Column("id", "cyan"),
    Column("text", rest=True),
)


@verb(
    "log",
    examples=(
        "memory-server log",
        "memory-server log --since 7d --by terminal",
        "memory-server log --undoable --project shop --json",
    ),
)
@options.project_option
@options.since_option
@options.until_option
@click.option("--by", metavar="CLIENT", help="Only of this client; `hand` is what was edited in the file.")
@click.option("--undoable", is_flag=True, help="Only what `undo` can undo.")
@options.limit_option(20)
@options.json_option
def log_command(
    settings: Settings,
    project: str | None,
    since: str | None,
    until: str | None,
    by: str | None,
    undoable: bool,
    limit: int,
    as_json: bool,
) -> None:
    """Show what was stored, changed and deleted, by whom and when, the latest first."""
    wanted = ChangeFilter(project, by, since, until, undoable)
    with rows(settings) as services:
        found = services.changes.select(wanted, limit, caller(settings))
    worse = output.degraded(found.degraded)
    if as_json:
        output.as_json(LogAnswer(found.changes, found.note, worse))
        return
    output.table(COLUMNS, [row(each) for each in found.changes])
    output.note(found.note or (None if found.changes else "Nothing happened."))
    output.note(worse)


def row(change: Change) -> tuple[object, ...]:
    """A change as a row of a table."""
    return (
        change.id or "",
        output.moment(change.at),
        change.by or "hand",
        change.action.value,
        answers.handle_of(change),
        change.text,
    )
