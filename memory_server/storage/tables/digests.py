"""The table `digested`: the observations and turns for which a digest of the server stands."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from memory_server.domain.digest import Note, NoteKind
from memory_server.domain.memory import MemoryId
from memory_server.storage import memory_rows
from memory_server.storage.statements import Row, Statements
from memory_server.storage.tables.turns import STORED

_OF_OTHER_SESSIONS = "(session IS NULL OR session NOT IN (SELECT value FROM json_each(:without)))"


def _notes(among: bool) -> str:
    return f"""
        SELECT
            'memory', id, content, ifnull(occurred_at, created_at) AS at, coalesce(project, ''), session, tags,
            importance, access_count, person, origin
        FROM memories
        WHERE type = 'observation' AND ifnull(occurred_at, created_at) < :before AND NOT replaced
            AND {memory_rows.STANDS} AND {_OF_OTHER_SESSIONS}
            {"AND id IN (SELECT value FROM json_each(:memories))" if among else ""}
            AND NOT EXISTS (SELECT 1 FROM digested AS d WHERE d.kind = 'memory' AND d.item_id = memories.id)
        UNION ALL
        SELECT 'turn', id, summary, ifnull(occurred_at, created_at), project, session, '[]', 5, 0, person, origin
        FROM turns
        WHERE ifnull(occurred_at, created_at) < :before AND trim(summary) <> '' AND {STORED}
            AND {memory_rows.STANDS} AND {_OF_OTHER_SESSIONS}
            {"AND id IN (SELECT value FROM json_each(:turns))" if among else ""}
            AND NOT EXISTS (SELECT 1 FROM digested AS d WHERE d.kind = 'turn' AND d.item_id = turns.id)
        ORDER BY 1, 2
    """


def _note(row: Row) -> Note:
    kind, id, text, at, project, session, tags, *numbers_and_person = row
    return Note(NoteKind(kind), id, text, at, project, session, memory_rows.tags(tags), *numbers_and_person)


@dataclass(frozen=True, slots=True)
class Digests:
    tx: Statements

    def notes(
        self, before: str, without: Collection[str] = (), among: Sequence[Note] | None = None
    ) -> list[Note]:
        """Return the observations and turns from before a moment that may be said unasked, without a digest, and that
        nothing supersedes.

        Those of the sessions in `without` are left out; with `among`, so is all that is not among these.
        """
        values: dict[str, Any] = {"before": before, "without": self.tx.array(without)}
        if among is not None:
            for name, kind in (("memories", NoteKind.MEMORY), ("turns", NoteKind.TURN)):
                values[name] = self.tx.array(note.id for note in among if note.kind is kind)
        return [_note(row) for row in self.tx.rows(_notes(among is not None), values)]

    def repeating(
        self, digests: Collection[MemoryId], memories: Collection[MemoryId], turns: Collection[int]
    ) -> set[MemoryId]:
        """Return those of the digests that stand for one of these memories or turns."""
        rows = self.tx.rows(
            """
            SELECT DISTINCT digest_id
            FROM digested
            WHERE digest_id IN (SELECT value FROM json_each(:digests))
                AND (
                    (kind = 'memory' AND item_id IN (SELECT value FROM json_each(:memories)))
                    OR (kind = 'turn' AND item_id IN (SELECT value FROM json_each(:turns)))
                )
            """,
            {
                "digests": self.tx.array(digests),
                "memories": self.tx.array(memories),
                "turns": self.tx.array(turns),
            },
        )
        return {MemoryId(id) for (id,) in rows}

    def newest_sessions(self) -> set[str]:
        """Return the session of the newest turn of each project, and that of its newest observation."""
        rows = self.tx.rows(
            f"""
            SELECT session
            FROM (
                SELECT session, row_number() OVER (
                    PARTITION BY kind, coalesce(project, ''), person ORDER BY at DESC, id
                ) AS place
                FROM (
                    SELECT 'memory' AS kind, id, project, session, person, ifnull(occurred_at, created_at) AS at
                    FROM memories
                    WHERE type = 'observation'
                    UNION ALL
                    SELECT 'turn', id, project, session, person, ifnull(occurred_at, created_at)
                    FROM turns
                    WHERE {STORED}
                ) AS notes
            ) AS placed
            WHERE place = 1
            """
        )
        return {session for (session,) in rows if session}


@dataclass(frozen=True, slots=True)
class WritableDigests(Digests):
    def insert(self, digest: MemoryId, group: Sequence[Note]) -> None:
        """Remember for what a digest stands."""
        self.tx.insert_each(
            "main.digested",
            [{"kind": note.kind.value, "item_id": note.id, "digest_id": digest} for note in group],
        )
