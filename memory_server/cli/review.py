"""`memory-server review`: what somebody outside has said, to confirm or to drop."""

import click

from memory_server.cli import options, output
from memory_server.cli.answers import ReviewAnswer
from memory_server.cli.handles import HandleType
from memory_server.cli.opened import caller, opened
from memory_server.cli.output import Column, Columns
from memory_server.cli.program import verb
from memory_server.domain.handles import Handle
from memory_server.domain.outside import Waiting
from memory_server.settings import Settings

COLUMNS: Columns[Waiting] = (
    Column("id", lambda waiting: waiting.handle, "cyan"),
    Column("from", lambda waiting: waiting.origin, "yellow"),
    Column("when", lambda waiting: output.moment(waiting.at), "dim"),
    Column("session", lambda waiting: (waiting.session or "")[:8], "dim"),
    Column("text", lambda waiting: waiting.text, fills=True),
)


@verb(
    "review",
    examples=(
        "memory-server review",
        "memory-server review confirm m12",
        "memory-server review drop --from 'web evil.example'",
    ),
)
@click.argument("action", type=options.Word(["list", "confirm", "drop"]), default="list", metavar="[ACTION]")
@click.argument("ids", nargs=-1, type=HandleType(), metavar="[ID]...")
@click.option("--from", "origin", metavar="ORIGIN", help="All of one origin, such as 'web evil.example'.")
@options.json_option
def review_command(
    settings: Settings, action: str, ids: tuple[Handle, ...], origin: str | None, as_json: bool
) -> None:
    """List what a page or another server said, and confirm or drop it. No briefing and no hook says it before.

    ACTION is list, confirm or drop. Only a person confirms: on a terminal, or on the pages of `memory-server view`.
    """
    if (action == "list") == bool(ids or origin):
        raise click.UsageError("Name the ids, or --from ORIGIN, with confirm or drop.")
    if action == "confirm" and not output.asks():
        raise click.UsageError("Only a person confirms: on a terminal, or on a page of `memory-server view`.")
    with opened(settings) as services:
        if action == "list":
            _list(services.trust.waiting(), as_json)
            return
        by = caller(settings)
        settle = services.trust.confirm if action == "confirm" else services.trust.drop
        settled = settle(ids, origin, by)
    word = "Confirmed" if action == "confirm" else "Dropped"
    output.say(f"{word} {output.counted(len(settled), 'item')}. `memory-server log` shows how to undo it.")


def _list(waiting: list[Waiting], as_json: bool) -> None:
    if as_json:
        output.as_json(ReviewAnswer(waiting))
        return
    output.table(COLUMNS, waiting)
    output.note(None if waiting else "Nothing waits.")
