"""`memory-server where` and `compact`: tell where the memory is, and give back the bytes in which nothing is kept."""

from memory_server.cli import options, output, progress
from memory_server.cli.opened import file_database
from memory_server.cli.program import verb
from memory_server.errors import Unavailable
from memory_server.services.erasure import ErasureService
from memory_server.settings import Settings


@verb("where", examples=("memory-server where", 'sqlite3 "$(memory-server where)"'))
def where_command(settings: Settings) -> None:
    """Print the path of the database file, or the address of the PostgreSQL database."""
    output.say(str(settings.db))


@verb("compact", examples=("memory-server compact", "memory-server compact --dry-run"))
@options.dry_run_option
def compact_command(settings: Settings, dry_run: bool) -> None:
    """Make the file smaller: give unused bytes back to the disk.

    It overwrites what was purged first. Assistants can go on; their writes wait meanwhile.
    """
    with file_database(settings, "PostgreSQL reuses free space by itself (autovacuum).") as database:
        if dry_run:
            output.say(f"{settings.db}: {database.free():,} bytes are free. Nothing was changed.")
            return
        with progress.clock(f"writing {settings.db} anew"):
            problem = ErasureService(database).erase_now()
            if problem is not None:
                raise Unavailable(problem.text, *problem.hints)
            before, after = database.compact()
    output.say(f"{settings.db}: {before:,} bytes before, {after:,} now.")
