"""`memory-server copy`: there and back, killed half way, from a source in use, and into what it refuses."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest
from torture.cluster import Cluster

from memory_server import stores
from memory_server.errors import Conflict, Unavailable
from memory_server.postgres.database import Database
from memory_server.sqlite.filling import ENDING
from memory_server.storage.columns import TABLES
from memory_server.stores import clock
from memory_server.transfer import copying
from memory_server.where import Postgres
from tests.conftest import ROOT
from tests.exchange.conftest import Run
from tests.postgres_server import new_database, new_place

MEMORIES = next(table for table in TABLES if table.name == "memories")

OWN = {"migrations", "bits_changes", "vector_changes", "job_problems", "erasures", "server_days"}
"""Tables of one file alone: when it was migrated, what a running server compares, and what it has to erase."""


@contextmanager
def edited(path: Path) -> Iterator[apsw.Connection]:
    connection = apsw.Connection(str(path))
    try:
        connection.set_busy_timeout(20_000)
        yield connection
    finally:
        connection.close()


def tables(path: Path) -> dict[str, list[Any]]:
    """All rows of a file, also those that are derived; of the words the shares that searches count with."""
    with edited(path) as connection:
        names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        found: dict[str, list[Any]] = {
            str(name): sorted(connection.execute(f'SELECT * FROM "{name}"').fetchall(), key=repr)
            for (name,) in names
            if name not in OWN and "_words" not in str(name)
        }
        highest = found["sqlite_sequence"]
        found["sqlite_sequence"] = [row for row in highest if row[1]]  # 0 says as much as none
        for index in ("memory_words", "fact_words", "turn_words", "short_term_words"):
            columns = connection.execute(f"SELECT * FROM {index}").get_description()
            texts = ", ".join(f'"{column[0]}"' for column in columns)
            found[index] = connection.execute(f"SELECT rowid, {texts} FROM {index} ORDER BY rowid").fetchall()
    return found


def problems(run: Run, place: Postgres | Path) -> object:
    given = place.given if isinstance(place, Postgres) else str(place)
    return run(given, "doctor", "--json").summary["problems"]


@pytest.fixture
def tenant() -> Postgres:
    return new_place()


def test_there_and_back_every_row_is_the_same(copy: Path, tmp_path: Path, run: Run, tenant: Postgres) -> None:
    with edited(copy) as file:
        assert file.execute("SELECT count(*) FROM embeddings").get > 2
        assert file.execute("SELECT count(*) FROM part_embeddings").get > 2
        file.execute("INSERT INTO call_counts (day, tool, calls) VALUES ('2026-01-02', 'recall', 3)")
        file.execute(
            "INSERT INTO tokens (name, hash, prefix, projects) VALUES ('安', ?, 'msrv_abc', '[\"ledger\"]')",
            ("0" * 64,),
        )
    there = run(copy, "copy", copy, tenant.given)
    assert (there.err, there.code) == ("", 0)
    assert "all equal" in there.out
    back = tmp_path / "back.db"
    assert run(copy, "copy", tenant.given, back).code == 0
    assert tables(back) == tables(copy)
    assert problems(run, tenant) == problems(run, back) == []
    assert not back.with_name(back.name + ENDING).exists()


def test_a_copy_answers_as_its_source_does(copy: Path, run: Run, tenant: Postgres) -> None:
    run(copy, "copy", copy, tenant.given)
    for question in ("审计", "backups", "发布 星期二"):
        asked = ("search", question, "--json")
        assert run(tenant.given, *asked).summary == run(copy, *asked).summary


def test_one_tenant_becomes_another_one(copy: Path, tmp_path: Path, run: Run) -> None:
    first, second = new_place(), Postgres(new_database(), "两")
    run(copy, "copy", copy, first.given)
    assert run(copy, "copy", first.given, second.given).code == 0
    run(copy, "copy", second.given, tmp_path / "back.db")
    assert tables(tmp_path / "back.db") == tables(copy)


def test_no_id_is_used_twice_in_a_copy(copy: Path, run: Run, tenant: Postgres) -> None:
    with edited(copy) as file:
        highest = int(file.execute("SELECT seq FROM sqlite_sequence WHERE name = 'memories'").get)
        file.execute("DELETE FROM memories WHERE id = ?", (highest,))
    run(copy, "copy", copy, tenant.given)
    added = run(tenant.given, "add", "The first one after the copy")
    assert added.out.startswith(f"m{highest + 1} ")


# Killed


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory, filled: Path) -> Path:
    """A file whose copy takes several steps. Do not change it."""
    path = tmp_path_factory.mktemp("large") / "memory.db"
    path.write_bytes(filled.read_bytes())
    fill(path, 6000)
    return path


def fill(path: Path, number: int) -> None:
    with edited(path) as file, file:
        file.executemany(
            "INSERT INTO memories (content, type, project) VALUES (?, 'learning', 'ledger')",
            [(f"Lighthouse {n} is painted red, 灯塔{n}号是红色的。 {'word ' * 30}",) for n in range(number)],
        )


STOPS_HALF_WAY = """
import os, signal, sys
from memory_server.__main__ import main
from memory_server.transfer import copying

def tell(run, rows, now=copying.CopyRun._tell):
    now(run, rows)
    if run.done - rows < 3000 <= run.done:
        os.kill(os.getpid(), signal.SIGSTOP)

copying.CopyRun._tell = tell
sys.exit(main())
"""


def begun(
    tmp_path: Path,
    user_folders: dict[str, str],
    *arguments: object,
    program: Sequence[str] = ("-m", "memory_server"),
) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, *program, "copy", *map(str, arguments)],
        env={**os.environ, **user_folders, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def half_way(tmp_path: Path, user_folders: dict[str, str], *arguments: object) -> "subprocess.Popen[str]":
    """A copy that has stopped after some thousand memories, and can be killed or go on."""
    process = begun(tmp_path, user_folders, *arguments, program=("-c", STOPS_HALF_WAY))
    ended = os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    assert ended is not None
    assert ended.si_code == os.CLD_STOPPED, process.communicate()
    return process


def killed(tmp_path: Path, user_folders: dict[str, str], *arguments: object) -> None:
    process = half_way(tmp_path, user_folders, *arguments)
    process.kill()
    process.communicate()


def memories_in(place: Postgres) -> int:
    with psycopg.connect(place.url, autocommit=True) as connection:
        there = connection.execute("SELECT to_regclass('memory_server.memories')").fetchone()
        if there is None or there[0] is None:
            return 0
        row = connection.execute(
            """
            SELECT count(*) FROM memory_server.memories AS m JOIN memory_server.tenants AS t ON t.id = tenant_id
            WHERE t.name = %s
            """,
            (place.tenant,),
        ).fetchone()
        return int(row[0]) if row else 0


@pytest.mark.parametrize("changed", [False, True])
def test_a_killed_copy_to_postgresql_goes_on(
    large: Path, tmp_path: Path, run: Run, user_folders: dict[str, str], tenant: Postgres, changed: bool
) -> None:
    source = tmp_path / "source.db"
    source.write_bytes(large.read_bytes())
    killed(tmp_path, user_folders, source, tenant.given)
    assert 1000 <= memories_in(tenant) < 6000
    for command in (("list",), ("add", "Too early")):
        used = run(tenant.given, *command)
        assert used.code == 1
        assert used.err.count("\n") == 1
        assert f"is an unfinished copy of {source}" in used.err
        assert "goes on" in used.err
    other = run(source, "copy", large, tenant.given)
    assert (other.code, other.err.count("\n")) == (1, 1)
    assert f"unfinished copy of {source}, not of {large}" in other.err
    if changed:
        with edited(source) as file:
            file.execute(
                "DELETE FROM memories WHERE id = 1; UPDATE memories SET access_count = 7 WHERE id = 2"
            )
            file.execute("UPDATE memories SET content = 'Changed meanwhile' WHERE id = 3")
            file.execute("UPDATE facts SET value = '7' WHERE id = 2")
    done = run(source, "copy", source, tenant.given)
    assert (done.err, done.code) == ("", 0)
    assert "went on" in done.out
    run(source, "copy", tenant.given, tmp_path / "back.db")
    assert tables(tmp_path / "back.db") == tables(source)
    assert problems(run, tenant) == []


def test_a_killed_copy_to_a_file_goes_on(
    large: Path, tmp_path: Path, run: Run, user_folders: dict[str, str], tenant: Postgres
) -> None:
    assert run(large, "copy", large, tenant.given).code == 0
    target = tmp_path / "target.db"
    unfinished = target.with_name(target.name + ENDING)
    killed(tmp_path, user_folders, tenant.given, target)
    assert unfinished.stat().st_size > 3_000_000
    assert not target.exists()
    used = run(unfinished, "list")
    assert (used.code, used.err.count("\n")) == (1, 1)
    assert "unfinished copy" in used.err
    done = run(large, "copy", tenant.given, target)
    assert (done.err, done.code) == ("", 0)
    assert "went on" in done.out
    assert tables(target) == tables(large)
    assert not unfinished.exists()


def test_a_copy_whose_postgresql_is_killed_says_so_and_goes_on(
    large: Path, tmp_path: Path, run: Run, user_folders: dict[str, str]
) -> None:
    cluster = Cluster(tmp_path / "cluster")
    place = cluster.place
    process = half_way(tmp_path, user_folders, large, place.given)
    assert 2000 <= memories_in(place) < 6000
    cluster.kill()
    process.send_signal(signal.SIGCONT)
    _, error = process.communicate()
    assert (process.returncode, error.count("\n")) == (1, 1), error
    assert "cannot be reached" in error
    assert re.search(
        r" [1-9],\d{3} rows were written and stay\. "
        r"Run `memory-server copy` with the same source and target again: it goes on\.$",
        error,
    )
    cluster.start()
    assert "went on" in run(large, "copy", large, place.given).out
    cluster.stop()


def test_a_killed_copy_leaves_the_indexes_as_they_are(
    large: Path, tmp_path: Path, user_folders: dict[str, str], run: Run
) -> None:
    place = Postgres(new_database())
    killed(tmp_path, user_folders, large, place.given)
    assert 2000 <= memories_in(place) < 6000
    with psycopg.connect(place.url, autocommit=True) as connection:
        options = """
            SELECT relname, reloptions FROM pg_class
            WHERE relname LIKE '%_words_by_word' AND reloptions <> '{fastupdate=off}'
        """
        assert connection.execute(options).fetchall() == []
        assert run(large, "copy", large, place.given).code == 0
        assert connection.execute(options).fetchall() == []


def test_a_copy_that_differs_from_its_source_in_the_end_is_refused_and_stays_unfinished(
    copy: Path, run: Run, tenant: Postgres
) -> None:
    """Another program changes a row of the target between the copying and the comparison."""
    source, target = stores.at(copy, clock), stores.filling(tenant, clock)

    def spoil(done: int, total: int) -> None:
        if 2 * done == total:
            with psycopg.connect(tenant.url, autocommit=True) as connection:
                connection.execute("UPDATE memory_server.projects SET folder = 'elsewhere'")

    with pytest.raises(Conflict, match=r"^The copy is not equal to .* in: projects\. It stays unfinished\.$"):
        copying.copy(source, str(copy), target, spoil)
    source.close()
    assert f"is an unfinished copy of {copy}" in run(tenant.given, "list").err
    assert "went on" in run(copy, "copy", copy, tenant.given).out
    assert problems(run, tenant) == []


# Others who use the target


def test_nobody_reads_a_copy_before_it_is_finished(large: Path, run: Run) -> None:
    """A server that had the tenant open, empty, before the copy began."""
    place = Postgres(new_database())
    server = Database(place, clock)
    with server.read() as tx:
        assert tx.copied.count(MEMORIES) == 0
    source, target = stores.at(large, clock), stores.filling(place, clock)
    seen: list[int | str] = []

    def look(_done: int, _total: int) -> None:
        try:
            with server.read() as tx:
                seen.append(tx.copied.count(MEMORIES))
        except Unavailable as error:
            seen.append(str(error))

    copying.copy(source, str(large), target, look)
    source.close()
    assert set(seen) == {f"{place} is an unfinished copy of {large}."}
    with server.read() as tx:
        assert tx.copied.count(MEMORIES) > 6000
    server.close()
    assert "Lighthouse" in run(place.given, "search", "lighthouse").out


def test_a_copy_beside_another_tenant_finds_its_words(copy: Path, run: Run, tenant: Postgres) -> None:
    run(new_place().given, "add", "Somebody else's")
    run(copy, "copy", copy, tenant.given)
    assert problems(run, tenant) == []
    asked = ("search", "backups", "--json")
    assert run(tenant.given, *asked).summary == run(copy, *asked).summary


# A source in use


def test_a_source_in_use_is_copied_as_of_one_moment(
    large: Path, tmp_path: Path, run: Run, user_folders: dict[str, str], tenant: Postgres
) -> None:
    """Its writer adds pairs, each in one transaction: the copy has both of a pair, or none."""
    source = tmp_path / "source.db"
    source.write_bytes(large.read_bytes())
    process = begun(tmp_path, user_folders, source, tenant.given)
    written = 0
    with edited(source) as file:
        while process.poll() is None:
            file.execute(
                """
                BEGIN IMMEDIATE;
                INSERT INTO memories (content, type) VALUES ('one of a pair', 'error');
                INSERT INTO turns (message, summary) VALUES ('one of a pair', 'one of a pair');
                COMMIT
                """
            )
            written += 1
    printed = process.communicate()
    assert process.returncode == 0, printed
    run(source, "copy", tenant.given, tmp_path / "back.db")
    found = tables(tmp_path / "back.db")
    pairs = [sum("one of a pair" in row for row in found[name]) for name in ("memories", "turns")]
    assert pairs[0] == pairs[1]
    assert pairs[0] < written


# What is refused


@pytest.fixture
def refused(copy: Path, run: Run) -> Callable[..., str]:
    """The error of a copy that is refused: one line, and nothing is left behind."""

    def refused(*arguments: object) -> str:
        done = run(copy, "copy", *map(str, arguments))
        assert done.code in (1, 2)
        assert done.code == 2 or done.err.count("\n") == 1
        return done.err

    return refused


def test_a_target_that_holds_something_is_refused(
    copy: Path, tmp_path: Path, run: Run, tenant: Postgres, refused: Callable[..., str]
) -> None:
    run(tenant.given, "add", "It holds this")
    error = refused(copy, tenant.given)
    assert "is not empty: it has rows in projects, " in error
    assert "the address of an empty tenant" in error
    there = tmp_path / "there.db"
    there.write_text("somebody's")
    error = refused(tenant.given, there)
    assert f"{there} is there already" in error
    assert there.read_text() == "somebody's"
    assert run(tenant.given, "list").out.count("\n") == 1


def test_a_target_of_a_newer_program_is_refused(copy: Path, run: Run, refused: Callable[..., str]) -> None:
    place = Postgres(new_database())
    run(place.given, "add", "x")
    with psycopg.connect(place.url, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO memory_server.migrations (version, name, applied_at) VALUES (999, 'later', '2030-01-01')"
        )
    error = refused(copy, place.given)
    assert "has schema version 999" in error
    assert "Upgrade memory-server" in error


def test_a_server_that_cannot_be_reached_is_named(
    copy: Path, tmp_path: Path, refused: Callable[..., str]
) -> None:
    nowhere = "postgresql://memory:geheim@127.0.0.1:9/memory"
    for arguments in ((copy, nowhere), (nowhere, tmp_path / "new.db")):
        error = refused(*arguments)
        assert "127.0.0.1:9" in error
        assert "cannot be reached" in error
        assert "geheim" not in error
    assert not (tmp_path / "new.db").exists()


def test_other_wrong_places_are_named(
    copy: Path, tmp_path: Path, tenant: Postgres, refused: Callable[..., str]
) -> None:
    Database(tenant, clock).open()
    assert "There is no database" in refused(tmp_path / "none.db", tenant.given)
    assert "memory-server backup" in refused(copy, tmp_path / "new.db")
    assert "holds nothing to copy" in refused(tenant.given, tmp_path / "new.db")
    assert "the tenant must have 1 to 200 characters" in refused(copy, f"{tenant.url}&tenant=")


def test_a_wrong_name_of_a_source_is_refused_and_not_made(
    tmp_path: Path, refused: Callable[..., str], tenant: Postgres
) -> None:
    wrong, nothing = Postgres(tenant.url, "misspelt"), Postgres(new_database())
    Database(tenant, clock).open()
    assert "There is no tenant misspelt in " in refused(wrong.given, tmp_path / "new.db")
    assert "There is no memory in " in refused(nothing.given, tmp_path / "new.db")
    with psycopg.connect(tenant.url) as connection:
        names = connection.execute("SELECT name FROM memory_server.tenants").fetchall()
    assert ("misspelt",) not in names
    with psycopg.connect(nothing.url) as connection:
        assert connection.execute("SELECT to_regnamespace('memory_server')").fetchone() == (None,)


def test_text_of_the_source_that_is_not_utf_8_is_named(
    copy: Path, run: Run, tenant: Postgres, refused: Callable[..., str]
) -> None:
    with edited(copy) as file:
        file.execute("INSERT INTO turns (message, summary) VALUES (CAST(x'61ff62' AS TEXT), 'short')")
        (id,) = file.execute("SELECT max(id) FROM turns").fetchall()[0]
        file.execute(
            "INSERT INTO project_keys SELECT 'folder', CAST(x'61ff62' AS TEXT), min(id) FROM projects"
        )
    assert "a row of project_keys cannot be read: it holds text that is not UTF-8" in refused(
        copy, tenant.given
    )
    with edited(copy) as file:
        file.execute("DELETE FROM project_keys WHERE key = CAST(x'61ff62' AS TEXT)")
    assert f"row {id} of turns cannot be read: it holds text that is not UTF-8" in refused(copy, tenant.given)
    with edited(copy) as file:
        file.execute("DELETE FROM turns WHERE id = ?", (id,))
    assert "went on" in run(copy, "copy", copy, tenant.given).out


def test_a_row_that_postgresql_cannot_keep_is_named(
    copy: Path, run: Run, tenant: Postgres, refused: Callable[..., str]
) -> None:
    with edited(copy) as file:
        file.execute("INSERT INTO turns (message, summary) VALUES ('a' || char(0) || 'b', 'short')")
        (id,) = file.execute("SELECT max(id) FROM turns").fetchall()[0]
    error = refused(copy, tenant.given)
    assert f"Row {id} of turns holds the character U+0000, which PostgreSQL cannot keep" in error
    with edited(copy) as file:
        file.execute("DELETE FROM turns WHERE id = ?", (id,))
    assert "went on" in run(copy, "copy", copy, tenant.given).out
