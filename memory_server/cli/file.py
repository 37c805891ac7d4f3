"""`memory-server where` and `compact`: tell where the memory is, and give back the bytes in which nothing is kept."""

from typing import TYPE_CHECKING, cast

from memory_server.cli import options, output, progress
from memory_server.cli.answers import WhereAnswer
from memory_server.cli.done import CompactedAnswer
from memory_server.cli.opened import file_of, opened
from memory_server.cli.program import verb
from memory_server.errors import Unavailable
from memory_server.settings import Settings

if TYPE_CHECKING:
    from memory_server.sqlite.database import Database as FileDatabase


@verb("where", examples=("memory-server where", 'sqlite3 "$(memory-server where)"'))
def where_command(settings: Settings) -> None:
    """Print where the database is: its path, or its PostgreSQL address."""
    if not output.answered(WhereAnswer(str(settings.db))):
        output.say_whole(str(settings.db))


@verb("compact", examples=("memory-server compact", "memory-server compact --dry-run"))
@options.dry_run_option
def compact_command(settings: Settings, dry_run: bool) -> None:
    """Make the file smaller: give unused bytes back to the disk.

    It overwrites what was purged first. Assistants can go on; their writes wait meanwhile.
    """
    file = file_of(settings, "PostgreSQL reuses free space by itself (autovacuum).")
    with opened(settings) as services:
        database = cast("FileDatabase", services.database)
        if dry_run:
            size, free = file.stat().st_size, database.free()
            if not output.answered(CompactedAnswer(str(file), size, free, False)):
                output.say(f"{file}: {free:,} bytes are free. Nothing was changed.")
            return
        with progress.clock(f"writing {file} anew"):
            problem = services.erasure.erase_now()
            if problem is not None:
                raise Unavailable(problem.text, *problem.hints)
            before, after = database.compact()
    if not output.answered(CompactedAnswer(str(file), after, before - after, True)):
        output.say(f"{file}: {before:,} bytes before, {after:,} now.")
