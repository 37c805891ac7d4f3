"""The table `likely_updates`: what probably replaces what, until a client has said so or has changed one of the two."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.domain.notice import LikelyUpdate, Thing
from memory_server.storage.memory_rows import STANDS
from memory_server.storage.statements import Statements, Values

_UNCHANGED = f"""
    CASE u.kind
        WHEN 'memory' THEN EXISTS (
            SELECT 1 FROM memories AS o WHERE o.id = u.item_id AND o.updated_at <= u.found_at AND NOT o.replaced
                AND (u.newer OR {STANDS})
        ) AND NOT EXISTS (
            SELECT 1
            FROM edges AS e
            WHERE e.valid_to IS NULL AND e.source_id IN (u.memory_id, u.item_id)
                AND e.target_id IN (u.memory_id, u.item_id)
        )
        WHEN 'fact' THEN EXISTS (
            SELECT 1
            FROM facts AS o
            WHERE o.id = u.item_id AND o.updated_at <= u.found_at AND (u.newer OR {STANDS})
        )
        ELSE EXISTS (SELECT 1 FROM turns AS o WHERE o.id = u.item_id)
    END
"""
"""True while nobody has changed, deleted, replaced or connected the other one; the newer one may be said unasked."""

_CURRENT = f"m.updated_at <= u.found_at AND NOT m.replaced AND (NOT u.newer OR ({STANDS}))"
"""The same of the memory."""


@dataclass(frozen=True, slots=True)
class LikelyUpdates:
    tx: Statements

    def select(self, project: str, since: str) -> list[LikelyUpdate]:
        """Return those found since a moment in a project and in none, the latest first."""
        return self._select(
            "u.found_at >= :since AND coalesce(m.project, '') IN ('', :project)",
            {"project": project, "since": since},
        )

    def replacing(self, memory_ids: Sequence[int], fact_ids: Sequence[int] = ()) -> list[LikelyUpdate]:
        """Return what probably replaces any of these memories and facts, the latest found first."""
        return self._select(
            """
            (
                (NOT u.newer AND u.memory_id IN (SELECT value FROM json_each(:memory_ids)))
                OR (u.newer AND u.kind = 'memory' AND u.item_id IN (SELECT value FROM json_each(:memory_ids)))
                OR (u.newer AND u.kind = 'fact' AND u.item_id IN (SELECT value FROM json_each(:fact_ids)))
            )
            """,
            {"memory_ids": self.tx.array(memory_ids), "fact_ids": self.tx.array(fact_ids)},
        )

    def _select(self, clause: str, values: Values) -> list[LikelyUpdate]:
        """Return those that nobody has settled, the latest found first."""
        rows = self.tx.rows(
            f"""
            SELECT u.memory_id, u.newer, u.kind, u.item_id,
                CASE u.kind WHEN 'fact' THEN (SELECT key FROM facts WHERE id = u.item_id) END
            FROM likely_updates AS u
            JOIN memories AS m ON m.id = u.memory_id
            WHERE {clause} AND {_CURRENT} AND {_UNCHANGED}
            ORDER BY u.id DESC
            """,
            values,
        )
        return [_likely(*row) for row in rows]


def _likely(memory_id: int, newer: bool, kind: str, id: int, key: str | None) -> LikelyUpdate:
    memory = Thing("memory", memory_id, f"m{memory_id}")
    item = Thing(kind, id, f"f {key}" if kind == "fact" else f"{kind[0]}{id}")
    return LikelyUpdate(memory, item) if newer else LikelyUpdate(item, memory)


@dataclass(frozen=True, slots=True)
class WritableLikelyUpdates(LikelyUpdates):
    def insert(self, likely: LikelyUpdate) -> None:
        """Keep that one thing probably replaces another one."""
        newer = likely.new.kind == "memory"
        memory, item = (likely.new, likely.old) if newer else (likely.old, likely.new)
        row = {"memory_id": memory.row, "kind": item.kind, "item_id": item.row, "newer": newer}
        self.tx.insert_each(
            "main.likely_updates", [{**row, "found_at": self.tx.now}], "ON CONFLICT DO NOTHING"
        )
