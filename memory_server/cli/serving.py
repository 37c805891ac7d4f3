"""`memory-server serve` and `demo` as click knows them; `main` starts a server without click."""

from pathlib import Path

import click

from memory_server.cli.program import verb
from memory_server.settings import Settings


@verb(
    "serve",
    json=False,
    examples=(
        "memory-server serve --read-only",
        "memory-server --project shop",
        "memory-server serve --http 8765 --db team.db",
    ),
)
def serve_command(settings: Settings) -> None:
    """Serve over standard input and output: what an assistant starts. It is the default command.

    With --http it serves several machines and people instead. They need tokens: memory-server token add NAME --project
    PROJECT.
    """
    from memory_server.cli.serve import serve

    serve(settings)


@verb(
    "demo",
    json=False,
    examples=("memory-server demo", "memory-server demo --full", "memory-server demo log.jsonl"),
)
@click.option("--full", is_flag=True, help="Ask every question of the log, and show each kind of memory.")
@click.argument("file", type=click.Path(path_type=Path), required=False)
def demo_command(settings: Settings, file: Path | None, full: bool) -> int:
    """Let two assistants share a memory for a minute. It uses a temporary file. FILE is a log of your own, JSONL."""
    from memory_server.demo import run

    return run(file, settings, whole=full)
