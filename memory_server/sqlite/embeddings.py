"""The spaces, their vectors, the bits that searches scan, and the queue of what is still to embed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any

import numpy as np

from memory_server.domain import parts
from memory_server.domain.embedding import Embedded, Space, Vector
from memory_server.domain.fact import FactFilter
from memory_server.domain.memory import Filter
from memory_server.domain.short_term import SaidFilter
from memory_server.sqlite import facts, memories, short_term, sign_bits
from memory_server.sqlite.memory_counts import MemoryCounts
from memory_server.sqlite.tx import Tx, Value
from memory_server.storage.vectors import SEARCHING, Effort, KnownSpace, TextFilter, Waiting

_SPACE_FIELDS = [field.name for field in fields(Space)]
_SPACE_COLUMNS = ", ".join(_SPACE_FIELDS)


@dataclass(frozen=True, slots=True)
class Tables:
    """The table of the texts, and those of their words, their vectors and of what waits.

    `text` and `moment`, when it was said, are expressions; `id` is a column. `embedded` are the expressions of what is
    embedded, each with the table of its vectors.
    """

    source: str
    words: str
    text: str
    id: str
    embedded: Mapping[str, str]
    queue: str
    moment: str = "ifnull(occurred_at, created_at)"


TABLES = {
    Embedded.MEMORIES: Tables(
        "memories", "memory_words", "content", "memory_id", {"content": "embeddings"}, "embedding_queue"
    ),
    Embedded.TURNS: Tables(
        "turns",
        "turn_words",
        "summary || char(10) || message",
        "turn_id",
        {"summary": "turn_embeddings", "message": "turn_message_embeddings"},
        "turn_embedding_queue",
    ),
    Embedded.FACTS: Tables(
        "facts",
        "fact_words",
        "key || char(10) || value",
        "fact_id",
        {"key || char(10) || value": "fact_embeddings"},
        "fact_embedding_queue",
        "updated_at",
    ),
    Embedded.SHORT_TERM: Tables(
        "short_term_memories",
        "short_term_words",
        "text",
        "memory_id",
        {"text": "short_term_embeddings"},
        "short_term_embedding_queue",
        "said_at",
    ),
}


def conditions(wanted: TextFilter, now: str) -> tuple[list[str], list[Value]]:
    """A filter as clauses on the table of its kind AS m, beside their values."""
    match wanted:
        case FactFilter():
            return facts.conditions(wanted, now)
        case SaidFilter():
            return short_term.conditions(wanted)
        case Filter():
            return memories.conditions(wanted)


def _known(row: tuple[Any, ...]) -> KnownSpace:
    named: dict[str, Any] = dict(zip(_SPACE_FIELDS, row[2:], strict=True))
    named |= {"chinese": bool(named["chinese"]), "lexical": bool(named["lexical"])}
    return KnownSpace(row[0], row[1], Space(**named))


def _contents(tables: Tables) -> str:
    return ", ".join(f"CAST({text} AS BLOB)" for text in tables.embedded)


_PARTS = (
    "part_embeddings AS e JOIN memory_parts AS p ON p.id = e.part_id JOIN memories AS m ON m.id = p.memory_id"
)


_THESE = "SELECT value FROM json_each(?)"


def _conditions(space_id: int, wanted: Filter) -> tuple[list[str], list[Value]]:
    clauses = ["b.space_id = ?"]
    values: list[Value] = [space_id]
    if wanted.project is not None:
        clauses.append("b.project = ?")
        values.append(wanted.project)
    if wanted.type is not None:
        clauses.append("b.type = ?")
        values.append(wanted.type.value)
    if wanted.min_importance is not None:
        clauses.append("b.importance >= ?")
        values.append(wanted.min_importance)
    rest = Filter(tags=wanted.tags, since=wanted.since, until=wanted.until)
    if rest != Filter():
        others, other_values = memories.conditions(rest)
        clauses.append(f"b.memory_id IN (SELECT m.id FROM memories AS m WHERE {' AND '.join(others)})")
        values += other_values
    return clauses, values


def as_blob(vector: Vector) -> bytes:
    """A vector as the file keeps it and as the vector functions take it."""
    return np.ascontiguousarray(vector, dtype="<f4").tobytes()


@dataclass(frozen=True, slots=True)
class Embeddings:
    """The spaces, their vectors, the bits that searches scan, and the queue of what is still to embed."""

    tx: Tx

    def spaces(self) -> list[KnownSpace]:
        rows = self.tx.rows(
            f"""
            SELECT id, state, {_SPACE_COLUMNS}
            FROM spaces
            WHERE state <> 'retired'
            ORDER BY state = 'active' DESC, id
            """
        )
        return [_known(row) for row in rows]

    def open_space(self, space: Space) -> KnownSpace:
        known = self.spaces()
        for each in known:
            if each.space.fingerprint == space.fingerprint:
                return each
        state = "building" if known else "active"
        self.tx.execute(
            f"""
            INSERT INTO spaces (state, created_at, {_SPACE_COLUMNS})
            VALUES (?, ?, {", ".join("?" for _ in _SPACE_FIELDS)})
            ON CONFLICT (fingerprint) DO UPDATE SET state = excluded.state
            """,
            (state, self.tx.now, *astuple(space)),
        )
        id = int(self.tx.value("SELECT id FROM spaces WHERE fingerprint = ?", (space.fingerprint,)))
        for tables in TABLES.values():
            self.tx.execute(
                f"""
                INSERT OR REPLACE INTO main.{tables.queue} (space_id, {tables.id}, queued_at)
                SELECT ?, id, ? FROM {tables.source}
                """,
                (id, self.tx.now),
            )
        return KnownSpace(id, state, space)

    def activate(self, id: int) -> None:
        for (old,) in self.tx.rows("SELECT id FROM spaces WHERE state <> 'retired' AND id <> ?", (id,)):
            self._retire(old)
        self.tx.execute("UPDATE spaces SET state = 'active' WHERE id = ?", (id,))

    def lease(self, id: int, holder: str, until: str) -> bool:
        return bool(
            self.tx.execute(
                """
                UPDATE spaces
                SET lease_holder = ?, lease_until = ?
                WHERE id = ? AND (
                    lease_holder IS NULL OR lease_holder = ? OR lease_until < ? OR lease_until > ?
                )
                """,
                (holder, until, id, holder, self.tx.now, until),
            )
        )

    def release(self, id: int, holder: str) -> None:
        self.tx.execute(
            "UPDATE spaces SET lease_holder = NULL, lease_until = NULL WHERE id = ? AND lease_holder = ?",
            (id, holder),
        )

    def abandon(self) -> None:
        for (id,) in self.tx.rows(
            "SELECT id FROM spaces WHERE state = 'building' AND ifnull(lease_until, '') < ?", (self.tx.now,)
        ):
            self._retire(id)

    def _retire(self, id: int) -> None:
        for tables in TABLES.values():
            for table in (*tables.embedded.values(), tables.queue):
                self.tx.execute(f"DELETE FROM main.{table} WHERE space_id = ?", (id,))
        for table in ("embedding_bits", "part_embeddings"):
            self.tx.execute(f"DELETE FROM main.{table} WHERE space_id = ?", (id,))
        self.tx.execute("UPDATE spaces SET state = 'retired' WHERE id = ?", (id,))

    def in_use(self, space_id: int) -> bool:
        return (
            self.tx.value("SELECT 1 FROM spaces WHERE id = ? AND state <> 'retired'", (space_id,)) is not None
        )

    def waiting(self, space_id: int, kind: Embedded, limit: int) -> list[Waiting]:
        tables = TABLES[kind]
        rows = self.tx.rows(
            f"""
            SELECT source.id, {_contents(tables)}
            FROM {tables.queue} AS q
            JOIN {tables.source} AS source ON source.id = q.{tables.id}
            WHERE q.space_id = ?
            ORDER BY source.id
            LIMIT ?
            """,
            (space_id, limit),
        )
        return [Waiting(kind, id, tuple(contents)) for id, *contents in rows]

    def count_waiting(self, space_id: int, *kinds: Embedded) -> int:
        counts = (
            self.tx.value(f"SELECT count(*) FROM {TABLES[kind].queue} WHERE space_id = ?", (space_id,))
            for kind in kinds or Embedded
        )
        return sum(map(int, counts))

    def count_embedded(self, space_id: int, project: str | None = None) -> int:
        waiting = self.tx.value(
            """
            SELECT count(*)
            FROM embedding_queue AS q
            WHERE space_id = :space AND (
                :project IS NULL
                OR EXISTS (SELECT 1 FROM memories AS m WHERE m.id = q.memory_id AND ifnull(m.project, '') = :project)
            )
            """,
            {"space": space_id, "project": project},
        )
        return MemoryCounts(self.tx).total(project) - int(waiting)

    def insert(self, space_id: int, embedded: Waiting, vectors: Sequence[Vector]) -> bool:
        tables, blob = TABLES[embedded.kind], as_blob(vectors[0])
        wanted = self.tx.value(
            f"""
            SELECT 1
            FROM {tables.source} AS source, spaces
            WHERE source.id = ? AND ({_contents(tables)}) = ({", ".join("?" for _ in tables.embedded)})
                AND spaces.id = ? AND state <> 'retired'
            """,
            (embedded.id, *embedded.contents, space_id),
        )
        if wanted is None:
            return False
        first, *others = tables.embedded.values()
        self.tx.execute(
            f"""
            INSERT OR REPLACE INTO main.{first} (space_id, {tables.id}, vector, created_at)
            VALUES (?, ?, ?, ?)
            """,
            (space_id, embedded.id, blob, self.tx.now),
        )
        for table, vector in zip(others, vectors[1:], strict=False):
            self.tx.execute(
                f"INSERT OR REPLACE INTO main.{table} (space_id, {tables.id}, vector) VALUES (?, ?, ?)",
                (space_id, embedded.id, as_blob(vector)),
            )
        if embedded.kind is Embedded.MEMORIES:
            self._insert_bits(space_id, embedded.id, blob)
            self._insert_parts(space_id, embedded.id, vectors[1:])
        self.tx.execute(
            f"DELETE FROM main.{tables.queue} WHERE space_id = ? AND {tables.id} = ?", (space_id, embedded.id)
        )
        return True

    def _insert_bits(self, space_id: int, memory_id: int, blob: bytes) -> None:
        self.tx.execute(
            "DELETE FROM main.embedding_bits WHERE space_id = ? AND memory_id = ?", (space_id, memory_id)
        )
        self.tx.execute(
            """
            INSERT INTO main.embedding_bits (space_id, project, memory_id, type, importance, bits)
            SELECT ?, ifnull(project, ''), id, type, importance, vec_quantize_binary(?)
            FROM memories
            WHERE id = ?
            """,
            (space_id, blob, memory_id),
        )

    def _insert_parts(self, space_id: int, memory_id: int, vectors: Sequence[Vector]) -> None:
        """The vectors of the parts after the first."""
        for number, vector in enumerate(vectors, 1):
            self.tx.execute(
                """
                INSERT OR REPLACE INTO main.part_embeddings (space_id, part_id, vector)
                SELECT ?, id, ? FROM memory_parts WHERE id = ?
                """,
                (space_id, as_blob(vector), parts.id_of(memory_id, number)),
            )

    def keep(
        self, space_id: int, kind: Embedded, id: int, texts: Sequence[str], vectors: Sequence[Vector]
    ) -> None:
        self.insert(space_id, Waiting(kind, id, tuple(text.encode() for text in texts)), vectors)

    def nearest(
        self,
        kind: Embedded,
        space_id: int,
        query: Vector,
        wanted: TextFilter,
        limit: int,
        effort: Effort = SEARCHING,
    ) -> dict[int, float]:
        if not isinstance(wanted, Filter) or kind is not Embedded.MEMORIES:
            tables = TABLES[kind]
            found: dict[int, float] = {}
            for table in tables.embedded.values():
                source = f"{table} AS e JOIN {tables.source} AS m ON m.id = e.{tables.id}"
                for id, cosine in self._nearest(
                    source, f"e.{tables.id}", space_id, query, wanted, limit
                ).items():
                    found[id] = max(cosine, found.get(id, cosine))
        else:
            found = self._nearest_memories(space_id, query, wanted, limit, effort)
            found |= self._nearest(_PARTS, "e.part_id", space_id, query, wanted, limit)
        return dict(sorted(found.items(), key=lambda each: (-each[1], -each[0]))[:limit])

    def _nearest(
        self, source: str, id: str, space_id: int, query: Vector, wanted: TextFilter, limit: int
    ) -> dict[int, float]:
        """Every vector of `source` is compared."""
        clauses, values = conditions(wanted, self.tx.now)
        rows = self.tx.rows(
            f"""
            SELECT {id}, round(1 - vec_distance_cosine(e.vector, ?), 5)
            FROM {source}
            WHERE {" AND ".join(["e.space_id = ?", *clauses])}
            ORDER BY 2 DESC, 1 DESC
            LIMIT ?
            """,
            (as_blob(query), space_id, *values, limit),
        )
        return {id: cosine for id, cosine in rows if cosine is not None}

    def _nearest_memories(
        self,
        space_id: int,
        query: Vector,
        wanted: Filter,
        limit: int,
        effort: Effort,
    ) -> dict[int, float]:
        """Sign bits choose candidates where there are many, cosine ranks them."""
        clauses, values = _conditions(space_id, wanted)
        where = " AND ".join(clauses)
        bounded = f"SELECT 1 FROM embedding_bits AS b WHERE {where} LIMIT ?"
        many = self.tx.value(f"SELECT count(*) FROM ({bounded})", (*values, effort.exact + 1))
        if many <= effort.exact:
            chosen = f"SELECT b.memory_id FROM embedding_bits AS b WHERE {where}"
            return self._ranked(space_id, query, chosen, values, limit)
        most = max(effort.chosen, effort.times * limit)
        bits = sign_bits.held_by(self.tx)
        held = None if bits is None else bits.nearest(self.tx, space_id, query, wanted, most)
        if held is not None:
            return self._ranked(space_id, query, _THESE, [json.dumps(held.tolist())], limit)
        chosen = f"""
            SELECT b.memory_id
            FROM embedding_bits AS b
            WHERE {where}
            ORDER BY vec_distance_hamming(vec_bit(b.bits), vec_bit(vec_quantize_binary(?))), b.memory_id
            LIMIT ?
        """
        return self._ranked(space_id, query, chosen, [*values, as_blob(query), most], limit)

    def cosines(self, space_id: int, query: Vector, ids: Sequence[int]) -> dict[int, float]:
        return self._ranked(space_id, query, _THESE, [json.dumps(list(ids))], len(ids))

    def _ranked(
        self, space_id: int, query: Vector, chosen: str, values: list[Value], limit: int
    ) -> dict[int, float]:
        """Rounded, so that both vector engines put equal memories in equal order. A vector that holds no numbers, as
        in a
        damaged row, has no cosine, and is left out.
        """
        rows = self.tx.rows(
            f"""
            SELECT e.memory_id, round(1 - vec_distance_cosine(e.vector, ?), 5)
            FROM embeddings AS e
            WHERE e.space_id = ? AND e.memory_id IN ({chosen})
            ORDER BY 2 DESC, 1 DESC
            LIMIT ?
            """,
            (as_blob(query), space_id, *values, limit),
        )
        return {id: cosine for id, cosine in rows if cosine is not None}

    def vector_of(self, space_id: int, id: int) -> Vector | None:
        blob = self.tx.value(
            "SELECT vector FROM embeddings WHERE space_id = ? AND memory_id = ?", (space_id, id)
        )
        return None if blob is None else np.frombuffer(blob, dtype="<f4")

    def vectors_of(self, space_id: int, ids: Sequence[int]) -> dict[int, Vector]:
        rows = self.tx.rows(
            f"SELECT memory_id, vector FROM embeddings WHERE space_id = ? AND memory_id IN ({_THESE})",
            (space_id, json.dumps(list(ids))),
        )
        return {id: np.frombuffer(blob, dtype="<f4") for id, blob in rows}
