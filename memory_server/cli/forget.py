"""`memory-server forget`: deletes things, so that they can be brought back for 30 days, or erases them for good."""

from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memory_server.call import deadline
from memory_server.call.deadline import CALL
from memory_server.cli import options, output, terminal
from memory_server.cli.answers import Shown, ShownFact, ShownMemory, ShownTrigger
from memory_server.cli.done import ForgottenAnswer
from memory_server.cli.guard import complain, failed
from memory_server.cli.handles import HandlesType, Range, knowing_deleted
from memory_server.cli.hints import told
from memory_server.cli.opened import caller, erased, opened
from memory_server.cli.output import Column
from memory_server.cli.program import verb
from memory_server.cli.show import shown
from memory_server.cli.terminal import bracketed, translated
from memory_server.domain.caller import Caller
from memory_server.domain.choice import Choice
from memory_server.domain.handles import Handle
from memory_server.domain.short_term import ShortTermMemory
from memory_server.domain.turn import Turn
from memory_server.errors import NotFound
from memory_server.settings import Settings

if TYPE_CHECKING:
    from memory_server.app import Services

LISTED = 50
"""Things that are listed before they are deleted together."""


@verb(
    "forget",
    examples=(
        "memory-server forget 12 13 t7",
        "memory-server forget f:current.task 'w:before a release'",
        "memory-server forget 12..200 --tag staging",
        "memory-server forget --from notes.jsonl --dry-run",
        "memory-server forget 12 --purge --yes",
    ),
)
@click.argument("ids", nargs=-1, type=HandlesType(), metavar="[ID]...")
@click.option(
    "--from", "source", metavar="FORMAT|FILE", help="What was imported of this format, file or folder."
)
@click.option("--tag", help="What has this tag.")
@options.project_option
@options.since_option
@click.option("--purge", is_flag=True, help="Erase for good, with history and edges; it cannot be restored.")
@options.dry_run_option
@options.yes_option
def forget_command(
    settings: Settings,
    ids: tuple[Handle | Range, ...],
    source: str | None,
    tag: str | None,
    project: str | None,
    since: str | None,
    purge: bool,
    dry_run: bool,
    yes: bool,
) -> int:
    """Delete memories and other things; `undo` restores them for 30 days.

    By a range, --from, --tag, --project or --since it deletes all that all of these are true of, lists it first, and
    `undo` restores it as one.
    """
    ranges = [id for id in ids if isinstance(id, Range)]
    handles = list(dict.fromkeys(id for id in ids if isinstance(id, Handle)))
    chooses = bool(ranges) or any(value is not None for value in (source, tag, project, since))
    if chooses == bool(handles):
        raise click.UsageError("Name the ids, or choose by a range, --from, --tag, --project and --since.")
    by = caller(settings)
    with opened(settings) as services:
        if chooses:
            form, path = _source(source)
            choice = Choice(form, path, tag, project, since, [(r.kind, r.first, r.last) for r in ranges])
            return _forget_chosen(services, choice, purge, dry_run, yes, by)
        if dry_run and output.answered(_would(handles)):
            return 0
        if (dry_run or purge) and not terminal.is_json():
            _list(services, handles, by)
        if dry_run:
            output.say(_trial(purge, output.counted(len(handles), "item")))
            return 0
        if purge:
            output.confirm("Erase this for good? It cannot be restored.", yes, "--yes")
        with deadline.within(CALL):  # to purge and to overwrite
            return 0 if _forget_all(services, handles, purge, by) else 1


def _would(handles: Sequence[Handle]) -> ForgottenAnswer:
    return ForgottenAnswer(list(map(str, handles)), False, None, None, ())


def _source(text: str | None) -> tuple[str | None, str | None]:
    """Return the format, or the path of a file or a folder."""
    from memory_server.importing.formats import NAMES

    if text is None or text in NAMES:
        return text, None
    return None, str(Path(text).resolve())


def _forget_chosen(
    services: "Services", choice: Choice, purge: bool, dry_run: bool, yes: bool, by: Caller
) -> int:
    things = services.forgets.select(choice, by)
    chosen_handles = [chosen.handle for chosen in things]
    if (dry_run or not things) and output.answered(_would(chosen_handles)):
        return 0
    if not terminal.is_json():
        _table([(chosen.handle, chosen.text) for chosen in things[:LISTED]])
    if not things:
        output.note(
            f"Nothing is here from {choice.source or choice.path}. `memory-server log` lists the imports."
            if choice.source or choice.path
            else "Nothing matches, so nothing was deleted."
        )
        return 0
    number = output.counted(len(things), "item")
    output.note(f"and {len(things) - LISTED:,} more" if len(things) > LISTED else None)
    if dry_run:
        output.say(_trial(purge, number))
        return 0
    if purge:
        output.confirm(f"Erase {number} for good? They cannot be restored.", yes, "--yes")
        with deadline.within(CALL):
            return 0 if _forget_all(services, chosen_handles, purge, by) else 1
    output.confirm(f"Delete {number}?", yes, "--yes")
    event = services.forgets.forget(choice, things, by)
    if output.answered(replace(_would(chosen_handles), done=True, undo=f"g{event}")):
        return 0
    output.say(f"{number} deleted.")
    output.note(f"`memory-server undo g{event}` restores them for 30 days.")
    return 0


def _trial(purge: bool, number: str) -> str:
    return (
        f"Would erase {number}. Nothing was changed."
        if purge
        else f"Would delete {number}. Nothing was changed."
    )


def _forget_all(services: "Services", handles: Sequence[Handle], purge: bool, by: Caller) -> bool:
    """Forget each; true if all of it is gone as was asked."""
    gone, until, elsewhere = list[Handle](), None, dict[str, None]()
    missing = dict[Handle, str]()
    try:
        for handle in handles:
            try:
                with knowing_deleted(services, by, handle):
                    done = services.things.forget(handle, purge, by)
            except NotFound as error:
                missing[handle] = told(error.problem) or ""
                continue
            until, elsewhere = done.undo_until, elsewhere | dict.fromkeys(done.elsewhere)
            gone.append(handle)
    finally:  # also where the next one failed
        overwritten = not (purge and gone) or erased(services.erasure)
        for handle in () if terminal.is_json() else gone:
            gone_for_good = f"{handle} erased for good." if overwritten else f"{handle} purged."
            output.say(gone_for_good if purge else f"{handle} deleted.")
    if not gone:
        failed(*missing.values())
        return False
    names = list(map(str, gone))
    if output.answered(ForgottenAnswer(names, True, None, until, list(elsewhere), list(map(str, missing)))):
        return overwritten and not missing
    for problem in missing.values():
        complain(problem)
    if until is not None:
        output.note(f"`memory-server undo` restores it until {output.moment(until)}.")
    if elsewhere:
        output.note("These files may still hold it. Delete them if it must be gone everywhere:", *elsewhere)
    return overwritten and not missing


def _list(services: "Services", handles: Sequence[Handle], by: Caller) -> None:
    rows = list[tuple[Handle, str]]()
    for handle in handles:
        try:
            rows.append((handle, _text(shown(services, handle, by))))
        except NotFound as error:
            rows.append((handle, bracketed(translated(str(error))).strip()))
    _table(rows)


def _table(rows: Sequence[tuple[Handle, str]]) -> None:
    output.table((Column("id", itemgetter(0), "cyan"), Column("text", itemgetter(1), fills=True)), rows)


def _text(item: Shown) -> str:
    match item:
        case ShownMemory():
            return item.memory.content
        case Turn():
            return item.summary
        case ShownFact():
            return (
                output.shown_value(item.fact.value)
                if item.fact
                else bracketed(translated("no value now")).strip()
            )
        case ShownTrigger():
            return item.trigger.memory.prompt
        case ShortTermMemory():
            return item.text
