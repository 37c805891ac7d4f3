"""The SQLite file of mcp-memory-service: memories with tags, a type and metadata, and a graph between them."""

from collections.abc import Iterator
from typing import Any

from memory_server.domain.exchange.records import EdgeRecord, MemoryRecord, Record
from memory_server.importing.opened import Format, Opened
from memory_server.importing.values import importance, memory_type, moment, parsed_json, relation, texts

NAME = "mcp-memory-service"


def fits(opened: Opened) -> bool:
    return opened.has(memories="content_hash content tags memory_type metadata created_at")


def records(opened: Opened) -> Iterator[Record]:
    """Read what is not deleted there."""
    alive = "WHERE deleted_at IS NULL" if "deleted_at" in opened.tables["memories"] else ""
    yield from opened.records(f"SELECT * FROM memories {alive} ORDER BY created_at", "memory {}", _memory)
    if opened.has(memory_graph="source_hash target_hash"):
        graph = "SELECT * FROM memory_graph ORDER BY source_hash, target_hash"
        yield from opened.records(graph, "edge {}", _edge)


def _memory(row: dict[str, Any]) -> Record:
    value = parsed_json(row["metadata"])
    metadata = value if isinstance(value, dict) else {}
    created_at = moment(row["created_at"], row.get("created_at_iso"))
    return MemoryRecord(
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


def _edge(row: dict[str, Any]) -> Record:
    return EdgeRecord(
        row["source_hash"],
        row["target_hash"],
        relation(row.get("relationship_type")),
        min(1.0, max(0.0, float(row.get("similarity") or 1.0))),
        moment(row.get("created_at")),
    )


FORMAT = Format(NAME, "the database of mcp-memory-service", fits, records)
