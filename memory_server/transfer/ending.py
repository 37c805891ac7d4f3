"""Ends what stands in its source no longer: what a repeated import of the same file or folder does not find again."""

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

from memory_server.domain import trust
from memory_server.domain.event import Did
from memory_server.domain.exchange.records import (
    LongTermRecord,
    MemoryRecord,
    ShortTermRecord,
    TurnRecord,
)
from memory_server.domain.forgetting import Kind
from memory_server.importing import own
from memory_server.storage.tables.choosing import below_path
from memory_server.storage.tx import WriteTx
from memory_server.transfer import facts, origins, reading
from memory_server.transfer.origins import Placed, digest
from memory_server.transfer.shapes import EDGE
from memory_server.transfer.taking.run import Outcome, Run, imported_by, texts_of


def end(run: Run, tx: WriteTx, path: str) -> Counter[tuple[str, Outcome]]:
    """Delete what this source has had at a path and has no more, and count it by kind: it can be brought back.

    What was changed here stays, and so does what another source says too, or somebody here has said before.
    """
    counts: Counter[tuple[str, Outcome]] = Counter()
    for origin in origins.below(tx, run.source, path):
        if (origin.kind, origin.source_id) in run.present_ids:
            continue
        outcome = _end_fact(run, tx, origin) if origin.kind == "fact" else _end(run, tx, origin)
        if outcome is not None:
            counts[origin.kind, outcome] += 1
    ended = _end_edges(run, tx, path)
    return counts + Counter({("edge", Outcome.ENDED): ended})


def _end_edges(run: Run, tx: WriteTx, path: str) -> int:
    """Delete the edges that this source has made between its memories and has no more; return their number.

    What the person, a client or another source has connected has another author.
    """
    at_path = (
        f"SELECT item_id FROM origins WHERE kind = 'memory' AND source = :source AND {below_path('place')}"
    )
    rows = tx.statements.rows(
        f"""
        SELECT id, source_id, target_id, {EDGE.listed()}
        FROM edges
        WHERE created_by = :author AND valid_to IS NULL AND source_id IN ({at_path}) AND target_id IN ({at_path})
        """,
        {"author": imported_by(run.source), "source": run.source, "path": path},
    )
    gone = [row for row in rows if row[0] not in run.present_edges]
    for id, source, target, *values in gone:
        run.did(Did.ENDED, "edge", id, own.line(EDGE.make(values, source=str(source), target=str(target))))
        tx.statements.send("DELETE FROM main.edges WHERE id = :id", {"id": id})
    return len(gone)


def _end(run: Run, tx: WriteTx, origin: Placed) -> Outcome | None:
    local = _read(tx, origin)
    if local is None or not origin.digest:  # an earlier program kept none of a long-term memory
        return None
    is_elsewhere = origins.is_elsewhere(tx, origin)
    is_changed = digest(*texts_of(local)) != origin.digest
    if is_elsewhere or is_changed or not trust.came_in(local.origin):
        run.did(Did.CHANGED, origin.kind, origin.item, local)
        origins.delete(tx, origin.id)
        if is_elsewhere or not is_changed:
            return None
        run.conflicts.append(
            f"{origin.kind} {origin.item}: changed here and gone from {run.source}: left as it is here"
        )
        return Outcome.CHANGED_HERE
    run.did(Did.ENDED, origin.kind, origin.item, json.dumps(origins.rows(tx, origin.kind, origin.item)))
    tx.trash.put(Kind(origin.kind), [origin.item], run.filing.caller)
    origins.delete_of(tx, origin.kind, origin.item)
    return Outcome.ENDED


def _read(tx: WriteTx, origin: Placed) -> MemoryRecord | TurnRecord | ShortTermRecord | LongTermRecord | None:
    """Return the item of an origin; None where it is deleted."""
    ids = [origin.item]
    match origin.kind:
        case "memory":
            items: Iterable[Any] = reading.memories(tx, ids)
        case "turn":
            items = reading.turns(tx, ids)
        case "short_term":
            items = reading.short_term(tx, ids)
        case _:
            items = reading.long_term(tx, id=origin.item)
    return next(iter(items), None)


def _end_fact(run: Run, tx: WriteTx, origin: Placed) -> Outcome | None:
    """Delete a fact that nobody has written since it was imported."""
    row = tx.statements.row(
        "SELECT scope, owner, key FROM facts WHERE id = :id AND updated_at <= :at",
        {"id": origin.item, "at": origin.imported_at},
    )
    record = None if row is None else facts.delete(tx, (row[0], row[1], row[2]), run.filing.caller)
    if record is None:
        return None
    run.did(Did.CHANGED, "fact", origin.item, record)
    return Outcome.ENDED
