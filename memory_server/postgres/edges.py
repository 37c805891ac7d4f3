"""The table `edges`: directed, named relations between memories, each with the time in which it holds."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from memory_server.domain.caller import Caller
from memory_server.domain.edge import Direction, Edge, Linked, Relation, Step, Walk
from memory_server.domain.memory import Memory, MemoryId
from memory_server.postgres.tx import Answer, Tx
from memory_server.storage.edges import REPLACING, edge_of, not_replaceable

_COLUMNS = "source_id, target_id, relation, strength, valid_from, valid_to"
_OUT = ("source_id", "target_id")
_IN = ("target_id", "source_id")
_ENDS = {Direction.OUT: [_OUT], Direction.IN: [_IN], Direction.BOTH: [_OUT, _IN]}


def _conditions(relation: Relation | None, at: str | None) -> tuple[str, dict[str, Any]]:
    clauses = (
        ["valid_to IS NULL"]
        if at is None
        else [
            "as_moment(valid_from) <= as_moment(%(at)s)",
            "(valid_to IS NULL OR as_moment(valid_to) > as_moment(%(at)s))",
        ]
    )
    if relation is not None:
        clauses.append("relation = %(relation)s")
    return " AND ".join(clauses), {"at": at, "relation": relation and relation.value}


@dataclass(frozen=True, slots=True)
class Edges:
    """The table `edges`: directed, named relations between memories, each with the time in which it holds."""

    tx: Tx

    def connect(self, edge: Edge, caller: Caller) -> Edge:
        row = self._ask(edge, caller).rows()
        if not row:
            raise not_replaceable(edge)
        return edge_of(row[0])

    def link(self, source: Memory, target: Memory, relation: Relation, caller: Caller) -> None:
        edge = Edge(source.id, target.id, relation)
        if relation in REPLACING and (source.person or "") != (target.person or ""):
            raise not_replaceable(edge)
        self._ask(edge, caller)

    def _ask(self, edge: Edge, caller: Caller) -> Answer:
        """Write the edge if it is allowed. The answer is its row, or none if it is not."""
        return self.tx.ask(
            f"""
            INSERT INTO edges (source_id, target_id, relation, strength, valid_from, created_by)
            SELECT %(source)s, %(target)s, %(relation)s, %(strength)s, %(now)s, %(by)s
            WHERE NOT %(replacing)s OR (
                SELECT count(DISTINCT coalesce(person, '')) < 2
                FROM memories
                WHERE id IN (%(source)s, %(target)s)
            )
            ON CONFLICT (tenant_id, source_id, target_id, relation) WHERE valid_to IS NULL
            DO UPDATE SET strength = excluded.strength
            RETURNING {_COLUMNS}
            """,
            {
                "source": edge.source,
                "target": edge.target,
                "relation": edge.relation.value,
                "strength": edge.strength,
                "now": self.tx.now,
                "by": caller.author,
                "replacing": edge.relation in REPLACING,
            },
        )

    def end(self, edge: Edge) -> Edge | None:
        row = self.tx.row(
            f"""
            UPDATE edges
            SET valid_to = %s
            WHERE source_id = %s AND target_id = %s AND relation = %s AND valid_to IS NULL
            RETURNING {_COLUMNS}
            """,
            (self.tx.now, edge.source, edge.target, edge.relation.value),
        )
        return None if row is None else edge_of(row)

    def steps(
        self, here: Collection[MemoryId], seen: Collection[MemoryId], walk: Walk, limit: int
    ) -> tuple[list[Step], int]:
        conditions, values = _conditions(walk.relation, walk.at)
        ways = [
            f"SELECT {start}, {end}, strength FROM edges WHERE {start} = ANY (%(here)s) AND {conditions}"
            for start, end in _ENDS[walk.direction]
        ]
        rows = self.tx.rows(
            f"""
            WITH
                ways (here, there, strength) AS ({" UNION ALL ".join(ways)}),
                ranked AS (
                    SELECT
                        here,
                        there,
                        strength,
                        row_number() OVER (PARTITION BY there ORDER BY strength DESC, here) AS place
                    FROM ways
                    WHERE there <> ALL (%(seen)s)
                )
            SELECT here, there, count(*) OVER ()
            FROM ranked
            WHERE place = 1
            ORDER BY strength DESC, there
            LIMIT %(limit)s
            """,
            {**values, "here": list(here), "seen": list(seen), "limit": limit + 1},
        )
        found = [Step(MemoryId(here), MemoryId(there)) for here, there, _ in rows]
        return found[:limit], rows[0][2] if rows else 0

    def between(self, ids: Collection[MemoryId], walk: Walk) -> list[Edge]:
        conditions, values = _conditions(walk.relation, walk.at)
        rows = self.tx.rows(
            f"""
            SELECT {_COLUMNS}
            FROM edges
            WHERE source_id = ANY (%(ids)s) AND target_id = ANY (%(ids)s) AND {conditions}
            ORDER BY source_id, target_id, relation, id
            """,
            {**values, "ids": list(ids)},
        )
        return [edge_of(row) for row in rows]

    def strongest(self, id: MemoryId, limit: int) -> list[Edge]:
        rows = self.tx.rows(
            f"""
            SELECT {_COLUMNS}
            FROM edges
            WHERE (source_id = %(id)s OR target_id = %(id)s)
                AND relation NOT IN ('supersedes', 'summarizes')
                AND valid_to IS NULL
            ORDER BY strength DESC, id
            LIMIT %(limit)s
            """,
            {"id": id, "limit": limit},
        )
        return [edge_of(row) for row in rows]

    def hubs(self, limit: int) -> list[MemoryId]:
        rows = self.tx.rows(
            """
            SELECT ends.id
            FROM edges
            CROSS JOIN LATERAL (VALUES (source_id), (target_id)) AS ends (id)
            WHERE valid_to IS NULL
            GROUP BY ends.id
            ORDER BY count(*) DESC, ends.id DESC
            LIMIT %s
            """,
            (limit,),
        )
        return [MemoryId(id) for (id,) in rows]

    def answering(self, ids: Collection[MemoryId], length: int) -> dict[MemoryId, list[Linked]]:
        rows = self.tx.rows(
            """
            SELECT e.target_id, m.id, e.relation, substr(m.content, 1, %s)
            FROM edges AS e
            JOIN memories AS m ON m.id = e.source_id
            WHERE e.target_id = ANY (%s)
                AND e.relation IN ('solves', 'contradicts', 'supersedes')
                AND e.valid_to IS NULL
            ORDER BY e.strength DESC, e.id DESC
            """,
            (length, list(ids)),
        )
        found: dict[MemoryId, list[Linked]] = {}
        for target, source, relation, content in rows:
            found.setdefault(MemoryId(target), []).append(Linked(MemoryId(source), relation, content))
        return found

    def contradicting(self, ids: Collection[MemoryId]) -> dict[MemoryId, list[MemoryId]]:
        ways = " UNION ".join(
            f"SELECT {here}, {there} FROM edges "
            f"WHERE {here} = ANY (%(ids)s) AND relation = 'contradicts' AND valid_to IS NULL"
            for here, there in (_OUT, _IN)
        )
        rows = self.tx.rows(
            f"""
            WITH ways (here, there) AS ({ways})
            SELECT here, there
            FROM ways
            WHERE NOT EXISTS (
                SELECT 1
                FROM edges
                WHERE target_id = there AND relation = 'supersedes' AND valid_to IS NULL
            )
            ORDER BY here, there
            """,
            {"ids": list(ids)},
        )
        found: dict[MemoryId, list[MemoryId]] = {}
        for here, there in rows:
            found.setdefault(MemoryId(here), []).append(MemoryId(there))
        return found

    def disputes(self, project: str, limit: int) -> list[tuple[MemoryId, MemoryId]]:
        rows = self.tx.rows(
            """
            SELECT source_id, target_id
            FROM (
                SELECT DISTINCT ON (least(s.id, t.id), greatest(s.id, t.id)) e.source_id, e.target_id, e.id
                FROM edges AS e
                JOIN memories AS s ON s.id = e.source_id
                JOIN memories AS t ON t.id = e.target_id
                WHERE e.relation = 'contradicts'
                    AND e.valid_to IS NULL
                    AND %s IN (coalesce(s.project, ''), coalesce(t.project, ''))
                    AND NOT EXISTS (
                        SELECT 1
                        FROM edges AS done
                        WHERE done.target_id IN (s.id, t.id) AND done.relation = 'supersedes' AND done.valid_to IS NULL
                    )
                ORDER BY least(s.id, t.id), greatest(s.id, t.id), e.id DESC
            ) AS pairs
            ORDER BY id DESC
            LIMIT %s
            """,
            (project, limit),
        )
        return [(MemoryId(source), MemoryId(target)) for source, target in rows]

    def successors(self, ids: Collection[MemoryId], at: str | None = None) -> dict[MemoryId, MemoryId]:
        conditions, values = _conditions(Relation.SUPERSEDES, at)
        rows = self.tx.rows(
            f"""
            WITH RECURSIVE chain (old, new, since, edge) AS (
                SELECT target_id, source_id, as_moment(valid_from), id
                FROM edges
                WHERE target_id = ANY (%(ids)s) AND {conditions}
                UNION
                SELECT target_id, source_id, as_moment(valid_from), id
                FROM chain
                JOIN edges ON target_id = new
                WHERE {conditions}
            )
            SELECT old, new
            FROM chain
            ORDER BY since, edge
            """,
            {**values, "ids": list(ids)},
        )
        return {MemoryId(old): MemoryId(new) for old, new in rows}

    def supersedes(self, new: MemoryId, old: MemoryId) -> bool:
        return bool(
            self.tx.value(
                """
                WITH RECURSIVE below (id) AS (
                    SELECT %s::bigint
                    UNION
                    SELECT target_id
                    FROM below
                    JOIN edges ON source_id = below.id
                    WHERE relation = 'supersedes' AND valid_to IS NULL
                )
                SELECT EXISTS (SELECT 1 FROM below WHERE id = %s)
                """,
                (new, old),
            )
        )
