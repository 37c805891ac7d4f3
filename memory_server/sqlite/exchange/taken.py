"""Writes records as items, whole: with their dates and their history. The tables' own rules decide what fits."""

from collections.abc import Callable
from dataclasses import dataclass
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
)
from memory_server.sqlite import origins
from memory_server.sqlite.conversations import Conversations
from memory_server.sqlite.exchange.exchanged_vectors import ExchangedVectors
from memory_server.sqlite.short_term import ShortTerm
from memory_server.sqlite.tx import Tx
from memory_server.storage.fact_rows import as_json
from memory_server.storage.record_rows import number_to_keep

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Taken:
    """Writes records as items, whole: with their dates and their history. The tables' own rules decide what fits."""

    tx: Tx

    def attempt(self, take: Callable[[], Result]) -> Result | str:
        self.tx.connection.execute("SAVEPOINT one_item")
        try:
            return take()
        except (
            apsw.ConstraintError,
            ValueError,
            OverflowError,
        ) as error:  # also text that is no UTF-8, and huge numbers
            self.tx.connection.execute("ROLLBACK TO one_item")
            return str(error).removeprefix("ConstraintError: ")
        finally:
            self.tx.connection.execute("RELEASE one_item")

    def insert_memory(self, record: MemoryRecord) -> int:
        created_at = record.created_at or self.tx.now
        row = self.tx.one(
            """
            INSERT INTO memories
                (
                    id, content, type, project, tags, importance, metadata, access_count, created_at, updated_at,
                    accessed_at, created_by, session, occurred_at, person, writer
                )
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            RETURNING id
            """,
            (
                self._free("memories", record.id),
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
                record.writer,
            ),
        )
        id = int(row[0])
        self._insert_history(id, record)
        self.mark("memory", id, record.captured)
        ExchangedVectors(self.tx).keep(Embedded.MEMORIES, id, [record.content], record.vectors)
        return id

    def rewrite_memory(self, id: int, record: MemoryRecord) -> None:
        self.tx.execute(
            """
            UPDATE memories
            SET content = ?, type = ?, project = ?, tags = ?, importance = ?, metadata = ?, access_count = ?,
                created_at = ?, updated_at = ?, accessed_at = ?, created_by = ?, session = ?, occurred_at = ?,
                person = ?, writer = ?
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
                record.writer,
                id,
            ),
        )
        self.tx.execute("DELETE FROM memory_history WHERE memory_id = ?", (id,))
        self._insert_history(id, record)
        self.mark("memory", id, record.captured)

    # an SQL trigger takes the mark off whatever is rewritten

    def insert_turn(self, record: TurnRecord) -> int:
        row = self.tx.one(
            """
            INSERT INTO turns (id, message, summary, project, session, created_at, created_by, occurred_at, person)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            RETURNING id
            """,
            (
                self._free("turns", record.id),
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
        id = int(row[0])
        ExchangedVectors(self.tx).keep(Embedded.TURNS, id, [record.summary, record.message], record.vectors)
        return id

    def rewrite_turn(self, id: int, record: TurnRecord) -> None:
        self.tx.execute(
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

    def insert_short_term(self, record: ShortTermRecord) -> int:
        place = Conversations(self.tx).find_or_insert(record.conversation)
        row = self.tx.one(
            """
            INSERT INTO short_term_memories
                (id, conversation_id, text, score, said_at, created_at, created_by, session)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            RETURNING id
            """,
            (
                self._free("short_term_memories", record.id),
                place,
                record.text,
                record.score,
                record.said_at or self.tx.now,
                record.created_at or self.tx.now,
                record.created_by,
                record.session,
            ),
        )
        id = int(row[0])
        if record.keywords is not None:
            self._key(id, record)
        self.mark("short_term", id, record.captured)
        ExchangedVectors(self.tx).keep(Embedded.SHORT_TERM, id, [record.text], record.vectors)
        return id

    def rewrite_short_term(self, id: int, record: ShortTermRecord) -> None:
        self.tx.execute(
            "UPDATE short_term_memories SET text = ?, score = ?, said_at = ? WHERE id = ?",
            (record.text, record.score, record.said_at, id),
        )
        if record.keywords is not None:
            self.tx.execute("DELETE FROM short_term_keywords WHERE memory_id = ?", (id,))
            self._key(id, record)
        self.mark("short_term", id, record.captured)

    def put_long_term(self, record: LongTermRecord) -> int:
        place = Conversations(self.tx).find_or_insert(record.conversation)
        there = self.long_term_id(record.conversation, record.name)
        if there is None:
            there = self.tx.one(
                """
                INSERT INTO long_term_memories (conversation_id, name, prompt, "trigger")
                VALUES (?, ?, ?, ?)
                RETURNING id
                """,
                (place, record.name, record.prompt, record.trigger),
            )[0]
        else:  # a trigger forgets the failures of a changed trigger, so it comes first
            self.tx.execute(
                'UPDATE long_term_memories SET "trigger" = ? WHERE id = ?', (record.trigger, there)
            )
        self.tx.execute(
            """
            UPDATE long_term_memories
            SET prompt = ?, created_context = ?, updated_context = ?, created_at = ?, updated_at = ?, created_by = ?,
                session = ?, fired_at = ?, fired_count = ?, error = ?, failures = ?, quarantined_until = ?, judged_at
                = ?,
                slow = ?, cooldown = ?
            WHERE id = ?
            """,
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
                record.slow,
                record.cooldown,
                there,
            ),
        )
        self.tx.execute("DELETE FROM wakes WHERE memory_id = ?", (there,))
        for each in record.wakes:
            self.tx.execute(
                "INSERT INTO wakes (memory_id, at, client, session, why) VALUES (?, ?, ?, ?, ?)",
                (there, each.at, each.client, each.session, each.why),
            )
        return int(there)

    def long_term_id(self, conversation: str, name: str) -> int | None:
        found = self.tx.value(
            """
            SELECT m.id
            FROM long_term_memories AS m
            JOIN conversations AS c ON c.id = m.conversation_id
            WHERE c.name = ? AND m.name = ?
            """,
            (conversation, name),
        )
        return None if found is None else int(found)

    def edges_between(self, source: int, target: int, relation: str) -> list[tuple[int, EdgeRecord]]:
        rows = self.tx.rows(
            """
            SELECT id, strength, valid_from, valid_to, created_by
            FROM edges
            WHERE source_id = ? AND target_id = ? AND relation = ?
            ORDER BY valid_from, id
            """,
            (source, target, relation),
        )
        return [(id, EdgeRecord("", "", relation, *values)) for id, *values in rows]

    def insert_edge(self, source: int, target: int, record: EdgeRecord) -> None:
        self.tx.execute(
            """
            INSERT INTO edges (source_id, target_id, relation, strength, valid_from, valid_to, created_by)
            VALUES (?, ?, ?, ?, ?, ?, ?)
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
        self.tx.execute(
            "UPDATE edges SET strength = ?, valid_from = ?, valid_to = ?, created_by = ? WHERE id = ?",
            (record.strength, record.valid_from, record.valid_to, record.created_by, id),
        )

    def put_conversation(self, record: ConversationRecord) -> bool:
        return bool(
            self.tx.execute(
                """
                INSERT INTO conversations (name, created_at, cleaned_at, removed)
                VALUES (?, ?, ?, ?)
                ON CONFLICT (name) DO UPDATE
                SET created_at = min(created_at, excluded.created_at), cleaned_at = max(cleaned_at,
                excluded.cleaned_at),
                    removed = max(removed, excluded.removed)
                WHERE created_at > excluded.created_at OR cleaned_at < excluded.cleaned_at OR removed < excluded.removed
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
            INSERT INTO projects (name, folder, created_at)
            VALUES (?, ?, ?)
            ON CONFLICT (name) DO UPDATE
            SET folder = ifnull(folder, excluded.folder), created_at = min(created_at, excluded.created_at)
            WHERE folder IS NULL AND excluded.folder IS NOT NULL OR created_at > excluded.created_at
            """,
            (record.name, record.folder, record.created_at or self.tx.now),
        )
        for kind, key in record.keys:
            changed += self.tx.execute(
                """
                INSERT OR IGNORE INTO project_keys (kind, key, project_id)
                SELECT ?, ?, id FROM projects
                WHERE name = ? AND NOT (? = 'name' AND ? IN (SELECT name FROM projects))
                """,
                (kind, key, record.name, kind, key),
            )
        return changed > 0

    def put_digest(self, record: DigestRecord, item: int, digest: int | None) -> bool:
        return bool(
            self.tx.execute(
                "INSERT OR IGNORE INTO digested (kind, item_id, digest_id) VALUES (?, ?, ?)",
                (record.item, item, digest or 0),
            )
        )

    def mark(self, kind: str, id: int, capture: Capture | None) -> None:
        """Mark what a hook has kept unasked."""
        if capture is not None:
            self.tx.execute(
                """
                INSERT OR REPLACE INTO hook_captures (kind, item_id, session, event, captured_at)
                VALUES (?, ?, ?, ?, ?)
                """,
                (kind, id, capture.session, capture.event, capture.captured_at),
            )

    def is_there(self, kind: str, id: int) -> bool:
        return self.tx.value(f"SELECT 1 FROM {origins.TABLES[kind]} WHERE id = ?", (id,)) is not None

    def _insert_history(self, id: int, record: MemoryRecord) -> None:
        for each in record.history:
            self.tx.execute(
                "INSERT INTO memory_history (memory_id, content, reason, replaced_at) VALUES (?, ?, ?, ?)",
                (id, each.content, each.reason, each.replaced_at),
            )

    def _key(self, id: int, record: ShortTermRecord) -> None:
        self.tx.execute("UPDATE short_term_memories SET keyed = 1 WHERE id = ?", (id,))
        ShortTerm(self.tx).insert_keywords(id, record.keywords or ())

    def _free(self, table: str, id: str) -> int | None:
        """The row's id in an own id, where no row of this table has had that or a later one; None: the next one."""
        number = number_to_keep(id)
        if number is None:
            return None
        last = self.tx.value("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,))
        return number if number > (last or 0) else None
