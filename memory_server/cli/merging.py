"""`memory-server merge`: takes over what is new in another database."""

from pathlib import Path

from memory_server.cli import output, progress, summary
from memory_server.cli.importing import tried
from memory_server.domain.caller import Caller
from memory_server.settings import Settings

TITLE = "a database of memory-server"


def merge(settings: Settings, file: Path, dry_run: bool, as_json: bool) -> int:
    """Merge and print what was done. Returns 1 where something was refused."""
    with tried(settings, dry_run) as services, progress.bar(file.name) as report:
        done = services.merges.merge(file, Caller(project=settings.here), report)
    if as_json:
        output.as_json(summary.answer([(str(file), "memory-server", done)], dry_run))
    else:
        output.say_text(summary.told(str(file), TITLE, done, dry_run))
    return int(bool(done.refused))
