"""`memory-server backup`: a checked copy of the database."""

from pathlib import Path

from memory_server import app
from memory_server.errors import Invalid
from memory_server.settings import Settings

APPLICATION_ID = b"MEMS"
"""The application id of our files: in a SQLite file, the last 4 of the first HEADER bytes name its program."""

HEADER = 72
"""Bytes up to the end of the application id in the SQLite file format."""


def backup(settings: Settings, target: Path) -> None:
    """Write the copy and print its size. It replaces an older backup, and never another file."""
    _refuse(settings.db, target)
    services = app.build(settings)
    services.database.refuse_empty()
    services.database.backup(target)
    print(f"{target}: {target.stat().st_size:,} bytes, checked")
    services.close()


def _refuse(source: Path, target: Path) -> None:
    if not source.exists():
        raise Invalid(f"There is no database {source} to back up. Give its path with --db.")
    if not target.parent.is_dir():
        raise Invalid(f"The folder of {target} does not exist. Create it: mkdir -p {target.parent}")
    if target.is_dir():
        raise Invalid(f"{target} is a folder. Give the name of a file in it.")
    if not target.exists():
        return
    if target.samefile(source):
        raise Invalid(f"{target} is the database itself. Give another name.")
    with target.open("rb") as file:
        if file.read(HEADER)[-len(APPLICATION_ID) :] != APPLICATION_ID:
            raise Invalid(
                f"{target} exists and is not a backup of memory-server, so it was not replaced. Give another name."
            )
