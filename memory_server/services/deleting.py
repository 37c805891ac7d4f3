"""Deletes items of any kind, brings them back, and erases them for good."""

from collections.abc import Sequence

from memory_server.domain import forgetting, rights, trust
from memory_server.domain.caller import Caller
from memory_server.domain.forgetting import Forgotten, Kind
from memory_server.errors import Conflict, Hint, Mend, NotFound
from memory_server.storage.database import Database
from memory_server.storage.trash import PARTS, Trashed
from memory_server.storage.tx import Tx, WriteTx

TABLES = {kind: next(iter(tables)) for kind, tables in PARTS.items()}
"""By kind, the table with the rows of its items."""

_NAMES = {
    Kind.MEMORY: ("memory", Mend.FIND_MEMORY),
    Kind.TURN: ("turn", Mend.FIND_TURN),
    Kind.SHORT_TERM: ("short-term memory", Mend.LIST_SHORT_TERM_CONVERSATIONS),
}
"""The kinds of things that have ids: the word for one, and what finds its id."""


def delete(database: Database, kind: Kind, id: int, purge: bool, caller: Caller) -> Forgotten:
    """Delete an item with all that belongs to it: it can be brought back for 30 days.

    `purge`: erase it for good; of a memory that somebody else has also written, it is only deleted.

    Raises:
        NotFound: there is no such item; to erase, also none that was deleted.
    """
    with database.write() as tx:
        number = tx.trash.put(kind, [id], caller)
        deleted = tx.trash.select(kind, item_id=id)
        if not number and not (purge and deleted):
            name, mend = _NAMES[kind]
            raise NotFound(f"No {name} {id}.", mend)
        if not purge:
            return forgetting.deleted(number, tx.now)
        writers = [trashed.writer for trashed in deleted]
        if kind is Kind.MEMORY and not rights.erases(tx.person, writers):  # other items have one writer
            return forgetting.not_erased(deleted[0].deleted_at)
        tx.trash.erase([trashed.id for trashed in deleted])
    return forgetting.erased(1, database.files.drop_copies({TABLES[kind]: id}))


def refuse_models(tx: Tx, memories: Sequence[int], caller: Caller) -> None:
    """Raise Conflict where somebody other than a person would change a rule that a person has confirmed."""
    if trust.is_person(caller.stamp):
        return
    name = next(iter(tx.rules.confirmed(memories).values()), None)
    if name is not None:
        raise Conflict(
            f"A person has confirmed the rule `{name}`: only a person changes it. Nothing was changed.",
            Hint(Mend.SWITCH_RULE, {"name": name}),
        )


def restore(tx: WriteTx, kind: Kind, id: int) -> None:
    """Bring back the item that was deleted last under an id, as it was.

    Raises:
        NotFound: none was deleted in the last 30 days.
    """
    trashed = tx.trash.find_last(kind, id)
    if trashed is None:
        name, _ = _NAMES[kind]
        raise NotFound(f"No {name} {id} was deleted in the last 30 days. Nothing was restored.")
    tx.trash.restore(trashed)


def bring_back(tx: WriteTx, trashed: Trashed) -> None:
    """Bring back what lies in the trash.

    Raises:
        Conflict: its name or its id has been taken again.
    """
    place = None if trashed.conversation is None else tx.conversations.find(trashed.conversation)
    if trashed.kind is Kind.LONG_TERM and place is not None:
        name = str(trashed.parts["long_term_memories"][0]["name"])
        if tx.long_term.find(place, name) is not None:
            raise Conflict(f"`{name}` is taken again in `{trashed.conversation}`. Nothing was undone.")
    tx.trash.restore(trashed)
