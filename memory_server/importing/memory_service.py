"""The SQLite file of mcp-memory-service: memories with tags, a type and metadata, and a graph between them."""

from collections.abc import Iterator

from memory_server.domain.exchange.records import EdgeRecord, MemoryRecord, Record, Refusal
from memory_server.importing.opened import Format, Opened
from memory_server.importing.values import importance, memory_type, moment, parsed_json, relation, texts
from memory_server.sqlite import foreign

NAME = "mcp-memory-service"


def fits(opened: Opened) -> bool:
    return opened.has(memories="content_hash content tags memory_type metadata created_at")


def records(opened: Opened) -> Iterator[Record]:
    """What was deleted there is left out."""
    alive = "WHERE deleted_at IS NULL" if "deleted_at" in opened.tables["memories"] else ""
    for row in foreign.rows(opened.path, f"SELECT * FROM memories {alive} ORDER BY created_at"):
        if foreign.UNREADABLE in row:
            yield Refusal(f"memory {row[foreign.UNREADABLE]}", "is not UTF-8")
            continue
        metadata = parsed_json(row["metadata"])
        metadata = metadata if isinstance(metadata, dict) else {}
        created_at = moment(row["created_at"]) or moment(row.get("created_at_iso"))
        yield MemoryRecord(
            row["content_hash"],
            row["content"] or "",
            memory_type(row["memory_type"]),
            tags=tuple(texts(row["tags"])),
            importance=importance(metadata.get("importance"), 1) if "importance" in metadata else 5,
            metadata=metadata,
            created_at=created_at,
            updated_at=moment(row.get("updated_at")) or created_at,
            created_by=str(metadata.get("source") or metadata.get("hostname") or NAME),
        )
    if not opened.has(memory_graph="source_hash target_hash"):
        return
    for row in foreign.rows(opened.path, "SELECT * FROM memory_graph ORDER BY source_hash, target_hash"):
        yield EdgeRecord(
            row["source_hash"],
            row["target_hash"],
            relation(row.get("relationship_type")),
            min(1.0, max(0.0, float(row.get("similarity") or 1.0))),
            moment(row.get("created_at")),
        )


FORMAT = Format(NAME, "the database of mcp-memory-service", fits, records)
