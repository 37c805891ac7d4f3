"""Projects as the file has them: which name one bears, which conversation is its own, what it holds."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import count

from memory_server.project import NAME, Project, readable

EVERYWHERE = "*"
"""The name that stands for all projects, none of them first."""

DEFAULT_CONVERSATION = "default"
"""The conversation of no project. Its long-term memories are returned in every project."""

_RESERVED = ("", EVERYWHERE)
"""Names that stand for no project and for all of them: no project bears them."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A project with what it is known by, and how much it has of each kind."""

    name: str
    keys: tuple[str, ...]
    former_names: tuple[str, ...]
    folder: str | None
    memories: int
    facts: int
    turns: int


@dataclass(frozen=True, slots=True)
class Moved:
    """Counts of what moved. `both` are the keys that had a value in both projects: the newer value is current."""

    memories: int
    facts: int
    turns: int
    both: tuple[str, ...]


def chosen_name(project: Project, used_names: Collection[str]) -> str:
    """The first of its names that no other project bears, in upper or lower case."""
    borne = {name.casefold() for name in (*used_names, *_RESERVED)}
    return next(name for name in _names(project) if name.casefold() not in borne)


def folder_names(project: Project) -> list[str]:
    """The names under which its memories may be stored from before: that of its folder, and its own."""
    *_, folder = _parts(project.folder or "")
    return list(dict.fromkeys(filter(None, (folder.removesuffix(".git"), project.name))))


_OF_PROJECT = "project:"
"""How the name of the conversation of a project begins."""


def default_conversation(name: str) -> str:
    """The conversation of a project's short-term and long-term memories that are stored without one."""
    return f"{_OF_PROJECT}{name}"[:NAME] if name else DEFAULT_CONVERSATION


def conversation_in_words(name: str) -> str:
    """Return what a conversation is called in a message: that of a project by the project."""
    project = name.removeprefix(_OF_PROJECT)
    return f"the conversation `{name}`" if project == name else f"the project `{project}`"


def _names(project: Project) -> Iterator[str]:
    """`app`, `acme/app`, `github.com/acme/app`, …, then `app-2`, `app-3`, …"""
    name = project.name or "project"
    yield name
    for folder in reversed(_parts(project.key)[:-1]):
        name = f"{folder}/{name}"
        if len(name) > NAME:
            break
        yield name
    for number in count(2):
        yield f"{project.name[: NAME - 10] or 'project'}-{number}"


def _parts(path: str) -> list[str]:
    """The folders of a path or an address, readable; never none."""
    return list(map(readable, path.replace("\\", "/").strip("/").split("/")))
