"""The caller of a tool or command. The face that receives a call builds one `Caller` for it and passes it down."""

from dataclasses import dataclass, field
from pathlib import Path

from memory_server.domain import trust
from memory_server.errors import Invalid
from memory_server.project import NONE, Project

OWNED = "\x1f"
"""Between the name of a person and what that person calls a thing, in a key of the file. No person's name holds it."""

LONGEST = 100
"""Characters of a person's name."""


@dataclass(frozen=True, slots=True)
class Person:
    """One of several people whom a server serves, and what this person may see and do.

    `projects` are the names of the projects that the person may see; None is all of them. `reads_only` allows no write,
    `shares` writes of facts that everybody reads: see `rights.shares`.
    """

    name: str
    projects: frozenset[str] | None = None
    reads_only: bool = False
    shares: bool = False

    def __post_init__(self) -> None:
        """Raises Invalid where the name cannot stand in a key."""
        if not 1 <= len(self.name) <= LONGEST or OWNED in self.name:
            raise Invalid(f"A person's name has 1 to {LONGEST} characters.")


@dataclass(frozen=True, slots=True)
class Caller:
    """The client's own name, its session and its project; None or NONE where it is not known.

    A face knows the project by its remote or folder; services find its name in the file. `person` is None where the
    caller is the owner of the file: then nothing is hidden. `is_here` tells whether the paths that the caller names
    are folders of this machine: those of another one are never looked at. `stamp` gives the origin of what it writes.
    `folder` is where the session works, on this machine.
    """

    client: str | None = None
    session: str | None = None
    project: Project = NONE
    person: Person | None = None
    is_here: bool = True
    stamp: trust.Stamp = field(default=trust.unknown, compare=False)
    folder: Path | None = None

    @property
    def author(self) -> str | None:
        """The writer of a row as text: the program, and the person where there are several."""
        if self.person is None:
            return self.client
        return f"{self.person.name} ({self.client})" if self.client else self.person.name

    @property
    def writer(self) -> str | None:
        """The person who writes, by the name of the token, which no client chooses; None is the owner of the file."""
        return None if self.person is None else self.person.name
