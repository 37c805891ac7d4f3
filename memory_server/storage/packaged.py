"""The migrations that are packaged: numbered files of SQL, which go forward only."""

import re
from dataclasses import dataclass
from pathlib import Path

from memory_server.errors import Unavailable

_PACKAGE = Path(__file__).resolve().parents[1]
_NAME = re.compile(r"(\d{4})_(\w+)\.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    version: int
    name: str
    path: Path


def folder() -> Path:
    """Return the folder of the migrations: inside an installed package, beside it in a checkout."""
    installed = _PACKAGE / "migrations"
    return installed if installed.is_dir() else _PACKAGE.parent / "migrations"


def load(where: Path) -> list[Migration]:
    """The migrations of a folder in order; their numbers run from 1 without a gap."""
    matches = [(_NAME.fullmatch(path.name), path) for path in sorted(where.glob("*.sql"))]
    migrations = [Migration(int(match[1]), match[2], path) for match, path in matches if match]
    if not migrations or [m.version for m in migrations] != list(range(1, len(migrations) + 1)):
        raise Unavailable(f"The installation is incomplete: no unbroken row of migrations in {where}.")
    return migrations
