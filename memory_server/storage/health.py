"""Whether the data is sound."""

from typing import Protocol


class Health(Protocol):
    """What is wrong with the file: SQLite's own checks, missing triggers and tables, and the rows of every table."""

    def libraries(self) -> dict[str, str]:
        """What a person may ask about the file and the libraries that read it."""
        ...
