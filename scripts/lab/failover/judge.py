"""Compares the database after an event with what the ledgers say, and asks if the servers work on as before."""

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field

import psycopg
from torture.ledger import look

from failover.gates import LOOPBACK
from failover.load import RECOVERING, Load
from failover.nodes import Node, Nodes

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
    queued: int = 0
    """Texts that waited to be embedded when the writers paused."""
    settled: float = 0.0
    """Seconds from then until all was as it should be."""

    @property
    def faults(self) -> list[str]:
        return [*self.lost, *self.twice, *self.other]


def judge(nodes: Nodes, load: Load, what: str) -> Verdict:
    """Say what is lost, what is there twice, and what did not recover. No writer may be in a call."""
    verdict = Verdict()
    leader = nodes.leader()
    with closing(_connect(leader)) as connection:
        (verdict.queued,) = connection.execute(_WAITING).fetchone() or (0,)
        begin = time.monotonic()
        verdict.other += [f"{what}: {line}" for line in _unrecovered(connection, load)]
        verdict.settled = time.monotonic() - begin
        verdict.twice += [f"{what}: {word} is there twice" for (word,) in connection.execute(_TWICE)]
        verdict.other += [
            f"{what}: {node.name} has other writes than the primary"
            for node in nodes.nodes
            if not _follows(node, connection)
        ]
    stored, problems = look(nodes.place)
    verdict.other += [f"{what}: {problem}" for problem in problems[:3]]
    for ledger in load.ledgers:
        if not problems:
            verdict.lost += ledger.compare(stored, what)
        ledger.refusals.clear()
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


def _unrecovered(connection: psycopg.Connection[tuple[int]], load: Load) -> list[str]:
    """Wait until all work as before; return what does not."""
    end = time.monotonic() + RECOVERING
    while wrong := list(_problems(connection, load)):
        if time.monotonic() > end:
            return wrong
        time.sleep(0.3)
    return []


def _problems(connection: psycopg.Connection[tuple[int]], load: Load) -> Iterator[str]:
    (writes,) = connection.execute(_WRITES).fetchone() or (0,)
    (leading,), (watching,), (waiting,) = (
        connection.execute(sql).fetchone() or (0,) for sql in (_LEADING, _WATCHING, _WAITING)
    )
    if leading != 1:
        yield f"{leading} servers lead"
    if watching != len(load.servers):
        yield f"{watching} of {len(load.servers)} watch"
    if waiting:
        yield f"{waiting} texts wait to be embedded"
    for number, server in enumerate(load.servers):
        if server.stamp != str(writes):
            yield f"the page of server {number} saw {server.stamp or 'none'} of {writes} writes"
        if server.told < server.changes:
            yield f"the stream of server {number} was told of {server.told} of {server.changes} changes"
        yield from server.faults
