"""Projects, and the names that complete what somebody types."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from memory_server.domain.project import Listed
from memory_server.project.address import is_path


class KeyKind(StrEnum):
    """The kinds of keys by which a project is known besides its name."""

    REMOTE = "remote"
    FOLDER = "folder"
    NAME = "name"


def kind_of(key: str) -> KeyKind:
    """The kind of a key that is no name."""
    return KeyKind.FOLDER if is_path(key) else KeyKind.REMOTE


@dataclass(frozen=True, slots=True)
class Known:
    """A project."""

    id: int
    name: str


AT_ONCE = 5_000
"""Memories that move in one transaction: about 0.1 s, so that other writes wait little."""


class Projects(Protocol):
    """The tables `projects` and `project_keys`: which project is meant, and what it is called."""

    def find(self, name: str) -> Known | None:
        """The project of exactly this name."""
        ...

    def find_by_key(self, key: str) -> Known | None:
        """The project of this address of a remote, or of this path."""
        ...

    def find_by_former_name(self, name: str) -> Known | None: ...

    def has_key(self, id: int, *kinds: KeyKind) -> bool:
        """Return True if a project is known by any key of these kinds."""
        ...

    def names(self) -> list[str]: ...

    def former_names(self) -> list[str]: ...

    def select(self) -> list[Listed]:
        """All projects by name."""
        ...

    def is_in(self, id: int, folder: str | None) -> bool:
        """Return True if this is the root in which a project was used last."""
        ...


class WritableProjects(Projects, Protocol):
    def insert(self, name: str) -> Known: ...

    def add_key(self, id: int, key: str) -> None: ...

    def mark_folder(self, id: int, folder: str) -> None: ...

    def rename(self, id: int, name: str) -> None:
        """A trigger lets every row follow, and keeps the old name as a former one."""
        ...

    def hand_on(self, source: Known, target: Known) -> None:
        """Let the folder, the remotes and the former names of one project lead to another one from now on."""
        ...

    def delete_empty(self) -> None:
        """Forget the projects of which nothing is left, not even in the trash or in the history of facts."""
        ...
