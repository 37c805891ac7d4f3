"""`memory-server demo`: shows what the server does, on a file of its own."""

from pathlib import Path

import click

from memory_server.cli.program import verb
from memory_server.settings import Settings


@verb("demo", examples=("memory-server demo", "memory-server demo log.jsonl"))
@click.argument("file", type=click.Path(path_type=Path), required=False)
def demo_command(settings: Settings, file: Path | None) -> int:
    """Store a log of memories, ask questions, print the answers. FILE is JSONL; default: the packaged one."""
    from memory_server.demo import DEMO_LOG, run

    return run(file or DEMO_LOG, settings)
