"""Ends what stands in its source no longer: what a repeated import of the same file or folder does not find again."""

import json
from collections import Counter

from memory_server.domain.event import Did
from memory_server.domain.exchange.records import MemoryRecord, ShortTermRecord, TurnRecord
from memory_server.domain.fact import Home, Scope
from memory_server.domain.forgetting import Kind
from memory_server.storage.tx import WriteTx
from memory_server.transfer import facts, origins, reading, writing
from memory_server.transfer.origins import Placed
from memory_server.transfer.taking.run import Outcome, Run, digest, texts_of


def end(run: Run, tx: WriteTx, path: str) -> Counter[tuple[str, Outcome]]:
    """Delete what this source has had at a path and has no more, and count it by kind: it can be brought back.

    What was changed here stays, and so does what another source says too.
    """
    counts: Counter[tuple[str, Outcome]] = Counter()
    for origin in origins.below(tx, run.source, path):
        if (origin.kind, origin.source_id) in run.present_ids:
            continue
        outcome = _end_fact(run, tx, origin) if origin.kind == "fact" else _end(run, tx, origin)
        if outcome is not None:
            counts[origin.kind, outcome] += 1
    return counts


def _end(run: Run, tx: WriteTx, origin: Placed) -> Outcome | None:
    if origin.kind == "long_term" or not writing.is_there(tx, origin.kind, origin.item):
        return None
    local = _read(tx, origin)
    said_elsewhere = origins.others(tx, origin)
    if said_elsewhere or digest(*texts_of(local)) != origin.digest:
        run.did(Did.CHANGED, origin.kind, origin.item, local)
        origins.delete(tx, origin.id)
        if said_elsewhere:
            return None
        run.conflicts.append(
            f"{origin.kind} {origin.item}: changed here and gone from {run.source}: left as it is here"
        )
        return Outcome.CHANGED_HERE
    run.ended(origin.kind, origin.item, json.dumps(origins.rows(tx, origin.kind, origin.item)))
    tx.trash.put(Kind(origin.kind), [origin.item], run.filing.caller)
    origins.delete_of(tx, origin.kind, origin.item)
    return Outcome.ENDED


def _read(tx: WriteTx, origin: Placed) -> MemoryRecord | TurnRecord | ShortTermRecord:
    ids = [origin.item]
    match origin.kind:
        case "memory":
            return reading.memories(tx, ids)[0]
        case "turn":
            return reading.turns(tx, ids)[0]
        case _:
            return reading.short_term(tx, ids)[0]


def _end_fact(run: Run, tx: WriteTx, origin: Placed) -> Outcome | None:
    """Delete a fact that nobody has written since it was imported."""
    row = tx.statements.row(
        "SELECT scope, owner, key FROM facts WHERE id = :id AND updated_at <= :at",
        {"id": origin.item, "at": origin.imported_at},
    )
    record = None if row is None else facts.find(tx, (row[0], row[1], row[2]))
    fact = None if record is None else tx.facts.find(Home(Scope(record.scope), record.owner), record.key)
    if fact is None:
        return None
    run.did(Did.CHANGED, "fact", origin.item, record)
    tx.facts.delete(fact, run.filing.caller)
    return Outcome.ENDED
