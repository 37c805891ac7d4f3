"""The table `turns`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory_server.domain.caller import Caller
from memory_server.domain.turn import Turn, TurnDraft, TurnKinds
from memory_server.storage.memory_rows import STANDS
from memory_server.storage.statements import Statements

STORED = "transcript = 0"
"""The clause for turns that somebody has stored: none that was read from a transcript."""

_COLUMNS = (
    "id, message, summary, project, created_at, created_by, ifnull(occurred_at, created_at), session, origin"
)


@dataclass(frozen=True, slots=True)
class Turns:
    tx: Statements

    def select(self, ids: Sequence[int]) -> list[Turn]:
        """Return these turns, in the order given."""
        rows = self.tx.rows(
            f"SELECT {_COLUMNS} FROM turns WHERE id IN (SELECT value FROM json_each(:ids))",
            {"ids": self.tx.array(ids)},
        )
        turns = {row[0]: Turn(*row) for row in rows}
        return [turns[id] for id in ids if id in turns]

    def own(self, ids: Sequence[int], project: str) -> set[int]:
        """Return the turns of these that are of the project or of none."""
        rows = self.tx.rows(
            "SELECT id FROM turns WHERE id IN (SELECT value FROM json_each(:ids)) AND project IN ('', :project)",
            {"ids": self.tx.array(ids), "project": project},
        )
        return {id for (id,) in rows}

    def file_of(self, id: int) -> str | None:
        """Return the path of the transcript from which a turn was read.

        Its origin is the path, `#`, 12 digits and a letter.
        """
        path = self.tx.value(
            """
            SELECT substr(source_id, 1, length(source_id) - 14)
            FROM origins
            WHERE kind = 'turn' AND item_id = :id AND source = 'transcript'
            """,
            {"id": id},
        )
        return None if path is None else str(path)

    def files(self, folder: str) -> Iterator[str]:
        """Yield the paths of the transcripts of a folder of which turns are here: an index leads to the next one."""
        after = f"{folder}/"
        while True:
            id = self.tx.value(
                """
                SELECT min(source_id)
                FROM origins
                WHERE kind = 'turn' AND source = 'transcript' AND source_id >= :after AND source_id < :end
                """,
                {"after": after, "end": f"{folder}0"},
            )
            if id is None:
                return
            yield str(id)[:-14]
            after = f"{str(id)[:-14]}#:"

    def kinds(self) -> TurnKinds:
        """Return which kinds of turns are here."""
        of_kind = "EXISTS (SELECT 1 FROM turns WHERE transcript = {})"
        return TurnKinds(*map(bool, self.tx.one(f"SELECT {of_kind.format(0)}, {of_kind.format(1)}")))

    def newest(self, project: str, limit: int) -> list[Turn]:
        """Return the stored turns of a project that may be said unasked and that no digest tells, the latest first."""
        rows = self.tx.rows(
            f"""
            SELECT {_COLUMNS}
            FROM turns AS t
            WHERE project = :project AND {STORED} AND {STANDS} AND NOT EXISTS (
                SELECT 1
                FROM digested AS d
                JOIN memories AS m ON m.id = d.digest_id
                WHERE d.kind = 'turn' AND d.item_id = t.id
            )
            ORDER BY ifnull(occurred_at, created_at) DESC, id DESC
            LIMIT :limit
            """,
            {"project": project, "limit": limit},
        )
        return [Turn(*row) for row in rows]


@dataclass(frozen=True, slots=True)
class WritableTurns(Turns):
    def insert(self, draft: TurnDraft, caller: Caller) -> int:
        """Store a turn with its words, and return its id."""
        return self.tx.insert(
            "turns",
            {
                "message": draft.message,
                "summary": draft.summary,
                "project": caller.project.name,
                "session": draft.session or caller.session,
                "created_at": self.tx.now,
                "created_by": caller.author,
                "occurred_at": draft.occurred_at,
                "person": self.tx.owner,
                "origin": caller.stamp(f"{draft.summary}\n{draft.message}"),
            },
        )

    def confirm(self, id: int, origin: str) -> None:
        """Give a turn the origin of what a person has confirmed."""
        self.tx.send("UPDATE main.turns SET origin = :origin WHERE id = :id", {"id": id, "origin": origin})
