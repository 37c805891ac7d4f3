"""Finds the project of a folder, a name or the address of a remote, as far as the disk tells.

A project is a repository: its clones and its worktrees are one, whatever path leads to them.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from memory_server.project import address, repository
from memory_server.project.address import is_path
from memory_server.project.repository import Repository


@dataclass(frozen=True, slots=True)
class Project:
    """`key` identifies it: the address of its remote, else the real path of its root, else the name from the caller.

    `name` is short, for people; several projects may have it: the database says which one bears it. `paths` are paths
    under which the database may know the project; the first is the root. Key and name are empty where a folder belongs
    to no project: the home folder and the root of the disk.
    """

    key: str
    name: str
    paths: tuple[str, ...] = ()

    @property
    def is_given(self) -> bool:
        """True if only its name is known."""
        return self.key == self.name

    @property
    def folder(self) -> str | None:
        """Its root on this machine, where it is known."""
        return next((path for path in (*self.paths[:1], self.key) if is_path(path)), None)


NONE = Project("", "")
"""No project."""

NAME = 200
"""Most characters of a project's name; a longer name is cut, because models read it."""

_RELATIVE = re.compile(r"(?:~|\.\.?)(?:[/\\]|$)")
"""The start of a path from the home folder, the working folder or the folder above it."""

_CLONES = 5
"""Clones of clones on one machine that are followed to the first one."""


def project_of(text: str | None, folder: Path) -> Project:
    """Return the project of `text`: a path (absolute, or from `~`, `.`, `..`), an address of a remote, or a name.

    Without a text, return the project of `folder`.
    """
    text = (text or "").strip()
    if address.is_address(text) and (remote := address.read(text)) is not None:
        return Project(remote.key, readable(remote.name))
    if text and not Path(text).is_absolute() and not _RELATIVE.match(text):
        name = readable(text)
        return Project(name, name)
    around = repository.around(folder / Path(text).expanduser())
    if around.root in (Path.home().resolve(), Path(around.root.anchor)):
        return NONE
    return _of_repository(around)


def named(name_or_path: str) -> Project:
    """Return the project of a name, a path or an address of a remote, without looking at the disk: it may be another
    machine's.

    A path from the home or the working folder stands for the name of its last folder.
    """
    name_or_path = name_or_path.strip()
    if address.is_address(name_or_path) and (remote := address.read(name_or_path)) is not None:
        return Project(remote.key, readable(remote.name))
    if not address.is_path(name_or_path) and not _RELATIVE.match(name_or_path):
        name = readable(name_or_path)
        return Project(name, name)
    path = name_or_path.rstrip("/\\")
    name = readable(re.split(r"[/\\]", path)[-1].removesuffix(".git"))
    if not name.strip("~.: ") or name.endswith(":"):
        return NONE
    return Project(path, name) if address.is_path(name_or_path) else Project(name, name)


def _of_repository(current: Repository) -> Project:
    """Return the project of the remote. If the remote is a folder here, it is a clone: its project is the
    original's.
    """
    roots: list[Path] = []
    while True:
        roots.append(current.root)
        url = current.remote()
        local = None if url is None else address.local_path(url)
        remote = address.read(url) if url is not None and local is None else None
        if remote is not None:
            return Project(remote.key, readable(remote.name), tuple(map(_storable, roots)))
        target = None if local is None else _real(current.root / local)
        if target is None or target in roots or len(roots) > _CLONES:
            root = roots.pop()
            return Project(_storable(root), _name(root), tuple(map(_storable, roots)))
        current = repository.at(target) or repository.bare(target)


def _real(path: Path) -> Path | None:
    """Return the folder of a clone: git takes `/srv/app` for `/srv/app.git` and for `/srv/app/.git` too."""
    try:
        real = path.expanduser().resolve()
        bare = real.with_name(f"{real.name}.git")
        real = real if real.exists() or not bare.exists() else bare
    except (OSError, RuntimeError, ValueError):
        return None
    return real.parent if real.name == ".git" else real


def _storable(path: Path) -> str:
    """The path with escapes for bytes that are not UTF-8: the database stores only text."""
    return str(path).encode("utf-8", "backslashreplace").decode()


def _name(root: Path) -> str:
    return readable(root.name.removesuffix(".git"))


def readable(name: str) -> str:
    """The name on one line, without invisible characters: anybody can name a folder, and models read the name."""
    return "".join(c if c.isprintable() else " " for c in name)[:NAME].strip()
