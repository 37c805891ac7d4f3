"""Under whose name and in which project one import files what it takes in."""

from dataclasses import dataclass

from memory_server.domain.caller import Caller
from memory_server.project import Project


@dataclass(frozen=True, slots=True)
class Filing:
    """`project` None: each record in its own."""

    caller: Caller
    project: Project | None
