"""`memory-server merge`: takes over what is new in another database."""

from pathlib import Path

from memory_server.cli import summary
from memory_server.cli.importing import tried
from memory_server.cli.progress import Progress
from memory_server.domain.caller import Caller
from memory_server.settings import Settings

TITLE = "a database of memory-server"


def merge(settings: Settings, file: Path, dry_run: bool, as_json: bool) -> int:
    """Merge and print what was done. Returns 1 where something was refused."""
    progress = Progress(str(file))
    with tried(settings, dry_run) as services:
        try:
            done = services.merges.merge(file, Caller(project=settings.here), progress)
        finally:
            progress.end()
    if as_json:
        print(summary.as_json([(str(file), "memory-server", done)], dry_run))
    else:
        print(summary.told(str(file), TITLE, done, dry_run))
    return int(bool(done.refused))
