"""Writes a key of a fact whole: its history as the record has it, and its value."""

from dataclasses import dataclass

from memory_server.domain.embedding import Embedded
from memory_server.domain.exchange.records import FactRecord
from memory_server.postgres import word_rows
from memory_server.postgres.exchange.exchanged_vectors import ExchangedVectors
from memory_server.postgres.exchange.taken import Taken
from memory_server.postgres.tx import Tx
from memory_server.storage.fact_rows import as_json

_PLACE = "scope = %s AND owner = %s AND key = %s"


@dataclass(frozen=True, slots=True)
class TakenFacts:
    """Writes a key of a fact whole: its history as the record has it, and its value."""

    tx: Tx

    def put(self, record: FactRecord) -> int | None:
        place = (record.scope, record.owner, record.key)
        self.tx.send(f"DELETE FROM facts WHERE {_PLACE}", place)
        self.tx.send(f"DELETE FROM fact_history WHERE {_PLACE}", place)
        for step in record.steps[:-1] if record.alive else record.steps:
            self.tx.send(
                """
                INSERT INTO fact_history (
                    fact_id, scope, owner, key, version, action, value, tags, expires_at, changed_at, changed_by,
                    writer
                )
                VALUES (0, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
                """,
                (
                    *place,
                    step.version,
                    step.action,
                    as_json(step.value),
                    as_json(list(step.tags)),
                    step.expires_at,
                    step.changed_at or self.tx.now,
                    step.changed_by,
                    step.writer,
                ),
            )
        if not record.alive:
            return None
        last = record.steps[-1]
        value = as_json(last.value)
        (id,) = self.tx.one(
            """
            INSERT INTO facts
                (
                    scope, owner, key, value, tags, version, access_count, created_at, updated_at, accessed_at,
                    expires_at, created_by, updated_by, session, writer
                )
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
            RETURNING id
            """,
            (
                *place,
                value,
                as_json(list(last.tags)),
                last.version,
                record.access_count,
                record.created_at or last.changed_at or self.tx.now,
                last.changed_at or self.tx.now,
                record.accessed_at,
                last.expires_at,
                record.created_by,
                last.changed_by,
                record.session,
                last.writer,
            ),
        )
        self.tx.send(f"UPDATE fact_history SET fact_id = %s WHERE {_PLACE} AND fact_id = 0", (id, *place))
        word_rows.write_fact(self.tx, id, record.key, value)
        Taken(self.tx).mark("fact", id, record.captured)
        ExchangedVectors(self.tx).keep(Embedded.FACTS, id, [f"{record.key}\n{value}"], record.vectors)
        return int(id)
