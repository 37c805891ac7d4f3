"""Turns and short-term memories of a source."""

from dataclasses import replace

from memory_server.domain.event import Did
from memory_server.domain.exchange import reconcile
from memory_server.domain.exchange.records import ShortTermRecord, TurnRecord
from memory_server.language.text import clean
from memory_server.storage.tx import WriteTx
from memory_server.transfer import reading, writing
from memory_server.transfer.taking import items
from memory_server.transfer.taking.run import Outcome, Run


def take_turn(run: Run, tx: WriteTx, record: TurnRecord) -> Outcome:
    """Store a turn, or change the one with its id here where it has changed at the source."""
    record = replace(record, project=run.project_of(tx, record.project or None) or "")
    if not run.own:
        record = replace(record, message=clean(record.message), summary=clean(record.summary))
    id = run.find(tx, record)
    if id is None or not writing.is_there(tx, "turn", id):
        return _insert(run, tx, record) if id is None else Outcome.DELETED
    (local,) = reading.turns(tx, [id])
    if not run.own:
        result = replace(local, message=record.message, summary=record.summary, origin=record.origin)
        return items.change(run, tx, id, local, record, result)
    return items.reconcile(
        run, tx, id, local, replace(reconcile.turns(local, record), created_at=local.created_at)
    )


def take_short_term(run: Run, tx: WriteTx, record: ShortTermRecord) -> Outcome:
    """Store a short-term memory, or change the one with its id here, as `take_turn` does."""
    record = replace(record, conversation=run.conversation_of(tx, record.conversation))
    if not run.own:
        record = replace(record, text=clean(record.text))
    id = run.find(tx, record)
    if id is None or not writing.is_there(tx, "short_term", id):
        return _insert(run, tx, record) if id is None else Outcome.DELETED
    (local,) = reading.short_term(tx, [id])
    if not run.own:
        result = replace(local, text=record.text, keywords=record.keywords, origin=record.origin)
        return items.change(run, tx, id, local, record, result)
    return items.reconcile(
        run, tx, id, local, replace(reconcile.short_term(local, record), created_at=local.created_at)
    )


def _insert(run: Run, tx: WriteTx, record: TurnRecord | ShortTermRecord) -> Outcome:
    id = writing.insert(tx, record)
    run.did(Did.ADDED, record.kind, id)
    run.keep_origin(tx, id, record)
    return Outcome.ADDED
