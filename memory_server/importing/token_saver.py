"""The memories of Token Saver MCP: its SQLite file, or the JSON that its `export_memories` writes. They are facts."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from memory_server.domain.exchange.records import FactRecord, FactStep, Record, Refusal
from memory_server.domain.fact import Scope, is_plain
from memory_server.domain.moment import timestamp
from memory_server.importing.opened import Format, Opened
from memory_server.importing.values import moment, parsed_json, texts

NAME = "token-saver"


def fits(opened: Opened) -> bool:
    if opened.has(memories="id key value scope project_path session_id ttl access_count"):
        return True
    first: Any = next(iter(_exported(opened)), {})
    return isinstance(first, dict) and {"key", "value", "scope"} <= first.keys()


def records(opened: Opened) -> Iterator[Record]:
    if opened.tables:
        yield from opened.records("SELECT * FROM memories ORDER BY created_at, id", "memory {}", _stored)
        return
    folder = ((opened.json or {}).get("source") or {}).get("project_path")
    for number, item in enumerate(_exported(opened), 1):
        if not isinstance(item, dict) or not {"key", "value", "scope"} <= item.keys() or not is_plain(item):
            yield Refusal(f"memory {number}", "has no key, value or scope")
        else:
            yield _fact(item, folder)


def _exported(opened: Opened) -> list[Any]:
    memories = opened.json.get("memories") if opened.json else None
    return memories if isinstance(memories, list) else []


def _stored(row: dict[str, Any]) -> Record:
    """A row keeps its value as JSON, or as a text that is none."""
    value = parsed_json(row["value"])
    value = row["value"] if value is None and row["value"] != "null" else value
    return _fact({**row, "value": value}, row["project_path"])


def _fact(row: dict[str, Any], folder: object) -> Record:
    try:
        scope = Scope(str(row["scope"]))
    except ValueError:
        return Refusal(f"memory {row['key']}", f"there is no scope {row['scope']}")
    owner = {Scope.PROJECT: str(folder or ""), Scope.SESSION: str(row.get("session_id") or "")}.get(scope, "")
    created_at = moment(row.get("created_at"))
    updated_at = moment(row.get("updated_at")) or created_at
    expires_at = None
    if row.get("ttl") and created_at:
        expires_at = timestamp(datetime.fromisoformat(created_at) + timedelta(seconds=float(row["ttl"])))
    author = str(row["created_by"]) if row.get("created_by") else NAME
    step = FactStep(1, "written", row["value"], tuple(texts(row.get("tags"))), expires_at, updated_at, author)
    return FactRecord(
        scope.value,
        owner,
        str(row["key"]),
        (step,),
        int(row.get("access_count") or 0),
        created_at,
        moment(row.get("accessed_at")) or None,
        author,
        id=str(row.get("id") or ""),
    )


FORMAT = Format(NAME, "the memories of Token Saver MCP", fits, records)
