"""Writes records as items, whole: with their dates and their history. The tables' own rules decide what fits."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from memory_server.domain.embedding import Embedded
from memory_server.domain.exchange.records import (
    Capture,
    EdgeRecord,
    Item,
    LongTermRecord,
    MemoryRecord,
    RuleRecord,
    ShortTermRecord,
    TurnRecord,
    number_of,
    own_id,
)
from memory_server.storage.tx import Tx, WriteTx
from memory_server.transfer import vectors
from memory_server.transfer.shapes import (
    EARLIER,
    EDGE,
    LONG_TERM,
    MEMORY,
    RULE,
    SHORT_TERM,
    TABLES,
    TURN,
    WAKE,
)

LARGEST: Final = 1 << 40
"""An id that is taken over is smaller: the parts of long memories have larger ones."""


def insert_memory(tx: WriteTx, record: MemoryRecord) -> int:
    """Insert a memory; return its id: the one that it had, where no memory here ever had that or a later one."""
    created_at = record.created_at or tx.now
    dated = replace(record, created_at=created_at, updated_at=record.updated_at or created_at)
    id = tx.statements.insert("memories", MEMORY.values(dated), number_to_keep(record.id))
    _insert_history(tx, id, record)
    mark(tx, "memory", id, record.captured)
    vectors.keep(tx, Embedded.MEMORIES, id, [record.content], record.vectors)
    return id


def rewrite_memory(tx: WriteTx, id: int, record: MemoryRecord) -> None:
    """Make a memory what the record says, its history too."""
    update(tx, "memories", id, MEMORY.values(record))
    tx.statements.send("DELETE FROM memory_history WHERE memory_id = :id", {"id": id})
    _insert_history(tx, id, record)
    mark(tx, "memory", id, record.captured)  # an SQL trigger takes the mark off whatever is rewritten


def insert_turn(tx: WriteTx, record: TurnRecord) -> int:
    """Insert a turn; return its id, as `insert_memory` does."""
    row = TURN.values(replace(record, created_at=record.created_at or tx.now))
    id = tx.statements.insert("turns", row, number_to_keep(record.id))
    vectors.keep(tx, Embedded.TURNS, id, [record.summary, record.message], record.vectors)
    return id


def rewrite_turn(tx: WriteTx, id: int, record: TurnRecord) -> None:
    """Make a turn what the record says, but for the moment of its creation."""
    row = TURN.values(record)
    del row["created_at"]
    update(tx, "turns", id, row)


def insert_short_term(tx: WriteTx, record: ShortTermRecord) -> int:
    """Insert a short-term memory; return its id, as `insert_memory` does."""
    dated = replace(record, said_at=record.said_at or tx.now, created_at=record.created_at or tx.now)
    conversation_id = tx.conversations.find_or_insert(record.conversation)
    row = SHORT_TERM.values(dated) | {"conversation_id": conversation_id}
    id = tx.statements.insert("short_term_memories", row, number_to_keep(record.id))
    _write_keywords(tx, id, record.keywords)
    mark(tx, "short_term", id, record.captured)
    vectors.keep(tx, Embedded.SHORT_TERM, id, [record.text], record.vectors)
    return id


def rewrite_short_term(tx: WriteTx, id: int, record: ShortTermRecord) -> None:
    """Give a short-term memory the text, the score, the moment and the keywords of the record."""
    row = {"text": record.text, "score": record.score, "said_at": record.said_at}
    update(tx, "short_term_memories", id, row)
    _write_keywords(tx, id, record.keywords)
    mark(tx, "short_term", id, record.captured)


def insert(tx: WriteTx, record: Item) -> int:
    """Insert a memory, a turn or a short-term memory; return its id, as `insert_memory` does."""
    match record:
        case MemoryRecord():
            return insert_memory(tx, record)
        case TurnRecord():
            return insert_turn(tx, record)
        case _:
            return insert_short_term(tx, record)


def rewrite(tx: WriteTx, id: int, record: Item | LongTermRecord) -> None:
    """Make a memory, a turn, a short-term or a long-term memory what the record says."""
    match record:
        case LongTermRecord():
            put_long_term(tx, record)
        case MemoryRecord():
            rewrite_memory(tx, id, record)
        case TurnRecord():
            rewrite_turn(tx, id, record)
        case _:
            rewrite_short_term(tx, id, record)


def put_long_term(tx: WriteTx, record: LongTermRecord) -> int:
    """Insert a long-term memory, or make what has its name in its conversation what the record says."""
    row = LONG_TERM.values(replace(record, created_at=record.created_at or tx.now))
    id = long_term_id(tx, record.conversation, record.name)
    if id is None:
        conversation_id = tx.conversations.find_or_insert(record.conversation)
        first = {name: row[name] for name in ("name", "prompt", "trigger")}
        id = tx.statements.insert("long_term_memories", first | {"conversation_id": conversation_id})
    else:
        update(tx, "long_term_memories", id, {"trigger": record.trigger})
    del (
        row["name"],
        row["trigger"],
    )  # an SQL trigger forgets the failures of a changed trigger: they come after it
    update(tx, "long_term_memories", id, row)
    tx.statements.send("DELETE FROM wakes WHERE memory_id = :id", {"id": id})
    tx.statements.send_each(
        WAKE.insertion("memory_id"),
        ({"memory_id": id, **WAKE.values(wake)} for wake in record.wakes),
    )
    _write_rule(tx, id, record.rule)
    return id


def _write_rule(tx: WriteTx, id: int, rule: RuleRecord | None) -> None:
    """Make a long-term memory this rule, or none. An SQL trigger has taken the confirmation off changed words."""
    tx.statements.send("DELETE FROM rules WHERE memory_id = :id", {"id": id})
    if rule is not None:
        tx.statements.send(RULE.insertion("memory_id"), {"memory_id": id, **RULE.values(rule)})


def long_term_id(tx: Tx, conversation: str, name: str) -> int | None:
    """Return the row of a long-term memory; None if its conversation has none of this name."""
    id = tx.statements.value(
        """
        SELECT m.id
        FROM long_term_memories AS m
        JOIN conversations AS c ON c.id = m.conversation_id
        WHERE c.name = :conversation AND m.name = :name
        """,
        {"conversation": conversation, "name": name},
    )
    return None if id is None else int(id)


def edges_between(tx: Tx, source: int, target: int, relation: str) -> list[tuple[int, EdgeRecord]]:
    """Return the edges of one relation from one memory to another, those that have ended too, with their rows."""
    rows = tx.statements.rows(
        f"""
        SELECT id, {EDGE.listed()}
        FROM edges
        WHERE source_id = :source AND target_id = :target AND relation = :relation
        ORDER BY valid_from, id
        """,
        {"source": source, "target": target, "relation": relation},
    )
    return [(id, EDGE.make(values, source="", target="")) for id, *values in rows]


def insert_edge(tx: WriteTx, source: int, target: int, record: EdgeRecord) -> int:
    """Connect two memories as the record says; return the id of the edge."""
    row = EDGE.values(replace(record, valid_from=record.valid_from or tx.now))
    return tx.statements.insert("edges", {"source_id": source, "target_id": target, **row})


def rewrite_edge(tx: WriteTx, id: int, record: EdgeRecord) -> None:
    """Make an edge what the record says, but for its relation."""
    row = EDGE.values(record)
    del row["relation"]
    update(tx, "edges", id, row)


def mark(tx: WriteTx, kind: str, id: int, capture: Capture | None) -> None:
    """Mark what a hook has kept unasked."""
    if capture is not None:
        tx.statements.send(
            """
            INSERT INTO hook_captures (kind, item_id, session, event, captured_at)
            VALUES (:kind, :item, :session, :event, :at)
            ON CONFLICT (kind, item_id) DO UPDATE
            SET session = excluded.session, event = excluded.event, captured_at = excluded.captured_at
            """,
            {
                "kind": kind,
                "item": id,
                "session": capture.session,
                "event": capture.event,
                "at": capture.captured_at,
            },
        )


def is_there(tx: Tx, kind: str, id: int) -> bool:
    """True if an item is in its table, not in the trash."""
    return tx.statements.value(f"SELECT 1 FROM {TABLES[kind]} WHERE id = :id", {"id": id}) is not None


def number_to_keep(id: str) -> int | None:
    """Return the row's id in an own id; None where no row may have it."""
    number = number_of(id)
    fits = number is not None and 0 < number < LARGEST and id == own_id(number, id.partition("@")[2])
    return number if fits else None


def put(tx: WriteTx, table: str, id: int | None, row: Mapping[str, Any]) -> int:
    """Insert a row, or give the row with this id these values; return its id."""
    if id is None:
        return tx.statements.insert(table, row)
    update(tx, table, id, row)
    return id


def update(tx: WriteTx, table: str, id: int, row: Mapping[str, Any]) -> None:
    """Give a row these values, and index its words anew."""
    settings = ", ".join(f'"{column}" = :{column}' for column in row)
    tx.statements.send(f"UPDATE {table} SET {settings} WHERE id = :id", {**row, "id": id})
    tx.statements.write_words(table, id, row)


def _insert_history(tx: WriteTx, id: int, record: MemoryRecord) -> None:
    tx.statements.send_each(
        EARLIER.insertion("memory_id"),
        ({"memory_id": id, **EARLIER.values(earlier)} for earlier in record.history),
    )


def _write_keywords(tx: WriteTx, id: int, keywords: tuple[tuple[str, float], ...] | None) -> None:
    """Give a short-term memory these keywords; None leaves those that it has."""
    if keywords is None:
        return
    update(tx, "short_term_memories", id, {"keyed": True})
    tx.statements.send("DELETE FROM short_term_keywords WHERE memory_id = :id", {"id": id})
    tx.statements.send_each(
        """
        INSERT INTO short_term_keywords (conversation_id, word, memory_id, weight)
        SELECT conversation_id, :word, id, :weight FROM short_term_memories WHERE id = :id
        """,
        ({"id": id, "word": word, "weight": weight} for word, weight in keywords),
    )
