"""A transaction with all tables."""

from typing import ClassVar

from memory_server.postgres.spelling import Spelled
from memory_server.postgres.tx import Tx
from memory_server.storage.statements import Statements
from memory_server.storage.tx import WriteTx


class Transaction(Tx, WriteTx):
    """Statements, and the tables that make them."""

    store: ClassVar[str] = "memory_server.postgres"

    @property
    def statements(self) -> Statements:
        return Spelled(self)
