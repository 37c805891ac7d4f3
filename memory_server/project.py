"""Which project a folder belongs to: a repository with its worktrees is one, whatever the path that leads there."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Project:
    """`key` is what facts are filed under: the real path of its root, or a name given. `name` is what people read.

    Both are empty where a folder is nobody's project: the home folder and the root.
    """

    key: str
    name: str


NONE = Project("", "")

NAME = 200
"""Characters of a project's name at most."""

_RELATIVE = re.compile(r"(?:~|\.\.?)(?:[/\\]|$)")


def project_of(given: str | None, folder: Path) -> Project:
    """The project of a path (absolute, or from `~`, `.` or `..`), of any other text as a name, or else of `folder`."""
    given = (given or "").strip()
    if given and not _is_path(given):
        return Project(given, _readable(given))
    root = _root(folder / Path(given).expanduser())
    if root in (Path.home().resolve(), Path(root.anchor)):
        return NONE
    return Project(_storable(str(root)), _readable(root.name.removesuffix(".git")))


def _is_path(given: str) -> bool:
    return _RELATIVE.match(given) is not None or Path(given).is_absolute()


def _root(path: Path) -> Path:
    """Symbolic links resolved, then up to the repository, and from a worktree on to its main one."""
    try:
        real = path.resolve()
    except (OSError, RuntimeError, ValueError):  # links in a circle, a name that no file can have
        return path
    if _is(real.is_file):
        real = real.parent
    for place in (real, *real.parents):
        git = place / ".git"
        if _is(git.is_dir):
            return place
        if _is(git.is_file):
            return _main_worktree(git) or place
    return real


def _main_worktree(link: Path) -> Path | None:
    """The folder of the repository that a worktree's `.git` file points into (gitrepository-layout(5)).

    The worktrees of a bare repository belong to it, or to the folder around it where it is hidden there.
    """
    try:
        _, _, target = link.read_text(encoding="utf-8").partition("gitdir:")
        private = (link.parent / target.strip()).resolve()
        common = (private / "commondir").read_text(encoding="utf-8")
    except (OSError, ValueError):  # a submodule is a project of its own
        return None
    shared = (private / common.strip()).resolve()
    return shared.parent if shared.name.startswith(".") else shared


def _is(kind: Callable[[], bool]) -> bool:
    """A place that may not be looked at, or whose name is too long, is nothing."""
    try:
        return kind()
    except (OSError, ValueError):
        return False


def _storable(path: str) -> str:
    """A path's bytes that are no UTF-8 spelt out: the database keeps text only."""
    return path.encode("utf-8", "backslashreplace").decode()


def _readable(name: str) -> str:
    """One line without invisible characters: anybody can name a folder, and the name is shown to models."""
    return "".join(c if c.isprintable() else " " for c in name)[:NAME].strip()
