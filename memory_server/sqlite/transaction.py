"""A transaction with all tables."""

from typing import ClassVar

from memory_server.sqlite.tx import Tx
from memory_server.storage.tx import WriteTx


class Transaction(Tx, WriteTx):
    """Statements, and the tables that make them."""

    store: ClassVar[str] = "memory_server.sqlite"
