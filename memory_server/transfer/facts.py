"""Reads and writes keys of facts as records: each with all its steps, also where it has no value any more."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from memory_server.domain.caller import Caller
from memory_server.domain.embedding import Embedded
from memory_server.domain.exchange.records import FactRecord, FactStep
from memory_server.domain.fact import Home, Scope
from memory_server.storage.columns import BY_NAME
from memory_server.storage.tx import Tx, WriteTx
from memory_server.transfer import origins, reading, writing
from memory_server.transfer import vectors as item_vectors
from memory_server.transfer.shapes import FACT, STEP

Place = tuple[str, str, str]
"""Scope, owner and key."""

_WHERE: Final = "scope = :scope AND owner = :owner AND key = :key"

_BETWEEN: Final = """
    (scope, owner, key) >= (:first_scope, :first_owner, :first_key)
    AND (scope, owner, key) <= (:last_scope, :last_owner, :last_key)
"""

_AS_STEP: Final = {"action": "'written'", "changed_at": "updated_at", "changed_by": "updated_by"}
"""The columns of a step that a fact has under another name."""

_LAST_STEP: Final = ", ".join(_AS_STEP.get(column, f'"{column}"') for column in STEP.columns)


def places(tx: Tx, project: str | None = None) -> list[Place]:
    """Return every key that ever had a value, of a project or of all."""
    where, values = reading.of_project("scope = 'project' AND owner", project)
    rows = tx.statements.rows(
        f"SELECT DISTINCT scope, owner, key FROM fact_history {where} ORDER BY scope, owner, key", values
    )
    return [(scope, owner, key) for scope, owner, key in rows]


def read(tx: Tx, keys: Sequence[Place], embedded: bool = False) -> Iterator[FactRecord]:
    """Yield keys that follow one another in `places`, each with its history; with their vectors if `embedded`."""
    bounds = {
        f"{end}_{part}": value
        for end, place in (("first", keys[0]), ("last", keys[-1]))
        for part, value in zip(("scope", "owner", "key"), place, strict=True)
    }
    steps: dict[Place, list[FactStep]] = {}
    for _, scope, owner, key, *values in tx.statements.rows(
        f"SELECT id, scope, owner, key, {STEP.listed()} FROM fact_history WHERE {_BETWEEN} ORDER BY id",
        bounds,
    ):
        steps.setdefault((scope, owner, key), []).append(STEP.make(values))
    living = {
        (row[1], row[2], row[3]): row
        for row in tx.statements.rows(
            f"SELECT id, {FACT.listed()}, {_LAST_STEP} FROM facts WHERE {_BETWEEN}", bounds
        )
    }
    ids = [row[0] for row in living.values()]
    marks = reading.captures(tx, "fact", ids)
    sources = origins.of_items(tx, "fact", ids)
    vectors = item_vectors.of_items(tx, Embedded.FACTS, ids) if embedded else {}
    for place in keys:
        past = tuple(steps.get(place, ()))
        if place not in living:
            scope, owner, key = place
            yield FactRecord(scope, owner, key, past)  # type: ignore[arg-type]
            continue
        id, *values = living[place]
        split = len(FACT.columns)
        yield FACT.make(
            values[:split],
            steps=(*past[:-1], STEP.make(values[split:])),
            captured=marks.get(id),
            origins=sources[id].origins,
            vectors=vectors.get(id, {}),
        )


def find(tx: Tx, place: Place) -> FactRecord | None:
    """Return a key with its history; None where it never had a value."""
    (record,) = read(tx, [place])
    return record if record.steps else None


def put(tx: WriteTx, record: FactRecord) -> int | None:
    """Write the history and the value of a key anew; return the id of the fact, None where it has no value.

    Triggers write a step for each change, and index a step that was written, for which its fact must be there. So the
    steps before the last are entered as expired, and are named what they were after that.
    """
    place = {"scope": record.scope, "owner": record.owner, "key": record.key}
    erase(tx, record.scope, record.owner, record.key)
    past = record.steps[:-1] if record.alive else record.steps
    tx.statements.send_each(
        STEP.insertion("fact_id", *place),
        ({"fact_id": 0, **place, **_entered(step, tx.now)} for step in past),
    )
    _name_steps(tx, place, past)
    if not record.alive:
        return None
    last = record.steps[-1]
    changed_at = last.changed_at or tx.now
    row = FACT.values(replace(record, created_at=record.created_at or changed_at))
    row |= {name: value for name, value in STEP.values(last).items() if name in BY_NAME["facts"].columns}
    id = tx.statements.insert("facts", row | {"updated_at": changed_at, "updated_by": last.changed_by})
    tx.statements.send(
        f"UPDATE fact_history SET fact_id = :id WHERE {_WHERE} AND fact_id = 0", {**place, "id": id}
    )
    writing.mark(tx, "fact", id, record.captured)
    text = f"{record.key}\n{row['value']}"
    item_vectors.keep(tx, Embedded.FACTS, id, [text], record.vectors)
    return id


def delete(tx: WriteTx, place: Place, caller: Caller) -> FactRecord | None:
    """Delete a fact; return the record that it was, None where it has no value."""
    scope, owner, key = place
    fact = tx.facts.find(Home(Scope(scope), owner), key)
    record = find(tx, place)
    if fact is None:
        return None
    tx.facts.delete(fact, caller)
    return record


def erase(tx: WriteTx, scope: str, owner: str, key: str) -> None:
    """Erase a key with its history."""
    values = {"scope": scope, "owner": owner, "key": key}
    tx.statements.send(f"DELETE FROM facts WHERE {_WHERE}", values)
    tx.statements.send(f"DELETE FROM fact_history WHERE {_WHERE}", values)


def _entered(step: FactStep, now: str) -> dict[str, object]:
    action = "expired" if step.action == "written" else step.action
    return STEP.values(replace(step, action=action, changed_at=step.changed_at or now))


def _name_steps(tx: WriteTx, place: dict[str, str], past: Sequence[FactStep]) -> None:
    """Name those steps written that were entered as expired."""
    written = [step.action == "written" for step in past]
    if any(written):
        ids = tx.statements.rows(f"SELECT id FROM fact_history WHERE {_WHERE} ORDER BY id", place)
        tx.statements.send(
            "UPDATE fact_history SET action = 'written' WHERE id IN (SELECT value FROM json_each(:ids))",
            {"ids": tx.statements.array(id for (id,), was in zip(ids, written, strict=True) if was)},
        )
