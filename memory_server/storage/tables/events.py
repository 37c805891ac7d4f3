"""The tables `events` and `event_steps`: what was done to many things at once, and how it is undone."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.domain.caller import Caller
from memory_server.domain.event import Did, Event, Step
from memory_server.storage.statements import Statements


@dataclass(frozen=True, slots=True)
class Events:
    tx: Statements

    def find(self, id: int) -> Event | None:
        row = self.tx.row(
            "SELECT id, action, source, path, happened_at, undone_at FROM events WHERE id = :id", {"id": id}
        )
        return None if row is None else Event(*row)

    def steps(self, id: int) -> list[Step]:
        """Return what an event did, in its order; nothing of one that cannot be undone any more."""
        rows = self.tx.rows(
            "SELECT did, kind, item_id, before, after, id FROM event_steps WHERE event_id = :id ORDER BY id",
            {"id": id},
        )
        return [Step(Did(did), *values) for did, *values, _ in rows]

    def older(self, before: str, limit: int) -> list[int]:
        """Return the ids of events from before a moment that can still be undone, the oldest first."""
        rows = self.tx.rows(
            """
            SELECT id
            FROM events AS e
            WHERE happened_at < :before AND EXISTS (SELECT 1 FROM event_steps WHERE event_id = e.id)
            ORDER BY happened_at
            LIMIT :limit
            """,
            {"before": before, "limit": limit},
        )
        return [id for (id,) in rows]


@dataclass(frozen=True, slots=True)
class WritableEvents(Events):
    def insert(self, action: str, source: str, path: str, at: str, caller: Caller) -> int:
        return self.tx.insert(
            "events",
            {
                "action": action,
                "source": source,
                "path": path,
                "happened_at": at,
                "happened_by": caller.author,
                "session": caller.session,
            },
        )

    def count(self, id: int, counts: str) -> None:
        """Say how many things of which kind an event has changed."""
        self.tx.send("UPDATE main.events SET counts = :counts WHERE id = :id", {"counts": counts, "id": id})

    def add(self, id: int, steps: Sequence[Step]) -> None:
        self.tx.insert_each(
            "event_steps",
            [
                {
                    "event_id": id,
                    "did": step.did.value,
                    "kind": step.kind,
                    "item_id": step.item,
                    "before": step.before,
                    "after": step.after,
                }
                for step in steps
            ],
        )

    def mark_undone(self, id: int) -> None:
        self.tx.send("UPDATE main.events SET undone_at = :now WHERE id = :id", {"now": self.tx.now, "id": id})
        self.forget_steps([id])

    def forget_steps(self, ids: Sequence[int]) -> None:
        """Forget what events did: nothing undoes them any more."""
        self.tx.send(
            "DELETE FROM main.event_steps WHERE event_id IN (SELECT value FROM json_each(:ids))",
            {"ids": self.tx.array(ids)},
        )
