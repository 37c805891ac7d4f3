"""Whether the data is sound."""

from typing import Protocol


class Health(Protocol):
    """What the database is made of."""

    def libraries(self) -> dict[str, str]:
        """What a person may ask about the database and the libraries that read it."""
        ...
