"""Compares the database after an event with what the ledgers say, and asks if the servers work on as before."""

import time
from contextlib import closing
from dataclasses import dataclass, field

import psycopg
from torture.ledger import look

from failover.gates import LOOPBACK
from failover.load import Load
from failover.nodes import Node, Nodes

RECOVERING = 60.0
"""Seconds within which a server leads, all watch again, and no text waits to be embedded."""

_TWICE = """
    SELECT split_part(content, ' ', 1) FROM memory_server.memories GROUP BY 1 HAVING count(*) > 1
    UNION ALL
    SELECT split_part(message, ' ', 1) FROM memory_server.turns GROUP BY 1 HAVING count(*) > 1
    UNION ALL
    SELECT split_part(text, ' ', 2) FROM memory_server.short_term_memories GROUP BY 1 HAVING count(*) > 1
"""
"""The words of writes that are there twice; the others have unique names."""

_LEADING = "SELECT count(*) FROM memory_server.leads WHERE until > now()"

_WRITES = "SELECT number FROM memory_server.writes ORDER BY tenant_id"

_WATCHING = """
    SELECT count(*) FROM pg_stat_activity
    WHERE query LIKE '%memory_server.writes WHERE tenant_id%' AND pid <> pg_backend_pid()
"""

_WAITING = """
    SELECT (SELECT count(*) FROM memory_server.embedding_queue)
        + (SELECT count(*) FROM memory_server.fact_embedding_queue)
        + (SELECT count(*) FROM memory_server.turn_embedding_queue)
        + (SELECT count(*) FROM memory_server.short_term_embedding_queue)
"""


@dataclass(slots=True)
class Verdict:
    lost: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)

    @property
    def faults(self) -> list[str]:
        return [*self.lost, *self.twice, *self.other]


def judge(nodes: Nodes, load: Load, what: str) -> Verdict:
    """Say what is lost, what is there twice, and what did not recover. No writer may be in a call."""
    verdict = Verdict()
    stored, problems = look(nodes.place)
    verdict.other += [f"{what}: {problem}" for problem in problems[:3]]
    for ledger in load.ledgers:
        if not problems:
            verdict.lost += ledger.compare(stored, what)
        ledger.refusals.clear()
    leader = nodes.leader()
    with closing(_connect(leader)) as connection:
        verdict.twice += [f"{what}: {word} is there twice" for (word,) in connection.execute(_TWICE)]
        verdict.other += [f"{what}: {line}" for line in _unrecovered(connection, len(load.servers))]
        verdict.other += [
            f"{what}: {node.name} has other writes than the primary"
            for node in nodes.nodes
            if not _follows(node, connection)
        ]
    verdict.other += [f"{what}: {line}" for line in load.tracebacks()]
    return verdict


def _connect(node: Node) -> psycopg.Connection[tuple[int]]:
    return psycopg.connect(
        host=LOOPBACK,
        port=node.postgres,
        user="postgres",
        dbname="memory",
        autocommit=True,
        connect_timeout=5,
    )


def _follows(node: Node, primary: psycopg.Connection[tuple[int]]) -> bool:
    """Wait until a node has counted as many writes as the primary: one that it had alone would be one more."""
    end = time.monotonic() + RECOVERING
    with closing(_connect(node)) as connection:
        while primary.execute(_WRITES).fetchall() != connection.execute(_WRITES).fetchall():
            if time.monotonic() > end:
                return False
            time.sleep(0.2)
    return True


def _unrecovered(connection: psycopg.Connection[tuple[int]], servers: int) -> list[str]:
    """Wait until all work as before; return what does not."""
    end = time.monotonic() + RECOVERING
    while True:
        leading, watching, waiting = (
            connection.execute(sql).fetchone() for sql in (_LEADING, _WATCHING, _WAITING)
        )
        if (leading, watching, waiting) == ((1,), (servers,), (0,)):
            return []
        if time.monotonic() > end:
            return [
                f"{leading} servers lead, {watching} of {servers} watch, {waiting} texts wait to be embedded"
            ]
        time.sleep(0.5)
