"""The classes of the tables of a store, found by the name that a transaction has for each."""

from functools import cache
from importlib import import_module
from typing import Any

EXCHANGE = "exchange"
"""The folder of a store with the tables of exports and imports."""


@cache
def find(store: str, name: str) -> Any:
    """Return the class of a table: `memory_counts` is `MemoryCounts` in `STORE/memory_counts.py` or `STORE/exchange/`.

    It is imported when it is first asked for.

    Raises:
        AttributeError: the store has no such table.
    """
    kind = "".join(part.capitalize() for part in name.split("_"))
    for module in (f"{store}.{name}", f"{store}.{EXCHANGE}.{name}"):
        try:
            return getattr(import_module(module), kind)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
    raise AttributeError(f"{store} has no table {name}")
