"""Writes a key of a fact whole: its history as the record has it, and its value."""

from memory_server.domain.embedding import Embedded
from memory_server.domain.exchange.records import FactRecord
from memory_server.sqlite.exchange import taken, vectors
from memory_server.sqlite.facts import as_json
from memory_server.sqlite.tx import WriteTx

_PLACE = "scope = :scope AND owner = :owner AND key = :key"


def put(tx: WriteTx, record: FactRecord) -> int | None:
    """Write the history and the value of a key anew; the id of the fact, None where it has no value.

    Triggers write a step for each change, and index a step that was written, for which its fact must be there. So the
    steps before the last are entered as expired, and are named what they were after that.
    """
    place = {"scope": record.scope, "owner": record.owner, "key": record.key}
    tx.execute(f"DELETE FROM facts WHERE {_PLACE}", place)
    tx.execute(f"DELETE FROM fact_history WHERE {_PLACE}", place)
    past = record.steps[:-1] if record.alive else record.steps
    for step in past:
        row = tx.one(
            """
            INSERT INTO fact_history
                (fact_id, scope, owner, key, version, action, value, tags, expires_at, changed_at, changed_by)
            VALUES (0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            RETURNING id
            """,
            (
                *place.values(),
                step.version,
                "expired" if step.action == "written" else step.action,
                as_json(step.value),
                as_json(list(step.tags)),
                step.expires_at,
                step.changed_at or tx.now,
                step.changed_by,
            ),
        )
        tx.execute("UPDATE fact_history SET action = ? WHERE id = ?", (step.action, row[0]))
    if not record.alive:
        return None
    last = record.steps[-1]
    (id,) = tx.one(
        """
        INSERT INTO facts
            (
                scope, owner, key, value, tags, version, access_count, created_at, updated_at, accessed_at, expires_at,
                created_by, updated_by, session
            )
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        RETURNING id
        """,
        (
            *place.values(),
            as_json(last.value),
            as_json(list(last.tags)),
            last.version,
            record.access_count,
            record.created_at or last.changed_at or tx.now,
            last.changed_at or tx.now,
            record.accessed_at,
            last.expires_at,
            record.created_by,
            last.changed_by,
            record.session,
        ),
    )
    tx.execute(f"UPDATE fact_history SET fact_id = :id WHERE {_PLACE} AND fact_id = 0", {**place, "id": id})
    taken.mark(tx, "fact", id, record.captured)
    text = f"{record.key}\n{as_json(last.value)}"
    vectors.keep(tx, Embedded.FACTS, id, [text], record.vectors)
    return int(id)
