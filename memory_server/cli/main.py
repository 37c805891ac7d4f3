"""The command line: arguments in, exit code out."""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from memory_server import flags
from memory_server.cli.guard import configured, guarded
from memory_server.engine import garbage

if TYPE_CHECKING:
    from memory_server.front.main import Front


def main(argv: Sequence[str] | None = None, front: "Front | None" = None) -> int:
    """Run one command. Returns 0 for success, 1 for a failure that was explained, 2 for wrong arguments.

    `front` has a client, if this serves one. Each command imports what it needs: to serve imports no
    library of the command line.
    """
    arguments = sys.argv[1:] if argv is None else list(argv)
    server_flags = None if completes() else flags.of_server(arguments)
    if server_flags is not None:
        return guarded(lambda: _serve(server_flags, front))
    if completes():
        from memory_server.cli.completion import prepare

        prepare()
    from memory_server.cli.program import run

    garbage.look_from_now()
    return guarded(lambda: run(arguments))


def completes() -> bool:
    """True if a shell asks how its line goes on."""
    return "_MEMORY_SERVER_COMPLETE" in os.environ


def _serve(server_flags: Mapping[str, object], front: "Front | None") -> int:
    settings = configured(server_flags)
    from memory_server.cli.serve import serve

    serve(settings, front)
    return 0
