"""Reads facts as records: each key with all its steps, also where it has no value any more."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from memory_server.domain.exchange.records import FactRecord, FactStep
from memory_server.sqlite.exchange.exchanged_vectors import ExchangedVectors
from memory_server.sqlite.exchange.exported import Exported
from memory_server.sqlite.origins import Origins
from memory_server.sqlite.tx import Tx
from memory_server.storage.exchange import Place
from memory_server.storage.fact_rows import value_of
from memory_server.storage.json_text import plain


@dataclass(frozen=True, slots=True)
class ExportedFacts:
    """Reads facts as records: each key with all its steps, also where it has no value any more."""

    tx: Tx

    def places(self, project: str | None = None) -> list[Place]:
        rows = self.tx.rows(
            """
            SELECT DISTINCT scope, owner, key
            FROM fact_history
            WHERE :project IS NULL OR scope = 'project' AND owner = :project
            ORDER BY scope, owner, key
            """,
            {"project": project},
        )
        return [(scope, owner, key) for scope, owner, key in rows]

    def facts(self, there: list[Place], embedded: bool = False) -> Iterator[FactRecord]:
        marks = Exported(self.tx).captures("fact")
        for place in there:
            steps = [
                FactStep(version, action, value_of(value), tuple(plain(tags, [])), *rest)
                for version, action, value, tags, *rest, _ in self.tx.rows(
                    """
                    SELECT version, action, value, tags, expires_at, changed_at, changed_by, writer, id
                    FROM fact_history
                    WHERE scope = ? AND owner = ? AND key = ?
                    ORDER BY id
                    """,
                    place,
                )
            ]
            row = self.tx.row(
                """
                SELECT id, version, value, tags, expires_at, updated_at, updated_by, writer, access_count, created_at,
                accessed_at,
                    created_by, session
                FROM facts
                WHERE scope = ? AND owner = ? AND key = ?
                """,
                place,
            )
            if row is None:
                yield FactRecord(*place, tuple(steps))  # type: ignore[arg-type]
                continue
            id, version, value, tags, *rest = row
            now = FactStep(version, "written", value_of(value), tuple(plain(tags, [])), *rest[:4])
            record = FactRecord(*place, (*steps[:-1], now), *rest[4:])  # type: ignore[arg-type]
            yield replace(
                record,
                captured=marks.get(id),
                origins=Origins(self.tx).select("fact", id),
                vectors=ExchangedVectors(self.tx).of_facts([id]).get(id, {}) if embedded else {},
            )

    def find(self, place: Place) -> FactRecord | None:
        there = self.tx.value(
            "SELECT 1 FROM fact_history WHERE scope = ? AND owner = ? AND key = ? LIMIT 1", place
        )
        return None if there is None else next(self.facts([place]))
