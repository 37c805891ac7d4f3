"""`memory-server backup`: a checked copy of the database."""

import os
import re
from collections.abc import Iterable
from math import inf
from pathlib import Path

import click

from memory_server.call import deadline
from memory_server.call.deadline import CALL
from memory_server.cli import options, output, progress
from memory_server.cli.done import BackupAnswer
from memory_server.cli.opened import erased, opened
from memory_server.cli.program import verb
from memory_server.errors import Invalid
from memory_server.services import backups, restoring
from memory_server.settings import Settings
from memory_server.stores import clock
from memory_server.where import Where

APPLICATION_ID = b"MEMS"
"""The application id of our files: in a SQLite file, the last 4 of the first HEADER bytes name its program."""

HEADER = 72
"""Bytes up to the end of the application id in the SQLite file format."""

PAGE = 4096
"""Bytes of a page, as our files have them: only the progress bar needs it."""


@verb(
    "backup",
    examples=(
        "memory-server backup",
        "memory-server backup copy.db",
        "memory-server backup ~/backups --keep 7",
    ),
)
@click.argument("dest", required=False, type=click.Path())
@click.option(
    "--keep",
    type=options.Number(1),
    help="In the folder DEST, keep this many of the newest backups and delete the older ones.",
)
@options.dry_run_option
def backup_command(settings: Settings, dest: str | None, keep: int | None, dry_run: bool) -> None:
    """Write a checked copy of the database to the file DEST. In a folder DEST the copy is named by its moment.

    DEST/ is a folder, and is made. Without DEST it goes into the folder `backups` beside the database. A backup
    replaces an older one of that name and database, and never another file.
    """
    if isinstance(settings.db, Path) and not settings.db.exists():
        raise Invalid(f"There is no database {settings.db} to back up. Give its path with --db.")
    like = backups.file_like(settings.db)
    target = _target(like, dest, not dry_run)
    if keep is not None and dest is not None and target == Path(dest):
        raise click.UsageError(
            f"--keep needs a folder, and {dest} is none. With a slash at its end, `{dest}/` is made."
        )
    if not dry_run or target.parent.exists():
        _refuse(settings.db, target)
    if dry_run:
        _refuse_of_another(settings.db, target)
        old = () if keep is None else _beyond({target, *_backups(settings.db, target.parent)}, keep)
        if output.answered(BackupAnswer(str(target), None, list(map(str, old)), False)):
            return
        output.say(f"{target} would be written. Nothing was changed.")
        for path in old:
            output.say(f"{path} would be deleted.")
        return
    unit = PAGE if isinstance(settings.db, Path) else None
    with opened(settings) as services:
        _refuse_of_another(settings.db, target)
        # One wait for a locked file. PostgreSQL may take longer than that to answer all.
        with deadline.within(inf if unit is None else CALL):
            erased(services.erasure, " and in this backup")
            with progress.bar("copying", unit) as report:
                services.backup(target, report)
    beyond = [] if keep is None else _beyond(_backups(settings.db, target.parent), keep)
    for path in beyond:
        path.unlink()
    if output.answered(BackupAnswer(str(target), target.stat().st_size, list(map(str, beyond)), True)):
        return
    output.say(f"{target}: {target.stat().st_size:,} bytes, checked")
    for path in beyond:
        output.say(f"{path}: deleted")


def _target(source: Path, dest: str | None, makes: bool) -> Path:
    """The file that is named; in a folder one that is named by its moment. `makes`: the folder is made."""
    path = backups.folder(source) if dest is None else Path(dest)
    is_folder = dest is None or dest.endswith(("/", os.sep))
    if is_folder and makes:
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise Invalid(
                f"The folder {path} cannot be made: {error.strerror}. Name one in a folder to which you may write."
            ) from error
    return path / backups.named(source, clock()) if is_folder or path.is_dir() else path


def _beyond(backups: Iterable[Path], keep: int) -> list[Path]:
    """Return all but the newest ones."""
    return sorted(backups)[:-keep]


def _backups(database: Where, folder: Path) -> set[Path]:
    """The backups of a database in a folder: files whose names this command gives, and which are ours."""
    like = backups.file_like(database)
    name = re.compile(rf"{re.escape(like.stem)}-[0-9]{{8}}-[0-9]{{6}}{re.escape(like.suffix)}")
    return {
        path
        for path in (folder.iterdir() if folder.is_dir() else ())
        if name.fullmatch(path.name)
        and path.is_file()
        and not path.is_symlink()
        and is_ours(path)
        and restoring.is_backup_of(path, database)
    }


def is_ours(path: Path) -> bool:
    """True for a database of memory-server, by the head of the file."""
    with path.open("rb") as file:
        return file.read(HEADER)[-len(APPLICATION_ID) :] == APPLICATION_ID


def _refuse(database: Where, target: Path) -> None:
    if not target.parent.is_dir():
        raise Invalid(f"The folder of {target} does not exist. Create it: mkdir -p {target.parent}")
    if not target.exists():
        return
    source = backups.file_like(database)
    if source.exists() and target.samefile(source):
        raise Invalid(f"{target} is the database itself. Give another name.")
    if not (target.is_file() and is_ours(target)):
        raise Invalid(
            f"{target} exists and is not a backup of memory-server, so it was not replaced. Give another name."
        )


def _refuse_of_another(database: Where, target: Path) -> None:
    if target.exists() and not restoring.is_backup_of(target, database):
        raise Invalid(f"{target} is a backup of another database, so it was not replaced. Give another name.")
