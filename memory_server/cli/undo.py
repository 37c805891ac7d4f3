"""`memory-server undo`: undoes deletions, merges, edits, edges and imports of the last 30 days."""

import re
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from memory_server.cli import log, options, output, terminal
from memory_server.cli.done import UndoneAnswer
from memory_server.cli.opened import caller, opened
from memory_server.cli.program import verb
from memory_server.domain.caller import Caller
from memory_server.domain.change import Change, ChangeAction, ChangeFilter, ChangeId, read_id
from memory_server.errors import Conflict
from memory_server.settings import Settings

if TYPE_CHECKING:
    from memory_server.app import Services

MOST = 1000
"""Changes that are undone at once."""

_RANGE = re.compile(r"\s*(\w+)\s*(?:\.\.|…|-)\s*(\w+)\s*")


class ChangeIds(click.ParamType[tuple[ChangeId, ChangeId]]):
    """One number of the log, such as `d12`, or a range, such as `c3..c7`."""

    name = "change"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[ChangeId, ChangeId]:
        text = str(value)
        ends = _RANGE.fullmatch(text)
        first, last = map(read_id, ends.groups() if ends else (text, text))
        if first is None or last is None or first.origin is not last.origin or first.row > last.row:
            self.fail(
                f"{text!r} is not the number of a change. `memory-server log` shows them: d12; a range is c3..c7.",
                param,
                ctx,
            )
        return first, last


@verb(
    "undo",
    examples=(
        "memory-server undo",
        "memory-server undo d12",
        "memory-server undo i1",
        "memory-server undo c3..c7 --dry-run",
        "memory-server undo --last 3 --by Cursor --yes",
        "memory-server undo --since '2026-03-14 09:00' --project shop",
    ),
)
@click.argument(
    "changes",
    nargs=-1,
    type=ChangeIds(),
    metavar="[CHANGE]...",
    shell_complete=options.completed("changes"),
)
@click.option("--last", type=options.Number(1, MOST), help="This many changes, the latest.")
@options.since_option
@options.until_option
@options.project_option
@click.option("--by", metavar="CLIENT", help="Only what this client did.")
@options.dry_run_option
@options.yes_option
def undo_command(
    settings: Settings,
    changes: tuple[tuple[ChangeId, ChangeId], ...],
    last: int | None,
    since: str | None,
    until: str | None,
    project: str | None,
    by: str | None,
    dry_run: bool,
    yes: bool,
) -> None:
    """Undo deletions, merges, edits, edges, imports of the last 30 days. Without a CHANGE it asks about the
    newest.

    `memory-server log` shows their numbers. Several changes are undone together or not at all. --since alone takes all
    back to that moment; what was stored later stays, as it was first stored. What was purged cannot be restored.
    """
    chooses = last is not None or since is not None or until is not None
    if changes and (chooses or project is not None or by is not None):
        raise click.UsageError(
            "Name changes, or choose them by --last, --since, --until, --project and --by."
        )
    who = caller(settings)
    with opened(settings) as services:
        if changes:
            ids = [id for ends in changes for id in _within(services, *ends)]
            chosen = services.changes.find(ids)
        else:
            undoable = ChangeFilter(project, by, since, until, undone=True)
            chosen = services.changes.select(undoable, last or (MOST + 1 if chooses else 1), who).changes
        if not (chosen or services.changes.newest(ChangeFilter(project, by, since, until), who)):
            if not output.answered(UndoneAnswer((), False, ())):
                output.say("There is nothing to undo.")
            return
        if len(chosen) > MOST:
            raise click.UsageError(f"More than {MOST:,} changes match. Begin with the latest: --last {MOST}.")
        if not (changes or chooses):
            _refuse_older(services, ChangeFilter(project, by), chosen, who)
        all_since = since is not None and last is None and until is None and by is None
        _undo(services, chosen, dry_run, yes or bool(changes), who, all_since)


def _undo(
    services: "Services",
    changes: Sequence[Change],
    dry_run: bool,
    agreed: bool,
    who: Caller,
    all_since: bool,
) -> None:
    if dry_run and output.answered(UndoneAnswer(changes, False, ())):
        return
    if not terminal.is_json():
        output.table(log.COLUMNS, changes)
    if dry_run:
        output.note(f"Would undo {output.counted(len(changes), 'change')}. Nothing was changed.")
        return
    output.confirm("Undo this?", agreed, "--yes, or name the changes")
    done = services.changes.undo([change.id for change in changes if change.id is not None], who, all_since)
    if output.answered(UndoneAnswer(done.changes, True, done.staying)):
        return
    output.note(f"Undid {output.counted(len(done.changes), 'change')}.")
    if done.staying:
        output.note(f"Changed since, so it stays: {', '.join(done.staying)}.")


def _refuse_older(
    services: "Services", filter: ChangeFilter, undoable: Sequence[Change], who: Caller
) -> None:
    """Say why the newest change stays, and what mends it, instead of undoing one before it.

    Raises:
        Conflict: the newest change cannot be undone.
    """
    newest = services.changes.newest(filter, who)
    if newest is None or newest.id is not None:
        return
    of_project = newest.action in (ChangeAction.JOINED, ChangeAction.RENAMED)
    named = newest.text if of_project else newest.handle
    did, by = terminal.translated(newest.action.value), newest.by or terminal.translated("hand")
    mends = [_mended(newest)]
    if undoable:
        undo = f"`memory-server undo {undoable[0].id}` undoes the last one that can be."
        mends.append(terminal.translated(undo))
    raise Conflict(
        f"The newest change cannot be undone: {named}, {did} by {by} at {output.moment(newest.at)}. "
        f"{('' if terminal.is_chinese() else ' ').join(mends)}"
    )


def _mended(change: Change) -> str:
    """Return what mends a change by hand."""
    match change.action:
        case ChangeAction.STORED:
            return terminal.translated(f"`memory-server forget {shlex.quote(change.handle)}` deletes it.")
        case ChangeAction.JOINED:
            return terminal.translated("`memory-server restore` brings back a backup from before.")
        case ChangeAction.RENAMED:
            return terminal.translated("`memory-server projects rename` gives the old name back.")
    return terminal.translated("What was there before is kept no more.")


def _within(services: "Services", first: ChangeId, last: ChangeId) -> list[ChangeId]:
    """The changes from one to another. Of a range those count that are there."""
    if first == last:
        return [first]
    changes = services.changes.select(ChangeFilter(undone=True), MOST, Caller()).changes
    ids = [change.id for change in changes if change.id is not None and first <= change.id <= last]
    return ids or [first]
