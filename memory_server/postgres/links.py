"""Holds what the tenants of one database share in a process: its connections, and the thread that hears of writes."""

import threading
from collections.abc import Callable
from typing import Final

from memory_server.postgres.connections import Connection, Pool
from memory_server.postgres.watch import Listener

CONNECTIONS: Final = 8
"""Connections of a server to a database at the same time. A call holds none while it embeds a text."""


class Links:
    """By database a pool and a listener: a server has at most CONNECTIONS + 1 connections to each, however many tenants
    it serves there, and a database that does not answer takes none of another.
    """

    def __init__(self) -> None:
        self._pools: dict[tuple[str, bool], Pool] = {}
        self._listeners: dict[str, Listener] = {}
        self._lock = threading.Lock()

    def pool(self, conninfo: str, prepares: bool, connect: Callable[[], Connection]) -> Pool:
        """Return the pool of a database; `prepares` is a part of its address."""
        with self._lock:
            if (conninfo, prepares) not in self._pools:
                self._pools[conninfo, prepares] = Pool(CONNECTIONS, connect)
            return self._pools[conninfo, prepares]

    def listener(self, conninfo: str) -> Listener:
        with self._lock:
            if conninfo not in self._listeners:
                self._listeners[conninfo] = Listener(conninfo)
            return self._listeners[conninfo]

    def close(self) -> None:
        """Close the pools. A listener ends with its last watch."""
        with self._lock:
            for pool in self._pools.values():
                pool.close()
