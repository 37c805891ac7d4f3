"""What the files of git tell of a folder: the repository that it is in, and its remotes. No program is run."""

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
        """The address of `origin`, else of `upstream`, else of the first remote."""
        remotes = {} if self.git is None else _remotes(_text(self.git / "config"))
        named = (remotes.get(name) for name in ("origin", "upstream"))
        return next((url for url in (*named, *remotes.values()) if url), None)


def around(path: Path) -> Repository:
    """The repository that a path is in: of a worktree the main one. Where there is none, the folder itself."""
    try:
        real = path.resolve()
    except (OSError, RuntimeError, ValueError):  # links in a circle, a name that no file can have
        return Repository(path, None)
    if _is(real.is_file):
        real = real.parent
    for folder in (real, *real.parents):
        found = at(folder)
        if found is not None:
            return found
    return Repository(real, None)


def at(folder: Path) -> Repository | None:
    """The repository whose folder, or one of whose worktrees, this is; None where it is none."""
    git = folder / ".git"
    if _is(git.is_dir):
        return Repository(folder, git)
    if _is(git.is_file):
        return _linked(folder, git)
    return None


def bare(folder: Path) -> Repository:
    """The repository that is this folder, without a worktree."""
    return Repository(folder, folder)


def _linked(folder: Path, link: Path) -> Repository:
    """The repository that a `.git` file leads to (gitrepository-layout(5)).

    A worktree belongs to the main one. The worktrees of a bare repository belong to it; if its name starts with a
    dot, to the folder around it. A submodule is a repository of its own.
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
    """The first address of each remote, in the order of the file (git-config(1), CONFIGURATION FILE)."""
    found: dict[str, str] = {}
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
            found.setdefault(remote, _value(value))
    return found


def _value(text: str) -> str:
    """The value of a key: without comment, quotes and escapes."""
    parts = re.findall(r'"((?:[^"\\]|\\.)*)"|(\\.)|([#;].*)|([^"\\#;]+)', text.strip())
    kept = []
    for quoted, escaped, comment, plain in parts:
        if comment:
            break
        kept.append(re.sub(r"\\(.)", r"\1", quoted or escaped) or plain)
    return "".join(kept).strip()


def _text(file: Path) -> str:
    """A file as text; empty where it cannot be read."""
    try:
        with file.open("rb") as opened:
            return opened.read(MOST_BYTES).decode("utf-8-sig", "replace")
    except (OSError, ValueError):
        return ""


def _is(kind: Callable[[], bool]) -> bool:
    """Whether a path is of a kind; false where it may not be read or its name is too long."""
    try:
        return kind()
    except (OSError, ValueError):
        return False
