"""The table `memories` and the history of its texts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from memory_server.domain.caller import Caller
from memory_server.domain.memory import Filter, Memory, MemoryDraft, MemoryId, MemoryType, Past
from memory_server.errors import Mend, NotFound
from memory_server.postgres import filters, word_rows
from memory_server.postgres.tx import Tx
from memory_server.storage import memory_rows
from memory_server.storage.columns import listed
from memory_server.storage.json_text import as_json, from_json

COLUMNS: Final = memory_rows.columns("as_moment")
"""The columns that `memory_rows.memory` reads."""


def of_project(project: str) -> str:
    """The clause for the memories of the project %(project)s, which indexes know; '' is none."""
    return "project = %(project)s" if project else "project IS NULL"


@dataclass(slots=True)
class Memories:
    """The table `memories` and the history of its texts."""

    tx: Tx

    def insert(self, draft: MemoryDraft, caller: Caller) -> Memory:
        id = self.tx.value("SELECT next_id('memories')")
        row = memory_rows.new_row(draft, caller, self.tx.owner, self.tx.now)
        marks = ", ".join(f"%({column})s" for column in row)
        self.tx.send(
            f"INSERT INTO memories (id, {listed(tuple(row))}) VALUES (%(id)s, {marks})", {"id": id, **row}
        )
        word_rows.insert_memory(self.tx, id, draft.content, row["tags"])
        return memory_rows.inserted(id, row)

    def get(self, id: MemoryId) -> Memory:
        row = self.tx.row(f"SELECT {COLUMNS} FROM memories WHERE id = %s", (id,))
        if row is None:
            raise NotFound(f"No memory {id}.", Mend.FIND_MEMORY)
        return memory_rows.memory(row)

    def select(self, ids: Sequence[MemoryId]) -> list[Memory]:
        if not ids:
            return []
        rows = self.tx.rows(f"SELECT {COLUMNS} FROM memories WHERE id = ANY (%s)", (list(ids),))
        memories_by_id = {memory.id: memory for memory in map(memory_rows.memory, rows)}
        return [memories_by_id[id] for id in ids if id in memories_by_id]

    def select_if(self, ids: Sequence[MemoryId], passes: Callable[[str], bool]) -> list[Memory]:
        if not ids:
            return []
        rows = self.tx.rows(f"SELECT {COLUMNS} FROM memories WHERE id = ANY (%s)", (list(ids),))
        return [memory_rows.memory(row) for row in rows if passes(row[1])]

    def replace(self, before: Memory, memory: Memory, reason: str) -> Memory:
        person = before.person
        if memory.project != before.project:
            person = None if memory.project else self.tx.owner
        row = memory_rows.changed_row(memory, self.tx.now) | {"person": person}
        settings = ", ".join(f"{column} = %({column})s" for column in row)
        self.tx.send("SELECT set_config('memory.reason', %s, true)", (reason,))
        self.tx.send(
            f"""
            UPDATE memories
            SET {settings}, writer = CASE WHEN writer = %(owner)s THEN writer END
            WHERE id = %(id)s
            """,
            {"id": memory.id, "owner": self.tx.owner, **row},
        )
        self.tx.send("SELECT set_config('memory.reason', '', true)")
        if (memory.content, row["tags"]) != (before.content, as_json(before.tags)):
            word_rows.write_memory(self.tx, memory.id, memory.content, row["tags"])
        return replace(
            memory,
            tags=memory_rows.tags(row["tags"]),
            metadata=from_json(row["metadata"], {}),
            updated_at=self.tx.now,
            person=person,
        )

    def newest(self, filter: Filter, limit: int, offset: int) -> list[Memory]:
        clauses, values = filters.memories(filter)
        return self._latest(
            f"""
            SELECT m.id
            FROM memories AS m
            WHERE {" AND ".join(["true", *clauses])}
            ORDER BY coalesce(m.occurred_at, m.created_at) DESC, m.id DESC
            LIMIT %s OFFSET %s
            """,
            (*values, limit, offset),
        )

    def mark_accessed(self, ids: Sequence[MemoryId]) -> None:
        self.tx.send(
            "UPDATE memories SET access_count = access_count + 1, accessed_at = %s WHERE id = ANY (%s)",
            (self.tx.now, list(ids)),
        )

    def keep_merged(self, id: MemoryId, text: str) -> None:
        self.tx.send(
            "INSERT INTO memory_history (memory_id, content, reason, replaced_at) VALUES (%s, %s, 'merged', %s)",
            (id, text, self.tx.now),
        )

    def drop_earlier(self, id: MemoryId, text: str) -> None:
        self.tx.send("DELETE FROM memory_history WHERE memory_id = %s AND content = %s", (id, text))

    def earlier(self, ids: Sequence[MemoryId]) -> dict[MemoryId, list[str]]:
        rows = self.tx.rows(
            "SELECT memory_id, content FROM memory_history WHERE memory_id = ANY (%s) ORDER BY id DESC",
            (list(ids),),
        )
        contents_by_id: dict[MemoryId, list[str]] = {}
        for id, content in rows:
            contents_by_id.setdefault(MemoryId(id), []).append(content)
        return contents_by_id

    def past(self, id: MemoryId) -> list[Past]:
        rows = self.tx.rows(
            "SELECT content, reason, replaced_at FROM memory_history WHERE memory_id = %s ORDER BY id DESC",
            (id,),
        )
        return [Past(*row) for row in rows]

    def newest_current(self, project: str, type: MemoryType, limit: int) -> list[Memory]:
        return self._newest_current(project, [type], limit)

    def newest_of(self, project: str, limit: int) -> list[Memory]:
        return self._newest_current(project, list(MemoryType), limit)

    def ids_like(self, start: str, project: str, limit: int) -> tuple[list[MemoryId], int]:
        rows = self.tx.rows(
            """
            SELECT id, count(*) OVER ()
            FROM memories
            WHERE starts_with(id::text, %s)
            ORDER BY coalesce(project, '') = %s DESC, id DESC
            LIMIT %s
            """,
            (start, project, limit),
        )
        return [MemoryId(id) for id, _ in rows], rows[0][1] if rows else 0

    def _newest_current(self, project: str, types: Sequence[MemoryType], limit: int) -> list[Memory]:
        """At most `limit` in all, by an index that has them in the order of their moments."""
        return self._latest(
            f"""
            SELECT newest.id
            FROM unnest(%(types)s::text[]) AS wanted (type)
            CROSS JOIN LATERAL (
                SELECT id, coalesce(occurred_at, created_at) AS at
                FROM memories
                WHERE {of_project(project)} AND type = wanted.type AND NOT replaced AND lasts(metadata, %(now)s)
                ORDER BY coalesce(occurred_at, created_at) DESC, id DESC
                LIMIT %(limit)s
            ) AS newest
            ORDER BY newest.at DESC, newest.id DESC
            LIMIT %(limit)s
            """,
            {
                "project": project,
                "types": [type.value for type in types],
                "now": self.tx.now,
                "limit": limit,
            },
        )

    def _latest(self, ids: str, values: Sequence[Any] | dict[str, Any]) -> list[Memory]:
        """The memories of a statement that gives their ids, the latest first."""
        rows = self.tx.rows(f"SELECT {COLUMNS} FROM memories WHERE id = ANY (ARRAY({ids}))", values)
        memories = map(memory_rows.memory, rows)
        return sorted(memories, key=lambda memory: (memory.occurred_at, memory.id), reverse=True)
