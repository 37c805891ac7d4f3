"""Completes a half-written name."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memory_server.language.text import fold

MOST = 100
"""Values that a completion has at most, as the protocol says."""


@dataclass(frozen=True, slots=True)
class Completed:
    """The first values, and how many there are."""

    values: tuple[str, ...] = ()
    total: int = 0


def completed(written: str, names: Iterable[str]) -> Completed:
    """The names that begin with the written text, then those that contain it, in upper or lower case. Each once."""
    fragment = fold(written)
    first: list[str] = []
    then: list[str] = []
    for name in dict.fromkeys(names):
        place = fold(name).find(fragment)
        if place >= 0:
            (then if place else first).append(name)
    matches: Sequence[str] = [*first, *then]
    return Completed(tuple(matches[:MOST]), len(matches))
