"""Rows of a damaged file that cannot be read any more."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LostRows:
    """The ids of a table that are lost. Not `certain`: some of them may have had no row.

    Without ids: rows may be lost, and nothing tells which.
    """

    table: str
    ids: tuple[int, ...]
    certain: bool
