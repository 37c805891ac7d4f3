"""Moves all that one project has into another one. What both have under one name stays apart or is told."""

from dataclasses import dataclass

from memory_server.domain.project import Moved, default_conversation
from memory_server.storage.projects import AT_ONCE, KeyKind, Known
from memory_server.storage.statements import Statements

_BOTH = """
    conversations AS old
    JOIN conversations AS new ON new.name = coalesce(old.person || char(31), '') || :new
        AND old.name = coalesce(old.person || char(31), '') || :old AND old.id <> new.id
"""
"""The conversations that are the projects' own, the person's own ones too, where both have one.

Long names of projects that begin alike have one conversation: it stays.
"""


@dataclass(frozen=True, slots=True)
class JoinedProjects:
    tx: Statements

    def is_large(self, project: Known) -> bool:
        """True if it has more memories than may move in one transaction."""
        rows = self.tx.rows(
            "SELECT 1 FROM memories WHERE project = :project LIMIT :limit",
            {"project": project.name, "limit": AT_ONCE + 1},
        )
        return len(rows) > AT_ONCE


@dataclass(frozen=True, slots=True)
class WritableJoinedProjects(JoinedProjects):
    def move_memories(self, source: Known, target: Known) -> int:
        """Move at most AT_ONCE memories, and return how many."""
        return self.tx.change(
            """
            UPDATE memories
            SET project = :target
            WHERE id IN (SELECT id FROM memories WHERE project = :source LIMIT :limit)
            """,
            {"target": target.name, "source": source.name, "limit": AT_ONCE},
        )

    def finish(self, source: Known, target: Known, memories: int) -> Moved:
        """Move all else, and let the name of the source lead to the target, as its keys do already."""
        names = {"source": source.name, "target": target.name}
        shared = self._shared_keys(source, target)
        facts, turns = self.tx.one(
            """
            SELECT
                (SELECT count(*) FROM facts WHERE scope = 'project' AND owner = :source),
                (SELECT count(*) FROM turns WHERE project = :source)
            """,
            names,
        )
        both = self._settle_facts(source, target)
        self._move_conversations(source, target)
        self.tx.send("UPDATE open_questions SET project = :target WHERE project = :source", names)
        self.tx.send("DELETE FROM projects WHERE id = :id", {"id": source.id})
        self.tx.send(
            """
            INSERT INTO project_keys (kind, key, project_id) VALUES (:kind, :key, :id)
            ON CONFLICT (kind, key) DO UPDATE SET project_id = excluded.project_id
            """,
            {"kind": KeyKind.NAME.value, "key": source.name, "id": target.id},
        )
        for table in ("fact_history", "facts"):
            self.tx.send(
                f"UPDATE {table} SET owner = :target WHERE scope = 'project' AND owner = :source", names
            )
        self._renew(target, shared)
        self.tx.send("UPDATE turns SET project = :target WHERE project = :source", names)
        for table, kind in (("memories", "memory"), ("turns", "turn")):
            self.tx.send(
                f"""
                UPDATE trash
                SET parts = json_set(parts, '$.{table}[0].project', :target)
                WHERE kind = '{kind}' AND json_extract(parts, '$.{table}[0].project') = :source
                """,
                names,
            )
        return Moved(memories, facts, turns, both)

    def _shared_keys(self, source: Known, target: Known) -> list[str]:
        """Return the keys of facts that both projects have had."""
        rows = self.tx.rows(
            """
            SELECT key FROM fact_history WHERE scope = 'project' AND owner = :source
            INTERSECT
            SELECT key FROM fact_history WHERE scope = 'project' AND owner = :target
            """,
            {"source": source.name, "target": target.name},
        )
        return [key for (key,) in rows]

    def _settle_facts(self, source: Known, target: Known) -> tuple[str, ...]:
        """Delete the older value of each key that both projects have (it stays in the history); return the keys."""
        rows = self.tx.rows(
            """
            SELECT s.key, CASE WHEN s.updated_at > t.updated_at THEN t.id ELSE s.id END
            FROM facts AS s
            JOIN facts AS t ON t.scope = s.scope AND t.owner = :target AND t.key = s.key
            WHERE s.scope = 'project' AND s.owner = :source
            ORDER BY s.key
            """,
            {"source": source.name, "target": target.name},
        )
        self.tx.send(
            "DELETE FROM facts WHERE id IN (SELECT value FROM json_each(:ids))",
            {"ids": self.tx.array(id for _, id in rows)},
        )
        return tuple(key for key, _ in rows)

    def _renew(self, target: Known, keys: list[str]) -> None:
        """Make their current value the newest version, which no other value of either project has had."""
        self.tx.send(
            """
            UPDATE facts
            SET version = 1 + (
                SELECT max(version)
                FROM fact_history AS h
                WHERE h.scope = 'project' AND h.owner = facts.owner AND h.key = facts.key
            )
            WHERE scope = 'project' AND owner = :target AND key IN (SELECT value FROM json_each(:keys))
            """,
            {"target": target.name, "keys": self.tx.array(keys)},
        )

    def _move_conversations(self, source: Known, target: Known) -> None:
        """Move the conversations that are the source's own. A name that both have gets the source's behind it."""
        names = {"old": default_conversation(source.name), "new": default_conversation(target.name)}
        for statement in (
            f"""
            UPDATE short_term_memories AS m
            SET conversation_id = new.id
            FROM {_BOTH}
            WHERE m.conversation_id = old.id
            """,
            f"""
            UPDATE long_term_memories AS m
            SET name = substr(m.name, 1, 180 - length(:source)) || ' (' || :source || ')'
            FROM {_BOTH}
            WHERE m.conversation_id = old.id AND EXISTS (
                SELECT 1 FROM long_term_memories AS n WHERE n.conversation_id = new.id AND n.name = m.name
            )
            """,
            f"""
            UPDATE long_term_memories AS m
            SET conversation_id = new.id
            FROM {_BOTH}
            WHERE m.conversation_id = old.id
            """,
            f"DELETE FROM conversations WHERE id IN (SELECT old.id FROM {_BOTH})",
            """
            UPDATE conversations
            SET name = coalesce(person || char(31), '') || :new
            WHERE name = coalesce(person || char(31), '') || :old
            """,
            """
            UPDATE trash
            SET conversation = coalesce(person || char(31), '') || :new
            WHERE conversation = coalesce(person || char(31), '') || :old
            """,
        ):
            self.tx.send(statement, {**names, "source": source.name[:100]})
