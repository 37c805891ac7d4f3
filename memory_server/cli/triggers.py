"""`memory-server triggers`: the prompts that wake when their trigger is true."""

import click

from memory_server.cli import options, output
from memory_server.cli.answers import StatedTrigger, TriggersAnswer
from memory_server.cli.opened import caller, opened
from memory_server.cli.output import Column
from memory_server.cli.program import verb
from memory_server.domain.long_term import Order
from memory_server.settings import Settings

COLUMNS = (
    Column("name", "cyan"),
    Column("state", "green"),
    Column("woken", right=True),
    Column("last", "dim"),
    Column("prompt", rest=True),
)


@verb(
    "triggers",
    examples=(
        "memory-server triggers",
        "memory-server triggers --order woken --json",
        "memory-server show 'w:before a release'",
    ),
)
@click.option(
    "--order",
    type=options.Word([each.value for each in Order]),
    default="name",
    show_default=True,
    help="What comes first.",
)
@click.option("--offset", type=options.Number(0), default=0, help="How many of the first to leave out.")
@options.json_option
def triggers_command(settings: Settings, order: str, offset: int, as_json: bool) -> None:
    """List the prompts of this project and of all projects, with the state of their triggers.

    `memory-server show w:NAME` shows a trigger whole, and when and why it woke.
    """
    with opened(settings) as services:
        found = services.long_term.select(None, caller(settings), Order(order), offset)
    lines = [StatedTrigger(memory, memory.state(found.now)) for memory in found.memories]
    worse = output.degraded(found.degraded)
    if as_json:
        output.as_json(TriggersAnswer(lines, found.more, worse))
        return
    output.table(
        COLUMNS,
        [
            (
                f"w:{memory.name}",
                line.state,
                memory.fired_count,
                output.moment(memory.fired_at),
                memory.prompt,
            )
            for line in lines
            for memory in (line.memory,)
        ],
    )
    if not lines:
        output.note("There is none.")
    if found.more:
        output.note(f"{found.more} more: --offset {offset + len(lines)}.")
    for memory in found.memories:
        if memory.error:
            output.note(f"w:{memory.name}: {memory.error}")
    output.note(worse)
