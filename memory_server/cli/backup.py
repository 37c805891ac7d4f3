"""`memory-server backup`: a checked copy of the database."""

from pathlib import Path

from memory_server import app
from memory_server.errors import Invalid
from memory_server.settings import Settings

APPLICATION_ID = b"MEMS"
"""A SQLite file says in the last 4 of its first HEADER bytes to which program it belongs."""

HEADER = 72


def backup(settings: Settings, target: Path) -> None:
    """Write the copy and print its size. It may replace an older backup, and never anything else."""
    _refuse(settings.db, target)
    services = app.build(settings)
    services.database.backup(target)
    print(f"{target}: {target.stat().st_size:,} bytes, checked")
    services.close()


def _refuse(source: Path, target: Path) -> None:
    if not source.exists():
        raise Invalid(f"There is no database {source} to back up. Say which one with --db.")
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
                f"{target} is there and is no backup of a memory-server, so it stays. Give another name."
            )
