"""The spaces, their vectors, the bits that searches scan, and the queue of what is still to embed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any, TypeAlias

import numpy as np

from memory_server.domain import fact_text, parts
from memory_server.domain.embedding import Embedded, Space, Vector
from memory_server.domain.fact import FactFilter
from memory_server.domain.memory import Filter
from memory_server.domain.short_term import SaidFilter
from memory_server.sqlite import facts, memories, memory_counts, short_term
from memory_server.sqlite.rows import Rows
from memory_server.sqlite.sign_bits import SignBits
from memory_server.sqlite.tx import Tx, Value, WriteTx

ROWS = (
    Rows(
        "spaces",
        (
            "provider", "model", "revision", "query_prompt", "document_prompt", "transform", "fingerprint", "state",
            "created_at", "lease_holder", "lease_until",
        ),
        moments=("created_at", "lease_until"),
    ),
    Rows("embeddings", ("created_at",), moments=("created_at",), id="memory_id"),
    Rows("embedding_bits", ("project", "type"), id="memory_id"),
    Rows("bits_changes"),
    Rows("part_embeddings", id="part_id"),
    Rows("embedding_queue", ("queued_at",), moments=("queued_at",), id="memory_id"),
    Rows("turn_embeddings", ("created_at",), moments=("created_at",), id="turn_id"),
    Rows("turn_message_embeddings", id="turn_id"),
    Rows("turn_embedding_queue", ("queued_at",), moments=("queued_at",), id="turn_id"),
    Rows("fact_embeddings", ("created_at",), moments=("created_at",), id="fact_id"),
    Rows("fact_embedding_queue", ("queued_at",), moments=("queued_at",), id="fact_id"),
    Rows("short_term_embeddings", ("created_at",), moments=("created_at",), id="memory_id"),
    Rows("short_term_embedding_queue", ("queued_at",), moments=("queued_at",), id="memory_id"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Effort:
    """Up to `exact` candidates every vector is compared; beyond, bits choose `chosen`, or `times` as many as wanted.

    To read a vector takes 6 µs, or 12 in a million memories.
    """

    exact: int
    chosen: int
    times: int


SEARCHING = Effort(exact=5_000, chosen=400, times=8)
STORING = Effort(exact=100, chosen=100, times=10)
"""Among 6,000 notes and lines of dialogues a hundred hold the nearest text for 99.8 %, and 98 % of the nearest ten."""

_SPACE_FIELDS = [field.name for field in fields(Space)]
_SPACE_COLUMNS = ", ".join(_SPACE_FIELDS)


Wanted: TypeAlias = Filter | FactFilter | SaidFilter
"""Which texts of a kind a search wants: each kind has its own filter."""


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


def conditions(wanted: Wanted, now: str) -> tuple[list[str], list[Value]]:
    """A filter as clauses on the table of its kind AS m, beside their values."""
    match wanted:
        case FactFilter():
            return facts.conditions(wanted, now)
        case SaidFilter():
            return short_term.conditions(wanted)
        case Filter():
            return memories.conditions(wanted)


@dataclass(frozen=True, slots=True)
class KnownSpace:
    """A space as the file knows it; `state` is building, active or retired."""

    id: int
    state: str
    space: Space


@dataclass(frozen=True, slots=True)
class Waiting:
    """What has no embedding yet, with the bytes of the texts that it has now."""

    kind: Embedded
    id: int
    contents: tuple[bytes, ...]

    @property
    def size(self) -> int:
        """Bytes of its texts."""
        return sum(map(len, self.contents))

    @property
    def texts(self) -> list[str]:
        """What is embedded: the parts of a memory, the summary and the message of a turn.

        What is no UTF-8 is replaced by marks: the rest of the text is embedded all the same.
        """
        texts = [content.decode(errors="replace") for content in self.contents]
        match self.kind:
            case Embedded.MEMORIES:
                return parts.split(texts[0])
            case Embedded.FACTS:
                return [fact_text.of_row(texts[0])]
            case _:
                return texts


def _known(row: tuple[Any, ...]) -> KnownSpace:
    named: dict[str, Any] = dict(zip(_SPACE_FIELDS, row[2:], strict=True))
    named |= {"chinese": bool(named["chinese"]), "lexical": bool(named["lexical"])}
    return KnownSpace(row[0], row[1], Space(**named))


def spaces(tx: Tx) -> list[KnownSpace]:
    """Every space that is in use, the active one first."""
    rows = tx.rows(
        f"""
        SELECT id, state, {_SPACE_COLUMNS}
        FROM spaces
        WHERE state <> 'retired'
        ORDER BY state = 'active' DESC, id
        """
    )
    return [_known(row) for row in rows]


def open_space(tx: WriteTx, space: Space) -> KnownSpace:
    """The space in use with this fingerprint, opened and all memories queued for it where it is not.

    The first space of a file is active at once; a later one is building until `activate`.
    """
    known = spaces(tx)
    for each in known:
        if each.space.fingerprint == space.fingerprint:
            return each
    state = "building" if known else "active"
    tx.execute(
        f"""
        INSERT INTO spaces (state, created_at, {_SPACE_COLUMNS})
        VALUES (?, ?, {", ".join("?" for _ in _SPACE_FIELDS)})
        ON CONFLICT (fingerprint) DO UPDATE SET state = excluded.state
        """,
        (state, tx.now, *astuple(space)),
    )
    id = int(tx.value("SELECT id FROM spaces WHERE fingerprint = ?", (space.fingerprint,)))
    for tables in TABLES.values():
        tx.execute(
            f"""
            INSERT OR REPLACE INTO main.{tables.queue} (space_id, {tables.id}, queued_at)
            SELECT ?, id, ? FROM {tables.source}
            """,
            (id, tx.now),
        )
    return KnownSpace(id, state, space)


def activate(tx: WriteTx, id: int) -> None:
    """Let searches use this space from now on; the vectors of the one before it go."""
    for (old,) in tx.rows("SELECT id FROM spaces WHERE state <> 'retired' AND id <> ?", (id,)):
        _retire(tx, old)
    tx.execute("UPDATE spaces SET state = 'active' WHERE id = ?", (id,))


def lease(tx: WriteTx, id: int, holder: str, until: str) -> bool:
    """Take or renew the right to fill a space; false while another process holds it.

    A lease that ends later than `until` was taken before the clock was set back, and counts as ended.
    """
    return bool(
        tx.execute(
            """
            UPDATE spaces
            SET lease_holder = ?, lease_until = ?
            WHERE id = ? AND (
                lease_holder IS NULL OR lease_holder = ? OR lease_until < ? OR lease_until > ?
            )
            """,
            (holder, until, id, holder, tx.now, until),
        )
    )


def release(tx: WriteTx, id: int, holder: str) -> None:
    """Another process may go on at once."""
    tx.execute(
        "UPDATE spaces SET lease_holder = NULL, lease_until = NULL WHERE id = ? AND lease_holder = ?",
        (id, holder),
    )


def abandon(tx: WriteTx) -> None:
    """Retire the spaces that are building while nobody fills them: what is left of a change that was broken off."""
    for (id,) in tx.rows(
        "SELECT id FROM spaces WHERE state = 'building' AND ifnull(lease_until, '') < ?", (tx.now,)
    ):
        _retire(tx, id)


def _retire(tx: WriteTx, id: int) -> None:
    for tables in TABLES.values():
        for table in (*tables.embedded.values(), tables.queue):
            tx.execute(f"DELETE FROM main.{table} WHERE space_id = ?", (id,))
    for table in ("embedding_bits", "part_embeddings"):
        tx.execute(f"DELETE FROM main.{table} WHERE space_id = ?", (id,))
    tx.execute("UPDATE spaces SET state = 'retired' WHERE id = ?", (id,))


def in_use(tx: Tx, space_id: int) -> bool:
    """Whether a space is there still."""
    return tx.value("SELECT 1 FROM spaces WHERE id = ? AND state <> 'retired'", (space_id,)) is not None


def waiting(tx: Tx, space_id: int, kind: Embedded, limit: int) -> list[Waiting]:
    """What waits for its embedding, oldest first."""
    tables = TABLES[kind]
    rows = tx.rows(
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


def _contents(tables: Tables) -> str:
    return ", ".join(f"CAST({text} AS BLOB)" for text in tables.embedded)


def count_waiting(tx: Tx, space_id: int, *kinds: Embedded) -> int:
    """How many wait: of these kinds, or of all."""
    counts = (
        tx.value(f"SELECT count(*) FROM {TABLES[kind].queue} WHERE space_id = ?", (space_id,))
        for kind in kinds or Embedded
    )
    return sum(map(int, counts))


def count_embedded(tx: Tx, space_id: int, project: str | None = None) -> int:
    """How many memories of a project ('' is none) or of all have an embedding: those that do not wait for it."""
    waiting = tx.value(
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
    return memory_counts.total(tx, project) - int(waiting)


def insert(tx: WriteTx, space_id: int, embedded: Waiting, vectors: Sequence[Vector]) -> bool:
    """Keep the vectors of its texts; false where one was deleted or changed, or the space retired by now."""
    tables, blob = TABLES[embedded.kind], as_blob(vectors[0])
    wanted = tx.value(
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
    tx.execute(
        f"""
        INSERT OR REPLACE INTO main.{first} (space_id, {tables.id}, vector, created_at)
        VALUES (?, ?, ?, ?)
        """,
        (space_id, embedded.id, blob, tx.now),
    )
    for table, vector in zip(others, vectors[1:], strict=False):
        tx.execute(
            f"INSERT OR REPLACE INTO main.{table} (space_id, {tables.id}, vector) VALUES (?, ?, ?)",
            (space_id, embedded.id, as_blob(vector)),
        )
    if embedded.kind is Embedded.MEMORIES:
        _insert_bits(tx, space_id, embedded.id, blob)
        _insert_parts(tx, space_id, embedded.id, vectors[1:])
    tx.execute(
        f"DELETE FROM main.{tables.queue} WHERE space_id = ? AND {tables.id} = ?", (space_id, embedded.id)
    )
    return True


def _insert_bits(tx: WriteTx, space_id: int, memory_id: int, blob: bytes) -> None:
    tx.execute("DELETE FROM main.embedding_bits WHERE space_id = ? AND memory_id = ?", (space_id, memory_id))
    tx.execute(
        """
        INSERT INTO main.embedding_bits (space_id, project, memory_id, type, importance, bits)
        SELECT ?, ifnull(project, ''), id, type, importance, vec_quantize_binary(?)
        FROM memories
        WHERE id = ?
        """,
        (space_id, blob, memory_id),
    )


def _insert_parts(tx: WriteTx, space_id: int, memory_id: int, vectors: Sequence[Vector]) -> None:
    """The vectors of the parts after the first."""
    for number, vector in enumerate(vectors, 1):
        tx.execute(
            """
            INSERT OR REPLACE INTO main.part_embeddings (space_id, part_id, vector)
            SELECT ?, id, ? FROM memory_parts WHERE id = ?
            """,
            (space_id, as_blob(vector), parts.id_of(memory_id, number)),
        )


def keep(
    tx: WriteTx, space_id: int, kind: Embedded, id: int, texts: Sequence[str], vectors: Sequence[Vector]
) -> bool:
    """Keep the vectors of texts that were embedded before they were stored; false where others were stored."""
    return insert(tx, space_id, Waiting(kind, id, tuple(text.encode() for text in texts)), vectors)


def nearest(
    tx: Tx,
    kind: Embedded,
    space_id: int,
    query: Vector,
    wanted: Wanted,
    limit: int,
    effort: Effort = SEARCHING,
    bits: SignBits | None = None,
) -> dict[int, float]:
    """The texts nearest in meaning, best first, each with its cosine (from -1 to 1); parts of long texts among them.

    Of a turn its summary or its message counts, whichever is nearer. With the `bits` that the process holds, a search
    among many memories is fast and finds the same.
    """
    if not isinstance(wanted, Filter) or kind is not Embedded.MEMORIES:
        tables = TABLES[kind]
        found: dict[int, float] = {}
        for table in tables.embedded.values():
            source = f"{table} AS e JOIN {tables.source} AS m ON m.id = e.{tables.id}"
            for id, cosine in _nearest(tx, source, f"e.{tables.id}", space_id, query, wanted, limit).items():
                found[id] = max(cosine, found.get(id, cosine))
    else:
        found = _nearest_memories(tx, space_id, query, wanted, limit, effort, bits)
        found |= _nearest(tx, _PARTS, "e.part_id", space_id, query, wanted, limit)
    return dict(sorted(found.items(), key=lambda each: (-each[1], -each[0]))[:limit])


_PARTS = (
    "part_embeddings AS e JOIN memory_parts AS p ON p.id = e.part_id JOIN memories AS m ON m.id = p.memory_id"
)


def _nearest(
    tx: Tx, source: str, id: str, space_id: int, query: Vector, wanted: Wanted, limit: int
) -> dict[int, float]:
    """Every vector of `source` is compared."""
    clauses, values = conditions(wanted, tx.now)
    rows = tx.rows(
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
    tx: Tx,
    space_id: int,
    query: Vector,
    wanted: Filter,
    limit: int,
    effort: Effort,
    bits: SignBits | None,
) -> dict[int, float]:
    """Sign bits choose candidates where there are many, cosine ranks them."""
    clauses, values = _conditions(space_id, wanted)
    where = " AND ".join(clauses)
    bounded = f"SELECT 1 FROM embedding_bits AS b WHERE {where} LIMIT ?"
    many = tx.value(f"SELECT count(*) FROM ({bounded})", (*values, effort.exact + 1))
    if many <= effort.exact:
        chosen = f"SELECT b.memory_id FROM embedding_bits AS b WHERE {where}"
        return _ranked(tx, space_id, query, chosen, values, limit)
    most = max(effort.chosen, effort.times * limit)
    held = None if bits is None else bits.nearest(tx, space_id, query, wanted, most)
    if held is not None:
        return _ranked(tx, space_id, query, _THESE, [json.dumps(held.tolist())], limit)
    chosen = f"""
        SELECT b.memory_id
        FROM embedding_bits AS b
        WHERE {where}
        ORDER BY vec_distance_hamming(vec_bit(b.bits), vec_bit(vec_quantize_binary(?))), b.memory_id
        LIMIT ?
    """
    return _ranked(tx, space_id, query, chosen, [*values, as_blob(query), most], limit)


_THESE = "SELECT value FROM json_each(?)"


def cosines(tx: Tx, space_id: int, query: Vector, ids: Sequence[int]) -> dict[int, float]:
    """The cosine of each of these memories that has an embedding."""
    return _ranked(tx, space_id, query, _THESE, [json.dumps(list(ids))], len(ids))


def _ranked(
    tx: Tx, space_id: int, query: Vector, chosen: str, values: list[Value], limit: int
) -> dict[int, float]:
    """Rounded, so that both vector engines put equal memories in equal order. A vector that holds no numbers, as in a
    damaged row, has no cosine, and is left out.
    """
    rows = tx.rows(
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


def vector_of(tx: Tx, space_id: int, id: int) -> Vector | None:
    """The vector of a memory, of shape (dimensions,); None where it has none yet."""
    blob = tx.value("SELECT vector FROM embeddings WHERE space_id = ? AND memory_id = ?", (space_id, id))
    return None if blob is None else np.frombuffer(blob, dtype="<f4")
