"""The audit log: who called what when, about which ids, and how it ended; and who was not let in.

It has no contents and no token.
"""

import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from memory_server.domain.calls import Outcome
from memory_server.domain.moment import timestamp
from memory_server.language.text import visible
from memory_server.mcp.observing import Observed

LARGEST = 16 << 20
"""Bytes of the file; then it becomes FILE.1, and a new one begins."""

KEPT = 8
"""Files that are kept besides the newest."""

IDS = 100
"""Ids of a call that are recorded, the first."""

_IDS = frozenset(
    [
        "id",
        "ids",
        "memoryId",
        "sourceId",
        "targetId",
        "relatedTo",
        "supersedes",
        "memory_id",
        "source_id",
        "target_id",
    ]
)
"""Under these names stand ids in arguments and answers."""


LOGIN = "(login)"
"""Stands where the name of a call does: no tool has such a name."""


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


class Audit:
    """Writes a line of JSON for each call, and for refused logins, into a file that only its owner reads."""

    def __init__(self, path: Path, clock: Callable[[], datetime]) -> None:
        """Raises OSError where it cannot be written."""
        handler = _Private(path, maxBytes=LARGEST, backupCount=KEPT, encoding="utf-8")
        handler.setFormatter(logging.Formatter("%(message)s"))
        self._log = logging.Logger("audit", logging.INFO)  # no child of the root: its lines go nowhere else
        self._log.addHandler(handler)
        self._clock = clock

    def called(self, call: Observed) -> None:
        self._write(_line(call))

    def refused(self, login: RefusedLogin) -> None:
        self._write({"call": LOGIN, "outcome": Outcome.REFUSED.value, **asdict(login)})

    def _write(self, line: dict[str, Any]) -> None:
        self._log.info(json.dumps({"at": timestamp(self._clock()), **line}, ensure_ascii=False))


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


def _ids(said: object) -> Iterator[int]:
    """The numbers that stand where ids do, at any depth."""
    if isinstance(said, Mapping):
        for name, value in said.items():
            if name in _IDS:
                yield from (
                    each for each in (value if isinstance(value, list) else [value]) if type(each) is int
                )
            if isinstance(value, Mapping | list) and name not in ("metadata", "value"):
                yield from _ids(value)
    elif isinstance(said, list):
        for each in said:
            yield from _ids(each)


class _Private(RotatingFileHandler):
    """Its files are made so that nobody else can ever open them."""

    def _open(self) -> Any:
        handle = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        Path(self.baseFilename).chmod(0o600)
        return open(handle, "a", encoding=self.encoding)  # noqa: PTH123 - the handler closes it

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002
        """A line that cannot be written must be noticed, and must not name what it was about."""
        logging.getLogger(__name__).exception("the audit log cannot be written")
