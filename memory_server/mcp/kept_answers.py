"""The file of answers that the next start gives early: in the cache folder, private, whole or not at all.

An answer in it cannot be outdated: the name of the file says the settings, and its first line is a digest of the
answers and of all of the program that they depend on. Imports nothing of the server: it is read before that.
"""

import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from memory_server import defaults

ANSWERS = 32
"""Answers in a file: room for 8 clients, each with 2 to 4. The oldest make room."""

FILES = 16
"""Files that are kept, each for other settings. The oldest make room."""

PREFIX = "MEMORY_SERVER_"

_ASIDE = ("--db", "--project", "--session")
"""Flags that change none of these answers, and take any text."""

_ASIDE_VARIABLES = frozenset(PREFIX + name for name in ("DB", "PROJECT", "SESSION", "EMBEDDER_KEY"))
"""Variables that do not either. The last is a secret."""

_LIBRARIES = ("mcp", "mcp_types", "pydantic", "pydantic_core")
"""What makes the answers of what we wrote."""


class KeptAnswers:
    """The file for these settings. It is no dataclass: to import that takes half of the time to the first answer."""

    def __init__(self, path: Path, program: str) -> None:
        """`program` is what the answers depend on, as it was before anything of it was imported."""
        self.path = path
        self.program = program

    @classmethod
    def of(cls, arguments: Sequence[str], environment: Mapping[str, str]) -> "KeptAnswers":
        """Raises OSError where the program is in no folder: nothing would tell when it changes."""
        settings = json.dumps([_flags(arguments), _variables(environment)])
        return cls(defaults.cache() / f"answers-{_digest(settings)}.json", _program())

    def read(self) -> dict[str, str]:
        """The answers by their names; none where the file is missing, another's, damaged, or of another program."""
        try:
            with self.path.open("rb") as file:
                found = os.fstat(file.fileno())
                digest, _, body = file.read().partition(b"\n")
        except OSError:
            return {}
        private = found.st_uid == os.geteuid() and not found.st_mode & 0o077
        if not private or digest != _digest(self.program, body).encode():
            return {}
        names, results = json.loads(body)
        return {name: results[index] for name, index in names.items()}

    def write(self, answers: Mapping[str, str]) -> None:
        """Keep the last ANSWERS of these.

        Raises:
            OSError: the folder takes no file.
        """
        kept = dict(list(answers.items())[-ANSWERS:])
        results = list(dict.fromkeys(kept.values()))
        names = {name: results.index(result) for name, result in kept.items()}
        body = json.dumps([names, results]).encode()
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        unfinished = self.path.with_suffix(f".{os.getpid()}")
        unfinished.unlink(missing_ok=True)
        private = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(private, "wb") as file:
                file.write(_digest(self.program, body).encode() + b"\n" + body)
            unfinished.replace(self.path)
        except OSError:
            unfinished.unlink()
            raise
        self._make_room()

    def _make_room(self) -> None:
        files = sorted(self.path.parent.glob("answers-*"), key=lambda each: each.stat().st_mtime)
        for each in files[:-FILES]:
            each.unlink(missing_ok=True)


def _flags(arguments: Sequence[str]) -> list[str]:
    counts, rest = [], iter(arguments)
    for each in rest:
        flag, given, _ = each.partition("=")
        if flag not in _ASIDE:
            counts.append(each)
        elif not given:
            next(rest, None)
    return counts


def _variables(environment: Mapping[str, str]) -> list[tuple[str, str]]:
    """The settings among the variables, whose names may be written in any case."""
    named = sorted((name.upper(), value) for name, value in environment.items())
    return [each for each in named if each[0].startswith(PREFIX) and each[0] not in _ASIDE_VARIABLES]


def _program() -> str:
    """A digest of Python, of the packages that are installed with their versions, and of each file of this one.

    Raises:
        OSError: they are no files that can be looked at.
    """
    found = [sys.version, sys.prefix, str(sys.flags), *sorted(_files(str(Path(__file__).parents[1])))]
    for library in _LIBRARIES:
        home = next((each for each in sys.path if os.path.exists(f"{each}/{library}")), "")  # noqa: PTH110
        found += [home, *sorted(name for name in os.listdir(home) if name.endswith("-info"))]  # noqa: PTH208
    return _digest("\n".join(found))


def _files(folder: str) -> Iterator[str]:
    """A line for each file. Its `ctime` changes whenever anything of it does, and cannot be set, as `mtime` can."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.is_dir():
                stat = entry.stat()
                yield f"{entry.path} {stat.st_size} {stat.st_mtime_ns} {stat.st_ctime_ns}"
            elif entry.name != "__pycache__":
                yield from _files(entry.path)


def _digest(*parts: str | bytes) -> str:
    each = (part if isinstance(part, bytes) else part.encode("utf-8", "surrogateescape") for part in parts)
    return hashlib.sha256(b"\0".join(each)).hexdigest()
