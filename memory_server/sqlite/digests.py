"""The table `digested`: the observations and turns for which a digest of the server stands."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from memory_server.domain.digest import Kind, Note
from memory_server.domain.memory import MemoryId
from memory_server.sqlite.tx import Tx, Value
from memory_server.storage import memory_rows

_OTHER_SESSIONS = "(session IS NULL OR session NOT IN (SELECT value FROM json_each(:sessions)))"

_AMONG = "AND id IN (SELECT value ->> 1 FROM json_each(:among) WHERE value ->> 0 = '{kind}')"


def _notes(among: bool) -> str:
    return f"""
        SELECT
            'memory', id, content, ifnull(occurred_at, created_at) AS at, ifnull(project, ''), session, tags,
            importance, access_count, person
        FROM memories
        WHERE type = 'observation' AND ifnull(occurred_at, created_at) < :before
            AND {_OTHER_SESSIONS} {_AMONG.format(kind="memory") if among else ""}
            AND id NOT IN (SELECT item_id FROM digested WHERE kind = 'memory')
            AND id NOT IN (
                SELECT target_id FROM edges WHERE relation IN ('supersedes', 'summarizes') AND valid_to IS NULL
            )
        UNION ALL
        SELECT 'turn', id, summary, ifnull(occurred_at, created_at), project, session, '[]', 5, 0, person
        FROM turns
        WHERE ifnull(occurred_at, created_at) < :before
            AND {_OTHER_SESSIONS} {_AMONG.format(kind="turn") if among else ""}
            AND id NOT IN (SELECT item_id FROM digested WHERE kind = 'turn')
            AND trim(summary) <> ''
    """


def _as_json(notes: Sequence[Note]) -> str:
    return json.dumps([[note.kind.value, note.id] for note in notes])


@dataclass(frozen=True, slots=True)
class Digests:
    """The table `digested`: the observations and turns for which a digest of the server stands."""

    tx: Tx

    def notes(
        self, before: str, without: Collection[str] = (), among: Sequence[Note] | None = None
    ) -> list[Note]:
        values: dict[str, Value] = {"before": before, "sessions": json.dumps(list(without))}
        if among is not None:
            values["among"] = _as_json(among)
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
                _notes(among is not None), values
            )
        ]

    def newest_sessions(self) -> set[str]:
        rows = self.tx.rows(
            """
            SELECT project, session, max(at)
            FROM (
                SELECT
                    ifnull(project, '') AS project, session, ifnull(occurred_at, created_at) AS at, 'memory' AS kind,
                    person
                FROM memories
                WHERE type = 'observation'
                UNION ALL
                SELECT project, session, ifnull(occurred_at, created_at), 'turn', person FROM turns
            )
            GROUP BY project, kind, person
            """
        )
        return {session for _, session, _ in rows if session}

    def insert(self, digest: MemoryId, group: Sequence[Note]) -> None:
        self.tx.execute(
            """
            INSERT INTO digested (kind, item_id, digest_id)
            SELECT value ->> 0, value ->> 1, ?
            FROM json_each(?)
            """,
            (digest, _as_json(group)),
        )
