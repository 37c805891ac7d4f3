"""`memory-server restore`: puts a backup in the place of the database."""

from dataclasses import replace
from pathlib import Path

import click

from memory_server.cli import options, output, progress
from memory_server.cli.backup import PAGE
from memory_server.cli.done import RestoredAnswer
from memory_server.cli.holders import holders
from memory_server.cli.opened import file_of
from memory_server.cli.program import verb
from memory_server.cli.terminal import colon, translated
from memory_server.errors import Conflict
from memory_server.front import running
from memory_server.services import restoring
from memory_server.settings import Settings
from memory_server.stores import clock


@verb(
    "restore",
    examples=(
        "memory-server restore ~/backups/memory-20260314-092653.db --dry-run",
        "memory-server restore copy.db",
        "memory-server restore copy.db --yes --force",
    ),
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--force",
    is_flag=True,
    help="Restore even if an assistant has the database open: it goes on with the backup.",
)
@options.dry_run_option
@options.yes_option
def restore_command(settings: Settings, file: Path, force: bool, dry_run: bool, yes: bool) -> None:
    """Replace the database with the backup FILE, after checking it. The old file stays beside it."""
    named = file_of(settings, f"`memory-server copy {file} DATABASE` puts a file into an empty one.")
    target = named.resolve()  # what a link leads to, not the link
    backup = restoring.check(file, target)
    size = translated(f"{file.stat().st_size:,} bytes, schema version {backup.version}, sound")
    answer = RestoredAnswer(
        str(settings.db), str(file), file.stat().st_size, backup.version, None, backup.foreign or None, False
    )
    if backup.foreign:
        output.note(f"{file} holds SQL that is not of this program, which is not restored: {backup.foreign}.")
    if dry_run:
        if not output.answered(answer):
            output.say(f"{file}: {size}. Would replace {settings.db}. Nothing was changed.")
        return
    _refuse_held(named, force)
    output.note(f"{file}{colon()}{size}")
    if named.exists():
        output.confirm(f"Replace {settings.db} with it?", yes, "--yes")
    with progress.bar("restoring", PAGE) as report:
        done = restoring.restore(file, target, clock(), report)
    former = None if done.kept is None else str(done.kept)
    if output.answered(replace(answer, former=former, done=True)):
        return
    output.say(f"Restored {settings.db} from {file}.")
    if done.kept is not None:
        output.say(
            f"The old database is {done.kept}. The next purge removes it, or the server does after 30 days; it stays "
            "if no other file has its content."
        )


def _refuse_held(path: Path, force: bool) -> None:
    """Raises Conflict where a program has the database open. An engine that nobody uses is ended."""
    running.stop_idle(path)
    processes = holders(path)
    if processes and not force:
        numbers = ", ".join(map(str, processes))
        raise Conflict(
            f"{path} is open in another program (process {numbers}). Nothing was restored. "
            "Close the assistants, or add --force: they then go on with the backup."
        )
    if processes is None and not force:
        output.note(
            "This system does not tell whether an assistant has the file open. Close assistants before you go on."
        )
