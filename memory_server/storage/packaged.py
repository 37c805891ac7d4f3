"""The migrations that are packaged: numbered files of SQL, which go forward only."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memory_server.errors import Mend, Unavailable

_PACKAGE = Path(__file__).resolve().parents[1]
_NAME = re.compile(r"(\d{4})(?:-(\d{4}))?_(\w+)\.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    """The SQL that makes a schema of `version` out of the one before `first`.

    Where the two differ, the versions between them were never released.
    """

    first: int
    version: int
    name: str
    path: Path


def folder() -> Path:
    """Return the folder of the migrations: inside an installed package, beside it in a checkout."""
    installed = _PACKAGE / "migrations"
    return installed if installed.is_dir() else _PACKAGE.parent / "migrations"


def load(where: Path) -> list[Migration]:
    """Return the migrations of a folder in order; their numbers run from 1 without a gap.

    Raises:
        Unavailable: a number is missing.
    """
    matches = [(_NAME.fullmatch(path.name), path) for path in sorted(where.glob("*.sql"))]
    migrations = [
        Migration(int(match[1]), int(match[2] or match[1]), match[3], path)
        for match, path in matches
        if match
    ]
    starts = [1, *(migration.version + 1 for migration in migrations)]
    if not migrations or [migration.first for migration in migrations] != starts[:-1]:
        raise Unavailable(f"The installation is incomplete: no unbroken row of migrations in {where}.")
    return migrations


def applied(migrations: Sequence[Migration], version: int) -> list[Migration]:
    """Return the migrations that a schema of a version has had."""
    return [migration for migration in migrations if migration.version <= version]


def missing(migrations: Sequence[Migration], version: int) -> list[Migration]:
    """Return the migrations that a schema of a version has not had.

    Raises:
        Unavailable: the version was never released.
    """
    if any(migration.first <= version < migration.version for migration in migrations):
        raise Unavailable(
            f"The database has schema version {version}, which was never released. Nothing was changed.",
            Mend.EXPORT_FIRST,
        )
    return [migration for migration in migrations if migration.first > version]
