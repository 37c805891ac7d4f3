"""Deletes items of any kind, brings them back, and erases them for good."""

from memory_server.domain import forgetting, rights
from memory_server.domain.caller import Caller
from memory_server.domain.forgetting import Forgotten, Kind
from memory_server.errors import NotFound
from memory_server.storage.database import Database
from memory_server.storage.tx import WriteTx


def delete(
    database: Database, kind: Kind, id: int, purge: bool, caller: Caller, missing: NotFound
) -> Forgotten:
    """Delete an item with all that belongs to it: it can be brought back for 30 days.

    `purge`: erase it for good; of a memory that somebody else has also written, it is only deleted.

    Raises:
        NotFound: `missing`, if there is no such item; to erase, also none that was deleted.
    """
    with database.write() as tx:
        number = tx.trash.put(kind, [id], caller)
        deleted = tx.trash.select(kind, item_id=id)
        if not number and not (purge and deleted):
            raise missing
        if not purge:
            return forgetting.deleted(number, tx.now)
        writers = [trashed.writer for trashed in deleted]
        if kind is Kind.MEMORY and not rights.erases(tx.person, writers):  # other items have one writer
            return forgetting.not_erased(deleted[0].deleted_at)
        tx.trash.erase([trashed.id for trashed in deleted])
    return forgetting.erased(1, database.files.drop_copies())


def restore(tx: WriteTx, kind: Kind, id: int) -> None:
    """Bring back the item that was deleted last under an id, as it was.

    Raises:
        NotFound: none was deleted in the last 30 days.
    """
    trashed = tx.trash.find_last(kind, id)
    if trashed is None:
        raise NotFound(f"No {kind.value} {id} was deleted in the last 30 days. Nothing was restored.")
    tx.trash.restore(trashed)
