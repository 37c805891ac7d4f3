"""Lets a connection act for one tenant as the owner of the tables, and as the only process that copies or moves it."""

from dataclasses import dataclass, field
from typing import Any

import psycopg

from memory_server.errors import Mend, Unavailable
from memory_server.postgres import failures
from memory_server.postgres.connections import Connection
from memory_server.postgres.tx import Tx, Values


@dataclass(frozen=True)
class _TranslatedTx(Tx):
    """Statements that are waited for, each of which may raise an error that says what mends it."""

    place: str = field(kw_only=True)

    def _execute(self, sql: str, values: Values, binary: bool = False) -> psycopg.Cursor[tuple[Any, ...]]:
        with failures.translated(self.place):
            return super()._execute(sql, values, binary)


def act_alone_in(connection: Connection, tenant: int, now: str, lock: int, place: str) -> Tx:
    """Let a connection see and write one tenant, as the only process that has this lock of the tenant.

    Raises:
        Unavailable: another process copies or moves the tenant, or this role may not.
    """
    act_in(connection, tenant, now)
    tx = _TranslatedTx(connection, psycopg.Pipeline(connection), now, tenant=tenant, place=place)
    if tx.value("SELECT row_security_active('memories')"):
        raise Unavailable(
            f"The tables of {place} belong to another role: connect as the role that made them."
        )
    if not tx.value("SELECT pg_try_advisory_lock(%s, %s)", (lock, tenant)):
        raise Unavailable(f"Another process copies or moves {place} now.", Mend.TRY_AGAIN)
    return tx


def act_in(connection: Connection, tenant: int, now: str) -> None:
    """Let a connection see and write one tenant, as the owner of the tables."""
    connection.execute(
        """
        SELECT
            set_config('search_path', 'memory_server, public', false),
            set_config('memory.tenant', %s, false),
            set_config('memory.person', '', false),
            set_config('memory.projects', '*', false),
            set_config('memory.now', %s, false),
            set_config('synchronous_commit', 'off', false) -- what a crash loses is copied again
        """,
        (str(tenant), now),
    )


def commit_durably(tx: Tx) -> None:
    """Let this transaction, and with it those before, be on disk when it is committed."""
    tx.send(
        """
        SELECT set_config('synchronous_commit', replace(reset_val, 'off', 'on'), true)
        FROM pg_settings
        WHERE name = 'synchronous_commit'
        """
    )
