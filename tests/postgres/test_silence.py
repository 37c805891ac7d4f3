"""PostgreSQL that hangs, and a network that takes bytes and gives none: every wait ends, and what it says is true."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from torture.cluster import Cluster

from memory_server import app, stores
from memory_server.call import again, deadline
from memory_server.domain.caller import Caller
from memory_server.domain.memory import Filter, MemoryDraft, MemoryId, MemoryType
from memory_server.errors import Mend, Unavailable
from memory_server.postgres import connections
from memory_server.postgres.database import Database
from memory_server.postgres.filling import Filling
from memory_server.postgres.links import CONNECTIONS
from memory_server.settings import Settings
from memory_server.transfer import copying
from memory_server.where import Postgres
from tests.conftest import Clock, until
from tests.postgres.proxy import Proxy
from tests.postgres_server import new_database, new_place

SHORT = 0.3
"""Seconds of a call, for a peer that never answers."""

DRAFT = MemoryDraft("Deploys happen on Fridays.", MemoryType.DECISION)
SILENT = "PostgreSQL did not answer in time"

pytestmark = pytest.mark.filterwarnings("error")


def stored(database: Database) -> int:
    with database.write() as tx:
        return tx.memories.insert(DRAFT, Caller()).id


def count(database: Database) -> int:
    with database.read() as tx:
        return len(tx.candidates.newest(Filter(), 100, 0))


def both(one: Proxy, other: Proxy) -> Postgres:
    """The address of two machines."""
    hosts = f"postgres@127.0.0.1:{one.port},127.0.0.1:{other.port}"
    return Postgres(urlsplit(one.place.url)._replace(netloc=hosts).geturl(), one.place.tenant)


def failure(action: Callable[[Database], object], database: Database, seconds: float = SHORT) -> Unavailable:
    """The error with which a call ends that has so many seconds."""
    with deadline.within(seconds), pytest.raises(Unavailable) as error:
        action(database)
    return error.value


def await_ends(database: Database) -> None:
    """Threads wait for the ends of reads."""
    assert database.pool is not None
    places = database.pool._places
    until(lambda: places._free == CONNECTIONS, "all connections are given back")


@pytest.fixture(scope="module")
def frozen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A server of its own, which a test may freeze."""
    cluster = Cluster(tmp_path_factory.mktemp("frozen") / "cluster")
    made = Database(cluster.place, Clock())
    made.open()
    made.close()
    yield cluster
    cluster.stop()


@pytest.fixture
def cluster(frozen: Cluster) -> Iterator[Cluster]:
    yield frozen
    frozen.thaw()


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    proxy = Proxy(new_place())
    yield proxy
    proxy.close()


@pytest.fixture
def database(proxy: Proxy, clock: Clock) -> Iterator[Database]:
    """Open, through the proxy, with one memory."""
    database = Database(proxy.place, clock)
    assert stored(database) == 1
    yield database
    proxy.speak()
    database.close()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work that nobody waits for asks soon whether PostgreSQL works at it."""
    monkeypatch.setattr(connections, "PAUSE", 0.1)
    monkeypatch.setattr(connections, "CONNECTING", 0.5)


def test_calls_end_while_postgresql_is_stopped_and_work_again_afterwards(
    cluster: Cluster, clock: Clock
) -> None:
    database = Database(cluster.place, clock)
    before = count(database)
    cluster.freeze()
    for action in (count, stored, stored):
        assert "Nothing was written" in str(failure(action, database))
    cluster.thaw()
    assert count(database) == before
    stored(database)
    assert count(database) == before + 1
    database.close()


def test_a_server_that_starts_while_postgresql_is_stopped_opens_later(cluster: Cluster, clock: Clock) -> None:
    database = Database(cluster.place, clock)
    cluster.freeze()
    assert "cannot be reached" in str(failure(count, database))
    assert "cannot be reached" in str(failure(lambda each: each.leads(), database))
    cluster.thaw()
    assert count(database) >= 0
    database.close()


def test_a_database_closes_while_postgresql_is_stopped(cluster: Cluster, clock: Clock) -> None:
    database = Database(cluster.place, clock)
    count(database)
    database.later(lambda tx: tx.memories.mark_accessed([MemoryId(1)]))
    cluster.freeze()
    assert database.close(SHORT)


def test_a_server_does_not_lead_while_postgresql_is_stopped(
    cluster: Cluster, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_server.postgres.watch.PAUSE", 0.1)
    database = Database(cluster.place, clock)
    until(database.leads, "the server leads")
    cluster.freeze()
    watch = database._watch
    assert watch is not None
    until(lambda: not watch.leads, "the server leads no more")
    cluster.thaw()
    until(lambda: watch.leads, "the server leads again")
    database.close()


def test_a_call_through_a_silent_network_ends_and_its_connection_is_not_used_again(
    proxy: Proxy, database: Database
) -> None:
    with deadline.within(10), database.read() as tx:
        pid = tx.value("SELECT pg_backend_pid()")
    await_ends(database)
    proxy.silent = True
    assert str(failure(count, database)) == (
        f"The connection to {database.place} broke ({SILENT}). Nothing was written."
    )
    proxy.speak()
    with database.read() as tx:
        assert tx.value("SELECT pg_backend_pid()") != pid
    assert count(database) == 1


def test_the_idle_connections_are_not_used_again_where_one_fell_silent(
    proxy: Proxy, database: Database
) -> None:
    with database.read() as one, database.read() as other:
        assert one.value("SELECT 1") == other.value("SELECT 1")
    await_ends(database)
    assert database.pool is not None
    assert len(database.pool._idle) == 2
    proxy.silent = True
    assert SILENT in str(failure(count, database))
    assert len(database.pool._idle) == 0


def test_a_call_waits_for_the_machine_that_takes_over(proxy: Proxy, clock: Clock) -> None:
    other = Proxy(proxy.target)
    database = Database(both(proxy, other), clock)
    stored(database)
    await_ends(database)
    other.refuse()
    proxy.close()
    pool = database.pool
    assert pool is not None
    with ThreadPoolExecutor(1) as threads:
        call = threads.submit(again.whole, lambda: count(database))
        until(lambda: pool._failing_since > 0, "no machine takes connections")
        other.listen()
        assert call.result() == 1
    await_ends(database)
    assert pool._failing_since == 0  # the next failover has its own time
    database.close()
    other.close()


def test_calls_wait_for_no_machine_once_none_has_taken_over_in_time(proxy: Proxy, clock: Clock) -> None:
    database = Database(both(proxy, proxy), clock)
    count(database)
    await_ends(database)
    proxy.close()
    pool = database.pool
    assert pool is not None
    pool._failing_since = time.monotonic() - connections.FAILOVER
    attempts: list[None] = []
    connect = pool._connect

    def counted() -> connections.Connection:
        attempts.append(None)
        return connect()

    pool._connect = counted
    assert "cannot be reached" in str(failure(count, database, 1))
    assert len(attempts) == 1
    database.close()


def test_a_connection_that_did_not_answer_is_closed_before_anything_else_waits_for_it(
    proxy: Proxy, database: Database
) -> None:
    def read(database: Database) -> None:
        with database.read() as tx:
            tx.value("SELECT 1")
            proxy.silent = True
            try:
                tx.value("SELECT 2")
            finally:
                assert tx.connection.closed

    assert SILENT in str(failure(read, database))


def test_connecting_through_a_silent_network_ends_however_many_hosts_there_are(
    proxy: Proxy, clock: Clock
) -> None:
    proxy.silent = True
    hosts, ports = ",".join(["127.0.0.1"] * 5), ",".join([str(proxy.port)] * 5)
    database = Database(Postgres(f"postgresql://postgres@{hosts}/memory?port={ports}"), clock)
    error = failure(count, database)
    assert "cannot be reached" in str(error)
    assert error.problem.hints[0].mend is Mend.TRY_AGAIN


@pytest.mark.parametrize(("side", "written"), [("silent_before", 1), ("silent_after", 2)])
def test_a_commit_without_an_answer_is_told_as_what_cannot_be_told(
    proxy: Proxy, database: Database, side: str, written: int, clock: Clock
) -> None:
    setattr(proxy, side, b"COMMIT\0")
    error = failure(stored, database)
    assert str(error).startswith(f"The connection to {database.place} broke while this was being written")
    assert "cannot be told" in str(error)
    assert "Nothing was written" not in str(error)
    proxy.speak()
    assert count(database) == written


def test_a_write_without_an_answer_before_its_commit_has_written_nothing(
    proxy: Proxy, database: Database
) -> None:
    proxy.silent_before = b"INSERT INTO"

    def store_and_look(database: Database) -> None:
        with database.write() as tx:
            tx.memories.insert(DRAFT, Caller())
            tx.value("SELECT 1")

    assert str(failure(store_and_look, database)).endswith(f"broke ({SILENT}). Nothing was written.")
    proxy.speak()
    assert count(database) == 1


def test_a_read_whose_end_has_no_answer_gives_its_connection_back(proxy: Proxy, database: Database) -> None:
    """A thread waits for the end of a read, until the end of the call."""
    with deadline.within(SHORT), database.read() as tx:
        assert tx.value("SELECT 1") == 1
        proxy.silent = True
    await_ends(database)
    proxy.speak()
    assert count(database) == 1


def test_work_that_nobody_waits_for_may_take_long_while_postgresql_works_at_it(
    tenant: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "PAUSE", 0.5)
    with tenant.read() as tx:
        assert tx.value("SELECT 7 FROM pg_sleep(3)") == 7


@pytest.mark.usefixtures("impatient")
def test_work_that_nobody_waits_for_ends_where_postgresql_does_not_answer(
    proxy: Proxy, database: Database
) -> None:
    proxy.silent = True
    with pytest.raises(Unavailable, match=SILENT):
        count(database)


@pytest.mark.usefixtures("impatient")
def test_work_that_nobody_waits_for_ends_where_its_answer_is_lost_on_the_way(
    proxy: Proxy, database: Database
) -> None:
    """PostgreSQL answers on another connection, and says that it has nothing to do for this one."""

    def read() -> None:
        with database.read() as tx:
            tx.value("SELECT 1")
            tx.connection._address = proxy.target.url
            proxy.silent = True
            tx.value("SELECT 2")

    with pytest.raises(Unavailable, match=SILENT):
        read()


@pytest.mark.usefixtures("impatient")
def test_work_that_nobody_waits_for_is_looked_for_on_its_own_machine_alone(
    proxy: Proxy, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another machine of the address knows nothing of it, as a pooler does, which is trusted."""
    monkeypatch.setattr(connections, "LONGEST", 1.0)
    other = Proxy(proxy.target)
    database = Database(both(proxy, other), clock)
    count(database)
    await_ends(database)
    proxy.silent = True
    proxy.refuse()
    with pytest.raises(Unavailable, match=SILENT):
        count(database)
    assert other.connections == 0
    other.close()


@pytest.mark.usefixtures("impatient")
def test_a_vacuum_ends_while_postgresql_is_stopped(cluster: Cluster, clock: Clock) -> None:
    database = Database(cluster.place, clock)
    count(database)
    cluster.freeze()
    with pytest.raises(Unavailable, match="cannot be reached"):
        database.erase()
    cluster.thaw()
    assert database.erase() > 0
    database.close()


@pytest.mark.usefixtures("impatient")
def test_a_copy_ends_while_the_network_is_silent_and_can_be_repeated(proxy: Proxy, clock: Clock) -> None:
    filling = Filling(proxy.place, clock)
    filling.begin("a file")
    proxy.silent = True
    with pytest.raises(Unavailable, match=SILENT):
        filling.highest_ids()
    before = proxy.connections
    filling.close()
    assert proxy.connections == before  # nothing runs on its second connection, so nothing is to cancel
    proxy.speak()
    again = Filling(proxy.place, clock)
    assert again.begin("a file")
    again.close()


@pytest.mark.usefixtures("impatient")
def test_a_copy_that_fails_waits_no_more_for_the_end_of_its_source(
    proxy: Proxy, database: Database, tmp_path: Path, clock: Clock
) -> None:
    before = 0

    def fail(done: int, _total: int) -> None:
        nonlocal before
        if done:
            proxy.silent, before = True, proxy.connections
            raise Unavailable("The disk is full.")

    with pytest.raises(Unavailable, match=r"^The disk is full\. 1 row was written and stays\.$"):
        copying.copy(database, "a tenant", stores.filling(tmp_path / "copy.db", clock), fail)
    assert proxy.connections == before  # nobody asks whether PostgreSQL still works at it


@pytest.mark.usefixtures("impatient")
def test_a_copy_whose_source_falls_silent_says_what_stays_in_the_target(
    proxy: Proxy, database: Database, tmp_path: Path, clock: Clock
) -> None:
    def fall_silent(done: int, _total: int) -> None:
        proxy.silent = done > 0

    with pytest.raises(Unavailable, match=rf"\({SILENT}\)\. 1 row was written and stays\.$") as error:
        copying.copy(database, "a tenant", stores.filling(tmp_path / "copy.db", clock), fall_silent)
    assert [hint.mend for hint in error.value.problem.hints] == [Mend.COPY_AGAIN]


@pytest.mark.usefixtures("impatient")
def test_a_copy_whose_last_commit_has_no_answer_says_that_it_cannot_be_told(
    proxy: Proxy, database: Database, tmp_path: Path, clock: Clock
) -> None:
    file = stores.at(tmp_path / "memory.db", clock)
    with file.write() as tx:
        tx.memories.insert(DRAFT, Caller())

    def lose_the_last_answer(done: int, total: int) -> None:
        proxy.silent_after = b"COMMIT" if done == total else b""

    target = Postgres(proxy.place.url, "copied")
    with pytest.raises(Unavailable) as error:
        copying.copy(file, "a file", stores.filling(target, clock), lose_the_last_answer)
    file.close()
    assert str(error.value).endswith("1 row was written and stays. Whether more was written cannot be told.")
    proxy.speak()
    copied = Database(target, clock)
    assert count(copied) == 1
    copied.close()


@pytest.mark.usefixtures("impatient")
def test_a_backup_whose_source_falls_silent_has_written_nothing(
    proxy: Proxy, database: Database, tmp_path: Path
) -> None:
    def fall_silent(_done: int, _total: int) -> None:
        proxy.silent = True

    services = app.build(Settings(db=proxy.place, embedder="hashing"))
    with pytest.raises(Unavailable, match=rf"\({SILENT}\)\. Nothing was written\.$") as error:
        services.backup(tmp_path / "backup.db", fall_silent)
    assert [hint.mend for hint in error.value.problem.hints] == [Mend.TRY_AGAIN]
    services.close(SHORT)


def test_a_postgresql_that_takes_no_more_connections_is_told_as_such(clock: Clock) -> None:
    url = urlsplit(new_database())
    with psycopg.connect(url.geturl(), autocommit=True) as connection:
        connection.execute("CREATE ROLE crowded LOGIN CONNECTION LIMIT 0")
    database = Database(Postgres(url._replace(netloc="crowded@").geturl()), clock)
    with pytest.raises(Unavailable, match=r"cannot be reached .*too many connections"):
        database.open()


def test_a_call_whose_time_is_over_connects_to_no_host_any_more() -> None:
    """Each host of an address would have half a second more."""
    with deadline.within(0), pytest.raises(psycopg.OperationalError, match=SILENT):
        connections.Connection.connect(new_database())


def parse(statement: bytes) -> bytes:
    """The message in which the driver sends a statement: its length, no name, and no types."""
    return b"P" + (len(statement) + 8).to_bytes(4) + b"\0" + statement + b"\0\0\0"


def test_a_commit_that_is_answered_with_a_rollback_is_not_told_as_written(
    proxy: Proxy, database: Database
) -> None:
    before = count(database)
    proxy.replaced = {parse(b"COMMIT"): parse(b"ROLLBACK")}
    error = failure(stored, database, 20)
    assert str(error).endswith("Nothing was written.")
    proxy.replaced = {}
    assert count(database) == before
    stored(database)
    assert count(database) == before + 1


def test_a_commit_that_an_operator_lets_wait_for_no_replica_is_not_told_as_written(
    cluster: Cluster, clock: Clock
) -> None:
    """PostgreSQL answers it as any commit, with a warning."""
    database = Database(cluster.place, clock)
    before = count(database)
    cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    with psycopg.connect(cluster.place.url, autocommit=True) as operator, ThreadPoolExecutor(1) as threads:
        replicas = "synchronous_standby_names"
        operator.execute(f"ALTER SYSTEM SET {replicas} = 'one'")
        operator.execute("SELECT pg_reload_conf()")
        until(
            lambda: operator.execute(f"SHOW {replicas}").fetchone() == ("one",), "commits wait for a replica"
        )
        write = threads.submit(failure, stored, database, 20)
        until(lambda: operator.execute(cancel).fetchone() == (True,), "the commit waits, and is cancelled")
        error = write.result()
        operator.execute(f"ALTER SYSTEM RESET {replicas}")
        operator.execute("SELECT pg_reload_conf()")
    assert "cannot be told" in str(error)
    assert [hint.mend for hint in error.problem.hints] == [Mend.LOOK_FIRST]
    assert count(database) == before + 1
    database.close()
