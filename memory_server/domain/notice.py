"""Two things of which the newer one may replace the older one, until a client has said so."""

from dataclasses import dataclass

from memory_server.domain.memory import Memory, MemoryId, Passage


def handle(id: MemoryId | str) -> str:
    """The handle of a memory by its id; that of a fact or a turn stays as it is."""
    return id if isinstance(id, str) else f"m{id}"


@dataclass(frozen=True, slots=True)
class Thing:
    """A memory, a fact or a turn; `row` is its id in the table of its kind, `handle` its name in answers."""

    kind: str
    row: int
    handle: str


def thing(compared: Memory | Passage) -> Thing:
    """The thing that was compared."""
    if isinstance(compared, Memory):
        return Thing("memory", compared.id, handle(compared.id))
    return Thing("fact" if compared.id.startswith("f ") else "turn", compared.row, compared.id)


@dataclass(frozen=True, slots=True)
class LikelyUpdate:
    """The newer of two things, and the older one that it probably replaces. One of the two is a memory."""

    new: Thing
    old: Thing


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence about a new thing and an older one. `differs` tells in few words how they differ, if they do."""

    new: str
    old: str
    differs: str
    replaces: bool

    def __str__(self) -> str:
        says = "may replace" if self.replaces else "is close to" if self.differs else "says the same as"
        return f"{self.new} {says} {self.old}{f' ({self.differs})' if self.differs else ''}."
