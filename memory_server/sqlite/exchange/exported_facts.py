"""Reads facts as records: each key with all its steps, also where it has no value any more."""

from collections.abc import Iterator
from dataclasses import replace

from memory_server.domain.exchange.records import FactRecord, FactStep
from memory_server.sqlite import origins
from memory_server.sqlite.exchange import vectors
from memory_server.sqlite.exchange.exported import captures, plain
from memory_server.sqlite.fact_history import value_of
from memory_server.sqlite.tx import Tx

Place = tuple[str, str, str]
"""Scope, owner and key."""


def places(tx: Tx, project: str | None = None) -> list[Place]:
    """Every key that ever had a value, of a project or of all."""
    rows = tx.rows(
        """
        SELECT DISTINCT scope, owner, key
        FROM fact_history
        WHERE :project IS NULL OR scope = 'project' AND owner = :project
        ORDER BY scope, owner, key
        """,
        {"project": project},
    )
    return [(scope, owner, key) for scope, owner, key in rows]


def facts(tx: Tx, there: list[Place], embedded: bool = False) -> Iterator[FactRecord]:
    """These keys, each with its history."""
    marks = captures(tx, "fact")
    for place in there:
        steps = [
            FactStep(version, action, value_of(value), tuple(plain(tags, [])), *rest)
            for version, action, value, tags, *rest, _ in tx.rows(
                """
                SELECT version, action, value, tags, expires_at, changed_at, changed_by, id
                FROM fact_history
                WHERE scope = ? AND owner = ? AND key = ?
                ORDER BY id
                """,
                place,
            )
        ]
        row = tx.row(
            """
            SELECT id, version, value, tags, expires_at, updated_at, updated_by, access_count, created_at, accessed_at,
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
        now = FactStep(version, "written", value_of(value), tuple(plain(tags, [])), *rest[:3])
        record = FactRecord(*place, (*steps[:-1], now), *rest[3:])  # type: ignore[arg-type]
        yield replace(
            record,
            captured=marks.get(id),
            origins=origins.select(tx, "fact", id),
            vectors=vectors.of_facts(tx, [id]).get(id, {}) if embedded else {},
        )


def find(tx: Tx, place: Place) -> FactRecord | None:
    """A key with its history; None where it never had a value."""
    there = tx.value("SELECT 1 FROM fact_history WHERE scope = ? AND owner = ? AND key = ? LIMIT 1", place)
    return None if there is None else next(facts(tx, [place]))
