"""The command line: arguments in, exit code out."""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from memory_server import flags
from memory_server.cli import garbage
from memory_server.cli.guard import configured, guarded

if TYPE_CHECKING:
    from memory_server.mcp.early import Early


def main(argv: Sequence[str] | None = None, early: "Early | None" = None) -> int:
    """Run one command. Returns 0 for success, 1 for a failure that was explained, 2 for wrong arguments.

    `early` answers a client meanwhile, if this serves one. Each command imports what it needs: to serve imports no
    library of the command line.
    """
    arguments = sys.argv[1:] if argv is None else list(argv)
    server_flags = None if completes() else flags.of_server(arguments)
    if server_flags is not None:
        return guarded(lambda: _serve(server_flags, early))
    if completes():
        from memory_server.cli.completion import prepare

        prepare()
    from memory_server.cli.program import run

    garbage.look_from_now()
    return guarded(lambda: run(arguments))


def completes() -> bool:
    """True if a shell asks how its line goes on."""
    return "_MEMORY_SERVER_COMPLETE" in os.environ


def _serve(server_flags: Mapping[str, object], early: "Early | None") -> int:
    settings = configured(server_flags)
    from memory_server.cli.serve import serve

    serve(settings, early)
    return 0
