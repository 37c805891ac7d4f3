"""`memory-server rescue`: what can be read of a damaged file, in a new one."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

import click

from memory_server.cli import output, progress
from memory_server.cli.done import RescueAnswer
from memory_server.cli.program import verb
from memory_server.cli.terminal import listed, translated
from memory_server.errors import Conflict, Invalid
from memory_server.settings import Settings
from memory_server.stores import clock

PREFIX = {"memories": "m", "turns": "t", "short_term_memories": "s"}
"""What stands before the ids of a kind, as `show` takes them."""

KINDS = ("memories", "facts", "turns", "short_term_memories", "long_term_memories", "edges")
"""Tables whose rows are counted one by one; the others hold what belongs to these."""


@verb(
    "rescue",
    examples=("memory-server rescue memory.db", "memory-server rescue memory.db rescued.db --json"),
)
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path), required=False)
def rescue_command(settings: Settings, file: Path, new: Path | None) -> None:  # noqa: ARG001
    """Write what can be read of the damaged FILE into the file NEW. It tells what is lost. FILE stays as it is.

    Without NEW it is FILE with `-rescued` in its name. Vectors and keywords are made anew in the background.
    """
    from memory_server.transfer import rescuing

    target = new or file.with_name(f"{file.stem}-rescued{file.suffix}")
    if not file.is_file():
        raise Invalid(f"There is no file {file}.")
    if target.exists():
        raise Conflict(f"{target} is there already. Name another file.")
    with progress.bar("rescuing") as report:
        done = rescuing.rescue(file, target, clock, report)
    if output.answered(RescueAnswer(str(target), done.rows, done.lost, done.left_out)):
        return
    output.say(f"{target}: {output.counted(sum(done.rows.values()), 'row')} rescued, checked")
    if kinds := [
        f"{translated(_named(table))} {done.rows[table]:,}" for table in KINDS if done.rows.get(table)
    ]:
        output.say_text(listed(kinds), indent=2)
    for rows in (rows for rows in done.lost if rows.ids):
        ids = f"{_named(rows.table)} {', '.join(_ranges(rows.table, rows.ids))}"
        output.say(f"lost: {ids}" if rows.certain else f"perhaps lost: {ids}")
    if in_doubt := [_named(rows.table) for rows in done.lost if not rows.ids]:
        output.say(f"perhaps lost: rows of {', '.join(in_doubt)}")
    for table, number in done.left_out.items():
        output.say(f"left out, because what they belong to is lost: {number:,} {_named(table)}")
    if not done.lost:
        output.say("Nothing is known to be lost.")
    output.note(f"To use it: memory-server restore {target}")


def _named(table: str) -> str:
    return table.replace("_", " ").replace("short term", "short-term").replace("long term", "long-term")


def _ranges(table: str, ids: Iterable[int]) -> Iterator[str]:
    """Yield `m12`, or `m12-m19` for several that follow each other."""
    prefix = PREFIX.get(table, "")
    for _, run in groupby(enumerate(ids), lambda pair: pair[1] - pair[0]):
        numbers = [id for _, id in run]
        yield f"{prefix}{numbers[0]}" + (f"-{prefix}{numbers[-1]}" if len(numbers) > 1 else "")
