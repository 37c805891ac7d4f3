"""The tables `memory_anchors` and `fact_anchors`: what of the working tree a memory or a fact speaks of, as it stood
there."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from memory_server.domain.embedding import Embedded
from memory_server.ground import Anchor
from memory_server.storage.statements import Statements


@dataclass(frozen=True, slots=True)
class _Kind:
    """The table of the anchors of a kind, the column with the id there, and the table of the rows."""

    table: str
    key: str
    source: str


_KINDS = {
    Embedded.MEMORIES: _Kind("memory_anchors", "memory_id", "memories"),
    Embedded.FACTS: _Kind("fact_anchors", "fact_id", "facts"),
}


@dataclass(frozen=True, slots=True)
class Anchors:
    tx: Statements

    def select(self, kind: Embedded, ids: Sequence[int], project: str) -> dict[int, tuple[Anchor, ...]]:
        """Return the anchors of each of these memories or facts that has any in the tree of a project, by id."""
        of = _KINDS[kind]
        rows = self.tx.rows(
            f"""
            SELECT {of.key}, anchors
            FROM {of.table}
            WHERE {of.key} IN (SELECT value FROM json_each(:ids)) AND project = :project
            """,
            {"ids": self.tx.array(ids), "project": project},
        )
        return {id: tuple(map(_anchor, json.loads(anchors))) for id, anchors in rows}

    def memories(self, project: str, limit: int) -> list[int]:
        """Return the newest memories that speak of something in the tree of a project."""
        rows = self.tx.rows(
            "SELECT memory_id FROM memory_anchors WHERE project = :project ORDER BY memory_id DESC LIMIT :limit",
            {"project": project, "limit": limit},
        )
        return [id for (id,) in rows]


@dataclass(frozen=True, slots=True)
class WritableAnchors(Anchors):
    def keep(self, kind: Embedded, id: int, updated_at: str, project: str, anchors: Sequence[Anchor]) -> None:
        """Keep what a memory or a fact speaks of in the tree of a project, unless it was changed since that moment, or
        is gone."""
        of = _KINDS[kind]
        self.tx.send(
            f"""
            INSERT INTO main.{of.table} ({of.key}, project, anchors, observed_at)
            SELECT m.id, :project, :anchors, :now
            FROM {of.source} AS m
            WHERE m.id = :id AND m.updated_at = :updated_at
            ON CONFLICT ({of.key}) DO UPDATE SET
                project = excluded.project, anchors = excluded.anchors, observed_at = excluded.observed_at
            """,
            {
                "id": id,
                "updated_at": updated_at,
                "project": project,
                "anchors": _json(anchors),
                "now": self.tx.now,
            },
        )


def _json(anchors: Sequence[Anchor]) -> str:
    return json.dumps([asdict(anchor) for anchor in anchors], ensure_ascii=False, separators=(",", ":"))


def _anchor(record: dict[str, Any]) -> Anchor:
    return Anchor(**{**record, "digests": tuple(record["digests"])})
