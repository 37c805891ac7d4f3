"""The connections to PostgreSQL: a role without powers is enough, and what is lost comes back."""

import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
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
from memory_server.postgres.database import Database
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.search import SearchService
from memory_server.where import Postgres
from tests.conftest import Clock
from tests.postgres_server import new_database, new_place

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
        return len(tx.memories.newest(Filter(), 100, 0))


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
    with pytest.raises(Unavailable, match="cannot be reached"):
        count(database)
    with pytest.raises(Unavailable, match="Nothing was written"):
        stored(database)
    cluster.start()
    assert count(database) == len(ids)
    assert stored(database) == len(ids) + 1
    database.close()


def test_no_connection_is_kept_while_something_is_embedded(clock: Clock) -> None:
    database = Database(new_place(), clock)
    in_use: list[int] = []

    class Watching(HashingEmbedder):
        def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
            self._look()
            return super().embed_documents(texts)

        def embed_questions(self, texts: Sequence[str]) -> list[Vector]:
            self._look()
            return super().embed_questions(texts)

        @staticmethod
        def _look() -> None:
            assert database.pool is not None
            found = database.pool.get_stats()
            in_use.append(found["pool_size"] - found["pool_available"])

    embedder = Watching()
    queue = EmbeddingQueue(database, lambda _: embedder, lambda _: embedder, clock)
    queue.work()
    with database.write() as tx:
        tx.memories.insert(DRAFT, Caller())
    queue.work()
    search = SearchService(database, queue, count_access=True)
    assert search.search("Fridays", Filter(), 5, "hybrid", caller=Caller()).hits
    assert in_use
    assert set(in_use) == {0}
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
    stored(Database(place, clock))
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


def test_a_newer_schema_is_refused_at_each_write(clock: Clock) -> None:
    """A server of a newer version has migrated while this one runs."""
    place = Postgres(new_database())
    database = Database(place, clock)
    stored(database)
    with psycopg.connect(place.url, autocommit=True) as connection:
        connection.execute("INSERT INTO memory_server.migrations VALUES (9999, 'later', 'x')")
    with pytest.raises(Unavailable, match="newer version") as error:
        stored(database)
    assert error.value.problem.hints[0].mend is Mend.UPGRADE
    with pytest.raises(Unavailable, match="9999"):
        Database(place, clock).open()
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
