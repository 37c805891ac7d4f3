"""Files of every earlier schema, with data of every kind, become files of the newest one, and nothing is lost."""

import shutil
from datetime import datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import apsw
import pytest

from memory_server.call import deadline
from memory_server.domain.briefing.leading import Limits
from memory_server.domain.caller import Caller
from memory_server.domain.fact import Home, Scope
from memory_server.domain.forgetting import Kind
from memory_server.domain.message import Message
from memory_server.embedding.hashing import HashingEmbedder
from memory_server.errors import Unavailable
from memory_server.project import Project
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.erasure import ErasureService
from memory_server.services.facts import FactService
from memory_server.services.long_term import LongTermService
from memory_server.services.projects import ProjectService
from memory_server.services.turns import TurnService
from memory_server.sqlite import embedded
from memory_server.sqlite.database import Database
from memory_server.storage import packaged
from memory_server.triggers.engine import Engine
from memory_server.triggers.javascript.sandbox import Sandbox
from tests.conftest import ROOT, Clock, Holder, Sqlite, damage, problems

MIGRATIONS = ROOT / "migrations"
LOADED = packaged.load(MIGRATIONS)
NEWEST = LOADED[-1].version
VERSIONS = [migration.version for migration in LOADED]
RELEASED = 5
"""The schema of version 0.1.0."""

CLAUDE = Caller("Claude", "s1")

DATA = {
    1: """
        INSERT INTO memories (content, type, project, tags, importance, metadata, access_count, created_by, session)
        VALUES ('The harbour opens at noon', 'learning', 'shop', '["sea"]', 8, '{"a": 1.5}', 3, 'Claude', 's1'),
            ('兰花需要很少的水', 'decision', NULL, '[]', 5, '{}', 0, NULL, NULL);
        UPDATE memories SET content = 'The harbour opens at one' WHERE id = 1;
        INSERT INTO memory_history (memory_id, content, reason, replaced_at)
        VALUES (1, 'Harbours open', 'merged', '2026-01-02T03:04:05.000Z');
        INSERT INTO edges (source_id, target_id, relation, strength) VALUES (1, 2, 'causes', 0.25);
    """,
    2: """
        INSERT INTO facts (scope, owner, key, value, tags) VALUES ('global', '', 'a.key', '{"b": [1, "两"]}', '["t"]');
        UPDATE facts SET value = '2', version = 2 WHERE key = 'a.key';
        INSERT INTO facts (scope, owner, key, value) VALUES ('session', 's1', 'gone.key', '"gone"');
        DELETE FROM facts WHERE key = 'gone.key';
        INSERT INTO facts (scope, key, value, expires_at)
        VALUES ('global', 'old.key', '"old"', '2026-01-01T00:00:00.000Z');
        INSERT INTO turns (message, summary, project, session, created_by)
        VALUES ('We spoke about lighthouses', 'On the sea', 'shop', 's1', 'Claude'),
            ('说到兰花', '关于花', '', NULL, NULL);
    """,
    4: """
        INSERT INTO conversations (name, removed) VALUES ('talk', 7), ('empty', 0);
        INSERT INTO short_term_memories (conversation_id, text, said_at, score)
        VALUES (1, 'user: orchids and 兰花', '2026-01-02T03:04:05.678Z', 3.25);
        INSERT INTO short_term_keywords (conversation_id, word, memory_id, weight) VALUES (1, 'orchid', 1, 2.5);
        UPDATE short_term_memories SET keyed = 1;
        INSERT INTO short_term_memories (conversation_id, text) VALUES (1, 'user: written by hand');
    """,
    5: """
        INSERT INTO long_term_memories
            (conversation_id, name, prompt, "trigger", created_context, fired_at, fired_count, error, failures,
             quarantined_until, skipped)
        VALUES (1, 'ready', 'p', 'true', 'c', '2026-01-02T03:04:05.000Z', 4, NULL, 0, NULL, 0),
            (1, 'skipped', 'p', '(() => messages.length > 0)()', NULL, NULL, 0, NULL, 0, NULL, 1),
            (1, 'failing', 'p', 'nobody()', NULL, NULL, 0, 'it is broken', 2, NULL, 1),
            (1, 'resting', 'p', 'true', NULL, NULL, 0, 'it takes too long', 3, '2099-01-01T00:00:00.000Z', 0);
    """,
    39: """
        INSERT INTO job_problems (job, process, problem, at) VALUES ('j', 'p', 'x', '2026-01-02T03:04:05.000Z');
        INSERT INTO trash (kind, item_id, conversation, parts)
        VALUES ('turn', 9, NULL, '{"turns": [{"id": 9, "message": "m", "summary": "s", "project": "",
            "session": null, "created_at": "2026-01-02T03:04:05.000Z", "created_by": null}]}');
        UPDATE erasures SET asked = 7, done = 5 WHERE what = 'file';
        INSERT INTO memories (content, type, occurred_at, session)
        VALUES (printf('%5001s', 'The lighthouse keeper'), 'learning', '2020-01-02T03:04:05.000Z', 's2');
        INSERT INTO turns (message, summary, occurred_at, session)
        VALUES ('Of the year before', 'On a year', '2020-01-02T03:04:05.000Z', 's2');
        INSERT INTO edges (source_id, target_id, relation) VALUES (1, 2, 'summarizes');
        INSERT INTO digested (kind, item_id, digest_id) VALUES ('memory', 2, 0), ('turn', 1, 0);
        INSERT INTO wakes (memory_id, at, client, session, why)
        SELECT min(id), '2026-01-02T03:04:05.000Z', 'Claude', 's1', 'the month is July' FROM long_term_memories;
        UPDATE long_term_memories SET cooldown = 60 WHERE name = 'ready';
        UPDATE projects SET folder = '/srv/shop' WHERE name = 'shop';
        INSERT INTO project_keys (kind, key, project_id)
        SELECT value, 'of the shop', projects.id
        FROM projects, json_each('["remote", "folder", "name"]')
        WHERE name = 'shop';
        INSERT INTO origins (kind, item_id, source, source_id, digest)
        VALUES ('memory', 1, 'server-memory', '港口', 'd1');
        INSERT INTO hook_injections (session, event, kind, item_id, tokens)
        VALUES ('s1', 'SessionStart', 'briefing', 0, 9);
        INSERT INTO hook_captures (kind, item_id, session, event) VALUES ('short_term', 1, 's1', 'Stop');
        INSERT INTO changes (memory_id, action, before, changed_by, session)
        VALUES (1, 'edited', '{"content": "Harbours open"}', 'Claude', 's1');
        INSERT INTO changes (long_term_id, action, before)
        SELECT min(id), 'edited', '{"prompt": "q"}' FROM long_term_memories;
        INSERT OR IGNORE INTO memories (id, content, type) VALUES (1, 'It is there already', 'learning');
        INSERT INTO hook_captures (kind, item_id, session, event) VALUES ('memory', 2, 's1', 'Stop');
        INSERT INTO memory_uses (memory_id, session, judged_at, used_at, how)
        VALUES (1, 's1', '2026-01-02T03:04:05.000Z', '2026-01-02T03:04:05.000Z', 'repeated');
        INSERT INTO open_questions (project, question, session) VALUES ('shop', 'Who keeps the lighthouse?', 's1');
        INSERT INTO tokens (name, hash, prefix, projects) VALUES ('ada', printf('%064d', 1), 'msrv_1', '["shop"]');
        INSERT INTO call_counts (day, tool, calls) VALUES ('2026-01-02', 'recall', 3);
        INSERT INTO memories (content, type, person) VALUES ('The lamp is ada''s', 'error', 'ada');
        INSERT INTO turns (message, summary, person) VALUES ('We spoke', 'On lamps', 'ada');
        INSERT INTO facts (scope, owner, key, value) VALUES ('global', 'ada' || char(31), 'a.key', '3');
        INSERT INTO conversations (name) VALUES ('ada' || char(31) || 'talk');
        INSERT OR IGNORE INTO memories (id, content, type) VALUES (1, 'It is there already', 'learning');
        INSERT INTO server_days (day) VALUES (20000);
        INSERT INTO likely_updates (memory_id, kind, item_id, newer) VALUES (1, 'memory', 2, 0);
        INSERT INTO events (action, source, path, counts)
        VALUES ('imported', 'jsonl', '/srv/a.jsonl', 'memories: added 1');
        INSERT INTO event_steps (event_id, did, kind, item_id) VALUES (1, 'added', 'memory', 1);
        INSERT INTO memory_anchors (memory_id, project, anchors, observed_at)
        VALUES (1, 'github.com/acme/shop', '[]', '2026-01-02T03:04:05.000Z');
        INSERT INTO fact_anchors (fact_id, project, anchors, observed_at)
        SELECT min(id), 'github.com/acme/shop', '[]', '2026-01-02T03:04:05.000Z' FROM facts;
        INSERT INTO hook_injections (session, event, kind, item_id, tokens) VALUES ('s1', 'PreToolUse', 'memory', 1, 9);
        INSERT INTO hook_captures (kind, item_id, session, event) VALUES ('memory', 1, 's1', 'PostToolUse');
        INSERT INTO rules (memory_id, effect, holds, passes, confirmed_at)
        SELECT min(id), 'deny', '["git push origin main"]', '["git push"]', '2026-01-02T03:04:05.000Z'
        FROM long_term_memories;
        INSERT INTO rule_hits (memory_id, at, effect, act)
        SELECT min(id), '2026-01-02T03:04:05.000Z', 'deny', 'git push origin main' FROM long_term_memories;
    """,
}
"""What a file can hold from a version on."""

Content = dict[str, list[dict[str, Any]]]


def at(version: int, tmp_path: Path, clock: Clock) -> Path:
    """A closed file of a schema, filled by hand."""
    path = tmp_path / "memory.db"
    path.touch(mode=0o600)
    path.write_bytes(made(version, clock()))
    return path


def earlier(version: int, parent: Path) -> Path:
    """A folder with the migrations of an earlier program."""
    folder = parent / f"migrations-{version}"
    folder.mkdir()
    for migration in packaged.applied(LOADED, version):
        shutil.copy(migration.path, folder)
    return folder


@cache
def made(version: int, now: datetime) -> bytes:
    """Such a file, made once for all tests."""
    with TemporaryDirectory() as temporary:
        path = Path(temporary) / "memory.db"
        database = Database(path, lambda: now, earlier(version, Path(temporary)))
        with database.write() as tx:
            for since, sql in DATA.items():
                if since <= version:
                    tx.connection.execute(sql if version <= RELEASED else sql.replace("skipped)", "slow)"))
        database.close()
        return path.read_bytes()


def content(path: Path) -> Content:
    """Every row of every ordinary table, by the names of its columns."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        tables = connection.execute(
            """
            SELECT name FROM pragma_table_list
            WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'migrations'
            """
        ).fetchall()
        found: Content = {}
        for (table,) in tables:
            columns = connection.execute(f"SELECT name FROM pragma_table_info('{table}')").fetchall()
            names = [str(name) for (name,) in columns]
            listed = ", ".join(f'"{name}"' for name in names)
            rows = connection.execute(f"SELECT {listed} FROM {table}").fetchall()
            found[str(table)] = [dict(zip(names, row, strict=True)) for row in sorted(rows, key=repr)]
        return found
    finally:
        connection.close()


VECTORS = {
    "spaces",
    "embeddings",
    "embedding_bits",
    "bits_changes",
    "vector_changes",
    "embedding_queue",
    "part_embeddings",
    "token_vectors",
    "turn_token_vectors",
    "fact_token_vectors",
    "turn_embeddings",
    "turn_embedding_queue",
    "turn_message_embeddings",
    "fact_embeddings",
    "fact_embedding_queue",
    "short_term_embeddings",
    "short_term_embedding_queue",
}


def vectors(path: Path) -> None:
    """Give the first memory and the first turn a vector; the second ones wait for theirs."""
    space = HashingEmbedder().space
    columns = list(space.__dataclass_fields__)
    connection = apsw.Connection(str(path))
    connection.execute(
        f"""
        INSERT INTO spaces (state, created_at, {", ".join(columns)})
        VALUES ('active', '2026-01-01T00:00:00.000Z', {", ".join("?" for _ in columns)})
        """,
        [getattr(space, name) for name in columns],
    )
    connection.execute(
        """
        INSERT INTO embeddings (space_id, memory_id, vector, created_at) VALUES (1, 1, x'00000000', '2026-01-01');
        INSERT INTO embedding_bits (space_id, project, memory_id, type, importance, bits)
        VALUES (1, 'shop', 1, 'learning', 8, x'80');
        INSERT INTO embedding_queue (space_id, memory_id) VALUES (1, 2);
        """
    )
    if connection.table_exists(None, "memory_parts"):
        connection.execute(
            """
            INSERT INTO embeddings (space_id, memory_id, vector, created_at)
            SELECT 1, memory_id, x'00000000', '2026-01-01' FROM memory_parts GROUP BY memory_id;
            INSERT INTO part_embeddings (space_id, part_id, vector) SELECT 1, id, x'00000000' FROM memory_parts;
            """
        )
    if connection.table_exists(None, "token_vectors"):
        connection.execute(
            "INSERT INTO token_vectors (space_id, text_id, memory_id, vectors) VALUES (1, 1, 1, zeroblob(32))"
        )
    for kind in ("turn", "fact"):
        if connection.table_exists(None, f"{kind}_token_vectors"):
            connection.execute(
                f"INSERT INTO {kind}_token_vectors (space_id, {kind}_id, vectors) VALUES (1, 1, zeroblob(32))"
            )
    if connection.table_exists(None, "turns"):
        connection.execute(
            """
            INSERT INTO turn_embeddings (space_id, turn_id, vector, created_at)
            VALUES (1, 1, x'00000000', '2026-01-01');
            INSERT INTO turn_embedding_queue (space_id, turn_id) VALUES (1, 2);
            """
        )
    if connection.table_exists(None, "turn_message_embeddings"):
        connection.execute(
            "INSERT INTO turn_message_embeddings (space_id, turn_id, vector) VALUES (1, 1, x'00000000')"
        )
    if connection.table_exists(None, "fact_embeddings"):
        connection.execute(
            """
            INSERT INTO fact_embeddings (space_id, fact_id, vector, created_at)
            SELECT 1, min(id), x'00000000', '2026-01-01' FROM facts;
            INSERT INTO fact_embedding_queue (space_id, fact_id) SELECT 1, max(id) FROM facts;
            INSERT INTO short_term_embeddings (space_id, memory_id, vector, created_at)
            VALUES (1, 1, x'00000000', '2026-01-01');
            INSERT INTO short_term_embedding_queue (space_id, memory_id) VALUES (1, 2);
            """
        )
    connection.close()


def only(columns: set[str], rows: list[dict[str, Any]]) -> list[list[tuple[str, Any]]]:
    """The rows with these columns alone, in an order that does not depend on the others."""
    return sorted(([(name, row[name]) for name in sorted(columns)] for row in rows), key=repr)


@pytest.fixture(params=VERSIONS)
def any_file(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Path:
    """A file of each schema, the newest included."""
    return at(request.param, tmp_path, clock)


def test_every_row_is_kept_as_it_was(any_file: Path, clock: Clock) -> None:
    before = content(any_file)
    database = Database(any_file, clock)
    database.open()
    assert problems(database) == []
    database.close()
    after = content(any_file)
    for table, rows in before.items():
        columns = set(rows[0]) - {"skipped"} if rows else set[str]()
        kept = after[table]
        if table == "erasures":  # a migration may add an index, whose words are to be erased too
            kept = [row for row in kept if row["what"] in {each["what"] for each in rows}]
        assert only(columns, kept) == only(columns, rows)
    assert damage(any_file) == []


def test_every_table_of_the_newest_schema_has_a_row_to_keep(tmp_path: Path, clock: Clock) -> None:
    """A migration that adds a table adds a row of it to DATA. Vectors have a test of their own."""
    path = at(NEWEST, tmp_path, clock)
    vectors(path)
    assert [table for table, rows in content(path).items() if not rows] == []


@pytest.mark.parametrize("version", range(RELEASED + 1, NEWEST))
def test_a_file_of_a_version_that_was_never_released_is_refused_and_left_as_it_is(
    tmp_path: Path, clock: Clock, version: int
) -> None:
    path = at(RELEASED, tmp_path, clock)
    connection = apsw.Connection(str(path))
    connection.pragma("user_version", version)
    connection.close()
    before = path.read_bytes()
    with pytest.raises(Unavailable, match=f"schema version {version}, which was never released"):
        Database(path, clock).open()
    assert path.read_bytes() == before


def test_a_file_of_the_newest_schema_is_left_as_it_is(tmp_path: Path, clock: Clock) -> None:
    path = at(NEWEST, tmp_path, clock)
    before = path.read_bytes()
    database = Database(path, clock)
    database.open()
    database.close()
    assert path.read_bytes() == before
    assert database.files.copies() == []


@pytest.mark.parametrize("version", VERSIONS[:-1])
def test_a_checked_copy_of_the_earlier_file_lies_beside_it(
    tmp_path: Path, clock: Clock, version: int
) -> None:
    old = at(version, tmp_path, clock)
    before = content(old)
    Database(old, clock).open()
    copy = old.with_name(f"memory.db.before-{NEWEST:04d}")
    assert content(copy) == before
    assert damage(copy) == []
    assert copy.stat().st_mode & 0o077 == 0
    assert [file.name for file in old.parent.iterdir() if file.suffix == ".tmp"] == []


def test_vectors_and_what_waits_for_one_stay_through_the_upgrade(any_file: Path, clock: Clock) -> None:
    vectors(any_file)
    before = content(any_file)
    Database(any_file, clock).open()
    after = content(any_file)
    for table in VECTORS & set(before):
        assert before[table]
        if table == "turn_embedding_queue":  # 0015 adds every turn to it
            assert all(row in after[table] for row in before[table])
        else:
            assert after[table] == before[table]


def test_an_upgrade_of_a_file_that_another_program_holds_waits_for_it(tmp_path: Path, clock: Clock) -> None:
    path = at(RELEASED, tmp_path, clock)
    database = Database(path, clock)
    with Holder(path, "UPDATE memories SET importance = 1"), deadline.within(0.3), pytest.raises(Unavailable):
        database.open()
    assert not path.with_name(f"memory.db.before-{NEWEST:04d}").exists()
    database.open()
    assert problems(database) == []
    database.close()


@pytest.mark.parametrize("version", [2, 4, 5])
def test_the_turns_of_an_earlier_file_are_found_by_their_words(
    tmp_path: Path, clock: Clock, version: int
) -> None:
    database = Database(at(version, tmp_path, clock), clock)
    queue = EmbeddingQueue(database, lambda known: HashingEmbedder(), lambda space: HashingEmbedder(), clock)
    turns = TurnService(database, queue, FactService(database))
    queue.stop()
    queue.warm_up()
    for query, expected in (("lighthouse", 1), ("sea", 1), ("兰花", 2), ("蘭花", 2)):
        assert [turn.id for turn, _ in turns.retrieve(query, 5, CLAUDE).turns] == [expected]
    database.close()


def test_everything_of_an_earlier_file_can_be_deleted_and_brought_back(any_file: Path, clock: Clock) -> None:
    database = Database(any_file, clock)
    database.open()
    before = content(any_file)
    kinds = {
        Kind.MEMORY: "memories",
        Kind.TURN: "turns",
        Kind.SHORT_TERM: "short_term_memories",
        Kind.LONG_TERM: "long_term_memories",
    }
    with database.write() as tx:
        ids = {kind: [row["id"] for row in before[table]] for kind, table in kinds.items()}
        for kind in kinds:
            assert tx.trash.put(kind, ids[kind], CLAUDE) == len(ids[kind])
        assert all(tx.value(f"SELECT count(*) FROM {table}") == 0 for table in kinds.values())
        for kind in kinds:
            for id in ids[kind]:
                deleted = tx.trash.find_last(kind, id)
                assert deleted is not None
                tx.trash.restore(deleted)
    # What lay in the trash for a moment is to be overwritten; nothing else may differ.
    passing: Content = {"erasures": [], "memory_overwritten": []}
    assert content(any_file) | passing == before | passing
    assert problems(database) == []
    database.close()


def test_triggers_that_were_skipped_or_failed_are_evaluated_after_the_upgrade(
    tmp_path: Path, clock: Clock, sqlite: Sqlite
) -> None:
    path = at(RELEASED, tmp_path, clock)
    database = Database(path, clock)
    engine = Engine(Sandbox(), lambda one, other: None)
    service = LongTermService(database, engine, lambda: 0.5)
    found = service.search([Message("user", "hello")], "talk", {}, caller=Caller())
    engine.close()
    assert {woken.name for woken in found.activated} == {"ready", "skipped"}
    assert [name for name, _ in found.errors] == ["failing"]
    assert [name for name, _ in found.skipped] == ["resting"]
    database.close()
    states = sqlite(path, "SELECT name, state FROM readable_long_term_memories ORDER BY name").splitlines()
    assert states[0].startswith("failing|error: ")
    assert states[1:] == [
        "ready|ready",
        "resting|quarantined until 2099-01-01 00:00",
        "skipped|ready",
    ]
    sqlite(path, "UPDATE long_term_memories SET \"trigger\" = 'false' WHERE name IN ('failing', 'resting')")
    changed = sqlite(
        path,
        "SELECT error IS NULL, failures, quarantined_until IS NULL, slow, judged_at IS NULL "
        "FROM long_term_memories WHERE name IN ('failing', 'resting')",
    )
    assert changed.splitlines() == ["1|0|1|0|1", "1|0|1|0|1"]


def test_an_earlier_program_refuses_an_upgraded_file_and_changes_nothing(
    tmp_path: Path, clock: Clock
) -> None:
    path = at(RELEASED, tmp_path, clock)
    Database(path, clock).open()
    before = path.read_bytes()
    with pytest.raises(Unavailable, match=f"schema version {NEWEST}"):
        Database(path, clock, earlier(RELEASED, tmp_path)).open()
    assert path.read_bytes() == before


def test_what_was_deleted_from_an_earlier_file_is_overwritten_after_the_upgrade(
    any_file: Path, clock: Clock
) -> None:
    connection = apsw.Connection(str(any_file))
    connection.pragma("secure_delete", False)
    connection.execute(
        """
        INSERT INTO memories (content, type) VALUES ('The password of the old lighthouse', 'learning');
        DELETE FROM memories WHERE content LIKE '%old lighthouse%';
        """
    )
    connection.close()
    assert b"old lighthouse" in any_file.read_bytes()
    database = Database(any_file, clock)
    database.open()
    before = content(any_file)
    ErasureService(database).erase()
    with database.read() as tx:
        assert tx.erasures.due() == {}
    passing: Content = {"erasures": [], "memory_overwritten": []}
    assert content(any_file) | passing == before | passing
    assert problems(database) == []
    database.close()
    assert b"old lighthouse" not in any_file.read_bytes()


FILED = """
    INSERT INTO memories (content, type, project)
    VALUES ('of app', 'error', 'app'), ('of lib', 'error', 'lib'), ('of ledger', 'error', 'ledger'),
        ('of a name with a slash', 'error', 'me/tool'), ('of nobody', 'error', NULL);
    INSERT INTO facts (scope, owner, key, value)
    VALUES ('project', '/home/me/app', 'k', '1'), ('project', '/home/me/app', 'k2', '1'),
        ('project', '/srv/app', 'k', '2'), ('project', '/opt/srv/app', 'k', '3'), ('project', '/app', 'k', '4'),
        ('project', 'ledger', 'k', '5'), ('project', '/home/me/ledger', 'k', '6'),
        ('project', '/x/tool', 'k', '7'), ('project', '/x/tool', 'k2', '7'), ('project', '/home/me/tool', 'k', '8'),
        ('project', 'C:\\Users\\me\\win', 'k', '9'), ('project', '/srv/git/central.git', 'k', '10'),
        ('project', '', 'k', '11'), ('session', '/home/me/app', 'k', '12'),
        ('project', printf('%.250c', 'x'), 'k', '13'),
        ('project', printf('%.250c', 'x') || 'y', 'k', '14'), ('project', '/', 'k', '15');
    UPDATE facts SET value = '"changed"' WHERE owner = '/srv/app';
    INSERT INTO facts (scope, owner, key, value) VALUES ('project', '/gone/only', 'k', '16');
    DELETE FROM facts WHERE owner = '/gone/only';
    INSERT INTO turns (message, summary, project) VALUES ('of app', 's', '/home/me/app'), ('of nobody', 's', '');
"""
"""What is filed under paths and names before: of each owner, that of the facts alone."""

NAMED = {
    "/home/me/app": "app",  # it has the most rows
    "/srv/app": "srv/app",
    "/opt/srv/app": None,  # srv/app is taken: it gets a number
    "/app": None,
    "ledger": "ledger",
    "/home/me/ledger": "me/ledger",  # the name was given too
    "/x/tool": "tool",
    "/home/me/tool": None,  # a memory has the name me/tool
    "C:\\Users\\me\\win": "win",
    "/srv/git/central.git": "central",
    "x" * 250: None,
    "x" * 250 + "y": None,
    "/": None,
    "/gone/only": "only",
}
"""The name of each after the upgrade; None where it gets one with a number."""


@pytest.mark.parametrize("version", range(2, RELEASED + 1))
def test_each_owner_of_facts_and_turns_gets_a_name_of_its_own_and_loses_nothing(
    tmp_path: Path, clock: Clock, version: int
) -> None:
    path = at(version, tmp_path, clock)
    connection = apsw.Connection(str(path))
    connection.execute(FILED)
    before = content(path)
    connection.close()
    database = Database(path, clock)
    database.open()
    assert problems(database) == []
    database.close()
    after = content(path)
    names = dict(
        zip((row["owner"] for row in by_id(before)), (row["owner"] for row in by_id(after)), strict=True)
    )
    assert [row["value"] for row in by_id(after)] == [row["value"] for row in by_id(before)]
    assert {owner: name for owner, name in names.items() if NAMED.get(owner)} == {
        owner: name for owner, name in NAMED.items() if name
    }
    assert len({names[owner] for owner in NAMED}) == len(NAMED)
    assert names[""] == ""
    projects = {row["name"]: row for row in after["projects"]}
    assert {names[owner] for owner in NAMED} | {"lib", "me/tool", "shop"} == set(projects)
    keys = {row["key"]: row["project_id"] for row in after["project_keys"]}
    assert keys == {owner: projects[names[owner]]["id"] for owner in NAMED if owner[0] in "/C"}
    assert {row["kind"] for row in after["project_keys"]} == {"folder"}
    assert {row["message"]: row["project"] for row in after["turns"] if row["message"].startswith("of ")} == {
        "of app": "app", "of nobody": "",
    }  # fmt: skip
    assert [row["project"] for row in after["memories"]] == [row["project"] for row in before["memories"]]
    sessions = [row["owner"] for row in after["facts"] if row["scope"] == "session"]
    assert sessions == [row["owner"] for row in before["facts"] if row["scope"] == "session"]


def by_id(rows: Content) -> list[dict[str, Any]]:
    """The steps of the facts of projects, in the order in which they were written."""
    return sorted(
        (row for row in rows["fact_history"] if row["scope"] == "project"), key=lambda row: int(row["id"])
    )


def test_a_folder_finds_what_it_had_before_the_upgrade_also_with_a_remote(
    tmp_path: Path, clock: Clock
) -> None:
    path = at(RELEASED, tmp_path, clock)
    connection = apsw.Connection(str(path))
    connection.execute(FILED)
    connection.close()
    database = Database(path, clock)
    facts, projects = FactService(database), ProjectService(database)

    def value(*place: str) -> Any:
        found = facts.read("k", None, (), Caller("Claude", "s9", Project(place[0], "app", place[1:])))
        return None if found is None else found.value

    assert value("/home/me/app") == value("github.com/acme/app", "/home/me/app") == 1
    assert value("github.com/other/app", "/srv/app") == "changed"
    assert value("github.com/new/app", "/new/app") is None
    projects.settle(Project("github.com/acme/app", "app", ("/home/me/app",)))
    assert value("github.com/acme/app", "/moved/app") == 1
    assert projects.here(Project("lib-1", "lib", ("/home/me/lib",))) == "lib"
    database.close()


def test_the_turns_of_an_earlier_file_are_embedded_anew_by_summary_and_message(
    tmp_path: Path, clock: Clock
) -> None:
    path = at(RELEASED, tmp_path, clock)
    vectors(path)
    database, embedder = Database(path, clock), HashingEmbedder()
    queue = EmbeddingQueue(database, lambda known: embedder, lambda space: embedder, clock)
    queue.work()
    with database.read() as tx:
        for table, column in (("turn_embeddings", "summary"), ("turn_message_embeddings", "message")):
            rows = tx.rows(f"SELECT {column}, vector FROM turns JOIN {table} ON turn_id = turns.id")
            assert len(rows) == tx.value("SELECT count(*) FROM turns")
            for text, vector in rows:
                assert vector == embedded.as_blob(embedder.embed_documents([text])[0])
    database.close()


def test_a_briefing_of_an_earlier_file_knows_what_its_facts_are_about(tmp_path: Path, clock: Clock) -> None:
    path = at(RELEASED, tmp_path, clock)
    connection = apsw.Connection(str(path))
    connection.execute(
        """
        INSERT INTO facts (scope, owner, key, value, updated_at) VALUES
            ('project', 'p', 'note.k', '1', '2026-03-01'), ('project', 'p', 'current.step', '1', '2025-03-01'),
            ('project', 'p', 'current.task', '1', '2026-03-02'), ('project', 'p', 'project.about', '1', '2025-03-02')
        """
    )
    connection.close()
    database = Database(path, clock)
    homes = [Home(Scope.PROJECT, "p")]
    with database.read() as tx:
        leading = tx.leading_facts.select(homes, Limits(5, 5, "2026-02-01T00:00:00.000Z"))
        found = [fact.key for fact in tx.facts.select([*leading.ids, *leading.older])]
    assert found == ["current.task", "project.about", "note.k", "current.step"]
    assert (leading.number, leading.older_number) == (4, 1)
    database.close()
