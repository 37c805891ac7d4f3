"""Export and import: what each store does in its own way."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

Result = TypeVar("Result")


class WholeRows(Protocol):
    """Rows with their ids and their moments. The rules of the tables decide what fits."""

    def vectors(self, table: str, item: str, ids: Sequence[int]) -> list[tuple[int, int, bytes]]:
        """Return the vectors of items in their order: item, model, and the numbers as little-endian float32.

        `item` is the column of the table with the item's id.
        """
        ...


class WritableWholeRows(WholeRows, Protocol):
    def attempt(self, take: Callable[[], Result]) -> Result | str:
        """Write one item; where a rule of the database refuses it, write nothing of it and return the rule."""
        ...
