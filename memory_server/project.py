"""Which project a folder belongs to. A repository and its worktrees are one project, whatever path leads to them."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Project:
    """Facts are stored under `key`: the real path of the root, or a given name. People read `name`.

    Both are empty where a folder belongs to no project: the home folder and the root.
    """

    key: str
    name: str


NONE = Project("", "")
"""No project."""

NAME = 200
"""Most characters of a project's name; a longer name is cut, because models read it."""

_RELATIVE = re.compile(r"(?:~|\.\.?)(?:[/\\]|$)")
"""The start of a path from the home folder, the working folder or the folder above it."""


def project_of(given: str | None, folder: Path) -> Project:
    """The project of the path `given` (absolute, or from `~`, `.`, `..`), or of this name; else that of `folder`."""
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
    """The root of the repository that a path is in: of a worktree the main one, of no repository the folder itself."""
    try:
        real = path.resolve()
    except (OSError, RuntimeError, ValueError):  # links in a circle, a name that no file can have
        return path
    if _is(real.is_file):
        real = real.parent
    for folder in (real, *real.parents):
        git = folder / ".git"
        if _is(git.is_dir):
            return folder
        if _is(git.is_file):
            return _main_worktree(git) or folder
    return real


def _main_worktree(link: Path) -> Path | None:
    """The folder of the repository that a worktree's `.git` file points into (gitrepository-layout(5)).

    The worktrees of a bare repository belong to it; if its name starts with a dot, to the folder around it.
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
    """Whether a path is of a kind; false where it may not be read or its name is too long."""
    try:
        return kind()
    except (OSError, ValueError):
        return False


def _storable(path: str) -> str:
    """The path with escapes for bytes that are not UTF-8: the database stores only text."""
    return path.encode("utf-8", "backslashreplace").decode()


def _readable(name: str) -> str:
    """The name on one line, without invisible characters: anybody can name a folder, and models read the name."""
    return "".join(c if c.isprintable() else " " for c in name)[:NAME].strip()
