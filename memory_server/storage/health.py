"""Whether the data is sound."""

import json
from typing import Protocol

from memory_server.domain.fact import is_plain

NAMED = 20
"""Rows of a table that are named as bad; the others are counted."""


class Health(Protocol):
    """What the database is made of, and what is wrong with it."""

    def problems(self) -> list[str]:
        """What is wrong with what is stored, a line each. Reads everything."""
        ...

    def libraries(self) -> dict[str, str]:
        """What a person may ask about the database and the libraries that read it."""
        ...


def is_readable_json(text: str) -> bool:
    """Whether clients can read it: finite numbers, at most 100 levels."""
    try:
        return is_plain(json.loads(text))
    except (ValueError, RecursionError):
        return False
