"""Writes a key of a fact whole: its history as the record has it, and its value."""

from dataclasses import dataclass

from memory_server.domain.embedding import Embedded
from memory_server.domain.exchange.records import FactRecord
from memory_server.sqlite.exchange.exchanged_vectors import ExchangedVectors
from memory_server.sqlite.exchange.taken import Taken
from memory_server.sqlite.tx import Tx
from memory_server.storage.fact_rows import as_json

_PLACE = "scope = :scope AND owner = :owner AND key = :key"


@dataclass(frozen=True, slots=True)
class TakenFacts:
    """Writes a key of a fact whole: its history as the record has it, and its value."""

    tx: Tx

    def put(self, record: FactRecord) -> int | None:
        place = {"scope": record.scope, "owner": record.owner, "key": record.key}
        self.tx.execute(f"DELETE FROM facts WHERE {_PLACE}", place)
        self.tx.execute(f"DELETE FROM fact_history WHERE {_PLACE}", place)
        past = record.steps[:-1] if record.alive else record.steps
        for step in past:
            row = self.tx.one(
                """
                INSERT INTO fact_history (
                    fact_id, scope, owner, key, version, action, value, tags, expires_at, changed_at, changed_by,
                    writer
                )
                VALUES (0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                RETURNING id
                """,
                (
                    *place.values(),
                    step.version,
                    "expired" if step.action == "written" else step.action,
                    as_json(step.value),
                    as_json(list(step.tags)),
                    step.expires_at,
                    step.changed_at or self.tx.now,
                    step.changed_by,
                    step.writer,
                ),
            )
            self.tx.execute("UPDATE fact_history SET action = ? WHERE id = ?", (step.action, row[0]))
        if not record.alive:
            return None
        last = record.steps[-1]
        (id,) = self.tx.one(
            """
            INSERT INTO facts
                (
                    scope, owner, key, value, tags, version, access_count, created_at, updated_at, accessed_at,
                    expires_at,
                    created_by, updated_by, session, writer
                )
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            RETURNING id
            """,
            (
                *place.values(),
                as_json(last.value),
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
        self.tx.execute(
            f"UPDATE fact_history SET fact_id = :id WHERE {_PLACE} AND fact_id = 0", {**place, "id": id}
        )
        Taken(self.tx).mark("fact", id, record.captured)
        text = f"{record.key}\n{as_json(last.value)}"
        ExchangedVectors(self.tx).keep(Embedded.FACTS, id, [text], record.vectors)
        return int(id)
