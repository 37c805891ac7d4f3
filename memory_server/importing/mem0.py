"""The local store of mem0: `history.db`, and beside it the payloads of its vectors, where qdrant keeps them in files.

The history has what each memory says and has said; who said it, and its tags, are in the payload alone. That is a
pickle, of which one class alone is loaded, and as one that has no code.
"""

import io
import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memory_server.domain.exchange.records import Earlier, MemoryRecord, Record, Refusal
from memory_server.importing.accounts import turns_of
from memory_server.importing.opened import Format, Opened
from memory_server.importing.values import filled, memory_type, moment, parsed_json, texts
from memory_server.sqlite import foreign

NAME = "mem0"

_STORES = ("collection/*/storage.sqlite", "*/collection/*/storage.sqlite")
LARGEST = 1_000_000
"""Bytes of a point, and characters of its payload, that are read."""

_POINTS = f"SELECT CAST(point AS BLOB) AS point FROM points WHERE length(point) <= {LARGEST}"
_HISTORY = "SELECT * FROM history ORDER BY rowid"
_MESSAGES = "SELECT * FROM messages ORDER BY session_scope, created_at, rowid"

_TOLD = ("data", "hash", "text_lemmatized", "created_at", "updated_at", "tags", "categories")
"""What of a payload is in the record itself, or follows from it."""


def fits(opened: Opened) -> bool:
    return opened.has(history="memory_id old_memory new_memory event created_at updated_at")


def records(opened: Opened) -> Iterator[Record]:
    payloads: dict[str, dict[str, Any]] = {}
    for file in [file for pattern in _STORES for file in sorted(opened.path.parent.glob(pattern))]:
        for record in _payloads(file):
            if isinstance(record, Refusal):
                yield record
            else:
                payloads[record[0]] = record[1]
    steps: dict[str, list[dict[str, Any]]] = {}
    for row in foreign.rows(opened.path, _HISTORY):
        steps.setdefault(str(row.get("memory_id")), []).append(row)
    for id, rows in {**steps, **{id: [] for id in payloads if id not in steps}}.items():
        if not rows or rows[-1]["event"] != "DELETE":
            yield _memory(id, rows, payloads.get(id, {}))
    if opened.has(messages="session_scope role content"):
        yield from _said(opened.path)


def _memory(id: str, rows: list[dict[str, Any]], payload: dict[str, Any]) -> Record:
    content = str((rows[-1]["new_memory"] if rows else None) or payload.get("data") or "").strip()
    if not content:
        return Refusal(f"memory {id}", "has no text")
    row = rows[-1] if rows else payload
    created_at = moment(rows[0]["created_at"] if rows else payload.get("created_at"))
    earlier = [row for row in rows if row["event"] == "UPDATE" and row["old_memory"]]
    return MemoryRecord(
        id,
        content,
        memory_type(payload.get("category")),
        tags=tuple(dict.fromkeys([*texts(payload.get("tags")), *texts(payload.get("categories"))])),
        metadata={
            **filled(role=row.get("role"), actor_id=row.get("actor_id")),
            **{name: value for name, value in payload.items() if name not in _TOLD and value is not None},
        },
        created_at=created_at,
        updated_at=moment(row.get("updated_at")) or created_at,
        created_by=NAME,
        history=tuple(
            Earlier(str(row["old_memory"]), "rewritten", moment(row["updated_at"])) for row in earlier
        ),
    )


def _said(path: Path) -> Iterator[Record]:
    """Yield what mem0 keeps of the conversations from which it made memories."""
    scopes: dict[str, list[tuple[str, str, str, str]]] = {}
    for row in foreign.rows(path, _MESSAGES):
        message = (str(row["role"]), str(row["content"] or ""), moment(row.get("created_at")), str(row["id"]))
        scopes.setdefault(str(row["session_scope"]), []).append(message)
    for scope, messages in scopes.items():
        yield from turns_of(NAME, scope, "", messages)


def _payloads(file: Path) -> Iterator[tuple[str, dict[str, Any]] | Refusal]:
    """Yield the id and the payload of each point of a store that has memories of mem0."""
    if "points" not in foreign.names(file):
        return
    for number, row in enumerate(foreign.rows(file, _POINTS), 1):
        point = _point(row["point"])
        payload = _as_json(point.get("payload"))
        if payload is None:
            yield Refusal(f"point {number} of {file.parent.name}", "cannot be read")
        elif "data" in payload:
            yield str(point.get("id")), payload


def _as_json(value: object) -> dict[str, Any] | None:
    """Return a payload as JSON has it; None where JSON has no such thing, or far too much of it: a pickle can hold a
    list that holds itself, or twice what holds twice.
    """
    pieces: list[str] = []
    size = 0
    try:
        for piece in json.JSONEncoder(allow_nan=False).iterencode(value):
            pieces.append(piece)
            size += len(piece)
            if size > LARGEST:
                return None
    except (TypeError, ValueError, RecursionError):
        return None
    plain = parsed_json("".join(pieces))
    return plain if isinstance(plain, dict) else None


class _Point:
    """A point as it is loaded: its state, and no code."""

    state: object = None

    def __setstate__(self, state: object) -> None:
        self.state = state


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> type[_Point]:
        if module.partition(".")[0] != "qdrant_client" or name != "PointStruct":
            raise pickle.UnpicklingError(f"{module}.{name} is no point")
        return _Point


def _point(data: bytes) -> dict[str, Any]:
    """Return the fields of a point; none where it is no pickle of one."""
    try:
        point = _Unpickler(io.BytesIO(data)).load()
    except (
        pickle.UnpicklingError,
        ValueError,
        TypeError,
        LookupError,
        EOFError,
        AttributeError,
        RecursionError,
    ):
        return {}
    state = point.state if isinstance(point, _Point) else None
    fields = state.get("__dict__") if isinstance(state, dict) else None
    return fields if isinstance(fields, dict) else {}


FORMAT = Format(NAME, "the local store of mem0", fits, records)
