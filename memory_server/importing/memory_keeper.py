"""The SQLite file of mcp-memory-keeper: context items under keys, a journal, and links between items of a session.

An item is a memory, `KEY: VALUE`; its category is the type, its channel a tag. The working directory of a session is
the project.
"""

from collections.abc import Iterator
from typing import Any

from memory_server.domain.exchange.records import EdgeRecord, MemoryRecord, Record
from memory_server.importing.opened import Format, Opened
from memory_server.importing.values import filled, memory_type, moment, parsed_json, relation, texts

NAME = "mcp-memory-keeper"

_IMPORTANCE = {"high": 8, "normal": 5, "low": 3}


def fits(opened: Opened) -> bool:
    return opened.has(context_items="id session_id key value category priority", sessions="id name")


def records(opened: Opened) -> Iterator[Record]:
    folder = "s.working_directory" if "working_directory" in opened.tables["sessions"] else "NULL"
    items = f"""
        SELECT i.*, s.name AS session_name, {folder} AS folder
        FROM context_items AS i LEFT JOIN sessions AS s ON s.id = i.session_id
        ORDER BY i.created_at, i.id
    """
    yield from opened.records(items, "item {}", _item)
    if opened.has(journal_entries="id session_id entry tags created_at"):
        journal = "SELECT * FROM journal_entries ORDER BY created_at, id"
        yield from opened.records(journal, "journal entry {}", _journal_entry)
    if opened.has(context_relationships="session_id from_key to_key relationship_type"):
        yield from opened.records(_LINKS, "link {}", _link)


def _item(row: dict[str, Any]) -> Record:
    channel = str(row.get("channel") or "general")
    metadata = parsed_json(row.get("metadata"))
    return MemoryRecord(
        row["id"],
        f"{row['key']}: {row['value']}",
        memory_type(row["category"]),
        project=row["folder"] or None,
        tags=tuple(tag for tag in (row["category"], channel) if tag and tag != "general"),
        importance=_IMPORTANCE.get(str(row["priority"]), 5),
        metadata=filled(key=row["key"], session=row["session_name"], metadata=metadata),
        created_at=moment(row["created_at"]),
        updated_at=moment(row.get("updated_at"), row["created_at"]),
        created_by=NAME,
        session=row["session_id"],
    )


def _journal_entry(row: dict[str, Any]) -> Record:
    return MemoryRecord(
        row["id"],
        row["entry"],
        tags=("journal", *texts(row["tags"])),
        metadata=filled(mood=row.get("mood")),
        created_at=moment(row["created_at"]),
        updated_at=moment(row["created_at"]),
        created_by=NAME,
        session=row["session_id"],
    )


def _link(row: dict[str, Any]) -> Record:
    valid_from = moment(row["created_at"])
    return EdgeRecord(row["source"], row["target"], relation(row["relationship_type"]), valid_from=valid_from)


_LINKS = """
    SELECT s.id AS source, t.id AS target, relationship_type, r.created_at
    FROM context_relationships AS r
    JOIN context_items AS s ON s.session_id = r.session_id AND s.key = r.from_key
    JOIN context_items AS t ON t.session_id = r.session_id AND t.key = r.to_key
    ORDER BY r.created_at, r.id
"""

FORMAT = Format(NAME, "the database of mcp-memory-keeper", fits, records)
