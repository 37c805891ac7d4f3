"""Reads items as records, in an order that is the same in every file that holds the same."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memory_server.domain.exchange.pages import pages
from memory_server.domain.exchange.records import (
    OWN,
    Capture,
    ConversationRecord,
    DeletedRecord,
    DigestRecord,
    Earlier,
    EdgeRecord,
    LongTermRecord,
    MemoryRecord,
    ShortTermRecord,
    TurnRecord,
    WakeRecord,
    own_id,
    place,
)
from memory_server.sqlite import origins
from memory_server.sqlite.exchange.exchanged_vectors import ExchangedVectors
from memory_server.sqlite.origins import Origins
from memory_server.sqlite.tx import Tx
from memory_server.storage.record_rows import MEMORY, edge_order, memory_record


@dataclass(frozen=True, slots=True)
class Exported:
    """Reads items as records, in an order that is the same in every file that holds the same."""

    tx: Tx

    def order(self, kind: str, project: str | None = None) -> list[int]:
        table = origins.TABLES[kind]
        where = "WHERE ? IS NULL OR ifnull(project, '') = ?" if kind != "short_term" else "WHERE ? IS ?"
        rows = self.tx.rows(f"SELECT id, created_at FROM {table} {where}", (project, project))
        own = self.own_names(kind)
        named = [(place(own(id, moment)), id) for id, moment in rows]
        return [id for _, id in sorted(named)]

    def memories(self, ids: Sequence[int], embedded: bool = False) -> list[MemoryRecord]:
        wanted = origins.as_json(ids)
        history: dict[int, list[Earlier]] = {}
        for id, content, reason, moment, _ in self.tx.rows(
            """
            SELECT memory_id, content, reason, replaced_at, id
            FROM memory_history
            WHERE memory_id IN (SELECT value FROM json_each(?))
            ORDER BY replaced_at, content, reason
            """,
            (wanted,),
        ):
            history.setdefault(id, []).append(Earlier(content, reason, moment))
        stored = ExchangedVectors(self.tx).of_memories(ids) if embedded else {}
        marks = self.captures("memory")
        found = {
            row[0]: replace(
                memory_record(row),
                history=tuple(history.get(row[0], ())),
                captured=marks.get(row[0]),
                vectors=stored.get(row[0], {}),
            )
            for row in self.tx.rows(
                f"SELECT {MEMORY} FROM memories WHERE id IN (SELECT value FROM json_each(?))", (wanted,)
            )
        }
        return self._named("memory", ids, found)

    def said(self) -> Iterator[tuple[int, str, str, str | None, str | None]]:
        for page in pages(self.order("memory")):
            yield from self.tx.rows(
                "SELECT id, content, type, project, person FROM memories WHERE id IN (SELECT value FROM json_each(?))",
                (origins.as_json(page),),
            )

    def turns(self, ids: Sequence[int], embedded: bool = False) -> list[TurnRecord]:
        stored = ExchangedVectors(self.tx).of_turns(ids) if embedded else {}
        found = {
            id: replace(TurnRecord("", *values), vectors=stored.get(id, {}))
            for id, *values in self.tx.rows(
                """
                SELECT id, message, summary, project, session, created_at, created_by, occurred_at, person
                FROM turns
                WHERE id IN (SELECT value FROM json_each(?))
                """,
                (origins.as_json(ids),),
            )
        }
        return self._named("turn", ids, found)

    def short_term(self, ids: Sequence[int], embedded: bool = False) -> list[ShortTermRecord]:
        wanted = origins.as_json(ids)
        words: dict[int, list[tuple[str, float]]] = {}
        for id, word, weight in self.tx.rows(
            """
            SELECT memory_id, word, weight
            FROM short_term_keywords
            WHERE memory_id IN (SELECT value FROM json_each(?))
            ORDER BY weight DESC, word
            """,
            (wanted,),
        ):
            words.setdefault(id, []).append((word, weight))
        marks = self.captures("short_term")
        stored = ExchangedVectors(self.tx).of_short_term(ids) if embedded else {}
        found = {
            id: replace(
                ShortTermRecord("", *values),
                keywords=tuple(words.get(id, ())) if keyed else None,
                captured=marks.get(id),
                vectors=stored.get(id, {}),
            )
            for id, keyed, *values in self.tx.rows(
                """
                SELECT m.id, keyed, c.name, text, score, said_at, m.created_at, m.created_by, m.session
                FROM short_term_memories AS m
                JOIN conversations AS c ON c.id = m.conversation_id
                WHERE m.id IN (SELECT value FROM json_each(?))
                """,
                (wanted,),
            )
        }
        return self._named("short_term", ids, found)

    def edges(self, project: str | None = None) -> Iterator[EdgeRecord]:
        rows = self.tx.rows(
            """
            SELECT e.source_id, s.created_at, e.target_id, t.created_at, relation, strength, valid_from, valid_to,
                e.created_by, e.id
            FROM edges AS e
            JOIN memories AS s ON s.id = e.source_id
            JOIN memories AS t ON t.id = e.target_id
            WHERE :project IS NULL OR ifnull(s.project, '') = :project AND ifnull(t.project, '') = :project
            """,
            {"project": project},
        )
        own = self.own_names("memory")
        found = [EdgeRecord(own(s, s_at), own(t, t_at), *values) for s, s_at, t, t_at, *values, _ in rows]
        yield from sorted(found, key=edge_order)

    def digests(self) -> Iterator[DigestRecord]:
        for kind, table in (("memory", "memories"), ("turn", "turns")):
            rows = self.tx.rows(
                f"""
                SELECT d.item_id, m.created_at, d.digest_id, g.created_at, d.id
                FROM digested AS d
                JOIN {table} AS m ON m.id = d.item_id
                LEFT JOIN memories AS g ON g.id = d.digest_id
                WHERE d.kind = ? AND (d.digest_id = 0 OR g.id IS NOT NULL)
                """,
                (kind,),
            )
            found = [
                DigestRecord(
                    "memory" if kind == "memory" else "turn",
                    Origins(self.tx).own_ids(kind, item, at)[0],
                    Origins(self.tx).own_ids("memory", digest, since)[0] if digest else None,
                )
                for item, at, digest, since, _ in rows
            ]
            yield from sorted(found, key=lambda each: place(each.id))

    def conversations(self, name: str | None = None) -> Iterator[ConversationRecord]:
        for _, *values in self.tx.rows(
            """
            SELECT id, name, created_at, cleaned_at, removed
            FROM conversations
            WHERE ? IS NULL OR name = ?
            ORDER BY name
            """,
            (name, name),
        ):
            yield ConversationRecord(*values)

    def long_term(self, conversation: str | None = None, name: str | None = None) -> Iterator[LongTermRecord]:
        for id, *values in self.tx.rows(
            """
            SELECT
                m.id, c.name, m.name, prompt, "trigger", created_context, updated_context, m.created_at, updated_at,
                created_by, session, fired_at, fired_count, error, failures, quarantined_until, judged_at, slow,
                cooldown
            FROM long_term_memories AS m
            JOIN conversations AS c ON c.id = m.conversation_id
            WHERE (:conversation IS NULL OR c.name = :conversation) AND (:name IS NULL OR m.name = :name)
            ORDER BY c.name, m.name
            """,
            {"conversation": conversation, "name": name},
        ):
            wakes = self.tx.rows(
                "SELECT at, why, client, session, id FROM wakes WHERE memory_id = ? ORDER BY at, id", (id,)
            )
            yield replace(
                LongTermRecord(*values),
                wakes=tuple(WakeRecord(*row[:4]) for row in wakes),
                origins=Origins(self.tx).select("long_term", id),
            )

    def deleted(self) -> Iterator[DeletedRecord]:
        for kind, table in (*origins.TABLES.items(), ("long_term", "long_term_memories")):
            rows = self.tx.rows(
                f"""
                SELECT
                    item_id, deleted_at, ifnull(conversation, ''), json_extract(parts, '$.{table}[0].created_at'),
                    json_extract(parts, '$.{table}[0].name'), id
                FROM trash
                WHERE kind = ? AND json_extract(parts, '$.{table}[0].created_at') IS NOT NULL
                ORDER BY id
                """,
                (kind,),
            )
            for id, moment, conversation, created_at, name, _ in rows:
                own = name if kind == "long_term" else Origins(self.tx).own_ids(kind, id, created_at)[0]
                yield DeletedRecord(kind, own, moment, conversation)  # type: ignore[arg-type]

    def captures(self, kind: str) -> dict[int, Capture]:
        """The marks of what was kept unasked, by the row."""
        rows = self.tx.rows(
            "SELECT item_id, session, event, captured_at, id FROM hook_captures WHERE kind = ?", (kind,)
        )
        return {item: Capture(session, event, moment) for item, session, event, moment, _ in rows}

    def own_names(self, kind: str) -> Callable[[int, str], str]:
        """Tells the first own id of an item by its row and the moment at which it was created: of many at once."""
        rows = self.tx.rows(
            "SELECT source_id, item_id, id FROM origins WHERE kind = ? AND source = ?", (kind, OWN)
        )
        first: dict[int, str] = {}
        for text, item, _ in rows:
            first[item] = min(text, first.get(item, text), key=place)
        return lambda id, created_at: first.get(id) or own_id(id, created_at)

    def _named(self, kind: str, ids: Sequence[int], found: dict[int, Any]) -> list[Any]:
        """The records with their ids and origins, in the order given."""
        named = []
        for id in ids:
            if id in found:
                first, *also = Origins(self.tx).own_ids(kind, id, found[id].created_at)
                other = Origins(self.tx).select(kind, id)
                named.append(replace(found[id], id=first, also=tuple(also), origins=other))
        return named
