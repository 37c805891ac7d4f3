"""`memory-server connect`: an edge between two memories."""

import click

from memory_server.cli import options, output
from memory_server.cli.handles import HandleType, knowing_deleted, memory_of
from memory_server.cli.install.clients import CLIENTS
from memory_server.cli.opened import caller, opened
from memory_server.cli.program import verb
from memory_server.cli.terminal import translated
from memory_server.domain.edge import Edge, Relation
from memory_server.settings import Settings


@verb(
    "connect",
    examples=(
        "memory-server connect 12 solves 7",
        "memory-server connect 12 supersedes 7 --json",
        "memory-server connect 12 related_to 7 --end",
    ),
)
@click.argument("source")
@click.argument(
    "relation",
    type=options.Word([relation.value for relation in Relation]),
    required=False,
    metavar="RELATION",
)
@click.argument("target", required=False, metavar="TARGET")
@click.option("--strength", type=options.Share(), default=1.0, show_default=True, help="From 0 to 1.")
@click.option("--end", "ends", is_flag=True, help="End the edge: it holds no longer.")
def connect_command(
    settings: Settings,
    source: str,
    relation: str | None,
    target: str | None,
    strength: float,
    ends: bool,
) -> None:
    """Connect two memories by an edge. SOURCE solves, causes, supersedes… TARGET.

    RELATION is related_to, causes, solves, depends_on, contradicts, extends, example_of, supersedes or summarizes.
    `memory-server show ID` shows the edges of a memory.
    """
    if source in CLIENTS:
        raise click.UsageError(f"To connect an assistant, type: memory-server install {source}")
    if relation is None or target is None:
        raise click.UsageError("Write the relation and the second memory too, such as: connect 12 solves 7")
    start, end = (HandleType().convert(text, None, None) for text in (source, target))
    edge = Edge(memory_of(start), memory_of(end), Relation(relation), strength)
    by = caller(settings)
    with opened(settings) as services, knowing_deleted(services, by, start, end):
        written = services.graph.end(edge) if ends else services.graph.connect(edge, by)
    if output.answered(written):
        return
    named = f"m{edge.source} {translated(edge.relation.value)} m{edge.target}"
    output.say(f"{named} holds no longer." if ends else f"{named}: connected.")
