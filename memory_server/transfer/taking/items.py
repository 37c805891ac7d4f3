"""Items that are known here by their id: what is done where they differ from those of a source."""

from memory_server.domain.event import Did
from memory_server.domain.exchange.records import Item, LongTermRecord
from memory_server.storage.tx import WriteTx
from memory_server.transfer import origins, writing
from memory_server.transfer.origins import digest
from memory_server.transfer.taking.run import Outcome, Run, texts_of

Changed = Item | LongTermRecord
"""What a source may have changed."""


def change(run: Run, tx: WriteTx, id: int, local: Changed, record: Changed, result: Changed) -> Outcome:
    """Make an item `result` if it has changed at the source since it was imported, unless it was changed here too."""
    kind, origin, place = record.kind, run.origin(record), run.place(record)
    known_id, imported = run.known(tx, record)
    if imported == origin.digest:
        origins.rename(tx, kind, run.source, known_id, record.id)
        origins.stand(tx, kind, run.source, record.id, place)
        return Outcome.PRESENT
    if texts_of(local) == texts_of(record):  # changed in the same way on both sides
        origins.rename(tx, kind, run.source, known_id, record.id)
        origins.insert(tx, kind, id, [origin], place)
        return Outcome.PRESENT
    is_written = kind == "memory" and origins.is_written(tx, run.source, known_id, id)
    if digest(*texts_of(local)) != imported and not is_written:
        run.conflicts.append(f"{kind} {id}: changed here and in {run.source}: left as it is here")
        return Outcome.CHANGED_HERE
    run.did(Did.CHANGED, kind, id, local)
    writing.rewrite(tx, id, result)
    origins.rename(tx, kind, run.source, known_id, record.id)
    origins.insert(tx, kind, id, [origin], place)
    if is_written:
        origins.agree(tx, run.source, record.id, id)
    return Outcome.UPDATED


def reconcile(run: Run, tx: WriteTx, id: int, local: Item, result: Item) -> Outcome:
    """Make an item what it is in both files together."""
    if result == local:
        return Outcome.PRESENT
    run.did(Did.CHANGED, local.kind, id, local)
    writing.rewrite(tx, id, result)
    origins.keep_own(tx, local.kind, id, result.created_at, (result.id, *result.also))
    origins.insert(tx, local.kind, id, result.origins)
    return Outcome.UPDATED
