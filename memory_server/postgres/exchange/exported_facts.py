"""Reads facts as records: each key with all its steps, also where it has no value any more."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from memory_server.domain.exchange.records import FactRecord, FactStep
from memory_server.postgres.exchange.exchanged_vectors import ExchangedVectors
from memory_server.postgres.exchange.exported import Exported
from memory_server.postgres.tx import Tx
from memory_server.storage.exchange import Place
from memory_server.storage.fact_rows import value_of
from memory_server.storage.json_text import plain

_PLACES = "unnest(%s::text[], %s::text[], %s::text[]) AS wanted (scope, owner, key)"


@dataclass(frozen=True, slots=True)
class ExportedFacts:
    """Reads facts as records: each key with all its steps, also where it has no value any more."""

    tx: Tx

    def places(self, project: str | None = None) -> list[Place]:
        rows = self.tx.rows(
            """
            SELECT DISTINCT scope, owner, key
            FROM fact_history
            WHERE %(project)s::text IS NULL OR scope = 'project' AND owner = %(project)s
            ORDER BY scope, owner, key
            """,
            {"project": project},
        )
        return [(scope, owner, key) for scope, owner, key in rows]

    def facts(self, there: list[Place], embedded: bool = False) -> Iterator[FactRecord]:
        asked = [list(each) for each in zip(*there, strict=True)] or [[], [], []]
        steps: dict[Place, list[FactStep]] = {}
        for scope, owner, key, version, action, value, tags, *rest in self.tx.rows(
            f"""
            SELECT h.scope, h.owner, h.key, version, action, value, tags, expires_at, changed_at, changed_by, writer
            FROM {_PLACES}
            JOIN fact_history AS h ON (h.scope, h.owner, h.key) = (wanted.scope, wanted.owner, wanted.key)
            ORDER BY h.id
            """,
            asked,
        ):
            step = FactStep(version, action, value_of(value), tuple(plain(tags, [])), *rest)
            steps.setdefault((scope, owner, key), []).append(step)
        living = {
            (row[0], row[1], row[2]): row[3:]
            for row in self.tx.rows(
                f"""
                SELECT
                    f.scope, f.owner, f.key, id, version, value, tags, expires_at, updated_at, updated_by, writer,
                    access_count, created_at, accessed_at, created_by, session
                FROM {_PLACES}
                JOIN facts AS f ON (f.scope, f.owner, f.key) = (wanted.scope, wanted.owner, wanted.key)
                """,
                asked,
            )
        }
        ids = [row[0] for row in living.values()]
        marks = Exported(self.tx).captures("fact", ids)
        origins = Exported(self.tx).origins_of("fact", ids)
        vectors = ExchangedVectors(self.tx).of_facts(ids) if embedded else {}
        for place in there:
            past = steps.get(place, [])
            if place not in living:
                yield FactRecord(*place, tuple(past))  # type: ignore[arg-type]
                continue
            id, version, value, tags, *rest = living[place]
            now = FactStep(version, "written", value_of(value), tuple(plain(tags, [])), *rest[:4])
            yield replace(
                FactRecord(*place, (*past[:-1], now), *rest[4:]),  # type: ignore[arg-type]
                captured=marks.get(id),
                origins=tuple(origins.get(id, ())),
                vectors=vectors.get(id, {}),
            )

    def find(self, place: Place) -> FactRecord | None:
        (found,) = self.facts([place])
        return found if found.steps else None
