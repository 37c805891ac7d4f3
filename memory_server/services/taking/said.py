"""Turns and short-term memories of a source."""

from dataclasses import replace
from typing import Any

from memory_server.domain.exchange import reconcile
from memory_server.domain.exchange.records import ShortTermRecord, TurnRecord
from memory_server.language.text import clean
from memory_server.services.taking.run import Outcome, Run, digest, texts_of
from memory_server.storage.tx import WriteTx


def take(run: Run, tx: WriteTx, kind: str, record: TurnRecord | ShortTermRecord) -> Outcome:
    """Store a turn or a short-term memory, or change the one with its id here where it has changed at the source."""
    if not run.own:
        record = _cleaned(record)
    local_id = run.find(tx, kind, record)
    if local_id is None:
        id = (
            tx.taken.insert_turn(record)
            if isinstance(record, TurnRecord)
            else tx.taken.insert_short_term(record)
        )
        run.keep_origin(tx, kind, id, record)
        return Outcome.ADDED
    if not tx.taken.is_there(kind, local_id):
        return Outcome.DELETED
    local: TurnRecord | ShortTermRecord = (
        tx.exported.turns([local_id])[0] if kind == "turn" else tx.exported.short_term([local_id])[0]
    )
    if not run.own:
        return _changed(run, tx, kind, local_id, local, record)
    result = _reconciled(local, record)
    if result == local:
        return Outcome.PRESENT
    _rewrite(tx, local_id, result)
    tx.origins.keep_own(kind, local_id, local.created_at, (result.id, *result.also))
    tx.origins.insert(kind, local_id, result.origins)
    return Outcome.UPDATED


def _changed(run: Run, tx: WriteTx, kind: str, id: int, local: Any, record: Any) -> Outcome:
    origin = run.origin(record)
    _, imported = tx.origins.find(kind, run.source, record.id) or (id, "")
    if imported == origin.digest:
        return Outcome.PRESENT
    if digest(*texts_of(local)) != imported:
        run.conflicts.append(f"{kind} {id}: changed here and in {run.source}: left as it is here")
        return Outcome.CHANGED_HERE
    if isinstance(record, TurnRecord):
        tx.taken.rewrite_turn(id, replace(local, message=record.message, summary=record.summary))
    else:
        tx.taken.rewrite_short_term(id, replace(local, text=record.text, keywords=record.keywords))
    tx.origins.insert(kind, id, [origin])
    return Outcome.UPDATED


def _cleaned(record: TurnRecord | ShortTermRecord) -> TurnRecord | ShortTermRecord:
    if isinstance(record, TurnRecord):
        return replace(record, message=clean(record.message), summary=clean(record.summary))
    return replace(record, text=clean(record.text))


def _reconciled(local: Any, record: Any) -> Any:
    return (
        reconcile.turns(local, record)
        if isinstance(record, TurnRecord)
        else reconcile.short_term(local, record)
    )


def _rewrite(tx: WriteTx, id: int, record: Any) -> None:
    if isinstance(record, TurnRecord):
        tx.taken.rewrite_turn(id, record)
    else:
        tx.taken.rewrite_short_term(id, record)
