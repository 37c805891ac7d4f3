"""The command `serve` as click knows it: for its help, and for flags that need an explanation."""

from memory_server.cli.program import verb
from memory_server.settings import Settings


@verb(
    "serve",
    examples=(
        "memory-server serve --read-only",
        "memory-server --project shop",
        "memory-server serve --http 8765 --db team.db",
    ),
)
def serve_command(settings: Settings) -> None:
    """Serve over standard input and output: what an assistant starts, and the default command.

    With --http it serves several machines and people instead. They need tokens: memory-server token add NAME --project
    PROJECT.
    """
    from memory_server.cli.serve import serve

    serve(settings)
