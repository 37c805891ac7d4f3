"""Many items, some at a time."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

Each = TypeVar("Each")

PAGE = 500
"""Items that are in memory at once."""


def pages(items: Sequence[Each]) -> Iterator[list[Each]]:
    for start in range(0, len(items), PAGE):
        yield list(items[start : start + PAGE])
