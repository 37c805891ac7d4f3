"""The connections to PostgreSQL: a role without powers is enough, and what is lost comes back."""

import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from torture.cluster import Cluster

from memory_server.domain.caller import Caller
from memory_server.domain.embedding import Vector
from memory_server.domain.memory import Filter, MemoryDraft, MemoryType
from memory_server.embedding.hashing import HashingEmbedder
from memory_server.errors import Conflict, Invalid, Mend, Unavailable
from memory_server.postgres import migrate
from memory_server.postgres.database import PREPARED, WRITES, Database
from memory_server.postgres.links import CONNECTIONS
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.search import SearchService
from memory_server.storage.packaged import Migration
from memory_server.where import Postgres
from tests.conftest import Clock, until
from tests.postgres_server import database_url, new_database, new_place

DRAFT = MemoryDraft("Deploys happen on Fridays.", MemoryType.DECISION)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A server of its own, which a test may kill."""
    cluster = Cluster(tmp_path / "cluster")
    yield cluster
    cluster.stop()


def stored(database: Database) -> int:
    with database.write() as tx:
        return tx.memories.insert(DRAFT, Caller()).id


def count(database: Database) -> int:
    with database.read() as tx:
        return len(tx.candidates.newest(Filter(), 100, 0))


def test_a_role_that_owns_the_database_is_enough(clock: Clock) -> None:
    """As docs/scale.md sets it up."""
    url = urlsplit(new_database())
    name = url.path.removeprefix("/")
    with psycopg.connect(url.geturl(), autocommit=True) as connection:
        connection.execute(f"CREATE ROLE plain_{name} LOGIN NOSUPERUSER NOCREATEROLE NOBYPASSRLS".encode())
        connection.execute(
            "DO $$ BEGIN CREATE ROLE memory_server NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$"
        )
        connection.execute(f"GRANT memory_server TO plain_{name}".encode())
        connection.execute(f"ALTER DATABASE {name} OWNER TO plain_{name}".encode())
        connection.execute("CREATE EXTENSION vector")
    database = Database(Postgres(url._replace(netloc=f"plain_{name}@").geturl()), clock)
    assert stored(database) == 1
    assert database.erase() > 0
    assert database.problems() == []
    database.close()


@pytest.mark.parametrize(
    ("prepared", "told"),
    [("", "CREATE EXTENSION vector"), ("CREATE EXTENSION vector", "CREATE ROLE memory_server NOLOGIN")],
)
def test_what_an_administrator_must_do_is_told(clock: Clock, prepared: str, told: str) -> None:
    url = urlsplit(new_database())
    name = url.path.removeprefix("/")
    with psycopg.connect(url.geturl(), autocommit=True) as connection:
        connection.execute(f"CREATE ROLE powerless_{name} LOGIN".encode())
        connection.execute(f"ALTER DATABASE {name} OWNER TO powerless_{name}".encode())
        if prepared:
            connection.execute(prepared.encode())
    place = Postgres(url._replace(netloc=f"powerless_{name}@").geturl())
    with pytest.raises(Unavailable, match=f"administrator.*{told}"):
        Database(place, clock).open()
    with psycopg.connect(url.geturl()) as connection:
        assert connection.execute("SELECT to_regnamespace('memory_server')").fetchone() == (None,)


def test_a_database_that_is_not_there_is_told_without_its_password(clock: Clock) -> None:
    place = Postgres("postgresql://ana:secret@localhost:1/memory?connect_timeout=2")
    database = Database(place, clock)
    with pytest.raises(Unavailable, match="cannot be reached") as error:
        database.open()
    assert "secret" not in str(error.value)
    assert error.value.problem.hints[0].mend is Mend.TRY_AGAIN


def test_a_killed_server_is_told_and_comes_back_with_all_that_was_acknowledged(
    cluster: Cluster, clock: Clock
) -> None:
    database = Database(cluster.place, clock)
    ids = [stored(database) for _ in range(5)]
    cluster.kill()
    with pytest.raises(Unavailable, match=r"cannot be reached|broke"):
        count(database)
    with pytest.raises(Unavailable, match="Nothing was written"):
        stored(database)
    cluster.start()
    assert count(database) == len(ids)
    assert stored(database) == len(ids) + 1
    database.close()


def test_idle_connections_that_an_administrator_ended_fail_no_call(clock: Clock) -> None:
    """As a restart of PostgreSQL ends them: each has one last message to read."""
    database = Database(Postgres(new_database()), clock)
    assert stored(database) == 1
    with psycopg.connect(database.place.url, autocommit=True) as connection:
        others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ended = connection.execute(
            f"SELECT count(pg_terminate_backend(pid, 10000)) {others}".encode()
        ).fetchone()
    assert ended is not None
    assert ended[0] > 0
    assert stored(database) == 2
    assert count(database) == 2
    database.close()


@pytest.mark.parametrize(
    ("moment", "told"), [("advisory", "Nothing was written"), ("SyncRep", "cannot be told")]
)
def test_what_is_called_not_written_when_a_connection_ends_is_not_written(
    cluster: Cluster, clock: Clock, moment: str, told: str
) -> None:
    """An administrator ends the connection while it waits for its turn; or for a replica, when it has committed and has
    not said so.
    """
    database = Database(cluster.place, clock)
    before = count(database)
    end = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = '{moment}'"
    with psycopg.connect(cluster.place.url, autocommit=True) as person, ThreadPoolExecutor(1) as threads:
        if moment == "SyncRep":
            person.execute("ALTER SYSTEM SET synchronous_standby_names = 'one'")
            person.execute("SELECT pg_reload_conf()")
            replicas = "SHOW synchronous_standby_names"
            until(lambda: person.execute(replicas).fetchone() == ("one",), "commits wait for a replica")
        else:
            person.execute("SELECT pg_advisory_lock(%s, %s)", (WRITES, database._tenant))
        write = threads.submit(stored, database)
        until(lambda: person.execute(end).fetchone() == (True,), "the write waits, and its connection ends")
        with pytest.raises(Unavailable, match=told):
            write.result()
        person.execute("ALTER SYSTEM RESET synchronous_standby_names")
        person.execute("SELECT pg_reload_conf(), pg_advisory_unlock_all()")
    assert count(database) == before + (moment == "SyncRep")
    database.close()


def test_no_connection_is_kept_while_something_is_embedded(clock: Clock) -> None:
    database = Database(new_place(), clock)
    looked = 0

    def all_are_there() -> bool:
        assert database.pool is not None
        return database.pool._places._free == CONNECTIONS

    class Watching(HashingEmbedder):
        def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
            self._look()
            return super().embed_documents(texts)

        def embed_questions(self, texts: Sequence[str]) -> list[Vector]:
            self._look()
            return super().embed_questions(texts)

        @staticmethod
        def _look() -> None:
            """One that the caller keeps would not come back before this ends."""
            nonlocal looked
            until(all_are_there, "all connections are in the pool")
            looked += 1

    embedder = Watching()
    queue = EmbeddingQueue(database, lambda _: embedder, lambda _: embedder, clock)
    queue.work()
    with database.write() as tx:
        tx.memories.insert(DRAFT, Caller())
    queue.work()
    search = SearchService(database, queue, count_access=True)
    assert search.search("Fridays", Filter(), 5, "hybrid", caller=Caller()).hits
    assert looked >= 2
    database.close()


def test_what_is_told_to_be_written_is_on_disk_whatever_the_database_is_set_to(clock: Clock) -> None:
    place = Postgres(new_database())
    with psycopg.connect(place.url, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(f"ALTER DATABASE {name} SET synchronous_commit = off".encode())
    database = Database(place, clock)
    with database.write() as tx:
        assert tx.value("SHOW synchronous_commit") == "on"
    database.close()


def test_what_only_reads_makes_no_tenant_of_a_mistyped_name(clock: Clock) -> None:
    place = new_place()
    made = Database(place, clock)
    stored(made)
    made.close()
    wrong = Database(Postgres(place.url, f"{place.tenant} mistyped"), clock)
    wrong.refuse_new()
    with pytest.raises(Unavailable, match=r"no tenant test .* mistyped"):
        count(wrong)
    with psycopg.connect(place.url) as connection:
        (names,) = connection.execute("SELECT array_agg(name) FROM memory_server.tenants").fetchone() or ([],)
    assert place.tenant in names
    assert wrong.place.tenant not in names


def test_a_character_that_postgresql_cannot_keep_is_named(clock: Clock) -> None:
    database = Database(new_place(), clock)
    with pytest.raises(Invalid, match=r"U\+0000"), database.write() as tx:
        tx.memories.insert(MemoryDraft("a\0b", MemoryType.ERROR), Caller())
    assert count(database) == 0
    database.close()


def later_schema(oldest: int) -> str:
    """The statements of a migration of a later version, which lets programs go on that know this one."""
    return f"""
        CREATE OR REPLACE FUNCTION memory_server.oldest_program() RETURNS int LANGUAGE sql AS 'SELECT {oldest}';
        ALTER TABLE memory_server.memories ADD COLUMN mood text;
        INSERT INTO memory_server.migrations VALUES (9999, 'later', 'x')
    """


def test_servers_of_two_versions_share_a_schema_that_the_newer_one_brought_forward(
    clock: Clock, tmp_path: Path
) -> None:
    place = Postgres(new_database())
    before, restarted, after = (Database(place, clock) for _ in range(3))
    later = tmp_path / "later.sql"
    later.write_text("ALTER TABLE memories ADD COLUMN mood text")
    number = after._migrations[-1].version + 1
    after._migrations = [*after._migrations, Migration(number, number, "later", later)]
    assert stored(before) == 1
    assert stored(after) == 2
    assert (stored(before), stored(restarted), stored(after)) == (3, 4, 5)
    assert count(before) == count(restarted) == count(after) == 5
    for database in (before, restarted, after):
        database.close()


def test_a_schema_that_only_adds_lets_a_server_of_an_older_version_go_on(clock: Clock) -> None:
    place = Postgres(new_database())
    database = Database(place, clock)
    assert stored(database) == 1
    with psycopg.connect(place.url, autocommit=True) as connection:
        connection.execute(later_schema(oldest=migrate.load()[-1].version))
    started_later = Database(place, clock)
    assert (stored(database), stored(started_later), count(database)) == (2, 3, 3)
    with pytest.raises(Unavailable, match="schema version 9999"), database.snapshot():
        pass  # a copy would leave out what it does not know
    database.close()
    started_later.close()


def test_a_newer_schema_is_refused_at_each_read_and_write_if_it_says_so(clock: Clock) -> None:
    """A server of a newer version has migrated while this one runs."""
    newest = migrate.load()[-1].version
    place = Postgres(new_database())
    database = Database(place, clock)
    stored(database)
    with psycopg.connect(place.url, autocommit=True) as connection:
        connection.execute(later_schema(oldest=9999))
    for call in (stored, count):
        with pytest.raises(Unavailable, match=rf"version 9999, .* versions up to {newest}\. ") as error:
            call(database)
        assert error.value.problem.hints[0].mend is Mend.UPGRADE
    with pytest.raises(Unavailable, match="9999"):
        Database(place, clock).open()
    database.close()


def test_what_a_write_waits_for_may_make_the_tenant_an_unfinished_copy(clock: Clock) -> None:
    """A copy begins in an empty tenant that a server has open: what the server wrote there would be lost."""
    place = new_place()
    database = Database(place, clock)
    database.open()
    errors: list[Exception] = []

    def store() -> None:
        try:
            stored(database)
        except Unavailable as error:
            errors.append(error)

    with psycopg.connect(place.url) as copying, psycopg.connect(place.url, autocommit=True) as watching:
        copying.execute("SET search_path = memory_server")
        copying.execute("SELECT pg_advisory_xact_lock(%s, %s)", (WRITES, database._tenant))
        thread = threading.Thread(target=store)
        thread.start()
        waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        until(lambda: watching.execute(waiting).fetchone() == (1,), "the write waits")
        copying.execute("UPDATE tenants SET copy_of = 'a file' WHERE id = %s", (database._tenant,))
        copying.commit()
        thread.join()
        assert [str(error) for error in errors] == [f"{place} is an unfinished copy of a file."]
        copying.execute("UPDATE tenants SET copy_of = NULL WHERE id = %s", (database._tenant,))
    assert count(database) == 0
    database.close()


def test_servers_that_start_together_make_the_schema_once(clock: Clock) -> None:
    place = Postgres(new_database())
    servers = [Database(place, clock) for _ in range(4)]
    threads = [threading.Thread(target=server.open) for server in servers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [stored(server) for server in servers] == [1, 2, 3, 4]
    for server in servers:
        server.close()


def test_who_waited_for_the_schema_that_another_server_made_sees_it(clock: Clock) -> None:
    place = Postgres(new_database())
    with psycopg.connect(place.url, autocommit=True) as connection:
        assert migrate.version_of(connection) == 0
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(1)")
            database = Database(place, clock)
            database.open()
            database.close()
            assert migrate.version_of(connection) == migrate.load()[-1].version


def test_what_breaks_a_rule_is_a_conflict_and_writes_nothing(clock: Clock) -> None:
    database = Database(new_place(), clock)
    stored(database)

    def store_two() -> None:
        with database.write() as tx:
            tx.memories.insert(DRAFT, Caller())
            tx.send("INSERT INTO memories (content, type) VALUES ('x', 'no type')")

    with pytest.raises(Conflict, match="breaks a rule"):
        store_two()
    assert count(database) == 1
    database.close()


def test_a_server_on_a_replica_reads_and_writes_once_that_is_promoted(
    cluster: Cluster, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    primary = Database(cluster.place, clock)
    id = stored(primary)
    primary.close()
    cluster.kill()
    cluster.start_as_replica()
    database = Database(cluster.place, clock)
    assert count(database) == 1
    assert database.read_only
    assert not database.leads()
    assert database.stamp() == "1"
    with pytest.raises(Unavailable, match="read-only"):
        stored(database)
    assert caplog.text == ""
    with psycopg.connect(cluster.place.url, autocommit=True) as connection:
        connection.execute("SELECT pg_promote()")
    assert stored(database) == id + 1
    until(database.leads, "the server leads")
    database.close()


def test_nothing_of_the_driver_is_imported_for_a_file(tmp_path: Path) -> None:
    program = (
        "import sys; from memory_server import app; from memory_server.settings import Settings;"
        "services = app.build(Settings(db=sys.argv[1], embedder='hashing')); services.database.open();"
        "services.close();"
        "print([name for name in sys.modules if name.startswith(('psycopg', 'memory_server.postgres'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "memory.db")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"


def test_one_read_opens_one_connection(clock: Clock) -> None:
    """As a hook does: to connect takes longer than what it asks."""
    place = Postgres(new_database())
    made = Database(place, clock)
    made.open()
    made.close()
    name = urlsplit(place.url).path.removeprefix("/")
    with psycopg.connect(database_url(), autocommit=True) as connection:

        def sessions() -> int:
            """So many there were until now; a session is counted before it is gone."""
            here = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s"
            until(lambda: connection.execute(here, (name,)).fetchone() == (0,), "all connections are closed")
            counted = "SELECT sessions FROM pg_stat_database WHERE datname = %s"
            (number,) = connection.execute(counted, (name,)).fetchone() or (0,)
            return int(number)

        before = sessions()
        database = Database(place, clock)
        assert count(database) == 0
        database.close()
        assert sessions() == before + 1


def test_a_write_that_was_undone_is_never_called_written(tenant: Database) -> None:
    def written() -> None:
        with tenant.write() as tx:
            tx.memories.insert(DRAFT, Caller())
            with suppress(psycopg.Error):
                tx.value("SELECT 1 / 0")

    with pytest.raises(Unavailable, match="Nothing was written"):
        written()
    assert count(tenant) == 0


def test_a_statement_that_postgresql_stops_is_not_told_as_a_server_that_is_away(tenant: Database) -> None:
    def sleep() -> None:
        with tenant.write() as tx:
            tx.memories.insert(DRAFT, Caller())
            tx.send("SET LOCAL statement_timeout = 10")  # as an operator sets it for a role or a database
            tx.send("SELECT pg_sleep(60)")

    with pytest.raises(Unavailable) as error:
        sleep()
    assert str(error.value) == (
        f"PostgreSQL stopped a statement in {tenant.place} (canceling statement due to statement timeout). "
        "Nothing was written."
    )
    assert error.value.problem.hints[0].mend is Mend.TRY_AGAIN
    assert count(tenant) == 0


@pytest.mark.parametrize("times", range(PREPARED + 2))
def test_a_failed_statement_spoils_no_later_one(
    times: int, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The driver believes that a statement after it was prepared, and it was not."""
    monkeypatch.setattr("memory_server.postgres.database.CONNECTIONS", 1)
    database = Database(new_place(), clock)

    def ask(first: str) -> object:
        with database.read() as tx:
            tx.send(first)
            return tx.value("SELECT %s::int", (1,))

    for _ in range(times):
        assert ask("SELECT 1") == 1
    with pytest.raises(Unavailable):
        ask("SELECT 1 / 0")
    assert ask("SELECT 1") == 1
    database.close()


@pytest.mark.parametrize("large", ["x" * 3_000_000, ["x" * 1_000_000] * 3], ids=["text", "array"])
def test_a_write_larger_than_a_connection_takes_at_once_is_written(tenant: Database, large: object) -> None:
    with tenant.write() as tx:
        tx.send("SELECT %s", (large,))
