"""The SQLite file of claude-mem: observations and session summaries of Claude Code, by project.

A summary of a session is a learning: what was asked, investigated, learned, completed, and what was to come next.
"""

from collections.abc import Iterator
from typing import Any

from memory_server.domain.exchange.records import MemoryRecord, Record, Refusal
from memory_server.importing.opened import Format, Opened
from memory_server.importing.values import filled, memory_type, moment, texts

NAME = "claude-mem"

_PARTS = ("request", "investigated", "learned", "completed", "next_steps", "notes")


def fits(opened: Opened) -> bool:
    return opened.has(
        observations="id project type created_at", session_summaries="id project request learned"
    )


def records(opened: Opened) -> Iterator[Record]:
    for table, make in (("observations", _observation), ("session_summaries", _summary)):
        yield from opened.records(f"SELECT * FROM {table} ORDER BY id", f"row {{}} of {table}", make)


def _observation(row: dict[str, Any]) -> Record:
    """Its title, its story and its facts; older files have one text instead."""
    title, facts = row.get("title"), texts(row.get("facts"))
    story = row.get("narrative") or row.get("text") or row.get("subtitle")
    heads = ": ".join(str(text) for text in (title, story) if text)
    content = "\n".join([heads, *(f"- {fact}" for fact in facts)]).strip()
    return _memory(
        row, "observation", content, memory_type(row["type"]), (str(row["type"]), *texts(row.get("concepts")))
    )


def _summary(row: dict[str, Any]) -> Record:
    content = "\n".join(f"{part.replace('_', ' ')}: {row[part]}" for part in _PARTS if row.get(part))
    return _memory(row, "summary", content, "learning", ("session summary",))


def _memory(row: dict[str, Any], kind: str, content: str, type: str, tags: tuple[str, ...]) -> Record:
    session = str(row.get("memory_session_id") or row.get("sdk_session_id") or "")
    if not content:
        return Refusal(f"{kind} {row['id']}", "has no text")
    created_at = moment(row.get("created_at_epoch")) or moment(row["created_at"])
    files = [
        *texts(row.get("files_read")),
        *texts(row.get("files_modified")),
        *texts(row.get("files_edited")),
    ]
    return MemoryRecord(
        f"{kind} {session}/{row['id']}",
        content,
        type,
        project=row["project"] or None,
        tags=tuple(dict.fromkeys(tags)),
        metadata=filled(files=list(dict.fromkeys(files))[:50]),
        created_at=created_at,
        updated_at=created_at,
        created_by=NAME,
        session=session or None,
    )


FORMAT = Format(NAME, "the database of claude-mem", fits, records)
