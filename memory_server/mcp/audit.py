"""The audit log: the caller, time, ids and outcome of each call; refused logins; and the number of calls without a
line.

It has no contents and no token.
"""

import json
import logging
import os
import stat
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from memory_server.domain.calls import CallOutcome
from memory_server.domain.moment import timestamp
from memory_server.errors import Mend, Unavailable
from memory_server.language.text import visible
from memory_server.mcp.observing import Observed

logger = logging.getLogger(__name__)

LARGEST = 16 << 20
"""Bytes of the file; then it becomes FILE.1, and a new one begins."""

KEPT = 8
"""Older files that stay besides the newest."""

IDS = 100
"""Ids of a call that are recorded, the first."""

_IDS = frozenset(
    "id ids memoryId sourceId targetId relatedTo supersedes memory_id source_id target_id".split()
)
"""Under these names stand ids in arguments and answers."""

LOGIN = "(login)"
"""Stands in place of the name of a call: no tool has such a name."""

LOST = "(not recorded)"
"""Stands in that place in the line that counts the calls without a line."""

_LONGEST = 1 << 16
"""Bytes of a line: more than 100 ids and the longest names take."""


@dataclass(frozen=True, slots=True)
class RefusedLogin:
    """A token that was not accepted, and where it came from.

    `forwarded_for` is the header X-Forwarded-For: a proxy sets it, but any client can send it too.
    """

    reason: str
    through: str
    """`token`, or the `form` of the pages."""
    address: str | None
    forwarded_for: str | None
    token: int | None
    """The number of a token that was valid once; `person` has it."""
    person: str | None
    left_out: int
    """How many refused logins before this one are in no line."""
    tenant: str | None = None
    """The memory that the token names, where a server has several."""


class Audit:
    """Writes a line of JSON for each call, and for refused logins, into a file that only its owner reads.

    Lines that cannot be written are counted; as soon as one can be written again, a line tells the number before it.
    """

    def __init__(self, path: Path, clock: Callable[[], datetime], required: bool = False) -> None:
        """`required`: calls are refused while their lines cannot be written.

        Raises:
            OSError: the file cannot be written.
        """
        self._file = _LogFile(path)
        self._clock = clock
        self._required = required
        self._writing = threading.Lock()
        self._lost: dict[str, Any] = {}
        """The line that counts what has none; empty if there is nothing to count."""
        self.changed = threading.Event()
        """Is set when lines begin to be lost, and when they can be written again."""

    def called(self, call: Observed, tenant: str | None = None) -> None:
        self._record(_of(tenant) | _line(call))

    def refused(self, login: RefusedLogin) -> None:
        line = asdict(login)
        tenant = _of(line.pop("tenant"))
        self._record(tenant | {"call": LOGIN, "outcome": CallOutcome.REFUSED.value, **line})

    def admit(self) -> None:
        """Raises Unavailable if calls are refused now because they would get no line."""
        if self._required:
            try:
                self.tell_lost()
            except Unavailable as error:
                raise Unavailable(f"{error} Calls without a line are refused.", Mend.TRY_AGAIN) from error

    def tell_lost(self) -> None:
        """Writes the line that counts the calls without one, if there are any.

        Raises:
            Unavailable: it cannot be written.
        """
        with self._writing:
            try:
                self._write([])
            except OSError as error:
                count, since, wrong = self._lost["calls"], self._lost["since"], error.strerror
                problem = (
                    f"The audit log cannot be written: {wrong}. {count} calls are not recorded since {since}."
                )
                raise Unavailable(problem) from error

    def _record(self, line: dict[str, Any]) -> None:
        at = timestamp(self._clock())
        with self._writing:
            try:
                self._write([{"at": at, **line}])
            except OSError as error:
                if not self._lost:
                    logger.error("the audit log cannot be written: %s", error.strerror)
                    self._lost = {"call": LOST, "calls": 0, "since": at}
                    self.changed.set()
                self._lost["calls"] += 1

    def _write(self, lines: list[dict[str, Any]]) -> None:
        if self._lost:
            lines = [{"at": timestamp(self._clock()), **self._lost}, *lines]
        if lines:
            self._file.append("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines).encode())
        if self._lost:
            self._lost = {}
            self.changed.set()


def _of(tenant: str | None) -> dict[str, Any]:
    return {} if tenant is None else {"tenant": tenant}


def _line(call: Observed) -> dict[str, Any]:
    ids = sorted({*_ids(call.arguments), *_ids(call.answer)})
    person = call.caller.person
    return {
        "person": person.name if person else None,
        "client": visible(call.caller.client) if call.caller.client else None,
        "session": call.caller.session,
        "call": call.name,
        "outcome": call.outcome.value,
        "ids": ids[:IDS],
        "more_ids": max(0, len(ids) - IDS),
        "ms": round(call.milliseconds, 1),
    }


def _ids(content: object) -> Iterator[int]:
    """Yield the numbers that stand where ids do, at any depth."""
    if isinstance(content, Mapping):
        for name, value in content.items():
            if name in _IDS:
                ids = value if isinstance(value, list) else [value]
                yield from (id for id in ids if type(id) is int)
            if isinstance(value, Mapping | list) and name not in ("metadata", "value"):
                yield from _ids(value)
    elif isinstance(content, list):
        for item in content:
            yield from _ids(item)


class _LogFile:
    """A file of whole lines that only its owner can ever open. A large one is renamed, and a new one begins."""

    def __init__(self, path: Path) -> None:
        """Raises OSError if it cannot be written."""
        self._path = path
        self._file = self._opened()

    def append(self, lines: bytes) -> None:
        """Writes all of them or, where it raises OSError, nothing."""
        file = self._with_room(len(lines))
        begin, written = os.fstat(file).st_size, 0
        try:
            while written < len(lines):
                written += os.write(file, lines[written:])
        except OSError:
            if (
                written and os.fstat(file).st_size == begin + written
            ):  # no other process has written behind it
                os.ftruncate(file, begin)
            raise

    def _with_room(self, more: int) -> int:
        """The open file; a new one where it was moved or deleted, or would become too large."""
        if self._file >= 0:
            is_named = self._is_named()
            if is_named and os.fstat(self._file).st_size + more <= LARGEST:
                return self._file
            os.close(self._file)
            self._file = -1
            if is_named:
                self._rename()
        self._file = self._opened()
        return self._file

    def _is_named(self) -> bool:
        try:
            return os.path.samestat(self._path.stat(), os.fstat(self._file))
        except FileNotFoundError:
            return False

    def _rename(self) -> None:
        names = [self._path, *(Path(f"{self._path}.{number}") for number in range(1, KEPT + 1))]
        for source, target in reversed(list(pairwise(names))):
            if source.exists():
                source.replace(target)

    def _opened(self) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        file = os.open(self._path, flags, 0o600)
        self._path.chmod(0o600)
        if stat.S_ISREG(os.fstat(file).st_mode):
            _end_last_line(file)
        return file


def _end_last_line(file: int) -> None:
    """Cuts the part of a line that a killed process has left; ends a line that is not of this log."""
    size = os.fstat(file).st_size
    os.lseek(file, max(0, size - _LONGEST), os.SEEK_SET)
    last = os.read(file, _LONGEST).rpartition(b"\n")[2]
    if last.startswith(b'{"at": '):
        os.ftruncate(file, size - len(last))
    elif last:
        os.write(file, b"\n")
