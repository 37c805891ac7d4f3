"""A memory whose files have changed since it was written."""

from dataclasses import dataclass

from memory_server.domain.memory import Memory, MemoryChange
from memory_server.errors import Hint, Invalid, Mend


@dataclass(frozen=True, slots=True)
class ChangedGround:
    """`remark` says what has changed, `renewed` is the text with the value that the files have now; None where it has
    none.
    """

    memory: Memory
    remark: str
    renewed: str | None

    def taken_over(self) -> MemoryChange:
        """Return the change that puts the value that the files have now into the memory.

        Raises:
            Invalid: they have no value that could be.
        """
        if self.renewed is None:
            mend = Hint(Mend.FOLLOW_GROUND, {"id": self.memory.id})
            raise Invalid(f"No value of m{self.memory.id} can be taken over: {self.remark}.", mend)
        return MemoryChange(content=self.renewed)
