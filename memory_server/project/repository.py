"""Reads git's files: the repository of a folder, and its remotes. No program is run."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MOST_BYTES = 1_000_000
"""Bytes of a git config that are read; a usual one has 500."""

_SECTION = re.compile(r'\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]')


@dataclass(frozen=True, slots=True)
class Repository:
    """`root` is the main folder, `git` the folder with its config; None where a folder is in no repository."""

    root: Path
    git: Path | None

    def remote(self) -> str | None:
        """Return the address of `origin`, else of `upstream`, else of the first remote."""
        remotes = {} if self.git is None else _remotes(_text(self.git / "config"))
        named = (remotes.get(name) for name in ("origin", "upstream"))
        return next((url for url in (*named, *remotes.values()) if url), None)


def around(path: Path) -> Repository:
    """Return the repository that contains a path: of a worktree the main one. Where there is none, the folder
    itself.
    """
    try:
        real = path.resolve()
    except (OSError, RuntimeError, ValueError):  # links in a circle, a name that no file can have
        return Repository(path, None)
    if _is(real.is_file):
        real = real.parent
    for folder in (real, *real.parents):
        nearest = at(folder)
        if nearest is not None:
            return nearest
    return Repository(real, None)


def at(folder: Path) -> Repository | None:
    """Return the repository of this main folder or worktree; None where it is none."""
    git = folder / ".git"
    if _is(git.is_dir):
        return Repository(folder, git)
    if _is(git.is_file):
        return _linked(folder, git)
    return None


def bare(folder: Path) -> Repository:
    """Return the repository that is this folder, without a worktree."""
    return Repository(folder, folder)


def _linked(folder: Path, link: Path) -> Repository:
    """Follow a `.git` file to its repository (gitrepository-layout(5)).

    A worktree belongs to the main one. The worktrees of a bare repository belong to it; if its name starts with a dot,
    to the folder around it. A submodule is a repository of its own.
    """
    try:
        _, _, target = link.read_text(encoding="utf-8").partition("gitdir:")
        git = (link.parent / target.strip()).resolve()
    except (OSError, ValueError):
        return Repository(folder, None)
    try:
        common = (git / "commondir").read_text(encoding="utf-8")
        shared = (git / common.strip()).resolve()
    except (OSError, ValueError):
        return Repository(folder, git)
    return Repository(shared.parent if shared.name.startswith(".") else shared, shared)


def _remotes(config: str) -> dict[str, str]:
    """Return the first address of each remote, in the order of the file (git-config(1), CONFIGURATION FILE)."""
    remotes: dict[str, str] = {}
    remote = None
    for line in re.sub(r"\\\r?\n", "", config).splitlines():
        line = line.strip()
        section = _SECTION.match(line)
        if section:
            is_remote = section[1].lower() == "remote" and section[2] is not None
            remote = re.sub(r"\\(.)", r"\1", section[2]) if is_remote else None
            line = line[section.end() :].strip()
        key, equals, value = line.partition("=")
        if remote is not None and equals and key.strip().lower() == "url":
            remotes.setdefault(remote, _value(value))
    return remotes


def _value(text: str) -> str:
    """Return the value of a key without comment, quotes and escapes."""
    parts = re.findall(r'"((?:[^"\\]|\\.)*)"|(\\.)|([#;].*)|([^"\\#;]+)', text.strip())
    pieces = []
    for quoted, escaped, comment, plain in parts:
        if comment:
            break
        pieces.append(re.sub(r"\\(.)", r"\1", quoted or escaped) or plain)
    return "".join(pieces).strip()


def _text(file: Path) -> str:
    """Read a file as text; empty where it cannot be read."""
    try:
        with file.open("rb") as opened:
            return opened.read(MOST_BYTES).decode("utf-8-sig", "replace")
    except (OSError, ValueError):
        return ""


def _is(kind: Callable[[], bool]) -> bool:
    """Call a check of a path, such as `is_dir`; false where it may not be read or its name is too long."""
    try:
        return kind()
    except (OSError, ValueError):
        return False
