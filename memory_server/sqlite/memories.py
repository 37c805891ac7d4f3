"""The table `memories` and the history of its texts."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from memory_server.domain.caller import Caller
from memory_server.domain.memory import Filter, Memory, MemoryDraft, MemoryId, MemoryType, Past
from memory_server.errors import Mend, NotFound
from memory_server.sqlite.tx import Tx, Value
from memory_server.storage import memory_rows
from memory_server.storage.columns import listed
from memory_server.storage.json_text import as_json

_COLUMNS: Final = memory_rows.columns("julianday")

LASTING = """
    (metadata = '{}' OR ifnull(julianday(json_extract(metadata, '$.expires_at')) > julianday(:now), 1))
"""
"""What has not ended: `expires_at` in its metadata."""


def conditions(filter: Filter) -> tuple[list[str], list[Value]]:
    """The filter as clauses on `memories AS m`, beside their values."""
    clauses: list[str] = []
    values: list[Value] = []
    if filter.type is not None:
        clauses.append("m.type = ?")
        values.append(filter.type.value)
    if filter.project is not None:
        clauses.append("ifnull(m.project, '') = ?")
        values.append(filter.project)
    if filter.min_importance is not None:
        clauses.append("m.importance >= ?")
        values.append(filter.min_importance)
    if filter.tags:
        clauses.append(
            "EXISTS (SELECT 1 FROM json_each(m.tags) AS t JOIN json_each(?) AS w ON lower(t.value) = lower(w.value))"
        )
        values.append(as_json(filter.tags))
    for sign, moment in ((">=", filter.since), ("<", filter.until)):
        if moment is not None:
            clauses.append(f"julianday(ifnull(m.occurred_at, m.created_at)) {sign} julianday(?)")
            values.append(moment)
    return clauses, values


@dataclass(frozen=True, slots=True)
class Memories:
    """The table `memories` and the history of its texts."""

    tx: Tx

    def insert(self, draft: MemoryDraft, caller: Caller) -> Memory:
        row = memory_rows.new_row(draft, caller, self.tx.owner, self.tx.now)
        marks = ", ".join(f":{column}" for column in row)
        return memory_rows.memory(
            self.tx.one(
                f"INSERT INTO main.memories ({listed(tuple(row))}) VALUES ({marks}) RETURNING {_COLUMNS}", row
            )
        )

    def get(self, id: MemoryId) -> Memory:
        row = self.tx.row(f"SELECT {_COLUMNS} FROM memories WHERE id = ?", (id,))
        if row is None:
            raise NotFound(f"No memory {id}.", Mend.FIND_MEMORY)
        return memory_rows.memory(row)

    def select(self, ids: Sequence[MemoryId]) -> list[Memory]:
        rows = self.tx.rows(
            f"""
            SELECT {_COLUMNS}
            FROM memories
            WHERE id IN (SELECT value FROM json_each(?))
            """,
            (json.dumps(list(ids)),),
        )
        memories_by_id = {memory.id: memory for memory in map(memory_rows.memory, rows)}
        return [memories_by_id[id] for id in ids if id in memories_by_id]

    def select_if(self, ids: Sequence[MemoryId], passes: Callable[[str], bool]) -> list[Memory]:
        rows = self.tx.rows(
            "SELECT id, content FROM memories WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
        passing = [MemoryId(id) for id, content in rows if passes(content)]
        return self.select(passing) if passing else []

    def replace(self, before: Memory, memory: Memory, reason: str) -> Memory:  # noqa: ARG002 - triggers know it
        last = self.tx.value("SELECT max(id) FROM memory_history WHERE memory_id = ?", (memory.id,))
        changed = memory_rows.changed_row(memory, self.tx.now)
        row = self.tx.one(
            f"""
            UPDATE main.memories
            SET {", ".join(f"{column} = :{column}" for column in changed)},
                person = CASE WHEN project IS :project THEN person WHEN :project IS NULL THEN :owner END,
                writer = CASE WHEN writer = :owner THEN writer END
            WHERE id = :id
            RETURNING {_COLUMNS}
            """,
            {"id": memory.id, "owner": self.tx.owner, **changed},
        )
        self.tx.execute(
            """
            UPDATE main.memory_history
            SET reason = ?, replaced_at = ?
            WHERE memory_id = ? AND id > ifnull(?, 0)
            """,
            (reason, self.tx.now, memory.id, last),
        )
        return memory_rows.memory(row)

    def newest(self, filter: Filter, limit: int, offset: int) -> list[Memory]:
        clauses, values = conditions(filter)
        rows = self.tx.rows(
            f"""
            SELECT m.id
            FROM memories AS m
            WHERE {" AND ".join(["1", *clauses])}
            ORDER BY julianday(ifnull(m.occurred_at, m.created_at)) DESC, m.id DESC
            LIMIT ? OFFSET ?
            """,
            (*values, limit, offset),
        )
        return self.select([MemoryId(id) for (id,) in rows])

    def mark_accessed(self, ids: Sequence[MemoryId]) -> None:
        self.tx.execute(
            """
            UPDATE main.memories
            SET access_count = access_count + 1, accessed_at = ?
            WHERE id IN (SELECT value FROM json_each(?))
            """,
            (self.tx.now, json.dumps(list(ids))),
        )

    def keep_merged(self, id: MemoryId, text: str) -> None:
        self.tx.execute(
            """
            INSERT INTO main.memory_history (memory_id, content, reason, replaced_at)
            VALUES (?, ?, 'merged', ?)
            """,
            (id, text, self.tx.now),
        )

    def drop_earlier(self, id: MemoryId, text: str) -> None:
        self.tx.execute("DELETE FROM main.memory_history WHERE memory_id = ? AND content = ?", (id, text))

    def earlier(self, ids: Sequence[MemoryId]) -> dict[MemoryId, list[str]]:
        rows = self.tx.rows(
            """
            SELECT memory_id, content, id
            FROM memory_history
            WHERE memory_id IN (SELECT value FROM json_each(?))
            ORDER BY id DESC
            """,
            (json.dumps(list(ids)),),
        )
        contents_by_id: dict[MemoryId, list[str]] = {}
        for id, content, _ in rows:
            contents_by_id.setdefault(MemoryId(id), []).append(content)
        return contents_by_id

    def past(self, id: MemoryId) -> list[Past]:
        rows = self.tx.rows(
            "SELECT content, reason, replaced_at, id FROM memory_history WHERE memory_id = ? ORDER BY id DESC",
            (id,),
        )
        return [Past(content, reason, replaced_at) for content, reason, replaced_at, _ in rows]

    def newest_current(self, project: str, type: MemoryType, limit: int) -> list[Memory]:
        rows = self.tx.rows(
            f"""
            SELECT id
            FROM memories
            WHERE project IS :project AND type = :type AND replaced = 0 AND {LASTING}
            ORDER BY ifnull(occurred_at, created_at) DESC, id DESC
            LIMIT :limit
            """,
            {"project": project or None, "type": type.value, "now": self.tx.now, "limit": limit},
        )
        return self.select([MemoryId(id) for (id,) in rows])

    def newest_of(self, project: str, limit: int) -> list[Memory]:
        rows = self.tx.rows(
            f"""
            SELECT id
            FROM memories
            WHERE project IS :project AND replaced = 0 AND {LASTING}
            ORDER BY ifnull(occurred_at, created_at) DESC, id DESC
            LIMIT :limit
            """,
            {"project": project or None, "now": self.tx.now, "limit": limit},
        )
        return self.select([MemoryId(id) for (id,) in rows])

    def ids_like(self, start: str, project: str, limit: int) -> tuple[list[MemoryId], int]:
        rows = self.tx.rows(
            """
            SELECT id, count(*) OVER ()
            FROM memories
            WHERE substr(id, 1, ?) = ?
            ORDER BY ifnull(project, '') = ? DESC, id DESC
            LIMIT ?
            """,
            (len(start), start, project, limit),
        )
        return [MemoryId(id) for id, _ in rows], rows[0][1] if rows else 0
