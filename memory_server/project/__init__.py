"""Which project a folder, a name or the address of a remote stands for, as far as the disk tells.

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
    """`key` is what it is known by: the address of its remote, else the real path of its root, else the given name.

    `name` is short, for people; another project may have it too: which one bears it is written in the file. `others`
    are paths by which the project may be known from before; the first is the root. Key and name are empty where a
    folder belongs to no project: the home folder and the root of the disk.
    """

    key: str
    name: str
    others: tuple[str, ...] = ()

    @property
    def is_given(self) -> bool:
        """Whether only its name is known."""
        return self.key == self.name

    @property
    def folder(self) -> str | None:
        """Its root on this machine, where it is known."""
        return next((path for path in (*self.others[:1], self.key) if is_path(path)), None)


NONE = Project("", "")
"""No project."""

NAME = 200
"""Most characters of a project's name; a longer name is cut, because models read it."""

_RELATIVE = re.compile(r"(?:~|\.\.?)(?:[/\\]|$)")
"""The start of a path from the home folder, the working folder or the folder above it."""

_CLONES = 5
"""Clones of clones on one machine that are followed to the first one."""


def project_of(given: str | None, folder: Path) -> Project:
    """The project of the path `given` (absolute, or from `~`, `.`, `..`), of this address of a remote, or of this
    name; else that of `folder`."""
    given = (given or "").strip()
    if address.is_address(given) and (remote := address.read(given)) is not None:
        return Project(remote.key, readable(remote.name))
    if given and not Path(given).is_absolute() and not _RELATIVE.match(given):
        name = readable(given)
        return Project(name, name)
    found = repository.around(folder / Path(given).expanduser())
    if found.root in (Path.home().resolve(), Path(found.root.anchor)):
        return NONE
    return _of_repository(found)


def named(given: str) -> Project:
    """The project of a name, a path or the address of a remote, and no look at the disk: it may be another machine's.

    A path from the home or the working folder stands for the name of its last folder.
    """
    given = given.strip()
    if address.is_address(given) and (remote := address.read(given)) is not None:
        return Project(remote.key, readable(remote.name))
    if not address.is_path(given) and not _RELATIVE.match(given):
        name = readable(given)
        return Project(name, name)
    path = given.rstrip("/\\")
    name = readable(re.split(r"[/\\]", path)[-1].removesuffix(".git"))
    if not name.strip("~.: ") or name.endswith(":"):
        return NONE
    return Project(path, name) if address.is_path(given) else Project(name, name)


def _of_repository(found: Repository) -> Project:
    """The project of the remote. A remote on this machine is a clone: what that is a clone of, is this too."""
    roots: list[Path] = []
    while True:
        roots.append(found.root)
        url = found.remote()
        local = None if url is None else address.local_path(url)
        remote = address.read(url) if url is not None and local is None else None
        if remote is not None:
            return Project(remote.key, readable(remote.name), tuple(map(_storable, roots)))
        target = None if local is None else _real(found.root / local)
        if target is None or target in roots or len(roots) > _CLONES:
            root = roots.pop()
            return Project(_storable(root), _name(root), tuple(map(_storable, roots)))
        found = repository.at(target) or repository.bare(target)


def _real(path: Path) -> Path | None:
    """The folder of a clone: git takes `/srv/app` for `/srv/app.git` and for `/srv/app/.git` too."""
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
