"""The audit log: who called what when, about which ids, and how it ended. No contents and no token."""

import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from memory_server.domain.moment import timestamp
from memory_server.language.text import visible
from memory_server.mcp.observing import Observed, Observer

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


def auditing(path: Path, clock: Callable[[], datetime]) -> Observer:
    """Writes a line of JSON for each call into a file that only its owner reads.

    Raises:
        OSError: it cannot be written.
    """
    handler = _Private(path, maxBytes=LARGEST, backupCount=KEPT, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(message)s"))
    log = logging.Logger("audit", logging.INFO)  # no child of the root: its lines go nowhere else
    log.addHandler(handler)

    def record(call: Observed) -> None:
        log.info(json.dumps(_line(call, timestamp(clock())), ensure_ascii=False))

    return record


def _line(call: Observed, at: str) -> dict[str, Any]:
    ids = sorted({*_ids(call.arguments), *_ids(call.answer)})
    person = call.caller.person
    return {
        "at": at,
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
