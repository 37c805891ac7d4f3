"""Turns and short-term memories of a source."""

from dataclasses import replace
from typing import Any

from memory_server.domain.event import Did
from memory_server.domain.exchange import reconcile
from memory_server.domain.exchange.records import ShortTermRecord, TurnRecord
from memory_server.language.text import clean
from memory_server.storage.tx import WriteTx
from memory_server.transfer import origins, reading, writing
from memory_server.transfer.taking.run import Outcome, Run, digest, texts_of


def take(run: Run, tx: WriteTx, kind: str, record: TurnRecord | ShortTermRecord) -> Outcome:
    """Store a turn or a short-term memory, or change the one with its id here where it has changed at the source."""
    if not run.own:
        record = _cleaned(record)
    local_id = run.find(tx, kind, record)
    if local_id is None:
        id = (
            writing.insert_turn(tx, record)
            if isinstance(record, TurnRecord)
            else writing.insert_short_term(tx, record)
        )
        run.did(Did.ADDED, kind, id)
        run.keep_origin(tx, kind, id, record)
        return Outcome.ADDED
    if not writing.is_there(tx, kind, local_id):
        return Outcome.DELETED
    local: TurnRecord | ShortTermRecord = (
        reading.turns(tx, [local_id])[0] if kind == "turn" else reading.short_term(tx, [local_id])[0]
    )
    if not run.own:
        return _changed(run, tx, kind, local_id, local, record)
    result = _reconciled(local, record)
    if result == local:
        return Outcome.PRESENT
    run.did(Did.CHANGED, kind, local_id, local)
    _rewrite(tx, local_id, result)
    origins.keep_own(tx, kind, local_id, local.created_at, (result.id, *result.also))
    origins.insert(tx, kind, local_id, result.origins)
    return Outcome.UPDATED


def _changed(run: Run, tx: WriteTx, kind: str, id: int, local: Any, record: Any) -> Outcome:
    origin = run.origin(record)
    known_id, imported = run.known(tx, kind, record)
    if imported == origin.digest:
        origins.rename(tx, kind, run.source, known_id, record.id)
        origins.stand(tx, kind, run.source, record.id, run.place(record))
        return Outcome.PRESENT
    if digest(*texts_of(local)) != imported:
        run.conflicts.append(f"{kind} {id}: changed here and in {run.source}: left as it is here")
        return Outcome.CHANGED_HERE
    run.did(Did.CHANGED, kind, id, local)
    if isinstance(record, TurnRecord):
        writing.rewrite_turn(tx, id, replace(local, message=record.message, summary=record.summary))
    else:
        writing.rewrite_short_term(tx, id, replace(local, text=record.text, keywords=record.keywords))
    origins.rename(tx, kind, run.source, known_id, record.id)
    origins.insert(tx, kind, id, [origin], run.place(record))
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
        writing.rewrite_turn(tx, id, record)
    else:
        writing.rewrite_short_term(tx, id, record)
