"""Reads git's index: the files that a working tree has by the last `git add` (gitformat-index(5)), without git."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from memory_server.ground.budget import Budget

MOST_BYTES = 200_000_000
"""Bytes of an index that are read; 100,000 files have about 10 million."""

_CHECK = 2_048
"""Entries that are read between two looks at the budget."""

_HEADER, _EXTENDED, _SKIP, _LENGTH = 12, 0x4000, 0x4000, 0xFFF
_FILE, _KIND = 0o100000, 0o170000


@dataclass(frozen=True, slots=True)
class Listing:
    """`paths` are the files, `absent` those that a sparse checkout leaves out. `whole` is false where the index keeps
    folders instead of files, so that not every file is known.
    """

    paths: tuple[str, ...] = ()
    absent: frozenset[str] = frozenset()
    whole: bool = True


NO_LISTING = Listing(whole=False)
"""The index cannot be read, or the budget was over before its end."""


def listing(git: Path, hash_bytes: int, budget: Budget) -> Listing:
    """Return the files of the index of a git folder. A whole listing is kept until the index changes."""
    index = git / "index"
    try:
        state = index.stat()
        return _listing(index, (state.st_mtime_ns, state.st_size, state.st_ino), hash_bytes, _Once(budget))
    except FileNotFoundError:
        return Listing()
    except (OSError, ValueError, IndexError, _BudgetSpentError):
        return NO_LISTING


class _BudgetSpentError(Exception):
    pass


class _Once:
    """A budget that makes no difference to a cache."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Once)

    def __hash__(self) -> int:
        return 0


@lru_cache(maxsize=2)
def _listing(index: Path, state: tuple[int, int, int], hash_bytes: int, once: _Once) -> Listing:
    if state[1] > MOST_BYTES:
        return NO_LISTING
    data = index.read_bytes()
    parts = [(data, *_header(data))]
    shared = _shared(data, index, hash_bytes)
    if shared is not None:
        data = shared.read_bytes()
        parts.append((data, *_header(data)))
    paths: dict[str, bool] = {}
    whole = True
    for number, (path, mode, is_absent) in enumerate(
        entry for data, version, count in parts for entry in _entries(data, version, count, hash_bytes)
    ):
        if number % _CHECK == 0 and once.budget.is_spent:
            raise _BudgetSpentError
        if mode & _KIND == _FILE:
            paths.setdefault(path, is_absent)
        elif mode & _KIND == 0o040000:
            whole = False
    return Listing(tuple(paths), frozenset(path for path, is_absent in paths.items() if is_absent), whole)


def _header(data: bytes) -> tuple[int, int]:
    """Return the version and the number of entries."""
    version, count = int.from_bytes(data[4:8]), int.from_bytes(data[8:12])
    if data[:4] != b"DIRC" or version not in (2, 3, 4):
        raise ValueError("not an index of version 2, 3 or 4")
    return version, count


def _shared(data: bytes, index: Path, hash_bytes: int) -> Path | None:
    """Return the file that holds the other entries of a split index."""
    at = data.rfind(b"link", _HEADER)
    if at < 0 or at + 8 + hash_bytes > len(data):
        return None
    name = data[at + 8 : at + 8 + hash_bytes].hex()
    file = index.with_name(f"sharedindex.{name}")
    return file if file.is_file() else None


def _entries(data: bytes, version: int, count: int, hash_bytes: int) -> Iterator[tuple[str, int, bool]]:
    """Yield path, mode and "not checked out" of each entry."""
    fixed = 40 + hash_bytes + 2
    at, previous = _HEADER, b""
    for _ in range(count):
        mode = int.from_bytes(data[at + 24 : at + 28])
        flags = data[at + fixed - 2] << 8 | data[at + fixed - 1]
        start, is_absent = at + fixed, False
        if flags & _EXTENDED and version > 2:
            is_absent = bool(data[start] << 8 & _SKIP)
            start += 2
        if version == 4:
            cut, start = _variable(data, start)
            end = data.index(b"\0", start)
            previous = path = previous[: len(previous) - cut] + data[start:end]
            at = end + 1
        else:
            length = flags & _LENGTH
            end = start + length if length < _LENGTH else data.index(b"\0", start)
            path = data[start:end]
            at += (end - at + 8) & ~7
        try:
            yield path.decode(), mode, is_absent
        except UnicodeDecodeError:  # a name that no note can write, and no column of text can hold
            continue


def _variable(data: bytes, at: int) -> tuple[int, int]:
    """Read a number of variable length (as offsets in packs), and return it with the place after it."""
    byte = data[at]
    number = byte & 127
    while byte & 128:
        at += 1
        byte = data[at]
        number = (number + 1 << 7) | (byte & 127)
    return number, at + 1
