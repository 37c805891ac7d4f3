"""The files of a client, changed by the parts of an installation: with a backup beside, and restored from it."""

import contextlib
import os
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_server.cli.install import jsonc, toml
from memory_server.cli.install.parts import InstallPart
from memory_server.errors import Invalid

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
    """Return the change of each file by taking the parts out: one with nothing else is as it was before they came."""
    changes = []
    for path, before, here in _files(parts):
        after = None if before is None else _through([part.taken for part in here], before, path)
        change = _changed(path, before, after)
        changes.append(change if change.is_none else _restored(change))
    return changes


def keep_backup(change: FileChange, parts: Iterable[InstallPart]) -> bool:
    """Keep the file as it is before the first entry; false where it has an entry already, or is new."""
    here = [part for part in parts if _real(part.path) == change.path]
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
        grouped.setdefault(_real(part.path), []).append(part)
    for path, here in grouped.items():
        yield path, _read(path) if path.exists() else None, here


def _real(path: Path) -> Path:
    """Follow a link: people keep such files elsewhere and link to them."""
    return path.resolve()


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


def _restored(change: FileChange) -> FileChange:
    """The change, with the very text of the backup where that says the same, or without the file where it is empty."""
    text = change.after or ""
    if change.backup.exists():
        earlier = _read(change.backup)
        return _changed(change.path, change.before, earlier if _same(change, earlier) else text)
    return _changed(change.path, change.before, text if _content(change.path, text) else None)


def _same(change: FileChange, text: str) -> bool:
    with contextlib.suppress(ValueError):  # what cannot be read says nothing
        return bool(_content(change.path, change.after or "") == _content(change.path, text))
    return False


def _content(path: Path, text: str) -> Any:
    """Return the content of a file, without what is empty."""
    if path.suffix in (".json", ".jsonc"):
        return _full(jsonc.parse(text))
    return _full(toml.get(text, ())) if path.suffix == ".toml" else text.strip()


def _full(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: full for name, member in value.items() if (full := _full(member)) not in ({}, [])}
    return [_full(item) for item in value] if isinstance(value, list) else value
