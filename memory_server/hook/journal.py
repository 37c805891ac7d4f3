"""The log of the hooks, beside the database: what failed, a line each, and the first success of each day.

It is a file and no table, because a hook fails where the database is missing, locked or broken.
"""

from dataclasses import dataclass
from pathlib import Path

from memory_server import defaults
from memory_server.where import Postgres, Where

SUFFIX = ".hooks.log"

LARGEST = 64_000
"""Bytes from which on the older half of the lines is dropped."""

_WORKS = "works"
_FAILED = "failed: "


@dataclass(frozen=True, slots=True)
class Record:
    """The day on which a hook worked last, and the lines of what has failed since."""

    worked: str | None
    failures: tuple[str, ...]


def path_of(database: Where) -> Path:
    """Return the path of the log: beside a file, of a database on PostgreSQL in the user data folder."""
    if isinstance(database, Postgres):
        return defaults.database().with_name(database.name + SUFFIX)
    return database.with_name(database.name + SUFFIX)


def failed(database: Where, now: str, event: str, reason: str) -> None:
    """Add a line. Where there is no folder for a file, nothing is written."""
    _add(database, f"{now} {event} {_FAILED}{' '.join(reason.split())}")


def worked(database: Where, now: str, event: str) -> None:
    """Add a line unless the last one says that a hook worked today."""
    last = _lines(database)[-1:]
    if not last or _FAILED in last[0] or last[0][:10] != now[:10]:
        _add(database, f"{now} {event} {_WORKS}")


def read(database: Where) -> Record:
    """Read what doctor shows."""
    lines = _lines(database)
    worked = max((place for place, line in enumerate(lines) if line.endswith(f" {_WORKS}")), default=-1)
    day = lines[worked][:10] if worked >= 0 else None
    return Record(day, tuple(lines[worked + 1 :]))


def _lines(database: Where) -> list[str]:
    path = path_of(database)
    return path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []


def _add(database: Where, line: str) -> None:
    path = path_of(database)
    if isinstance(database, Postgres):  # nothing else makes the user's own folder
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    elif not path.parent.is_dir():
        return
    if path.exists() and path.stat().st_size > LARGEST:
        lines = _lines(database)
        path.write_text("\n".join([*lines[len(lines) // 2 :], ""]), encoding="utf-8")
    with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
        file.write(line + "\n")
    path.chmod(0o600)
