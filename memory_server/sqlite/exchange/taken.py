"""Writes records as items, whole: with their dates and their history. The tables' own rules decide what fits."""

from collections.abc import Callable
from typing import TypeVar

import apsw

from memory_server.domain.embedding import Embedded
from memory_server.domain.exchange.records import (
    Capture,
    ConversationRecord,
    DigestRecord,
    EdgeRecord,
    LongTermRecord,
    MemoryRecord,
    ProjectRecord,
    ShortTermRecord,
    TurnRecord,
    number_of,
    own_id,
)
from memory_server.sqlite import conversations, origins, short_term
from memory_server.sqlite.exchange import vectors
from memory_server.sqlite.facts import as_json
from memory_server.sqlite.tx import Tx, WriteTx

Taken = TypeVar("Taken")

LARGEST = 1 << 40
"""An id that is taken over is smaller: the parts of long memories have larger ones."""


def attempt(tx: WriteTx, take: Callable[[], Taken]) -> Taken | str:
    """Write one item; where a rule of the file refuses it, nothing of it is written: then the rule."""
    tx.connection.execute("SAVEPOINT one_item")
    try:
        return take()
    except (
        apsw.ConstraintError,
        ValueError,
        OverflowError,
    ) as error:  # also text that is no UTF-8, and huge numbers
        tx.connection.execute("ROLLBACK TO one_item")
        return str(error).removeprefix("ConstraintError: ")
    finally:
        tx.connection.execute("RELEASE one_item")


def insert_memory(tx: WriteTx, record: MemoryRecord) -> int:
    """The id of the new memory: the one that it had, where no memory of this file ever had that or a later one."""
    created_at = record.created_at or tx.now
    row = tx.one(
        """
        INSERT INTO memories
            (
                id, content, type, project, tags, importance, metadata, access_count, created_at, updated_at,
                accessed_at, created_by, session, occurred_at, person
            )
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        RETURNING id
        """,
        (
            _free(tx, "memories", record.id),
            record.content,
            record.type,
            record.project,
            as_json(list(record.tags)),
            record.importance,
            as_json(dict(record.metadata)),
            record.access_count,
            created_at,
            record.updated_at or created_at,
            record.accessed_at,
            record.created_by,
            record.session,
            record.occurred_at,
            record.person,
        ),
    )
    id = int(row[0])
    _insert_history(tx, id, record)
    mark(tx, "memory", id, record.captured)
    vectors.keep(tx, Embedded.MEMORIES, id, [record.content], record.vectors)
    return id


def rewrite_memory(tx: WriteTx, id: int, record: MemoryRecord) -> None:
    """Make a memory what the record says, its history too."""
    tx.execute(
        """
        UPDATE memories
        SET content = ?, type = ?, project = ?, tags = ?, importance = ?, metadata = ?, access_count = ?,
            created_at = ?, updated_at = ?, accessed_at = ?, created_by = ?, session = ?, occurred_at = ?,
            person = ?
        WHERE id = ?
        """,
        (
            record.content,
            record.type,
            record.project,
            as_json(list(record.tags)),
            record.importance,
            as_json(dict(record.metadata)),
            record.access_count,
            record.created_at,
            record.updated_at,
            record.accessed_at,
            record.created_by,
            record.session,
            record.occurred_at,
            record.person,
            id,
        ),
    )
    tx.execute("DELETE FROM memory_history WHERE memory_id = ?", (id,))
    _insert_history(tx, id, record)
    mark(tx, "memory", id, record.captured)  # an SQL trigger takes the mark off whatever is rewritten


def insert_turn(tx: WriteTx, record: TurnRecord) -> int:
    row = tx.one(
        """
        INSERT INTO turns (id, message, summary, project, session, created_at, created_by, occurred_at, person)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        RETURNING id
        """,
        (
            _free(tx, "turns", record.id),
            record.message,
            record.summary,
            record.project,
            record.session,
            record.created_at or tx.now,
            record.created_by,
            record.occurred_at,
            record.person,
        ),
    )
    id = int(row[0])
    vectors.keep(tx, Embedded.TURNS, id, [record.summary, record.message], record.vectors)
    return id


def rewrite_turn(tx: WriteTx, id: int, record: TurnRecord) -> None:
    tx.execute(
        """
        UPDATE turns
        SET message = ?, summary = ?, project = ?, session = ?, created_by = ?, occurred_at = ?, person = ?
        WHERE id = ?
        """,
        (
            record.message,
            record.summary,
            record.project,
            record.session,
            record.created_by,
            record.occurred_at,
            record.person,
            id,
        ),
    )


def insert_short_term(tx: WriteTx, record: ShortTermRecord) -> int:
    place = conversations.find_or_insert(tx, record.conversation)
    row = tx.one(
        """
        INSERT INTO short_term_memories
            (id, conversation_id, text, score, said_at, created_at, created_by, session)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        RETURNING id
        """,
        (
            _free(tx, "short_term_memories", record.id),
            place,
            record.text,
            record.score,
            record.said_at or tx.now,
            record.created_at or tx.now,
            record.created_by,
            record.session,
        ),
    )
    id = int(row[0])
    if record.keywords is not None:
        _key(tx, id, record)
    mark(tx, "short_term", id, record.captured)
    vectors.keep(tx, Embedded.SHORT_TERM, id, [record.text], record.vectors)
    return id


def rewrite_short_term(tx: WriteTx, id: int, record: ShortTermRecord) -> None:
    tx.execute(
        "UPDATE short_term_memories SET text = ?, score = ?, said_at = ? WHERE id = ?",
        (record.text, record.score, record.said_at, id),
    )
    if record.keywords is not None:
        tx.execute("DELETE FROM short_term_keywords WHERE memory_id = ?", (id,))
        _key(tx, id, record)
    mark(tx, "short_term", id, record.captured)


def put_long_term(tx: WriteTx, record: LongTermRecord) -> int:
    """Insert it, or make what has its name in its conversation what the record says."""
    place = conversations.find_or_insert(tx, record.conversation)
    there = long_term_id(tx, record.conversation, record.name)
    if there is None:
        there = tx.one(
            """
            INSERT INTO long_term_memories (conversation_id, name, prompt, "trigger")
            VALUES (?, ?, ?, ?)
            RETURNING id
            """,
            (place, record.name, record.prompt, record.trigger),
        )[0]
    else:  # a trigger forgets the failures of a changed trigger, so it comes first
        tx.execute('UPDATE long_term_memories SET "trigger" = ? WHERE id = ?', (record.trigger, there))
    tx.execute(
        """
        UPDATE long_term_memories
        SET prompt = ?, created_context = ?, updated_context = ?, created_at = ?, updated_at = ?, created_by = ?,
            session = ?, fired_at = ?, fired_count = ?, error = ?, failures = ?, quarantined_until = ?, judged_at = ?,
            slow = ?, cooldown = ?
        WHERE id = ?
        """,
        (
            record.prompt,
            record.created_context,
            record.updated_context,
            record.created_at or tx.now,
            record.updated_at,
            record.created_by,
            record.session,
            record.fired_at,
            record.fired_count,
            record.error,
            record.failures,
            record.quarantined_until,
            record.judged_at,
            record.slow,
            record.cooldown,
            there,
        ),
    )
    tx.execute("DELETE FROM wakes WHERE memory_id = ?", (there,))
    for each in record.wakes:
        tx.execute(
            "INSERT INTO wakes (memory_id, at, client, session, why) VALUES (?, ?, ?, ?, ?)",
            (there, each.at, each.client, each.session, each.why),
        )
    return int(there)


def long_term_id(tx: Tx, conversation: str, name: str) -> int | None:
    """The row of a long-term memory."""
    found = tx.value(
        """
        SELECT m.id
        FROM long_term_memories AS m
        JOIN conversations AS c ON c.id = m.conversation_id
        WHERE c.name = ? AND m.name = ?
        """,
        (conversation, name),
    )
    return None if found is None else int(found)


def edges_between(tx: Tx, source: int, target: int, relation: str) -> list[tuple[int, EdgeRecord]]:
    """The edges of one relation from one memory to another, those that have ended too."""
    rows = tx.rows(
        """
        SELECT id, strength, valid_from, valid_to, created_by
        FROM edges
        WHERE source_id = ? AND target_id = ? AND relation = ?
        ORDER BY valid_from, id
        """,
        (source, target, relation),
    )
    return [(id, EdgeRecord("", "", relation, *values)) for id, *values in rows]


def insert_edge(tx: WriteTx, source: int, target: int, record: EdgeRecord) -> None:
    tx.execute(
        """
        INSERT INTO edges (source_id, target_id, relation, strength, valid_from, valid_to, created_by)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        """,
        (
            source,
            target,
            record.relation,
            record.strength,
            record.valid_from or tx.now,
            record.valid_to,
            record.created_by,
        ),
    )


def rewrite_edge(tx: WriteTx, id: int, record: EdgeRecord) -> None:
    tx.execute(
        "UPDATE edges SET strength = ?, valid_from = ?, valid_to = ?, created_by = ? WHERE id = ?",
        (record.strength, record.valid_from, record.valid_to, record.created_by, id),
    )


def put_conversation(tx: WriteTx, record: ConversationRecord) -> bool:
    """Insert a conversation, or let it be as old as the older and as clean as the cleaner; whether it changed."""
    return bool(
        tx.execute(
            """
            INSERT INTO conversations (name, created_at, cleaned_at, removed)
            VALUES (?, ?, ?, ?)
            ON CONFLICT (name) DO UPDATE
            SET created_at = min(created_at, excluded.created_at), cleaned_at = max(cleaned_at, excluded.cleaned_at),
                removed = max(removed, excluded.removed)
            WHERE created_at > excluded.created_at OR cleaned_at < excluded.cleaned_at OR removed < excluded.removed
            """,
            (record.name, record.created_at or tx.now, record.cleaned_at or tx.now, record.removed),
        )
    )


def put_project(tx: WriteTx, record: ProjectRecord) -> bool:
    """Insert a project, or give it the keys that no other project has; whether anything changed."""
    changed = tx.execute(
        """
        INSERT INTO projects (name, folder, created_at)
        VALUES (?, ?, ?)
        ON CONFLICT (name) DO UPDATE
        SET folder = ifnull(folder, excluded.folder), created_at = min(created_at, excluded.created_at)
        WHERE folder IS NULL AND excluded.folder IS NOT NULL OR created_at > excluded.created_at
        """,
        (record.name, record.folder, record.created_at or tx.now),
    )
    for kind, key in record.keys:
        changed += tx.execute(
            """
            INSERT OR IGNORE INTO project_keys (kind, key, project_id)
            SELECT ?, ?, id FROM projects
            WHERE name = ? AND NOT (? = 'name' AND ? IN (SELECT name FROM projects))
            """,
            (kind, key, record.name, kind, key),
        )
    return changed > 0


def put_digest(tx: WriteTx, record: DigestRecord, item: int, digest: int | None) -> bool:
    """Remember for what a digest stands, unless something stands for it already."""
    return bool(
        tx.execute(
            "INSERT OR IGNORE INTO digested (kind, item_id, digest_id) VALUES (?, ?, ?)",
            (record.item, item, digest or 0),
        )
    )


def mark(tx: WriteTx, kind: str, id: int, capture: Capture | None) -> None:
    """Mark what a hook has kept unasked."""
    if capture is not None:
        tx.execute(
            """
            INSERT OR REPLACE INTO hook_captures (kind, item_id, session, event, captured_at)
            VALUES (?, ?, ?, ?, ?)
            """,
            (kind, id, capture.session, capture.event, capture.captured_at),
        )


def is_there(tx: Tx, kind: str, id: int) -> bool:
    """Whether an item is in its table, not in the trash."""
    return tx.value(f"SELECT 1 FROM {origins.TABLES[kind]} WHERE id = ?", (id,)) is not None


def _insert_history(tx: WriteTx, id: int, record: MemoryRecord) -> None:
    for each in record.history:
        tx.execute(
            "INSERT INTO memory_history (memory_id, content, reason, replaced_at) VALUES (?, ?, ?, ?)",
            (id, each.content, each.reason, each.replaced_at),
        )


def _key(tx: WriteTx, id: int, record: ShortTermRecord) -> None:
    tx.execute("UPDATE short_term_memories SET keyed = 1 WHERE id = ?", (id,))
    short_term.insert_keywords(tx, id, record.keywords or ())


def _free(tx: Tx, table: str, id: str) -> int | None:
    """The row's id in an own id, where no row of this table has had that or a later one; None: the next one."""
    number = number_of(id)
    if number is None or not 0 < number < LARGEST or id != own_id(number, id.partition("@")[2]):
        return None
    last = tx.value("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,))
    return number if number > (last or 0) else None
