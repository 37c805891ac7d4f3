"""Reads items as records, in an order that is the same in every database that holds the same."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from memory_server.domain.embedding import Embedded
from memory_server.domain.exchange.records import (
    OWN,
    Capture,
    ConversationRecord,
    DeletedRecord,
    DigestRecord,
    EdgeRecord,
    LongTermRecord,
    MemoryRecord,
    ShortTermRecord,
    TurnRecord,
    own_id,
    place,
)
from memory_server.storage.tx import Tx
from memory_server.transfer import origins
from memory_server.transfer import vectors as item_vectors
from memory_server.transfer.shapes import (
    CAPTURE,
    CONVERSATION,
    EARLIER,
    EDGE,
    LONG_TERM,
    MEMORY,
    RULE,
    SHORT_TERM,
    TABLES,
    TURN,
    WAKE,
    Shape,
    edge_order,
)

Made = TypeVar("Made")
Known = TypeVar("Known", MemoryRecord, TurnRecord, ShortTermRecord)


def order(tx: Tx, kind: str, project: str | None = None) -> list[int]:
    """Return the rows of a kind, of a project or of all, in the order of their own ids."""
    where, values = of_project("coalesce(project, '')", project)
    rows = tx.statements.rows(f"SELECT id, created_at FROM {TABLES[kind]} {where}", values)
    own_name = name_of(tx, kind)
    return [id for _, id in sorted((place(own_name(id, moment)), id) for id, moment in rows)]


def memories(tx: Tx, ids: Sequence[int], embedded: bool = False) -> list[MemoryRecord]:
    """Return memories whole, in the order of the ids; with their vectors if `embedded`."""
    history = _parts(tx, EARLIER, "memory_id", ids, "replaced_at, content, reason")
    vectors = item_vectors.of_items(tx, Embedded.MEMORIES, ids) if embedded else {}
    marks = captures(tx, "memory", ids)
    records = {
        id: MEMORY.make(
            values, id="", history=history.get(id, ()), captured=marks.get(id), vectors=vectors.get(id, {})
        )
        for id, *values in _rows(tx, MEMORY, ids)
    }
    return _named(tx, "memory", ids, records)


def said(tx: Tx, ids: Sequence[int]) -> list[tuple[Any, ...]]:
    """Return the id, text, type, project and person of each of these memories that is there."""
    return tx.statements.rows(
        """
        SELECT id, content, type, project, person
        FROM memories
        WHERE id IN (SELECT value FROM json_each(:ids))
        ORDER BY id
        """,
        {"ids": tx.statements.array(ids)},
    )


def turns(tx: Tx, ids: Sequence[int], embedded: bool = False) -> list[TurnRecord]:
    """Return turns whole, in the order of the ids; with their vectors if `embedded`."""
    vectors = item_vectors.of_items(tx, Embedded.TURNS, ids) if embedded else {}
    records = {
        id: TURN.make(values, id="", vectors=vectors.get(id, {})) for id, *values in _rows(tx, TURN, ids)
    }
    return _named(tx, "turn", ids, records)


def short_term(tx: Tx, ids: Sequence[int], embedded: bool = False) -> list[ShortTermRecord]:
    """Return short-term memories whole, in the order of the ids; with their vectors if `embedded`."""
    keywords: dict[int, list[tuple[str, float]]] = {}
    for id, word, weight in tx.statements.rows(
        """
        SELECT memory_id, word, weight
        FROM short_term_keywords
        WHERE memory_id IN (SELECT value FROM json_each(:ids))
        ORDER BY weight DESC, word
        """,
        {"ids": tx.statements.array(ids)},
    ):
        keywords.setdefault(id, []).append((word, weight))
    marks = captures(tx, "short_term", ids)
    vectors = item_vectors.of_items(tx, Embedded.SHORT_TERM, ids) if embedded else {}
    rows = tx.statements.rows(
        f"""
        SELECT m.id, m.keyed, c.name, {SHORT_TERM.listed("m")}
        FROM short_term_memories AS m
        JOIN conversations AS c ON c.id = m.conversation_id
        WHERE m.id IN (SELECT value FROM json_each(:ids))
        """,
        {"ids": tx.statements.array(ids)},
    )
    records = {
        id: SHORT_TERM.make(
            values,
            id="",
            conversation=conversation,
            keywords=tuple(keywords.get(id, ())) if keyed else None,
            captured=marks.get(id),
            vectors=vectors.get(id, {}),
        )
        for id, keyed, conversation, *values in rows
    }
    return _named(tx, "short_term", ids, records)


def edges(tx: Tx, project: str | None = None) -> Iterator[EdgeRecord]:
    """Yield all edges, or those between memories of a project, by the ids of their ends."""
    where, values = of_project("coalesce(s.project, '')", project)
    also = "" if project is None else "AND coalesce(t.project, '') = :project"
    rows = tx.statements.rows(
        f"""
        SELECT e.id, s.id, s.created_at, t.id, t.created_at, {EDGE.listed("e")}
        FROM edges AS e
        JOIN memories AS s ON s.id = e.source_id
        JOIN memories AS t ON t.id = e.target_id
        {where} {also}
        """,
        values,
    )
    own_name = name_of(tx, "memory")
    records = [
        EDGE.make(values, source=own_name(source, source_at), target=own_name(target, target_at))
        for _, source, source_at, target, target_at, *values in rows
    ]
    yield from sorted(records, key=edge_order)


def digests(tx: Tx) -> Iterator[DigestRecord]:
    """Yield what the digests of the server stand for, where both are there."""
    digest_name = name_of(tx, "memory")
    for kind in ("memory", "turn"):
        item_name = name_of(tx, kind)
        rows = tx.statements.rows(
            f"""
            SELECT d.item_id, m.created_at, d.digest_id, g.created_at, d.id
            FROM digested AS d
            JOIN {TABLES[kind]} AS m ON m.id = d.item_id
            LEFT JOIN memories AS g ON g.id = d.digest_id
            WHERE d.kind = :kind AND (d.digest_id = 0 OR g.id IS NOT NULL)
            """,
            {"kind": kind},
        )
        records = [
            DigestRecord(
                "memory" if kind == "memory" else "turn",
                item_name(item, item_at),
                digest_name(digest, digest_at) if digest else None,
            )
            for item, item_at, digest, digest_at, _ in rows
        ]
        yield from sorted(records, key=lambda record: place(record.id))


def conversations(tx: Tx, name: str | None = None) -> Iterator[ConversationRecord]:
    """Yield all conversations, or the one with a name, by name."""
    where = "" if name is None else "WHERE name = :name"
    rows = tx.statements.rows(
        f"SELECT id, {CONVERSATION.listed()} FROM conversations {where} ORDER BY name", {"name": name}
    )
    yield from (CONVERSATION.make(values) for _, *values in rows)


def long_term(
    tx: Tx, conversation: str | None = None, name: str | None = None, id: int | None = None
) -> Iterator[LongTermRecord]:
    """Yield the long-term memories of all conversations or of one, or one of them, by name or by id."""
    limits = {"c.name = :conversation": conversation, "m.name = :name": name, "m.id = :id": id}
    conditions = [condition for condition, value in limits.items() if value is not None]
    rows = tx.statements.rows(
        f"""
        SELECT m.id, c.name, {LONG_TERM.listed("m")}
        FROM long_term_memories AS m
        JOIN conversations AS c ON c.id = m.conversation_id
        {"WHERE " if conditions else ""}{" AND ".join(conditions)}
        ORDER BY c.name, m.name
        """,
        {"conversation": conversation, "name": name, "id": id},
    )
    ids = [row[0] for row in rows]
    wakes = _parts(tx, WAKE, "memory_id", ids, "at, id")
    rules = _parts(tx, RULE, "memory_id", ids, "id")
    sources = origins.of_items(tx, "long_term", ids)
    for memory_id, conversation_name, *values in rows:
        yield LONG_TERM.make(
            values,
            conversation=conversation_name,
            wakes=wakes.get(memory_id, ()),
            rule=next(iter(rules.get(memory_id, ())), None),
            origins=sources[memory_id].origins,
        )


def deleted(tx: Tx) -> Iterator[DeletedRecord]:
    """Yield what lies in the trash, without its text."""
    for kind, table in (*TABLES.items(), ("long_term", "long_term_memories")):
        own_name = name_of(tx, kind)
        rows = tx.statements.rows(
            f"""
            SELECT
                item_id, deleted_at, coalesce(conversation, ''), json_extract(parts, '$.{table}[0].created_at'),
                json_extract(parts, '$.{table}[0].name'), id
            FROM trash
            WHERE kind = :kind AND json_extract(parts, '$.{table}[0].created_at') IS NOT NULL
            ORDER BY id
            """,
            {"kind": kind},
        )
        for id, moment, conversation, created_at, name, _ in rows:
            record_id = name if kind == "long_term" else own_name(id, created_at)
            yield DeletedRecord(kind, record_id, moment, conversation)  # type: ignore[arg-type]


def captures(tx: Tx, kind: str, ids: Sequence[int]) -> dict[int, Capture]:
    """Return the marks of what was kept unasked, by item."""
    rows = tx.statements.rows(
        f"""
        SELECT id, item_id, {CAPTURE.listed()}
        FROM hook_captures
        WHERE kind = :kind AND item_id IN (SELECT value FROM json_each(:ids))
        """,
        {"kind": kind, "ids": tx.statements.array(ids)},
    )
    return {item: CAPTURE.make(values) for _, item, *values in rows}


def name_of(tx: Tx, kind: str) -> Callable[[int, str], str]:
    """Return a function that gives the first own id of an item by its row's id and the moment of its creation."""
    rows = tx.statements.rows(
        "SELECT source_id, item_id, id FROM origins WHERE kind = :kind AND source = :own",
        {"kind": kind, "own": OWN},
    )
    first: dict[int, str] = {}
    for text, item, _ in rows:
        first[item] = min(text, first.get(item, text), key=place)
    return lambda id, created_at: first.get(id) or own_id(id, created_at)


def of_project(column: str, project: str | None) -> tuple[str, dict[str, str]]:
    """Return a WHERE with its values: the rows of a project, or nothing where all are wanted."""
    return ("", {}) if project is None else (f"WHERE {column} = :project", {"project": project})


def _rows(tx: Tx, shape: Shape[Any], ids: Sequence[int]) -> list[tuple[Any, ...]]:
    """Return the rows with these ids: the id, then the columns of the shape."""
    return tx.statements.rows(
        f"""
        SELECT id, {shape.listed()}
        FROM {shape.table.name}
        WHERE id IN (SELECT value FROM json_each(:ids))
        """,
        {"ids": tx.statements.array(ids)},
    )


def _parts(
    tx: Tx, shape: Shape[Made], key: str, ids: Sequence[int], order_by: str
) -> dict[int, tuple[Made, ...]]:
    """Return the rows that belong to items, as records in their order, by item."""
    parts: dict[int, list[Made]] = {}
    for _, item, *values in tx.statements.rows(
        f"""
        SELECT id, {key}, {shape.listed()}
        FROM {shape.table.name}
        WHERE {key} IN (SELECT value FROM json_each(:ids))
        ORDER BY {order_by}
        """,
        {"ids": tx.statements.array(ids)},
    ):
        parts.setdefault(item, []).append(shape.make(values))
    return {item: tuple(records) for item, records in parts.items()}


def _named(tx: Tx, kind: str, ids: Sequence[int], records: Mapping[int, Known]) -> list[Known]:
    """Return the records with their own ids and their origins, in the order of the ids."""
    sources = origins.of_items(tx, kind, list(records))
    named = []
    for id in ids:
        if id in records:
            record = records[id]
            first, *also = sources[id].own_ids or [own_id(id, record.created_at)]
            named.append(replace(record, id=first, also=tuple(also), origins=sources[id].origins))
    return named
