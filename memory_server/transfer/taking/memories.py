"""Memories of a source: new, known already, changed, said already, or deleted here."""

from dataclasses import replace

from memory_server.domain.event import Did
from memory_server.domain.exchange import reconcile
from memory_server.domain.exchange.records import MemoryRecord
from memory_server.domain.forgetting import Kind
from memory_server.language.text import clean
from memory_server.storage.tx import Tx, WriteTx
from memory_server.transfer import origins, reading, writing
from memory_server.transfer.origins import digest
from memory_server.transfer.taking import items
from memory_server.transfer.taking.run import Outcome, Run, said_as


def take(run: Run, tx: WriteTx, record: MemoryRecord) -> Outcome:
    """Store a memory, or merge it into the one here that has its id or says the same."""
    record = replace(record, project=run.project_of(tx, record.project))
    if not run.own:
        record = replace(
            record,
            content=clean(record.content),
            tags=tuple(dict.fromkeys(filter(None, (clean(str(tag)) for tag in record.tags)))),
        )
    local_id = run.find(tx, record)
    if local_id is None:
        local_id = run.find_earlier(tx, record)
    if local_id is not None and not writing.is_there(tx, "memory", local_id):
        return _deleted(run, tx, local_id, record)
    if local_id is not None:
        (local,) = reading.memories(tx, [local_id])
        if not run.own:
            rewritten = reconcile.memories(local, replace(record, updated_at=max(record.updated_at, tx.now)))
            result = replace(rewritten, created_at=local.created_at)
            return items.change(run, tx, local_id, local, record, result)
        if reconcile.same_memory(local, record):
            return items.reconcile(run, tx, local_id, local, reconcile.memories(local, record))
        marked = f"{record.id}~{digest(record.content)[:8]}"
        record = replace(record, id=marked, also=())
        again = origins.find_own(tx, "memory", marked)
        if again is not None:
            (local,) = reading.memories(tx, [again])
            return items.reconcile(run, tx, again, local, reconcile.memories(local, record))
    twin = _twin(run, tx, record)
    if twin is not None and not run.own:
        run.did(Did.ADDED, "origin", origins.add(tx, "memory", twin, run.origin(record), run.place(record)))
        return Outcome.DUPLICATE
    if twin is not None:
        (local,) = reading.memories(tx, [twin])
        items.reconcile(run, tx, twin, local, reconcile.memories(local, record, joined=True))
        return Outcome.DUPLICATE
    id = writing.insert_memory(tx, record)
    run.did(Did.ADDED, "memory", id)
    run.filed[record.project or ""] += 1
    run.keep_origin(tx, id, record)
    if not run.own:
        text_digest = said_as(record.content, record.type, record.project, record.person)
        run.texts.setdefault(text_digest, []).append(id)
    return Outcome.ADDED


def _twin(run: Run, tx: Tx, record: MemoryRecord) -> int | None:
    """Return a memory that says exactly the same. Of a file of ours: one that this file alone has."""
    text_digest = said_as(record.content, record.type, record.project, record.person)
    for id in run.texts.get(text_digest, ()):
        if not writing.is_there(tx, "memory", id):
            continue
        if not run.own or run.source_ids.isdisjoint(origins.own_ids(tx, "memory", id)):
            return id
    return None


def _deleted(run: Run, tx: WriteTx, id: int, record: MemoryRecord) -> Outcome:
    """Keep deleted what was deleted, unless another file of ours has changed it since: then it is as it is there.

    Nothing else of what was deleted comes back with it: the other file, which hears of the deletion alone, has none.
    """
    deleted = tx.trash.find_last(Kind.MEMORY, id)
    if not run.own or deleted is None or record.updated_at <= deleted.deleted_at:
        return Outcome.DELETED
    (row,) = deleted.parts["memories"]
    tx.trash.restore(replace(deleted, parts={"memories": [row]}))
    run.did(Did.RETURNED, "memory", id)
    tx.memory_uses.delete(id)
    writing.rewrite_memory(tx, id, record)
    origins.keep_own(tx, "memory", id, record.created_at, (record.id, *record.also))
    origins.insert(tx, "memory", id, record.origins)
    return Outcome.UPDATED
