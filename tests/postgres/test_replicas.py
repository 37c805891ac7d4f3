"""Reads on replicas: one is read only if it has all that was written to the tenant before."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import psycopg
import pytest
from torture.cluster import Cluster

from memory_server.domain.caller import Caller
from memory_server.domain.memory import Filter, MemoryDraft, MemoryType
from memory_server.postgres.database import Database
from memory_server.where import Postgres
from tests.conftest import Clock, until


@pytest.fixture
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, Cluster]]:
    """A primary and its replica."""
    folder: Path = tmp_path_factory.mktemp("r")
    primary = Cluster(folder / "p")
    replica = primary.replica(folder / "r")
    yield primary, replica
    replica.stop()
    primary.stop()


def both(primary: Cluster, replica: Cluster) -> Postgres:
    """The address of both, for a server that reads on the replica."""
    sockets = [parse_qs(urlsplit(cluster.place.url).query)["host"][0] for cluster in (replica, primary)]
    url = f"postgresql://postgres@/postgres?host={quote(','.join(sockets), safe='')}"
    return Postgres(f"{url}&target_session_attrs=read-write", replicas=True)


def store(database: Database) -> int:
    with database.write() as tx:
        return tx.memories.insert(MemoryDraft("Deploys happen on Fridays.", MemoryType.DECISION), Caller()).id


def read(database: Database) -> tuple[int, bool]:
    """How many memories there are, and true if a replica has said so."""
    with database.read() as tx:
        return len(tx.candidates.newest(Filter(), 100, 0)), tx.value("SELECT pg_is_in_recovery()")


def test_a_replica_is_read_unless_it_lacks_what_was_just_stored(
    clusters: tuple[Cluster, Cluster], clock: Clock
) -> None:
    primary, replica = clusters
    database = Database(both(primary, replica), clock)
    assert store(database) == 1
    until(lambda: read(database) == (1, True), "the replica has it")
    with psycopg.connect(replica.place.url, autocommit=True) as operator:
        operator.execute("SELECT pg_wal_replay_pause()")
        assert store(database) == 2
        assert read(database) == (2, False)
        operator.execute("SELECT pg_wal_replay_resume()")
    until(lambda: read(database) == (2, True), "the replica has caught up")
    assert store(database) == 3
    assert read(database)[0] == 3
    replica.kill()
    until(lambda: read(database) == (3, False), "the primary is read")
    database.close()
