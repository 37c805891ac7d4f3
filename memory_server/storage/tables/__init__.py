"""The tables of a transaction, found by their names. A module here is a table that both stores share."""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, cast

Maker = Callable[[Any], Any]
"""Makes a table for a transaction."""


@cache
def maker(store: str, name: str) -> Maker:
    """Return what makes a table for a transaction of a store: a shared one takes statements in the words of both."""
    table = find(store, name)
    if is_shared(table):
        return lambda tx: table(tx.statements)
    return cast(Maker, table)


def find(store: str, name: str) -> Any:
    """Return the class of a table, imported at the first use.

    `memory_counts` is `WritableMemoryCounts` or `MemoryCounts` of `storage/tables/memory_counts.py` where both stores
    share it, else `MemoryCounts` of `STORE/memory_counts.py`. What both stores share and works with other tables of the
    transaction is in `storage/`: `WritableTrash` of `storage/trash.py`.

    Raises:
        AttributeError: the store has no such table.
    """
    kind = "".join(part.capitalize() for part in name.split("_"))
    storage, _, _ = __name__.rpartition(".")
    for package in (__name__, store, storage):
        module = f"{package}.{name}"
        try:
            loaded = import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
        else:
            table = getattr(loaded, kind)
            return table if package.startswith(store) else getattr(loaded, f"Writable{kind}", table)
    raise AttributeError(f"{store} has no table {name}")


def is_shared(table: type) -> bool:
    """True for a class that both stores share."""
    return table.__module__.startswith(f"{__name__}.")
