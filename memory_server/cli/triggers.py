"""`memory-server triggers`: the prompts that wake when their trigger is true."""

import click

from memory_server.cli import options, output
from memory_server.cli.answers import StatedTrigger, TriggersAnswer
from memory_server.cli.opened import caller, opened
from memory_server.cli.output import Column, Columns
from memory_server.cli.program import verb
from memory_server.cli.terminal import translated
from memory_server.domain import trust
from memory_server.domain.long_term import Order
from memory_server.settings import Settings

COLUMNS: Columns[StatedTrigger] = (
    Column("name", lambda line: f"w:{line.memory.name}", "cyan"),
    Column("state", lambda line: translated(line.state), "green"),
    Column("woken", lambda line: line.memory.fired_count, right=True),
    Column("last", lambda line: output.moment(line.memory.fired_at), "dim"),
    Column("prompt", lambda line: trust.before(line.memory.origin, line.memory.prompt), fills=True),
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
    type=options.Word([order.value for order in Order]),
    default="name",
    show_default=True,
    help="The order.",
)
@click.option("--offset", type=options.Number(0), default=0, help="How many to skip.")
def triggers_command(settings: Settings, order: str, offset: int) -> None:
    """List the prompts of this project and of all projects. It shows the state of their triggers.

    `memory-server show w:NAME` shows a trigger whole, and when and why it woke.
    """
    with opened(settings) as services:
        result = services.long_term.select(None, caller(settings), Order(order), offset)
    lines = [StatedTrigger(memory, memory.state(result.now)) for memory in result.memories]
    degraded = output.degraded(result.degraded)
    if output.answered(TriggersAnswer(lines, result.more, degraded)):
        return
    output.table(COLUMNS, lines)
    output.note(
        None if lines else "No triggers found.",
        f"{result.more} more: --offset {offset + len(lines)}." if result.more else None,
        *(f"w:{memory.name}: {memory.error}" for memory in result.memories if memory.error),
        degraded,
    )
