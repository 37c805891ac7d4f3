"""The SQLite file of claude-mem: observations, session summaries and prompts of Claude Code, by project.

A summary of a session is a learning: what was asked, investigated, learned, completed, and what was to come next.
"""

from collections.abc import Iterator
from typing import Any

from memory_server.domain.exchange.records import MemoryRecord, Record, Refusal, TurnRecord
from memory_server.importing.opened import Format, Opened
from memory_server.importing.values import filled, memory_type, moment, parsed_json, summary_of, texts

NAME = "claude-mem"

_SESSIONS = ("content_session_id", "claude_session_id", "sdk_session_id", "memory_session_id")
"""The names that the session of a prompt has had."""

_PARTS = ("request", "investigated", "learned", "completed", "next_steps", "notes")


def fits(opened: Opened) -> bool:
    return opened.has(
        observations="id project type created_at", session_summaries="id project request learned"
    )


def records(opened: Opened) -> Iterator[Record]:
    for table, make in (("observations", _observation), ("session_summaries", _summary)):
        yield from opened.records(f"SELECT * FROM {table} ORDER BY id", f"row {{}} of {table}", make)
    if opened.has(user_prompts="id prompt_text"):
        yield from opened.records(_prompts(opened), "row {} of user_prompts", _prompt)


def _prompts(opened: Opened) -> str:
    """Return the statement that reads the prompts, with the project of their session where that is known."""
    prompts, sessions = opened.tables["user_prompts"], opened.tables.get("sdk_sessions", [])
    shared = next((name for name in _SESSIONS if name in prompts and name in sessions), None)
    if shared is None or "project" not in sessions or "project" in prompts:
        return "SELECT * FROM user_prompts ORDER BY id"
    project = f"(SELECT max(s.project) FROM sdk_sessions AS s WHERE s.{shared} = p.{shared})"
    return f"SELECT p.*, {project} AS project FROM user_prompts AS p ORDER BY p.id"


def _prompt(row: dict[str, Any]) -> Record:
    """Return a prompt of the person as a turn."""
    text = str(row.get("prompt_text") or "").strip()
    if not text:
        return Refusal(f"prompt {row['id']}", "has no text", elsewhere=True)
    session = next((str(row[name]) for name in _SESSIONS if row.get(name)), "")
    return TurnRecord(
        f"prompt {session}/{row['id']}",
        f"user: {text}",
        summary_of(text),
        project=str(row.get("project") or ""),
        session=session or None,
        created_at=moment(row.get("created_at_epoch"), row.get("created_at")),
        created_by=NAME,
    )


def _observation(row: dict[str, Any]) -> Record:
    """Its title, its story and its facts; older files have one text instead."""
    title, facts = row.get("title"), texts(row.get("facts"))
    parts = (title, row.get("subtitle"), row.get("narrative") or row.get("text"))
    heads = ": ".join(dict.fromkeys(str(text) for text in parts if text))
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
    created_at = moment(row.get("created_at_epoch"), row["created_at"])
    files = [
        *texts(row.get("files_read")),
        *texts(row.get("files_modified")),
        *texts(row.get("files_edited")),
    ]
    more = parsed_json(row.get("metadata"))
    return MemoryRecord(
        f"{kind} {session}/{row['id']}",
        content,
        type,
        project=row.get("merged_into_project") or row["project"] or None,
        tags=tuple(dict.fromkeys(tags)),
        metadata={
            **(more if isinstance(more, dict) else {}),
            **filled(files=list(dict.fromkeys(files))[:50], agent=row.get("agent_type")),
        },
        created_at=created_at,
        updated_at=created_at,
        created_by=NAME,
        session=session or None,
    )


FORMAT = Format(NAME, "the database of claude-mem", fits, records)
