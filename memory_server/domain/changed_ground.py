"""A memory whose files have changed since it was written."""

from dataclasses import dataclass

from memory_server.domain.memory import Memory


@dataclass(frozen=True, slots=True)
class ChangedGround:
    """`remark` says what has changed, `renewed` is the text with the value that the files have now; None where it has
    none.
    """

    memory: Memory
    remark: str
    renewed: str | None
