"""The table `digested`: the observations and turns for which a digest of the server stands."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from memory_server.domain.digest import Kind, Note
from memory_server.domain.memory import MemoryId
from memory_server.postgres.tx import Tx
from memory_server.storage import memory_rows

_CHOSEN = "(session IS NULL OR session <> ALL (%(without)s::text[]))"

_AMONG = """AND (
        %(kinds)s::text[] IS NULL
        OR ('{kind}', id) IN (SELECT * FROM unnest(%(kinds)s::text[], %(ids)s::bigint[]))
    )"""

_NOTES = f"""
    SELECT
        'memory', id, content, coalesce(occurred_at, created_at) AS at, coalesce(project, ''), session, tags,
        importance, access_count, person
    FROM memories AS m
    WHERE type = 'observation' AND coalesce(occurred_at, created_at) < %(before)s AND NOT replaced
        AND {_CHOSEN} {_AMONG.format(kind="memory")}
        AND NOT EXISTS (SELECT 1 FROM digested AS d WHERE d.kind = 'memory' AND d.item_id = m.id)
    UNION ALL
    SELECT 'turn', id, summary, coalesce(occurred_at, created_at), project, session, '[]', 5, 0, person
    FROM turns AS t
    WHERE coalesce(occurred_at, created_at) < %(before)s AND trim(summary) <> ''
        AND {_CHOSEN} {_AMONG.format(kind="turn")}
        AND NOT EXISTS (SELECT 1 FROM digested AS d WHERE d.kind = 'turn' AND d.item_id = t.id)
    ORDER BY 1, 2
"""


@dataclass(frozen=True, slots=True)
class Digests:
    """The table `digested`: the observations and turns for which a digest of the server stands."""

    tx: Tx

    def notes(
        self, before: str, without: Collection[str] = (), among: Sequence[Note] | None = None
    ) -> list[Note]:
        values = {
            "before": before,
            "without": list(without),
            "kinds": None if among is None else [note.kind.value for note in among],
            "ids": None if among is None else [note.id for note in among],
        }
        return [
            Note(
                Kind(kind),
                id,
                text,
                at,
                project,
                session,
                memory_rows.tags(tags),
                importance,
                accesses,
                person,
            )
            for kind, id, text, at, project, session, tags, importance, accesses, person in self.tx.rows(
                _NOTES, values
            )
        ]

    def newest_sessions(self) -> set[str]:
        rows = self.tx.rows(
            """
            (
                SELECT DISTINCT ON (project, person) session
                FROM memories
                WHERE type = 'observation'
                ORDER BY project, person, coalesce(occurred_at, created_at) DESC, id
            )
            UNION ALL
            (
                SELECT DISTINCT ON (project, person) session
                FROM turns
                ORDER BY project, person, coalesce(occurred_at, created_at) DESC, id
            )
            """
        )
        return {session for (session,) in rows if session}

    def insert(self, digest: MemoryId, group: Sequence[Note]) -> None:
        self.tx.send(
            """
            INSERT INTO digested (id, kind, item_id, digest_id)
            SELECT (SELECT next_id('digested')) - 1 + place, kind, item, %s
            FROM unnest(%s::text[], %s::bigint[]) WITH ORDINALITY AS notes (kind, item, place)
            """,
            (digest, [note.kind.value for note in group], [note.id for note in group]),
        )
