"""The table `edges`: directed, named relations between memories, each with the time in which it holds."""

import json
from collections.abc import Collection
from dataclasses import dataclass

from memory_server.domain.caller import Caller
from memory_server.domain.edge import Direction, Edge, Linked, Relation, Step, Walk
from memory_server.domain.memory import Memory, MemoryId
from memory_server.sqlite.tx import Tx, Value
from memory_server.storage.edges import REPLACING, edge_of, not_replaceable

_COLUMNS = "source_id, target_id, relation, strength, valid_from, valid_to, id"
_OUT = ("source_id", "target_id")
_IN = ("target_id", "source_id")
_ENDS = {Direction.OUT: [_OUT], Direction.IN: [_IN], Direction.BOTH: [_OUT, _IN]}


def _conditions(relation: Relation | None, at: str | None) -> tuple[str, list[Value]]:
    clauses: list[str] = []
    values: list[Value] = []
    if at is None:
        clauses.append("valid_to IS NULL")
    else:
        # Not as text: a person may have written the moment in another form.
        clauses.append(
            "julianday(valid_from) <= julianday(?) AND (valid_to IS NULL OR julianday(valid_to) > julianday(?))"
        )
        values += [at, at]
    if relation is not None:
        clauses.append("relation = ?")
        values.append(relation.value)
    return " AND ".join(clauses), values


@dataclass(frozen=True, slots=True)
class Edges:
    """The table `edges`: directed, named relations between memories, each with the time in which it holds."""

    tx: Tx

    def connect(self, edge: Edge, caller: Caller) -> Edge:
        if (
            edge.relation in REPLACING
            and self.tx.value(
                "SELECT count(DISTINCT ifnull(person, '')) FROM main.memories WHERE id IN (?, ?)",
                (edge.source, edge.target),
            )
            == 2
        ):
            raise not_replaceable(edge)
        row = self.tx.one(
            f"""
            INSERT INTO main.edges (source_id, target_id, relation, strength, valid_from, created_by)
            VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (source_id, target_id, relation) WHERE valid_to IS NULL DO UPDATE SET strength =
            excluded.strength
            RETURNING {_COLUMNS}
            """,
            (edge.source, edge.target, edge.relation.value, edge.strength, self.tx.now, caller.author),
        )
        return edge_of(row)

    def link(self, source: Memory, target: Memory, relation: Relation, caller: Caller) -> None:
        self.connect(Edge(source.id, target.id, relation), caller)

    def end(self, edge: Edge) -> Edge | None:
        row = self.tx.row(
            f"""
            UPDATE main.edges
            SET valid_to = ?
            WHERE source_id = ? AND target_id = ? AND relation = ? AND valid_to IS NULL
            RETURNING {_COLUMNS}
            """,
            (self.tx.now, edge.source, edge.target, edge.relation.value),
        )
        return None if row is None else edge_of(row)

    def steps(
        self, here: Collection[MemoryId], seen: Collection[MemoryId], walk: Walk, limit: int
    ) -> tuple[list[Step], int]:
        conditions, values = _conditions(walk.relation, walk.at)
        wanted = json.dumps(list(here))
        ways = [
            f"SELECT {start}, {end}, strength FROM edges "
            f"WHERE {start} IN (SELECT value FROM json_each(?)) AND {conditions}"
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
                    WHERE there NOT IN (SELECT value FROM json_each(?))
                )
            SELECT here, there, count(*) OVER ()
            FROM ranked
            WHERE place = 1
            ORDER BY strength DESC, there
            LIMIT ?
            """,
            [*(each for _ in ways for each in (wanted, *values)), json.dumps(list(seen)), limit + 1],
        )
        found = [Step(MemoryId(here), MemoryId(there)) for here, there, _ in rows]
        return found[:limit], rows[0][2] if rows else 0

    def between(self, ids: Collection[MemoryId], walk: Walk) -> list[Edge]:
        conditions, values = _conditions(walk.relation, walk.at)
        wanted = json.dumps(list(ids))
        rows = self.tx.rows(
            f"""
            SELECT {_COLUMNS}
            FROM edges
            WHERE source_id IN (SELECT value FROM json_each(?))
                AND target_id IN (SELECT value FROM json_each(?))
                AND {conditions}
            ORDER BY source_id, target_id, relation, id
            """,
            (wanted, wanted, *values),
        )
        return [edge_of(row) for row in rows]

    def strongest(self, id: MemoryId, limit: int) -> list[Edge]:
        rows = self.tx.rows(
            f"""
            SELECT {_COLUMNS}
            FROM (
                SELECT {_COLUMNS} FROM edges WHERE source_id = ?
                UNION ALL
                SELECT {_COLUMNS} FROM edges WHERE target_id = ?
            )
            WHERE relation NOT IN ('supersedes', 'summarizes') AND valid_to IS NULL
            ORDER BY strength DESC, id
            LIMIT ?
            """,
            (id, id, limit),
        )
        return [edge_of(row) for row in rows]

    def hubs(self, limit: int) -> list[MemoryId]:
        rows = self.tx.rows(
            """
            SELECT id
            FROM (
                SELECT source_id AS id FROM edges WHERE valid_to IS NULL
                UNION ALL
                SELECT target_id FROM edges WHERE valid_to IS NULL
            )
            GROUP BY id
            ORDER BY count(*) DESC, id DESC
            LIMIT ?
            """,
            (limit,),
        )
        return [MemoryId(id) for (id,) in rows]

    def answering(self, ids: Collection[MemoryId], length: int) -> dict[MemoryId, list[Linked]]:
        rows = self.tx.rows(
            """
            SELECT e.target_id, m.id, e.relation, substr(m.content, 1, ?)
            FROM edges AS e
            JOIN memories AS m ON m.id = e.source_id
            WHERE e.target_id IN (SELECT value FROM json_each(?))
                AND e.relation IN ('solves', 'contradicts', 'supersedes')
                AND e.valid_to IS NULL
            ORDER BY e.strength DESC, e.id DESC
            """,
            (length, json.dumps(list(ids))),
        )
        found: dict[MemoryId, list[Linked]] = {}
        for target, source, relation, content in rows:
            found.setdefault(MemoryId(target), []).append(Linked(MemoryId(source), relation, content))
        return found

    def contradicting(self, ids: Collection[MemoryId]) -> dict[MemoryId, list[MemoryId]]:
        ways = " UNION ".join(
            f"SELECT {here}, {there} FROM edges "
            f"WHERE {here} IN (SELECT value FROM json_each(:ids)) AND relation = 'contradicts' AND valid_to IS NULL"
            for here, there in (_OUT, _IN)
        )
        rows = self.tx.rows(
            f"""
            WITH ways (here, there) AS ({ways})
            SELECT here, there
            FROM ways
            WHERE NOT EXISTS (
                SELECT 1 FROM edges WHERE target_id = there AND relation = 'supersedes' AND valid_to IS NULL
            )
            ORDER BY here, there
            """,
            {"ids": json.dumps(list(ids))},
        )
        found: dict[MemoryId, list[MemoryId]] = {}
        for here, there in rows:
            found.setdefault(MemoryId(here), []).append(MemoryId(there))
        return found

    def disputes(self, project: str, limit: int) -> list[tuple[MemoryId, MemoryId]]:
        rows = self.tx.rows(
            """
            SELECT s.id, t.id, max(e.id)
            FROM edges AS e
            JOIN memories AS s ON s.id = e.source_id
            JOIN memories AS t ON t.id = e.target_id
            WHERE e.relation = 'contradicts'
                AND e.valid_to IS NULL
                AND :project IN (ifnull(s.project, ''), ifnull(t.project, ''))
                AND NOT EXISTS (
                    SELECT 1
                    FROM edges
                    WHERE target_id IN (s.id, t.id) AND relation = 'supersedes' AND valid_to IS NULL
                )
            GROUP BY min(s.id, t.id), max(s.id, t.id)
            ORDER BY 3 DESC
            LIMIT :limit
            """,
            {"project": project, "limit": limit},
        )
        return [(MemoryId(source), MemoryId(target)) for source, target, _ in rows]

    def successors(self, ids: Collection[MemoryId], at: str | None = None) -> dict[MemoryId, MemoryId]:
        conditions, values = _conditions(Relation.SUPERSEDES, at)
        rows = self.tx.rows(
            f"""
            WITH RECURSIVE chain (old, new, since, edge) AS (
                SELECT target_id, source_id, julianday(valid_from), id
                FROM edges
                WHERE target_id IN (SELECT value FROM json_each(?)) AND {conditions}
                UNION
                SELECT target_id, source_id, julianday(valid_from), id
                FROM chain
                JOIN edges ON target_id = new
                WHERE {conditions}
            )
            SELECT old, new
            FROM chain
            ORDER BY since, edge
            """,
            (json.dumps(list(ids)), *values, *values),
        )
        return {MemoryId(old): MemoryId(new) for old, new in rows}

    def supersedes(self, new: MemoryId, old: MemoryId) -> bool:
        found = self.tx.value(
            """
            WITH RECURSIVE below (id) AS (
                SELECT ?
                UNION
                SELECT target_id
                FROM below
                JOIN edges ON source_id = below.id
                WHERE relation = 'supersedes' AND valid_to IS NULL
            )
            SELECT 1 FROM below WHERE id = ?
            """,
            (new, old),
        )
        return found is not None
