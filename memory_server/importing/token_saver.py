"""The memories of Token Saver MCP: its SQLite file, or the JSON that its `export_memories` writes. They are facts."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from memory_server.domain.exchange.records import FactRecord, FactStep, Record, Refusal
from memory_server.domain.fact import Scope, is_plain
from memory_server.domain.moment import timestamp
from memory_server.importing.opened import Format, Opened
from memory_server.importing.values import moment, parsed_json, texts
from memory_server.sqlite import foreign

NAME = "token-saver"


def fits(opened: Opened) -> bool:
    if opened.has(memories="id key value scope project_path session_id ttl access_count"):
        return True
    first: Any = next(iter(_exported(opened)), {})
    return isinstance(first, dict) and {"key", "value", "scope"} <= first.keys()


def records(opened: Opened) -> Iterator[Record]:
    if opened.tables:
        for row in foreign.rows(opened.path, "SELECT * FROM memories ORDER BY created_at, id"):
            if foreign.UNREADABLE in row:
                yield Refusal(f"memory {row[foreign.UNREADABLE]}", "is not UTF-8")
                continue
            value = parsed_json(row["value"])
            value = row["value"] if value is None and row["value"] != "null" else value
            yield _fact({**row, "value": value}, row["project_path"])
        return
    folder = (opened.json.get("source") or {}).get("project_path")
    for number, each in enumerate(_exported(opened), 1):
        if not isinstance(each, dict) or not {"key", "value", "scope"} <= each.keys() or not is_plain(each):
            yield Refusal(f"memory {number}", "has no key, value or scope")
        else:
            yield _fact(each, folder)


def _exported(opened: Opened) -> list[Any]:
    there = opened.json.get("memories") if isinstance(opened.json, dict) else None
    return there if isinstance(there, list) else []


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
