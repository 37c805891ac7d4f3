"""The table `memories` and the history of its texts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from memory_server.domain.caller import Caller
from memory_server.domain.memory import Memory, MemoryDraft, MemoryId, MemoryType, Past
from memory_server.errors import Mend, NotFound
from memory_server.storage import memory_rows
from memory_server.storage.json_text import as_json, from_json
from memory_server.storage.memory_rows import LASTING, STANDS
from memory_server.storage.statements import Statements

_COLUMNS: Final = memory_rows.columns("julianday")

_AMONG: Final = "id IN (SELECT value FROM json_each(:ids))"


@dataclass(frozen=True, slots=True)
class Memories:
    tx: Statements

    def get(self, id: MemoryId) -> Memory:
        """Raises NotFound, or Unavailable where its row cannot be read."""
        row = self.tx.row(f"SELECT {_COLUMNS} FROM memories WHERE id = :id", {"id": id})
        if row is None:
            raise NotFound(f"No memory {id}.", Mend.FIND_MEMORY)
        return memory_rows.memory(row)

    def select(self, ids: Sequence[MemoryId]) -> list[Memory]:
        """Return those of the ids that exist, in the order given."""
        memories_by_id = {memory.id: memory for memory in map(memory_rows.memory, self._rows(ids))}
        return [memories_by_id[id] for id in ids if id in memories_by_id]

    def select_if(self, ids: Sequence[MemoryId], passes: Callable[[str], bool]) -> list[Memory]:
        """Return the memories with these ids that exist and whose text passes, in any order."""
        if self.tx.page > 1:  # far away: all is read at once
            return [memory_rows.memory(row) for row in self._rows(ids) if passes(row[1])]
        rows = self.tx.rows(f"SELECT id, content FROM memories WHERE {_AMONG}", {"ids": self.tx.array(ids)})
        return self.select([MemoryId(id) for id, content in rows if passes(content)])

    def earlier(self, ids: Sequence[MemoryId]) -> dict[MemoryId, list[str]]:
        """Return the earlier texts of each of these memories that has any, newest first."""
        rows = self.tx.rows(
            """
            SELECT memory_id, content, id
            FROM memory_history
            WHERE memory_id IN (SELECT value FROM json_each(:ids))
            ORDER BY id DESC
            """,
            {"ids": self.tx.array(ids)},
        )
        contents_by_id: dict[MemoryId, list[str]] = {}
        for id, content, _ in rows:
            contents_by_id.setdefault(MemoryId(id), []).append(content)
        return contents_by_id

    def past(self, id: MemoryId) -> list[Past]:
        """Return the earlier texts of a memory, newest first."""
        rows = self.tx.rows(
            "SELECT content, reason, replaced_at, id FROM memory_history WHERE memory_id = :id ORDER BY id DESC",
            {"id": id},
        )
        return [Past(content, reason, replaced_at) for content, reason, replaced_at, _ in rows]

    def own(self, ids: Sequence[int], project: str) -> set[int]:
        """Return the memories of these that are of the project or of none, and have not ended."""
        rows = self.tx.rows(
            f"SELECT id FROM memories WHERE {_AMONG} AND coalesce(project, '') IN ('', :project) AND {LASTING}",
            {"ids": self.tx.array(ids), "project": project, "now": self.tx.now},
        )
        return {id for (id,) in rows}

    def newest_current(self, project: str, type: MemoryType, limit: int) -> list[Memory]:
        """Return the current memories of a project and type that may be said unasked, by the moment at which they
        occurred, the latest first."""
        return self._newest_current(project, [type], limit)

    def newest_of(self, project: str, limit: int) -> list[Memory]:
        """Return the same of all types."""
        return self._newest_current(project, list(MemoryType), limit)

    def ids_like(self, start: str, project: str, limit: int) -> tuple[list[MemoryId], int]:
        """Return the newest ids that begin with these digits, those of a project first; and how many there are."""
        rows = self.tx.rows(
            """
            SELECT id, count(*) OVER ()
            FROM memories
            WHERE substr(CAST(id AS text), 1, :length) = :start
            ORDER BY ifnull(project, '') = :project DESC, id DESC
            LIMIT :limit
            """,
            {"length": len(start), "start": start, "project": project, "limit": limit},
        )
        return [MemoryId(id) for id, _ in rows], rows[0][1] if rows else 0

    def _newest_current(self, project: str, types: Sequence[MemoryType], limit: int) -> list[Memory]:
        """Read of each type no more than the limit: an index has them in the order of their moments."""
        newest = " UNION ALL ".join(
            f"""
            SELECT id, at
            FROM (
                SELECT id, ifnull(occurred_at, created_at) AS at
                FROM memories
                WHERE {"project = :project" if project else "project IS NULL"} AND type = '{type.value}'
                    AND NOT replaced AND {LASTING} AND {STANDS}
                ORDER BY ifnull(occurred_at, created_at) DESC, id DESC
                LIMIT :limit
            ) AS latest
            """
            for type in types
        )
        rows = self.tx.rows(
            f"""
            SELECT {_COLUMNS}
            FROM (SELECT id, at FROM ({newest}) AS newest ORDER BY at DESC, id DESC LIMIT :limit) AS latest
            JOIN memories ON memories.id = latest.id
            ORDER BY latest.at DESC, latest.id DESC
            """,
            {"project": project, "now": self.tx.now, "limit": limit},
        )
        return list(map(memory_rows.memory, rows))

    def _rows(self, ids: Sequence[MemoryId]) -> Sequence[tuple[Any, ...]]:
        if not ids:
            return ()
        return self.tx.rows(f"SELECT {_COLUMNS} FROM memories WHERE {_AMONG}", {"ids": self.tx.array(ids)})


@dataclass(frozen=True, slots=True)
class WritableMemories(Memories):
    def insert(self, draft: MemoryDraft, caller: Caller) -> Memory:
        row = memory_rows.new_row(draft, caller, self.tx.owner, self.tx.now)
        return memory_rows.inserted(self.tx.insert("memories", row), row)

    def replace(self, before: Memory, memory: Memory, reason: str) -> Memory:
        """Write every field that a caller may change, and the moment. `before` is how it was in this transaction.

        What gets another project is that project's from now on, and what gets none is the person's own.

        A trigger puts a changed text into the history; `reason` says there whether it was merged or rewritten.
        """
        person = before.person
        if memory.project != before.project:
            person = None if memory.project else self.tx.owner
        row = memory_rows.changed_row(memory, self.tx.now) | {"person": person}
        self.tx.send(
            f"""
            UPDATE main.memories
            SET {", ".join(f"{column} = :{column}" for column in row)},
                writer = CASE WHEN writer = :owner THEN writer END
            WHERE id = :id
            """,
            {"id": memory.id, "owner": self.tx.owner, **row},
        )
        if memory.content != before.content:
            self.tx.send(
                """
                UPDATE main.memory_history
                SET reason = :reason, replaced_at = :now
                WHERE id = (SELECT max(id) FROM memory_history WHERE memory_id = :id)
                """,
                {"id": memory.id, "reason": reason, "now": self.tx.now},
            )
        if (memory.content, row["tags"]) != (before.content, as_json(before.tags)):
            self.tx.write_words("memories", memory.id, row)
        return replace(
            memory,
            tags=memory_rows.tags(row["tags"]),
            metadata=from_json(row["metadata"], {}),
            updated_at=self.tx.now,
            person=person,
        )

    def mark_accessed(self, ids: Sequence[MemoryId]) -> None:
        """Count a hit in a search as one access; `updated_at` stays."""
        self.tx.send(
            f"UPDATE main.memories SET access_count = access_count + 1, accessed_at = :now WHERE {_AMONG}",
            {"now": self.tx.now, "ids": self.tx.array(ids)},
        )

    def keep_merged(self, id: MemoryId, text: str) -> None:
        """Put a restatement whose text was not the one kept into the history."""
        row = {"memory_id": id, "content": text, "reason": "merged", "replaced_at": self.tx.now}
        self.tx.insert_each("main.memory_history", [row])

    def drop_earlier(self, id: MemoryId, text: str) -> None:
        """Take a text out of the history that is the memory's own again, or never was."""
        self.tx.send(
            "DELETE FROM main.memory_history WHERE memory_id = :id AND content = :text",
            {"id": id, "text": text},
        )
