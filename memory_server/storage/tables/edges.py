"""The table `edges`: directed, named relations between memories, each with the time in which it holds."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from memory_server.domain import trust
from memory_server.domain.caller import Caller
from memory_server.domain.edge import REPLACING, Direction, Edge, EdgeStep, Linked, Relation, Walk
from memory_server.domain.memory import Memory, MemoryId
from memory_server.errors import Invalid
from memory_server.storage.memory_rows import STANDS
from memory_server.storage.statements import Row, Statements

_COLUMNS = "source_id, target_id, relation, strength, valid_from, valid_to, id"
_OUT = ("source_id", "target_id")
_IN = ("target_id", "source_id")
_ENDS = {Direction.OUT: [_OUT], Direction.IN: [_IN], Direction.BOTH: [_OUT, _IN]}


_INSERT = """
    INSERT INTO main.edges (source_id, target_id, relation, strength, valid_from, created_by)
    SELECT :source, :target, :relation, :strength, :now, :author
    WHERE NOT :replacing OR (
        SELECT count(DISTINCT coalesce(person, '')) < 2 FROM main.memories WHERE id IN (:source, :target)
    )
    ON CONFLICT (source_id, target_id, relation) WHERE valid_to IS NULL DO UPDATE SET strength = excluded.strength
"""
"""Writes no row where one of the two memories is private to a person, and the other would stand for it or be hidden."""


def _edge(row: Row) -> Edge:
    source, target, relation, strength, valid_from, valid_to, _ = row
    return Edge(MemoryId(source), MemoryId(target), Relation(relation), strength, valid_from, valid_to)


def _not_replaceable(edge: Edge) -> Invalid:
    return Invalid(
        f"Memory {edge.source} cannot replace {edge.target}: one is somebody's own, the other is not. "
        "Nothing was stored."
    )


def _conditions(relation: Relation | None, at: str | None) -> tuple[str, dict[str, Any]]:
    clauses = ["valid_to IS NULL"]
    if at is not None:  # not compared as text: a person may have written the moment in another form
        clauses = [
            "julianday(valid_from) <= julianday(:at)",
            "(valid_to IS NULL OR julianday(valid_to) > julianday(:at))",
        ]
    if relation is not None:
        clauses.append("relation = :relation")
    return " AND ".join(clauses), {"at": at, "relation": relation and relation.value}


@dataclass(frozen=True, slots=True)
class Edges:
    tx: Statements

    def steps(
        self, here: Collection[MemoryId], seen: Collection[MemoryId], walk: Walk, limit: int
    ) -> tuple[list[EdgeStep], int]:
        """Return the way to each unseen memory that is one edge from any of these, and how many there are.

        The strongest comes first. Where several edges lead to one, the strongest counts, then the one from the older
        memory.
        """
        conditions, values = _conditions(walk.relation, walk.at)
        ways = [
            f"SELECT {start}, {end}, strength FROM edges "
            f"WHERE {start} IN (SELECT value FROM json_each(:here)) AND {conditions}"
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
                    WHERE there NOT IN (SELECT value FROM json_each(:seen))
                )
            SELECT here, there, count(*) OVER ()
            FROM ranked
            WHERE place = 1
            ORDER BY strength DESC, there
            LIMIT :limit
            """,
            {**values, "here": self.tx.array(here), "seen": self.tx.array(seen), "limit": limit + 1},
        )
        steps = [EdgeStep(MemoryId(start), MemoryId(end)) for start, end, _ in rows[:limit]]
        return steps, rows[0][2] if rows else 0

    def between(self, ids: Collection[MemoryId], walk: Walk) -> list[Edge]:
        """Return every edge from one of these memories to another of them, whatever the walk's direction."""
        conditions, values = _conditions(walk.relation, walk.at)
        rows = self.tx.rows(
            f"""
            SELECT {_COLUMNS}
            FROM edges
            WHERE source_id IN (SELECT value FROM json_each(:ids))
                AND target_id IN (SELECT value FROM json_each(:ids))
                AND {conditions}
            ORDER BY source_id, target_id, relation, id
            """,
            {**values, "ids": self.tx.array(ids)},
        )
        return [_edge(row) for row in rows]

    def strongest(self, id: MemoryId, limit: int) -> list[Edge]:
        """Return the strongest edges of a memory that hold, but for what supersedes or summarizes."""
        rows = self.tx.rows(
            f"""
            SELECT {_COLUMNS}
            FROM (
                SELECT {_COLUMNS} FROM edges WHERE source_id = :id
                UNION ALL
                SELECT {_COLUMNS} FROM edges WHERE target_id = :id
            ) AS its_edges
            WHERE relation NOT IN ('supersedes', 'summarizes') AND valid_to IS NULL
            ORDER BY strength DESC, id
            LIMIT :limit
            """,
            {"id": id, "limit": limit},
        )
        return [_edge(row) for row in rows]

    def hubs(self, limit: int) -> list[MemoryId]:
        """Return the memories with most edges that hold, most first."""
        rows = self.tx.rows(
            """
            SELECT id
            FROM (
                SELECT source_id AS id FROM edges WHERE valid_to IS NULL
                UNION ALL
                SELECT target_id FROM edges WHERE valid_to IS NULL
            ) AS ends
            GROUP BY id
            ORDER BY count(*) DESC, id DESC
            LIMIT :limit
            """,
            {"limit": limit},
        )
        return [MemoryId(id) for (id,) in rows]

    def answering(self, ids: Collection[MemoryId], length: int) -> dict[MemoryId, list[Linked]]:
        """Return what solves, contradicts or supersedes each of these memories, with so many characters of its text.

        Two memories contradict each other, whatever the direction of the edge, until one of them is superseded.
        """
        rows = self.tx.rows(
            """
            WITH ways (here, there, relation, strength, id) AS (
                SELECT target_id, source_id, relation, strength, id
                FROM edges
                WHERE target_id IN (SELECT value FROM json_each(:ids))
                    AND relation IN ('solves', 'contradicts', 'supersedes')
                    AND valid_to IS NULL
                UNION ALL
                SELECT source_id, target_id, relation, strength, id
                FROM edges
                WHERE source_id IN (SELECT value FROM json_each(:ids))
                    AND relation = 'contradicts'
                    AND valid_to IS NULL
            )
            SELECT here, m.id, relation, substr(m.content, 1, :length)
            FROM ways
            JOIN memories AS m ON m.id = there
            WHERE relation <> 'contradicts' OR NOT EXISTS (
                SELECT 1
                FROM edges AS settled
                WHERE settled.target_id IN (here, there)
                    AND settled.relation = 'supersedes'
                    AND settled.valid_to IS NULL
            )
            ORDER BY strength DESC, ways.id DESC
            """,
            {"length": length, "ids": self.tx.array(ids)},
        )
        links: dict[MemoryId, list[Linked]] = {}
        for id, linked_id, relation, content in rows:
            linked = Linked(MemoryId(linked_id), relation, content)
            if linked not in links.setdefault(MemoryId(id), []):
                links[MemoryId(id)].append(linked)
        return links

    def contradicting(self, ids: Collection[MemoryId]) -> dict[MemoryId, list[MemoryId]]:
        """Return what contradicts each of these memories, or is contradicted by it.

        Neither what is superseded itself nor what waits until a person confirms it.
        """
        ways = " UNION ".join(
            f"SELECT {start}, {end} FROM edges "
            f"WHERE {start} IN (SELECT value FROM json_each(:ids)) AND relation = 'contradicts' AND valid_to IS NULL"
            for start, end in (_OUT, _IN)
        )
        rows = self.tx.rows(
            f"""
            WITH ways (here, there) AS ({ways})
            SELECT here, there
            FROM ways
            JOIN memories ON memories.id = there
            WHERE {STANDS} AND NOT EXISTS (
                SELECT 1 FROM edges WHERE target_id = there AND relation = 'supersedes' AND valid_to IS NULL
            )
            ORDER BY here, there
            """,
            {"ids": self.tx.array(ids)},
        )
        opposites: dict[MemoryId, list[MemoryId]] = {}
        for id, opposite in rows:
            opposites.setdefault(MemoryId(id), []).append(MemoryId(opposite))
        return opposites

    def overruled(self, ids: Collection[MemoryId]) -> dict[MemoryId, list[MemoryId]]:
        """Return, for each of these memories that is not the user's word, what the user said and it supersedes."""
        rows = self.tx.rows(
            """
            SELECT e.source_id, e.target_id, s.origin, t.origin
            FROM edges e JOIN memories s ON s.id = e.source_id JOIN memories t ON t.id = e.target_id
            WHERE e.source_id IN (SELECT value FROM json_each(:ids))
                AND e.relation = 'supersedes' AND e.valid_to IS NULL
            ORDER BY e.source_id, e.target_id
            """,
            {"ids": self.tx.array(ids)},
        )
        overruled: dict[MemoryId, list[MemoryId]] = {}
        for newer, older, newer_origin, older_origin in rows:
            if trust.is_of_user(older_origin) and not trust.is_of_user(newer_origin):
                overruled.setdefault(MemoryId(newer), []).append(MemoryId(older))
        return overruled

    def disputes(self, project: str, limit: int) -> list[tuple[MemoryId, MemoryId]]:
        """Return source and target of the edges by which a memory of a project ('' is none) is in a contradiction.

        Each pair comes once, the newest first. What is superseded is settled.
        """
        rows = self.tx.rows(
            """
            SELECT source_id, target_id, id
            FROM (
                SELECT e.source_id, e.target_id, e.id, row_number() OVER (
                    PARTITION BY
                        CASE WHEN s.id < t.id THEN s.id ELSE t.id END,
                        CASE WHEN s.id < t.id THEN t.id ELSE s.id END
                    ORDER BY e.id DESC
                ) AS place
                FROM edges AS e
                JOIN memories AS s ON s.id = e.source_id
                JOIN memories AS t ON t.id = e.target_id
                WHERE e.relation = 'contradicts'
                    AND e.valid_to IS NULL
                    AND :project IN (coalesce(s.project, ''), coalesce(t.project, ''))
                    AND NOT EXISTS (
                        SELECT 1
                        FROM edges AS done
                        WHERE done.target_id IN (s.id, t.id) AND done.relation = 'supersedes' AND done.valid_to IS NULL
                    )
            ) AS pairs
            WHERE place = 1
            ORDER BY id DESC
            LIMIT :limit
            """,
            {"project": project, "limit": limit},
        )
        return [(MemoryId(source), MemoryId(target)) for source, target, _ in rows]

    def successors(self, ids: Collection[MemoryId], at: str | None = None) -> dict[MemoryId, MemoryId]:
        """Return each of these memories that is superseded, with what did so last; then the same of that, and so on."""
        conditions, values = _conditions(Relation.SUPERSEDES, at)
        rows = self.tx.rows(
            f"""
            WITH RECURSIVE chain (old, new, since, edge) AS (
                SELECT target_id, source_id, julianday(valid_from), id
                FROM edges
                WHERE target_id IN (SELECT value FROM json_each(:ids)) AND {conditions}
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
            {**values, "ids": self.tx.array(ids)},
        )
        return {MemoryId(old): MemoryId(new) for old, new in rows}

    def find(self, id: int) -> Edge | None:
        """Return the edge of a row."""
        row = self.tx.row(f"SELECT {_COLUMNS} FROM edges WHERE id = :id", {"id": id})
        return None if row is None else _edge(row)

    def holding(self, edge: Edge) -> int | None:
        """Return the row of the edge that holds between these two in this relation."""
        row = self.tx.row(
            """
            SELECT id
            FROM edges
            WHERE source_id = :source AND target_id = :target AND relation = :relation AND valid_to IS NULL
            """,
            {"source": edge.source, "target": edge.target, "relation": edge.relation.value},
        )
        return None if row is None else row[0]

    def replaced_by(self, id: MemoryId) -> list[MemoryId]:
        """Return the memories in whose place a memory is shown."""
        rows = self.tx.rows(
            """
            SELECT target_id
            FROM edges
            WHERE source_id = :id AND relation IN ('supersedes', 'summarizes') AND valid_to IS NULL
            ORDER BY target_id
            """,
            {"id": id},
        )
        return [MemoryId(target) for (target,) in rows]

    def supersedes(self, new: MemoryId, old: MemoryId) -> bool:
        """True if one memory supersedes another, at whatever distance."""
        row = self.tx.row(
            """
            WITH RECURSIVE below (id) AS (
                SELECT CAST(:new AS bigint)
                UNION
                SELECT target_id
                FROM below
                JOIN edges ON source_id = below.id
                WHERE relation = 'supersedes' AND valid_to IS NULL
            )
            SELECT 1 FROM below WHERE id = :old
            """,
            {"new": new, "old": old},
        )
        return row is not None


@dataclass(frozen=True, slots=True)
class WritableEdges(Edges):
    def connect(self, edge: Edge, caller: Caller) -> Edge:
        """Write the edge; where it holds already its strength is renewed.

        Raises:
            Invalid: one memory is private to a person and the other is not: who sees one would lose the other.
        """
        rows = self.tx.rows(f"{_INSERT} RETURNING {_COLUMNS}", self._values(edge, caller))
        if not rows:
            raise _not_replaceable(edge)
        return _edge(rows[0])

    def link(self, source: Memory, target: Memory, relation: Relation, caller: Caller) -> None:
        """Write an edge as `connect`, without an answer. The memories must be as they are in this transaction.

        Raises:
            Invalid: as `connect`.
        """
        edge = Edge(source.id, target.id, relation)
        if relation in REPLACING and (source.person or "") != (target.person or ""):
            raise _not_replaceable(edge)
        self.tx.send(_INSERT, self._values(edge, caller))

    def end(self, edge: Edge) -> Edge | None:
        """End the edge now, and return it; None where it does not hold."""
        rows = self.tx.rows(
            f"""
            UPDATE main.edges
            SET valid_to = :now
            WHERE source_id = :source AND target_id = :target AND relation = :relation AND valid_to IS NULL
            RETURNING {_COLUMNS}
            """,
            {
                "now": self.tx.now,
                "source": edge.source,
                "target": edge.target,
                "relation": edge.relation.value,
            },
        )
        return _edge(rows[0]) if rows else None

    def remove(self, id: int) -> None:
        """Delete an edge, as if it had never held."""
        self.tx.send("DELETE FROM main.edges WHERE id = :id", {"id": id})

    def reopen(self, id: int) -> None:
        """Let an edge that has ended hold again."""
        self.tx.send("UPDATE main.edges SET valid_to = NULL WHERE id = :id", {"id": id})

    def _values(self, edge: Edge, caller: Caller) -> dict[str, Any]:
        return {
            "source": edge.source,
            "target": edge.target,
            "relation": edge.relation.value,
            "strength": edge.strength,
            "now": self.tx.now,
            "author": caller.author,
            "replacing": edge.relation in REPLACING,
        }
