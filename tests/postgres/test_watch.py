"""Several servers of one database: one does the background work, another takes over, and each hears of all writes."""

from collections.abc import Iterator
from datetime import timedelta

import psycopg
import pytest

from memory_server.postgres import watch
from memory_server.postgres.database import Database
from tests.conftest import Clock, until
from tests.postgres_server import new_place

WRITE = "INSERT INTO memories (content, type) VALUES ('x', 'error')"


@pytest.fixture
def servers(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Database, Database]]:
    """Two of one tenant, which look every tenth of a second."""
    monkeypatch.setattr(watch, "PAUSE", 0.1)
    place = new_place()
    one, other = Database(place, clock), Database(place, clock)
    yield one, other
    one.close()
    other.close()


def test_one_of_two_servers_leads_and_the_other_takes_over(servers: tuple[Database, Database]) -> None:
    one, other = servers
    until(one.leads, "the first server leads")
    assert not other.leads()
    one.close()
    until(other.leads, "the other server leads")


def test_a_server_whose_leader_was_killed_leads_after_the_lease(servers: tuple[Database, Database]) -> None:
    one, other = servers
    until(one.leads, "the first server leads")
    taken = "UPDATE memory_server.leads SET holder = 'a server that was killed', until = now() + %s"
    with psycopg.connect(one.place.url, autocommit=True) as connection:
        connection.execute(taken, (timedelta(hours=1),))
        until(lambda: not one.leads(), "the lease is seen to be another's")
        assert not other.leads()
        connection.execute(taken, (timedelta(0),))
    until(lambda: one.leads() != other.leads(), "the lease of the killed server has ended")


def test_each_server_hears_of_the_writes_of_the_other(servers: tuple[Database, Database]) -> None:
    one, other = servers
    before = other.stamp()
    with one.write() as tx:
        tx.send(WRITE)
    until(lambda: other.stamp() != before, "the other server hears of the write")


def test_a_tenant_hears_nothing_of_another(servers: tuple[Database, Database], clock: Clock) -> None:
    one, _ = servers
    stranger = Database(new_place(), clock)
    before = stranger.stamp()
    for _ in range(2):
        with one.write() as tx:
            tx.send(WRITE)
    until(lambda: one.stamp() == "2", "both writes are heard")
    assert stranger.stamp() == before
    stranger.close()


def test_it_hears_again_after_its_connection_was_broken(servers: tuple[Database, Database]) -> None:
    one, other = servers
    assert other.stamp() == "0"
    with psycopg.connect(one.place.url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    with one.write() as tx:
        tx.send(WRITE)
    until(lambda: other.stamp() == "1", "the write after the break is heard")
