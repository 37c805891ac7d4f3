"""What was written last of the kinds that are no memories, of all projects or of one."""

from dataclasses import dataclass

from memory_server.domain.recall import Recallable
from memory_server.sqlite.tx import Tx
from memory_server.storage.memories import Row

_SOURCES = {
    Recallable.TURN: """
        SELECT 'turn', id, ifnull(occurred_at, created_at) AS at, project
        FROM turns
        WHERE (:project IS NULL OR project = :project)
    """,
    Recallable.FACT: """
        SELECT 'fact', id, updated_at AS at, iif(scope = 'project', owner, '')
        FROM facts
        WHERE (:project IS NULL OR (scope = 'project' AND owner = :project))
            AND (expires_at IS NULL OR expires_at > :now)
    """,
    Recallable.SHORT_TERM: """
        SELECT 'short_term', s.id, said_at AS at, iif(c.name LIKE 'project:%', substr(c.name, 9), '')
        FROM short_term_memories AS s
        JOIN conversations AS c ON c.id = s.conversation_id
        WHERE (:project IS NULL OR c.name = 'project:' || :project)
    """,
}
"""How the newest of a kind are found."""


@dataclass(frozen=True, slots=True)
class Newest:
    """What was written last of the kinds that are no memories, of all projects or of one."""

    tx: Tx

    def select(
        self, kind: Recallable, project: str | None, since: str | None, until: str | None, limit: int
    ) -> list[Row]:
        rows = self.tx.rows(
            f"""
            SELECT *
            FROM ({_SOURCES[kind]})
            WHERE (:since IS NULL OR julianday(at) >= julianday(:since))
                AND (:until IS NULL OR julianday(at) < julianday(:until))
            ORDER BY at DESC, id DESC
            LIMIT :limit
            """,
            {"project": project, "since": since, "until": until, "now": self.tx.now, "limit": limit},
        )
        return [Row(Recallable(kind), id, at, place) for kind, id, at, place in rows]
