"""Reads items as records, in an order that is the same in every database that holds the same."""

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
    Origin,
    ShortTermRecord,
    TurnRecord,
    WakeRecord,
    own_id,
    place,
)
from memory_server.postgres.exchange.exchanged_vectors import ExchangedVectors
from memory_server.postgres.tx import Tx
from memory_server.storage.record_rows import MEMORY, edge_order, memory_record

TABLES = {"memory": "memories", "turn": "turns", "short_term": "short_term_memories"}
"""The tables of what is known by an own id."""


@dataclass(frozen=True, slots=True)
class Exported:
    """Reads items as records, in an order that is the same in every database that holds the same."""

    tx: Tx

    def order(self, kind: str, project: str | None = None) -> list[int]:
        there = "%(project)s::text IS NULL" + (
            "" if kind == "short_term" else " OR coalesce(project, '') = %(project)s"
        )
        rows = self.tx.rows(f"SELECT id, created_at FROM {TABLES[kind]} WHERE {there}", {"project": project})
        own = self.own_names(kind)
        named = [(place(own(id, moment)), id) for id, moment in rows]
        return [id for _, id in sorted(named)]

    def memories(self, ids: Sequence[int], embedded: bool = False) -> list[Any]:
        wanted = list(ids)
        history: dict[int, list[Earlier]] = {}
        for id, *earlier in self.tx.rows(
            """
            SELECT memory_id, content, reason, replaced_at
            FROM memory_history
            WHERE memory_id = ANY (%s)
            ORDER BY replaced_at, content, reason
            """,
            (wanted,),
        ):
            history.setdefault(id, []).append(Earlier(*earlier))
        stored = ExchangedVectors(self.tx).of_memories(wanted) if embedded else {}
        marks = self.captures("memory", wanted)
        found = {
            row[0]: replace(
                memory_record(row),
                history=tuple(history.get(row[0], ())),
                captured=marks.get(row[0]),
                vectors=stored.get(row[0], {}),
            )
            for row in self.tx.rows(f"SELECT {MEMORY} FROM memories WHERE id = ANY (%s)", (wanted,))
        }
        return self._named("memory", wanted, found)

    def said(self) -> Iterator[tuple[int, str, str, str | None, str | None]]:
        for page in pages(self.order("memory")):
            found: list[Any] = self.tx.rows(
                "SELECT id, content, type, project, person FROM memories WHERE id = ANY (%s)", (page,)
            )
            yield from found

    def turns(self, ids: Sequence[int], embedded: bool = False) -> list[Any]:
        wanted = list(ids)
        stored = ExchangedVectors(self.tx).of_turns(wanted) if embedded else {}
        found = {
            id: replace(TurnRecord("", *values), vectors=stored.get(id, {}))
            for id, *values in self.tx.rows(
                """
                SELECT id, message, summary, project, session, created_at, created_by, occurred_at, person
                FROM turns
                WHERE id = ANY (%s)
                """,
                (wanted,),
            )
        }
        return self._named("turn", wanted, found)

    def short_term(self, ids: Sequence[int], embedded: bool = False) -> list[Any]:
        wanted = list(ids)
        words: dict[int, list[tuple[str, float]]] = {}
        for id, word, weight in self.tx.rows(
            """
            SELECT memory_id, word, weight
            FROM short_term_keywords
            WHERE memory_id = ANY (%s)
            ORDER BY weight DESC, word
            """,
            (wanted,),
        ):
            words.setdefault(id, []).append((word, weight))
        marks = self.captures("short_term", wanted)
        stored = ExchangedVectors(self.tx).of_short_term(wanted) if embedded else {}
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
                JOIN conversations AS c ON c.tenant_id = m.tenant_id AND c.id = m.conversation_id
                WHERE m.id = ANY (%s)
                """,
                (wanted,),
            )
        }
        return self._named("short_term", wanted, found)

    def edges(self, project: str | None = None) -> Iterator[EdgeRecord]:
        rows = self.tx.rows(
            """
            SELECT e.source_id, s.created_at, e.target_id, t.created_at, relation, strength, valid_from, valid_to,
                e.created_by
            FROM edges AS e
            JOIN memories AS s ON s.tenant_id = e.tenant_id AND s.id = e.source_id
            JOIN memories AS t ON t.tenant_id = e.tenant_id AND t.id = e.target_id
            WHERE %(project)s::text IS NULL
                OR coalesce(s.project, '') = %(project)s AND coalesce(t.project, '') = %(project)s
            """,
            {"project": project},
        )
        own = self.own_names("memory")
        found = [EdgeRecord(own(s, s_at), own(t, t_at), *values) for s, s_at, t, t_at, *values in rows]
        yield from sorted(found, key=edge_order)

    def digests(self) -> Iterator[DigestRecord]:
        memory = self.own_names("memory")
        for kind, table in (("memory", "memories"), ("turn", "turns")):
            own = self.own_names(kind)
            rows = self.tx.rows(
                f"""
                SELECT d.item_id, m.created_at, d.digest_id, g.created_at
                FROM digested AS d
                JOIN {table} AS m ON m.tenant_id = d.tenant_id AND m.id = d.item_id
                LEFT JOIN memories AS g ON g.tenant_id = d.tenant_id AND g.id = d.digest_id
                WHERE d.kind = %s AND (d.digest_id = 0 OR g.id IS NOT NULL)
                """,
                (kind,),
            )
            found = [
                DigestRecord(
                    "memory" if kind == "memory" else "turn",
                    own(item, at),
                    memory(digest, since) if digest else None,
                )
                for item, at, digest, since in rows
            ]
            yield from sorted(found, key=lambda each: place(each.id))

    def conversations(self, name: str | None = None) -> Iterator[ConversationRecord]:
        for values in self.tx.rows(
            """
            SELECT name, created_at, cleaned_at, removed
            FROM conversations
            WHERE %(name)s::text IS NULL OR name = %(name)s
            ORDER BY name
            """,
            {"name": name},
        ):
            yield ConversationRecord(*values)

    def long_term(self, conversation: str | None = None, name: str | None = None) -> Iterator[LongTermRecord]:
        rows = self.tx.rows(
            """
            SELECT
                m.id, c.name, m.name, prompt, trigger, created_context, updated_context, m.created_at, updated_at,
                created_by, session, fired_at, fired_count, error, failures, quarantined_until, judged_at, slow,
                cooldown
            FROM long_term_memories AS m
            JOIN conversations AS c ON c.tenant_id = m.tenant_id AND c.id = m.conversation_id
            WHERE (%(conversation)s::text IS NULL OR c.name = %(conversation)s)
                AND (%(name)s::text IS NULL OR m.name = %(name)s)
            ORDER BY c.name, m.name
            """,
            {"conversation": conversation, "name": name},
        )
        ids = [row[0] for row in rows]
        wakes: dict[int, list[WakeRecord]] = {}
        for id, *values in self.tx.rows(
            "SELECT memory_id, at, why, client, session FROM wakes WHERE memory_id = ANY (%s) ORDER BY at, id",
            (ids,),
        ):
            wakes.setdefault(id, []).append(WakeRecord(*values))
        _, origins = self._origins("long_term", ids)
        for id, *values in rows:
            yield replace(
                LongTermRecord(*values), wakes=tuple(wakes.get(id, ())), origins=tuple(origins.get(id, ()))
            )

    def deleted(self) -> Iterator[DeletedRecord]:
        for kind, table in (*TABLES.items(), ("long_term", "long_term_memories")):
            own = self.own_names(kind)
            for id, moment, conversation, created_at, name in self.tx.rows(
                """
                SELECT
                    item_id, deleted_at, coalesce(conversation, ''), parts::json -> %(table)s -> 0 ->> 'created_at',
                    parts::json -> %(table)s -> 0 ->> 'name'
                FROM trash
                WHERE kind = %(kind)s AND parts::json -> %(table)s -> 0 ->> 'created_at' IS NOT NULL
                ORDER BY id
                """,
                {"kind": kind, "table": table},
            ):
                known = name if kind == "long_term" else own(id, created_at)
                yield DeletedRecord(kind, known, moment, conversation)  # type: ignore[arg-type]

    def captures(self, kind: str, ids: Sequence[int]) -> dict[int, Capture]:
        """The marks of what was kept unasked, by the row."""
        rows = self.tx.rows(
            """
            SELECT item_id, session, event, captured_at
            FROM hook_captures
            WHERE kind = %s AND item_id = ANY (%s)
            """,
            (kind, list(ids)),
        )
        return {item: Capture(session, event, moment) for item, session, event, moment in rows}

    def own_names(self, kind: str) -> Callable[[int, str], str]:
        """Tells the first own id of an item by its row and the moment at which it was created: of many at once."""
        rows = self.tx.rows(
            "SELECT source_id, item_id FROM origins WHERE kind = %s AND source = %s", (kind, OWN)
        )
        first: dict[int, str] = {}
        for text, item in rows:
            first[item] = min(text, first.get(item, text), key=place)
        return lambda id, created_at: first.get(id) or own_id(id, created_at)

    def origins_of(self, kind: str, ids: Sequence[int]) -> dict[int, list[Origin]]:
        """From where else items come."""
        return self._origins(kind, ids)[1]

    def _origins(self, kind: str, ids: Sequence[int]) -> tuple[dict[int, list[str]], dict[int, list[Origin]]]:
        """The own ids of items in their order, where they have any; and from where else they come."""
        own: dict[int, list[str]] = {}
        others: dict[int, list[Origin]] = {}
        for id, source, *values in self.tx.rows(
            """
            SELECT item_id, source, source_id, digest, imported_at
            FROM origins
            WHERE kind = %s AND item_id = ANY (%s)
            ORDER BY source, source_id, digest, imported_at
            """,
            (kind, list(ids)),
        ):
            if source == OWN:
                own.setdefault(id, []).append(values[0])
            else:
                others.setdefault(id, []).append(Origin(source, *values))
        return {id: sorted(names, key=place) for id, names in own.items()}, others

    def _named(self, kind: str, ids: Sequence[int], found: dict[int, Any]) -> list[Any]:
        """The records with their ids and origins, in the order given."""
        own, others = self._origins(kind, ids)
        named = []
        for id in ids:
            if id in found:
                first, *also = own.get(id) or [own_id(id, found[id].created_at)]
                named.append(
                    replace(found[id], id=first, also=tuple(also), origins=tuple(others.get(id, ())))
                )
        return named
