"""Writes records as items, whole: with their dates and their history. The tables' own rules decide what fits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import psycopg

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
)
from memory_server.postgres import word_rows
from memory_server.postgres.conversations import Conversations
from memory_server.postgres.exchange.exchanged_vectors import ExchangedVectors
from memory_server.postgres.exchange.exported import TABLES
from memory_server.postgres.short_term import ShortTerm
from memory_server.postgres.tx import Tx
from memory_server.storage.fact_rows import as_json
from memory_server.storage.record_rows import number_to_keep

Result = TypeVar("Result")

_MEMORY = (
    "content, type, project, tags, importance, metadata, access_count, created_at, updated_at, accessed_at, created_by,"
    " session, occurred_at, person, writer"
)

_LONG_TERM = (
    "prompt, created_context, updated_context, created_at, updated_at, created_by, session, fired_at, fired_count,"
    " error, failures, quarantined_until, judged_at, slow, cooldown"
)


def _marks(number: int) -> str:
    return ", ".join(["%s"] * number)


@dataclass(frozen=True, slots=True)
class Taken:
    """Writes records as items, whole: with their dates and their history. The tables' own rules decide what fits."""

    tx: Tx

    def attempt(self, take: Callable[[], Result]) -> Result | str:
        self.tx.send("SAVEPOINT one_item")
        try:
            taken = take()
            self.tx.send("RELEASE one_item")
            self.tx.wait()
        except (
            psycopg.IntegrityError,
            psycopg.DataError,
            ValueError,
            OverflowError,
        ) as error:  # also text with a character that cannot be kept, and huge numbers
            self.tx.pipeline.sync()
            self.tx.send("ROLLBACK TO one_item")
            self.tx.send("RELEASE one_item")
            return str(error).partition("\n")[0]
        return taken

    def insert_memory(self, record: MemoryRecord) -> int:
        created_at = record.created_at or self.tx.now
        tags = as_json(list(record.tags))
        id = self._insert(
            "memories",
            record.id,
            _MEMORY,
            (
                record.content,
                record.type,
                record.project,
                tags,
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
                record.writer,
            ),
        )
        word_rows.write_memory(self.tx, id, record.content, tags)
        self._insert_history(id, record)
        self.mark("memory", id, record.captured)
        ExchangedVectors(self.tx).keep(Embedded.MEMORIES, id, [record.content], record.vectors)
        return id

    def rewrite_memory(self, id: int, record: MemoryRecord) -> None:
        tags = as_json(list(record.tags))
        self.tx.send(
            f"UPDATE memories SET ({_MEMORY}) = ({_marks(15)}) WHERE id = %s",
            (
                record.content,
                record.type,
                record.project,
                tags,
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
                record.writer,
                id,
            ),
        )
        word_rows.write_memory(self.tx, id, record.content, tags)
        self.tx.send("DELETE FROM memory_history WHERE memory_id = %s", (id,))
        self._insert_history(id, record)
        self.mark("memory", id, record.captured)  # a trigger takes the mark off whatever is rewritten

    def insert_turn(self, record: TurnRecord) -> int:
        id = self._insert(
            "turns",
            record.id,
            "message, summary, project, session, created_at, created_by, occurred_at, person",
            (
                record.message,
                record.summary,
                record.project,
                record.session,
                record.created_at or self.tx.now,
                record.created_by,
                record.occurred_at,
                record.person,
            ),
        )
        word_rows.write_turn(self.tx, id, record.summary, record.message)
        ExchangedVectors(self.tx).keep(Embedded.TURNS, id, [record.summary, record.message], record.vectors)
        return id

    def rewrite_turn(self, id: int, record: TurnRecord) -> None:
        self.tx.send(
            """
            UPDATE turns
            SET message = %s, summary = %s, project = %s, session = %s, created_by = %s, occurred_at = %s, person = %s
            WHERE id = %s
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
        word_rows.write_turn(self.tx, id, record.summary, record.message)

    def insert_short_term(self, record: ShortTermRecord) -> int:
        place = Conversations(self.tx).find_or_insert(record.conversation)
        id = self._insert(
            "short_term_memories",
            record.id,
            "conversation_id, text, score, said_at, created_at, created_by, session",
            (
                place,
                record.text,
                record.score,
                record.said_at or self.tx.now,
                record.created_at or self.tx.now,
                record.created_by,
                record.session,
            ),
        )
        word_rows.write_short_term(self.tx, id, record.text)
        if record.keywords is not None:
            self._key(id, record)
        self.mark("short_term", id, record.captured)
        ExchangedVectors(self.tx).keep(Embedded.SHORT_TERM, id, [record.text], record.vectors)
        return id

    def rewrite_short_term(self, id: int, record: ShortTermRecord) -> None:
        self.tx.send(
            "UPDATE short_term_memories SET text = %s, score = %s, said_at = %s WHERE id = %s",
            (record.text, record.score, record.said_at, id),
        )
        word_rows.write_short_term(self.tx, id, record.text)
        if record.keywords is not None:
            self.tx.send("DELETE FROM short_term_keywords WHERE memory_id = %s", (id,))
            self._key(id, record)
        self.mark("short_term", id, record.captured)

    def put_long_term(self, record: LongTermRecord) -> int:
        place = Conversations(self.tx).find_or_insert(record.conversation)
        (id,) = self.tx.one(
            """
            INSERT INTO long_term_memories (conversation_id, name, prompt, trigger)
            VALUES (%s, %s, %s, %s)
            ON CONFLICT (tenant_id, conversation_id, name) DO UPDATE SET trigger = excluded.trigger
            RETURNING id
            """,
            (place, record.name, record.prompt, record.trigger),
        )
        self.tx.send(  # a trigger forgets the failures of a changed trigger, so these come after it
            f"UPDATE long_term_memories SET ({_LONG_TERM}) = ({_marks(15)}) WHERE id = %s",
            (
                record.prompt,
                record.created_context,
                record.updated_context,
                record.created_at or self.tx.now,
                record.updated_at,
                record.created_by,
                record.session,
                record.fired_at,
                record.fired_count,
                record.error,
                record.failures,
                record.quarantined_until,
                record.judged_at,
                bool(record.slow),
                record.cooldown,
                id,
            ),
        )
        self.tx.send("DELETE FROM wakes WHERE memory_id = %s", (id,))
        self._insert_many(
            "wakes",
            "memory_id, at, client, session, why",
            [(id, each.at, each.client, each.session, each.why) for each in record.wakes],
        )
        return int(id)

    def long_term_id(self, conversation: str, name: str) -> int | None:
        found = self.tx.value(
            """
            SELECT m.id
            FROM long_term_memories AS m
            JOIN conversations AS c ON c.tenant_id = m.tenant_id AND c.id = m.conversation_id
            WHERE c.name = %s AND m.name = %s
            """,
            (conversation, name),
        )
        return None if found is None else int(found)

    def edges_between(self, source: int, target: int, relation: str) -> list[tuple[int, EdgeRecord]]:
        rows = self.tx.rows(
            """
            SELECT id, strength, valid_from, valid_to, created_by
            FROM edges
            WHERE source_id = %s AND target_id = %s AND relation = %s
            ORDER BY valid_from, id
            """,
            (source, target, relation),
        )
        return [(id, EdgeRecord("", "", relation, *values)) for id, *values in rows]

    def insert_edge(self, source: int, target: int, record: EdgeRecord) -> None:
        self.tx.send(
            """
            INSERT INTO edges (source_id, target_id, relation, strength, valid_from, valid_to, created_by)
            VALUES (%s, %s, %s, %s, %s, %s, %s)
            """,
            (
                source,
                target,
                record.relation,
                record.strength,
                record.valid_from or self.tx.now,
                record.valid_to,
                record.created_by,
            ),
        )

    def rewrite_edge(self, id: int, record: EdgeRecord) -> None:
        self.tx.send(
            "UPDATE edges SET strength = %s, valid_from = %s, valid_to = %s, created_by = %s WHERE id = %s",
            (record.strength, record.valid_from, record.valid_to, record.created_by, id),
        )

    def put_conversation(self, record: ConversationRecord) -> bool:
        return bool(
            self.tx.execute(
                """
                INSERT INTO conversations AS c (name, created_at, cleaned_at, removed)
                VALUES (%s, %s, %s, %s)
                ON CONFLICT (tenant_id, name) DO UPDATE
                SET created_at = least(c.created_at, excluded.created_at),
                    cleaned_at = greatest(c.cleaned_at, excluded.cleaned_at),
                    removed = greatest(c.removed, excluded.removed)
                WHERE c.created_at > excluded.created_at OR c.cleaned_at < excluded.cleaned_at
                    OR c.removed < excluded.removed
                """,
                (
                    record.name,
                    record.created_at or self.tx.now,
                    record.cleaned_at or self.tx.now,
                    record.removed,
                ),
            )
        )

    def put_project(self, record: ProjectRecord) -> bool:
        changed = self.tx.execute(
            """
            INSERT INTO projects AS p (name, folder, created_at)
            VALUES (%s, %s, %s)
            ON CONFLICT (tenant_id, name) DO UPDATE
            SET folder = coalesce(p.folder, excluded.folder), created_at = least(p.created_at, excluded.created_at)
            WHERE p.folder IS NULL AND excluded.folder IS NOT NULL OR p.created_at > excluded.created_at
            """,
            (record.name, record.folder, record.created_at or self.tx.now),
        )
        changed += self.tx.execute(
            """
            INSERT INTO project_keys (kind, key, project_id)
            SELECT kind, key, p.id
            FROM unnest(%s::text[], %s::text[]) AS given (kind, key)
            JOIN projects AS p ON p.name = %s
            WHERE NOT (kind = 'name' AND key IN (SELECT name FROM projects))
            ON CONFLICT DO NOTHING
            """,
            ([kind for kind, _ in record.keys], [key for _, key in record.keys], record.name),
        )
        return changed > 0

    def put_digest(self, record: DigestRecord, item: int, digest: int | None) -> bool:
        return bool(
            self.tx.execute(
                "INSERT INTO digested (kind, item_id, digest_id) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
                (record.item, item, digest or 0),
            )
        )

    def mark(self, kind: str, id: int, capture: Capture | None) -> None:
        """Mark what a hook has kept unasked."""
        if capture is not None:
            self.tx.send(
                """
                INSERT INTO hook_captures (kind, item_id, session, event, captured_at)
                VALUES (%s, %s, %s, %s, %s)
                ON CONFLICT (tenant_id, kind, item_id) DO UPDATE
                SET session = excluded.session, event = excluded.event, captured_at = excluded.captured_at
                """,
                (kind, id, capture.session, capture.event, capture.captured_at),
            )

    def is_there(self, kind: str, id: int) -> bool:
        return self.tx.value(f"SELECT 1 FROM {TABLES[kind]} WHERE id = %s", (id,)) is not None

    def _insert(self, table: str, own: str, columns: str, values: Sequence[object]) -> int:
        """The new row has the id of its own id, where no row of this table has had that or a later one; else the
        next."""
        (id,) = self.tx.one(
            f"""
            INSERT INTO {table} (id, {columns})
            VALUES (greatest(next_id('{table}'), %s::bigint), {_marks(len(values))})
            RETURNING id
            """,
            (number_to_keep(own), *values),
        )
        return int(id)

    def _insert_history(self, id: int, record: MemoryRecord) -> None:
        self._insert_many(
            "memory_history",
            "memory_id, content, reason, replaced_at",
            [(id, each.content, each.reason, each.replaced_at) for each in record.history],
        )

    def _insert_many(self, table: str, columns: str, rows: Sequence[tuple[object, ...]]) -> None:
        if rows:
            places = ", ".join(f"({_marks(len(row))})" for row in rows)
            self.tx.send(
                f"INSERT INTO {table} ({columns}) VALUES {places}", [value for row in rows for value in row]
            )

    def _key(self, id: int, record: ShortTermRecord) -> None:
        self.tx.send("UPDATE short_term_memories SET keyed = true WHERE id = %s", (id,))
        ShortTerm(self.tx).insert_keywords(id, record.keywords or ())
