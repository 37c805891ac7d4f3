"""`memory-server copy`: a whole database into another one, also of another kind."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memory_server import stores, where
from memory_server.cli import output, progress
from memory_server.cli.done import CopiedAnswer
from memory_server.cli.program import verb
from memory_server.errors import Invalid
from memory_server.settings import Settings
from memory_server.stores import clock
from memory_server.where import Where

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class PlaceType(click.ParamType[Where]):
    """A file, or an address of PostgreSQL."""

    name = "place"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Where:
        try:
            return where.of(value)
        except ValueError as error:
            self.fail(f"{value}: {error}.", param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list["CompletionItem[Any]"]:
        return click.Path().shell_complete(ctx, param, incomplete)


@verb(
    "copy",
    examples=(
        "memory-server copy memory.db postgresql://memory@db.example.com/memory",
        'memory-server copy memory.db "postgresql://memory@db.example.com/memory?tenant=shop"',
        "memory-server copy postgresql://memory@db.example.com/memory laptop.db",
        "memory-server copy --move postgresql://db1.example.com/memory postgresql://db2.example.com/memory",
    ),
)
@click.argument("source", type=PlaceType())
@click.argument("target", type=PlaceType())
@click.option(
    "--move",
    is_flag=True,
    help="Move a tenant of PostgreSQL into another one; its servers go there, without a restart.",
)
@click.option(
    "--purge",
    is_flag=True,
    help="With --move, afterwards: delete the rows that it left behind in SOURCE. Its new address stays there.",
)
def copy_command(settings: Settings, source: Where, target: Where, move: bool, purge: bool) -> None:  # noqa: ARG001 - every command gets them
    """Copy a whole memory as it is between a file and PostgreSQL. Or copy one tenant to another.

    SOURCE may be in use: the copy is of one moment. TARGET must be a new file or an empty tenant. It
    can be used once both are equal, row by row. An interrupted copy goes on when the command is repeated.
    """
    if move:
        _move(source, target, purge)
        return
    if purge:
        raise click.UsageError("--purge goes with --move.")
    from memory_server.transfer import copying

    if isinstance(source, Path) and isinstance(target, Path):
        raise Invalid("Both are files. A copy of a file is made by: memory-server backup")
    if isinstance(source, Path) and not source.exists():
        raise Invalid(f"There is no database {source}. Name a file that is there.")
    database, filled = stores.at(source, clock), stores.filling(target, clock)
    database.refuse_new()
    name = str(source.resolve() if isinstance(source, Path) else source)
    try:
        database.files.refuse_empty()
        with progress.bar("copying") as report:
            done = copying.copy(database, name, filled, report)
    finally:
        database.close()
    rows = sum(table.rows for table in done.tables)
    if output.answered(CopiedAnswer(str(source), str(target), rows, done.resumed)):
        return
    again = " It went on with an interrupted copy." if done.resumed else ""
    output.say(f"{target}: {rows:,} rows of {source}, all equal.{again}")


def _move(source: Where, target: Where, purge: bool) -> None:
    from memory_server.transfer import moving

    if isinstance(source, Path) or isinstance(target, Path):
        raise Invalid(
            "Only a tenant of PostgreSQL moves while it is used, into another one. Leave --move out to copy."
        )
    if str(source) == str(target):
        raise Invalid(f"{source} is both the source and the target.")
    leaving, arriving = stores.leaving(source, clock), stores.arriving(target, clock)
    if purge:
        rows = moving.purge(leaving, arriving, str(target))
        if output.answered(CopiedAnswer(str(source), str(target), None, False, purged=rows)):
            return
        output.say(f"{source}: {rows:,} rows deleted. Servers that come there still go to {target}.")
        return
    with progress.bar("moving") as report:
        done = moving.move(leaving, str(source), arriving, str(target), report)
    answer = CopiedAnswer(str(source), str(target), None, False)
    if done is not None:
        answer = replace(answer, rows=done.rows, since=done.since, waited=done.waited)
    if output.answered(answer):
        return
    if done is None:
        output.say(f"{source} had been left for {target}, which is open now.")
        return
    output.say(
        f"{target}: {done.rows:,} rows of {source}, and {done.since:,} that were written meanwhile. "
        f"Writes waited {done.waited:.2f} s. Its servers go there by themselves; give new ones the new address."
    )
