"""What a half-written name may become."""

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
    """The names that begin with what is written, then those that hold it; in upper or lower case. Each once."""
    wanted = fold(written)
    first: list[str] = []
    then: list[str] = []
    for name in dict.fromkeys(names):
        place = fold(name).find(wanted)
        if place >= 0:
            (then if place else first).append(name)
    found: Sequence[str] = [*first, *then]
    return Completed(tuple(found[:MOST]), len(found))
