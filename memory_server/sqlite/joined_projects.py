"""Moves all that one project has into another one. What both have under one name stays apart or is told."""

import json
from dataclasses import dataclass

from memory_server.domain.caller import OWNED
from memory_server.domain.project import Moved, default_conversation
from memory_server.sqlite.tx import Tx
from memory_server.storage.projects import AT_ONCE, KeyKind, Known


@dataclass(frozen=True, slots=True)
class JoinedProjects:
    """Moves all that one project has into another one. What both have under one name stays apart or is told."""

    tx: Tx

    def is_large(self, project: Known) -> bool:
        rows = self.tx.rows("SELECT 1 FROM memories WHERE project = ? LIMIT ?", (project.name, AT_ONCE + 1))
        return len(rows) > AT_ONCE

    def hand_on(self, source: Known, target: Known) -> None:
        self.tx.execute("UPDATE project_keys SET project_id = ? WHERE project_id = ?", (target.id, source.id))
        self.tx.execute(
            """
            UPDATE projects
            SET folder = (SELECT folder FROM projects WHERE id = ?)
            WHERE id = ? AND folder IS NULL
            """,
            (source.id, target.id),
        )

    def move_memories(self, source: Known, target: Known) -> int:
        return self._count(
            """
            UPDATE memories
            SET project = ?
            WHERE id IN (SELECT id FROM memories WHERE project = ? LIMIT ?)
            """,
            (target.name, source.name, AT_ONCE),
        )

    def finish(self, source: Known, target: Known, memories: int) -> Moved:
        shared = self._shared_keys(source, target)
        facts = int(
            self.tx.value("SELECT count(*) FROM facts WHERE scope = 'project' AND owner = ?", (source.name,))
        )
        both = self._settle_facts(source, target)
        names = default_conversation(source.name), default_conversation(target.name)
        rows = self.tx.rows("SELECT DISTINCT person FROM conversations WHERE person IS NOT NULL")
        for person in ("", *(f"{person}{OWNED}" for (person,) in rows)):
            self._move_conversation(source, *(f"{person}{name}" for name in names))
        self.hand_on(source, target)
        self.tx.execute("UPDATE open_questions SET project = ? WHERE project = ?", (target.name, source.name))
        self.tx.execute("DELETE FROM projects WHERE id = ?", (source.id,))
        self.tx.execute(
            "INSERT OR REPLACE INTO project_keys (kind, key, project_id) VALUES (?, ?, ?)",
            (KeyKind.NAME.value, source.name, target.id),
        )
        names = (target.name, source.name)
        self.tx.execute("UPDATE fact_history SET owner = ? WHERE scope = 'project' AND owner = ?", names)
        self.tx.execute("UPDATE facts SET owner = ? WHERE scope = 'project' AND owner = ?", names)
        self._renew(target, shared)
        turns = self._count("UPDATE turns SET project = ? WHERE project = ?", names)
        for table, kind in (("memories", "memory"), ("turns", "turn")):
            self.tx.execute(
                f"""
                UPDATE trash
                SET parts = json_set(parts, '$.{table}[0].project', ?)
                WHERE kind = '{kind}' AND json_extract(parts, '$.{table}[0].project') = ?
                """,
                names,
            )
        return Moved(memories, facts, turns, both)

    def _shared_keys(self, source: Known, target: Known) -> list[str]:
        """The keys of facts that both projects have had."""
        rows = self.tx.rows(
            """
            SELECT DISTINCT key
            FROM fact_history AS h
            WHERE scope = 'project' AND owner = ? AND EXISTS (
                SELECT 1 FROM fact_history WHERE scope = 'project' AND owner = ? AND key = h.key
            )
            """,
            (source.name, target.name),
        )
        return [key for (key,) in rows]

    def _settle_facts(self, source: Known, target: Known) -> tuple[str, ...]:
        """Delete the older value of each key that both projects have (it stays in the history); return the keys."""
        rows = self.tx.rows(
            """
            SELECT s.key, CASE WHEN s.updated_at > t.updated_at THEN t.id ELSE s.id END
            FROM facts AS s
            JOIN facts AS t ON t.scope = s.scope AND t.owner = ? AND t.key = s.key
            WHERE s.scope = 'project' AND s.owner = ?
            ORDER BY s.key
            """,
            (target.name, source.name),
        )
        self.tx.execute(
            "DELETE FROM facts WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps([id for _, id in rows]),),
        )
        return tuple(key for key, _ in rows)

    def _renew(self, target: Known, keys: list[str]) -> None:
        """Their current value becomes the newest version, which no other value of either project has had."""
        self.tx.execute(
            """
            UPDATE facts
            SET version = 1 + (
                SELECT max(version) FROM fact_history AS h WHERE (h.scope, h.owner, h.key) = ('project', owner,
                facts.key)
            )
            WHERE scope = 'project' AND owner = ? AND key IN (SELECT value FROM json_each(?))
            """,
            (target.name, json.dumps(keys)),
        )

    def _move_conversation(self, source: Known, old: str, new: str) -> None:
        """The conversation that is the source's own. A name that both have gets the source's behind it.

        Long names of projects that begin alike have one conversation: it stays.
        """
        if old == new:
            return
        self.tx.execute("UPDATE trash SET conversation = ? WHERE conversation = ?", (new, old))
        ids = dict(self.tx.rows("SELECT name, id FROM conversations WHERE name IN (?, ?)", (old, new)))
        if old not in ids:
            return
        if new not in ids:
            self.tx.execute("UPDATE conversations SET name = ? WHERE name = ?", (new, old))
            return
        places = (ids[new], ids[old])
        self.tx.execute(
            "UPDATE short_term_memories SET conversation_id = ? WHERE conversation_id = ?", places
        )
        self.tx.execute(
            """
            UPDATE long_term_memories
            SET name = substr(name, 1, 180 - length(:source)) || ' (' || :source || ')'
            WHERE conversation_id = :old AND name IN (
                SELECT name FROM long_term_memories WHERE conversation_id = :new
            )
            """,
            {"source": source.name[:100], "old": ids[old], "new": ids[new]},
        )
        self.tx.execute("UPDATE long_term_memories SET conversation_id = ? WHERE conversation_id = ?", places)
        self.tx.execute("DELETE FROM conversations WHERE id = ?", (ids[old],))

    def _count(self, sql: str, values: tuple[str | int, ...]) -> int:
        """Run a statement; return how many rows it changed itself, without those that its triggers changed."""
        self.tx.connection.execute(sql, values)
        return self.tx.connection.changes()
