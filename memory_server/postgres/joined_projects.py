"""Moves all that one project has into another one. What both have under one name stays apart or is told."""

from dataclasses import dataclass

from memory_server.domain.project import Moved, default_conversation
from memory_server.postgres.tx import Tx
from memory_server.storage.projects import AT_ONCE, KeyKind, Known

_BOTH = """
    conversations AS old
    JOIN conversations AS new ON new.name = coalesce(old.person || chr(31), '') || %(new)s
        AND old.name = coalesce(old.person || chr(31), '') || %(old)s AND old.id <> new.id
"""
"""The conversations that are the projects' own, the person's own ones too, where both have one."""


@dataclass(frozen=True, slots=True)
class JoinedProjects:
    """Moves all that one project has into another one. What both have under one name stays apart or is told."""

    tx: Tx

    def is_large(self, project: Known) -> bool:
        return bool(
            self.tx.value(
                "SELECT count(*) > %s FROM (SELECT 1 FROM memories WHERE project = %s LIMIT %s) AS these",
                (AT_ONCE, project.name, AT_ONCE + 1),
            )
        )

    def hand_on(self, source: Known, target: Known) -> None:
        self.tx.directories.clear()
        self.tx.send("UPDATE project_keys SET project_id = %s WHERE project_id = %s", (target.id, source.id))
        self.tx.send(
            """
            UPDATE projects
            SET folder = (SELECT folder FROM projects WHERE id = %s)
            WHERE id = %s AND folder IS NULL
            """,
            (source.id, target.id),
        )

    def move_memories(self, source: Known, target: Known) -> int:
        return self.tx.execute(
            """
            UPDATE memories
            SET project = %s
            WHERE id IN (SELECT id FROM memories WHERE project = %s ORDER BY id LIMIT %s)
            """,
            (target.name, source.name, AT_ONCE),
        )

    def finish(self, source: Known, target: Known, memories: int) -> Moved:
        shared = self._shared_keys(source, target)
        facts, turns = self.tx.one(
            """
            SELECT
                (SELECT count(*) FROM facts WHERE scope = 'project' AND owner = %(source)s),
                (SELECT count(*) FROM turns WHERE project = %(source)s)
            """,
            {"source": source.name},
        )
        both = self._settle_facts(source, target)
        names = {"source": source.name, "target": target.name}
        self._move_conversations(source, target)
        self.hand_on(source, target)
        self.tx.send("UPDATE open_questions SET project = %(target)s WHERE project = %(source)s", names)
        self.tx.send("DELETE FROM projects WHERE id = %s", (source.id,))
        self.tx.send(
            """
            INSERT INTO project_keys (kind, key, project_id) VALUES (%s, %s, %s)
            ON CONFLICT (tenant_id, kind, key) DO UPDATE SET project_id = excluded.project_id
            """,
            (KeyKind.NAME.value, source.name, target.id),
        )
        for table in ("fact_history", "facts"):
            self.tx.send(
                f"UPDATE {table} SET owner = %(target)s WHERE scope = 'project' AND owner = %(source)s", names
            )
        self._renew(target, shared)
        self.tx.send("UPDATE turns SET project = %(target)s WHERE project = %(source)s", names)
        self.tx.send(
            """
            UPDATE trash
            SET parts = with_project_of_trash(kind, parts, %(target)s)
            WHERE project_of_trash(kind, parts) = %(source)s
            """,
            names,
        )
        return Moved(memories, facts, turns, both)

    def _shared_keys(self, source: Known, target: Known) -> list[str]:
        """The keys of facts that both projects have had."""
        rows = self.tx.rows(
            """
            SELECT key FROM fact_history WHERE scope = 'project' AND owner = %s
            INTERSECT
            SELECT key FROM fact_history WHERE scope = 'project' AND owner = %s
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
            JOIN facts AS t ON t.scope = s.scope AND t.owner = %s AND t.key = s.key
            WHERE s.scope = 'project' AND s.owner = %s
            ORDER BY s.key
            """,
            (target.name, source.name),
        )
        if rows:
            self.tx.send("DELETE FROM facts WHERE id = ANY(%s::bigint[])", ([id for _, id in rows],))
        return tuple(key for key, _ in rows)

    def _renew(self, target: Known, keys: list[str]) -> None:
        """Their current value becomes the newest version, which no other value of either project has had."""
        self.tx.send(
            """
            UPDATE facts AS f
            SET version = 1 + (
                SELECT max(version)
                FROM fact_history AS h
                WHERE h.scope = 'project' AND h.owner = f.owner AND h.key = f.key
            )
            WHERE scope = 'project' AND owner = %s AND key = ANY(%s::text[])
            """,
            (target.name, keys),
        )

    def _move_conversations(self, source: Known, target: Known) -> None:
        """The conversations that are the source's own. A name that both have gets the source's behind it."""
        names = {"old": default_conversation(source.name), "new": default_conversation(target.name)}
        self.tx.send(
            f"""
            UPDATE short_term_memories AS m
            SET conversation_id = new.id
            FROM {_BOTH}
            WHERE m.conversation_id = old.id
            """,
            names,
        )
        self.tx.send(
            f"""
            UPDATE long_term_memories AS m
            SET name = substr(m.name, 1, 180 - length(%(source)s)) || ' (' || %(source)s || ')'
            FROM {_BOTH}
            WHERE m.conversation_id = old.id AND EXISTS (
                SELECT 1 FROM long_term_memories AS other WHERE other.conversation_id = new.id AND other.name = m.name
            )
            """,
            {**names, "source": source.name[:100]},
        )
        self.tx.send(
            f"""
            UPDATE long_term_memories AS m
            SET conversation_id = new.id
            FROM {_BOTH}
            WHERE m.conversation_id = old.id
            """,
            names,
        )
        self.tx.send(f"DELETE FROM conversations WHERE id IN (SELECT old.id FROM {_BOTH})", names)
        self.tx.send(
            """
            UPDATE conversations
            SET name = coalesce(person || chr(31), '') || %(new)s
            WHERE name = coalesce(person || chr(31), '') || %(old)s
            """,
            names,
        )
        self.tx.send(
            """
            UPDATE trash
            SET conversation = coalesce(person || chr(31), '') || %(new)s
            WHERE conversation = coalesce(person || chr(31), '') || %(old)s
            """,
            names,
        )
