"""The files of a client, changed by the parts of an installation: with a backup beside, and restored from it."""

import contextlib
import os
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from memory_server.cli.install.parts import InstallPart
from memory_server.errors import Conflict, Invalid

BACKUP = ".before-memory-server"
"""How the name of a backup ends: what the file was before the first entry."""

PRIVATE = 0o600
"""The mode of what is new: only its owner reads and writes it."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file before and after; None where there is none."""

    path: Path
    before: str | None
    after: str | None
    backup: Path

    @property
    def is_none(self) -> bool:
        return self.before == self.after

    def write(self) -> None:
        """Change the file in one step, and keep its mode."""
        if self.after is None:
            self.path.unlink()
            _remove_empty_folders(self.path.parent)
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        _replace(self.path, self.after, PRIVATE if self.before is None else _mode(self.path))


def entered(parts: Iterable[InstallPart]) -> list[FileChange]:
    """Return the change of each file by entering the parts. Nothing is written yet.

    Raises:
        Invalid: a file cannot be read.
        Conflict: another server has the name.
    """
    return [
        _changed(path, before, _through([part.put for part in here], before or "", path))
        for path, before, here in _files(parts)
    ]


def taken_out(parts: Iterable[InstallPart]) -> list[FileChange]:
    """Return the change of each file by taking the parts out.

    One that was changed nowhere else is as it was before they came: as its backup has it, or not there.
    """
    changes = []
    for path, before, here in _files(parts):
        after = None if before is None else _through([part.taken for part in here], before, path)
        change = _changed(path, before, after)
        changes.append(change if change.is_none else _restored(change, here))
    return changes


def keep_backup(change: FileChange, parts: Iterable[InstallPart]) -> bool:
    """Keep the file as it is before the first entry; false where it has an entry already, or is new."""
    here = [part for part in parts if part.path.resolve() == change.path]
    if (
        change.before is None
        or _through([part.taken for part in here], change.before, change.path) != change.before
    ):
        return False
    _replace(change.backup, change.before, _mode(change.path) & PRIVATE)
    return True


def drop_backup(change: FileChange) -> bool:
    """Remove the backup where the file is now what it holds; true if there is none any more."""
    if change.backup.exists() and _read(change.backup) == change.after:
        change.backup.unlink()
    return not change.backup.exists()


def _replace(path: Path, text: str, mode: int) -> None:
    """Write a file in one step. It is created with its mode: it may hold keys, which nobody else may read meanwhile."""
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        if _mode(unfinished) != mode:  # the umask has taken some of it
            unfinished.chmod(mode)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _files(parts: Iterable[InstallPart]) -> Iterator[tuple[Path, str | None, list[InstallPart]]]:
    grouped: dict[Path, list[InstallPart]] = {}
    for part in parts:
        real = part.path.resolve()  # people keep such files elsewhere and link to them
        grouped.setdefault(real, []).append(part)
    for path, here in grouped.items():
        yield path, _read(path) if path.exists() else None, here


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise Invalid(f"{path} is not UTF-8. Nothing was changed.") from error


def _through(steps: Iterable[Callable[[str], str]], text: str, path: Path) -> str:
    for step in steps:
        try:
            text = step(text)
        except ValueError as error:
            raise Invalid(f"{path} cannot be changed: {error}. Nothing was changed.") from error
    return text


def _changed(path: Path, before: str | None, after: str | None) -> FileChange:
    return FileChange(path, before, after, path.with_name(path.name + BACKUP))


def _restored(change: FileChange, parts: list[InstallPart]) -> FileChange:
    """Return the change that ends with the text of the backup, or without the file that is all ours.

    Where the user has changed anything beside the entries since, a comment too, the entries alone are taken out.
    """
    earlier = _read(change.backup) if change.backup.exists() else None
    if _without_entries(parts, earlier or "", change.path) != change.after:
        return change
    return _changed(change.path, change.before, earlier)


def _without_entries(parts: list[InstallPart], text: str, path: Path) -> str | None:
    """Return a text after the parts were put into it and taken out; None where they cannot be."""
    try:
        installed = _through([part.put for part in parts], text, path)
        return _through([part.taken for part in parts], installed, path)
    except (Conflict, Invalid):
        return None


def _remove_empty_folders(folder: Path) -> None:
    """Remove a folder that is empty, and those above it in the user's own folder."""
    home = Path.home().resolve()
    with contextlib.suppress(OSError):  # one that is not empty stays
        while folder != home:
            folder.rmdir()
            folder = folder.parent if home in folder.parents else home
