"""The working tree around a folder: its root, HEAD, and files, read without git."""

import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path

from memory_server.ground.budget import Budget
from memory_server.ground.index import Listing, listing

MOST_BYTES = 1_000_000
"""Bytes of a file that is read; a larger one is data."""

_SMALL = 10_000
"""Bytes of HEAD, a ref and a `.git` file that are read."""

_PACKED = 20_000_000
"""Bytes of `packed-refs` that are read."""

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


_FLAGS = (
    os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)


@dataclass(slots=True)
class Source:
    """The bytes of a file, and its date in seconds. They are decoded only where a name is in them."""

    path: str
    data: bytes
    modified: float
    _text: str | None = None

    @property
    def text(self) -> str:
        if self._text is None:
            self._text = self.data.decode("utf-8-sig", "replace")
        return self._text

    def may_hold(self, name: str) -> bool:
        return name.encode("utf-8", "replace") in self.data


@dataclass(frozen=True, slots=True)
class Tree:
    """A working tree. `git` is its git folder, `common` the one that it shares with other worktrees."""

    root: Path
    git: Path
    common: Path
    _inside: dict[str, bool] = field(default_factory=dict, repr=False, compare=False)

    def head(self) -> tuple[str, str]:
        """Return the first 12 digits of the commit of HEAD, and the branch; each is empty where there is none."""
        _, is_ref, ref = _text(self.git / "HEAD", _SMALL).strip().partition("ref: ")
        if not is_ref:
            commit = _text(self.git / "HEAD", _SMALL).strip()
            return (commit[:12] if _COMMIT.fullmatch(commit) else ""), ""
        branch = ref.removeprefix("refs/heads/")
        for git in (self.git, self.common):
            commit = _text(git / ref, _SMALL).strip()
            if _COMMIT.fullmatch(commit):
                return commit[:12], branch
        packed = re.search(
            rf"(?m)^([0-9a-f]{{40,64}}) {re.escape(ref)}$", _text(self.common / "packed-refs", _PACKED)
        )
        return (packed[1][:12] if packed else ""), ("" if branch == ".invalid" else branch)

    def listing(self, budget: Budget) -> Listing:
        """Return the files of the index."""
        sha256 = re.search(r"(?im)^\s*objectformat\s*=\s*sha256", _text(self.common / "config", MOST_BYTES))
        return listing(self.git, 32 if sha256 else 20, budget)

    def at(self, path: str) -> str:
        """Return the place of a path: never one outside, as an absolute path would be with `/`."""
        return f"{self.root}/{path}"

    def is_file(self, path: str) -> bool:
        """True for a plain file inside of the tree."""
        try:
            return self.is_inside(path.rpartition("/")[0]) and stat.S_ISREG(os.lstat(self.at(path)).st_mode)
        except (OSError, ValueError):
            return False

    def read(self, path: str) -> Source | None:
        """Return a file; None where it is too large, binary, no plain file, or cannot be read.

        A symbolic link is never followed.
        """
        if not self.is_inside(path.rpartition("/")[0]) or (
            not hasattr(os, "O_NOFOLLOW") and not self.is_file(path)
        ):
            return None
        try:
            opened = os.open(self.at(path), _FLAGS)
        except (OSError, ValueError):
            return None
        try:
            state = os.fstat(opened)
            if not stat.S_ISREG(state.st_mode) or state.st_size > MOST_BYTES:
                return None
            data = os.read(opened, state.st_size)
        except OSError:
            return None
        finally:
            os.close(opened)
        return None if b"\0" in data else Source(path, data, state.st_mtime)

    def exists(self, path: str) -> bool:
        """True if there is anything but a folder at this path, even what is never read."""
        try:
            return not stat.S_ISDIR(os.lstat(self.at(path)).st_mode)
        except (OSError, ValueError):
            return False

    def neighbours(self, path: str) -> list[str]:
        """Return the files of the folder of a path, those too that git does not know."""
        folder = path.rpartition("/")[0]
        if not self.is_inside(folder):
            return []
        try:
            with os.scandir(self.at(folder)) as entries:
                names = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
        except OSError:
            return []
        return [f"{folder}/{name}" if folder else name for name in sorted(names)]

    def is_inside(self, folder: str) -> bool:
        """True if no part of this folder is a symbolic link, and it is not git's own."""
        if not folder:
            return True
        if folder not in self._inside:
            above, _, name = folder.rpartition("/")
            self._inside[folder] = (
                name not in ("..", ".", ".git") and self.is_inside(above) and _is_folder(self.at(folder))
            )
        return self._inside[folder]

    def inside(self, path: Path) -> str | None:
        """Return the path from the root of the tree, with "/"; None where it lies outside."""
        try:
            return Path(os.path.normpath(path)).relative_to(self.root).as_posix()
        except ValueError:
            return None


def around(folder: Path) -> Tree | None:
    """Return the working tree that contains a folder: of a worktree or a submodule its own one."""
    try:
        real = folder.resolve()
    except (OSError, RuntimeError, ValueError):
        return None
    for root in (real, *real.parents):
        git = root / ".git"
        if _is_folder(git):
            return Tree(root, git, git) if (git / "HEAD").is_file() else None
        link = _text(git, _SMALL)
        if link.startswith("gitdir:"):
            git = Path(os.path.normpath(root / link.removeprefix("gitdir:").strip()))
            common = _text(git / "commondir", _SMALL).strip()
            return Tree(root, git, Path(os.path.normpath(git / common)) if common else git)
    return None


def _is_folder(path: Path | str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def _text(file: Path, most: int) -> str:
    """Read a file as text; empty where it cannot be read."""
    try:
        with file.open("rb") as opened:
            return opened.read(most).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
