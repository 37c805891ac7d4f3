"""Checks that the data is sound."""

import json
from typing import Protocol

from memory_server.domain.fact import is_plain

NAMED = 20
"""Rows of a table that are named as bad; the others are counted."""


class Health(Protocol):
    """Checks the database, and describes its libraries."""

    def problems(self) -> list[str]:
        """Check all that is stored; return a line for each problem. Reads everything."""
        ...

    def libraries(self) -> dict[str, str]:
        """Return facts about the database and the libraries that read it, for people."""
        ...


def is_readable_json(text: str) -> bool:
    """True if clients can read the JSON: finite numbers, at most 100 levels."""
    try:
        return is_plain(json.loads(text))
    except (ValueError, RecursionError):
        return False
