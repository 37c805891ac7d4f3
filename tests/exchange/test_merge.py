"""A laptop and a desktop exchange a copy: both files come to the same, in whichever order."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_server.errors import Unavailable
from memory_server.sqlite import foreign
from tests.conftest import ROOT, Clock, Servers, Sqlite, call, damage
from tests.exchange.conftest import Run
from tests.sqlite.test_upgrade import at

Exported = Callable[..., str]

LAPTOP = """
UPDATE memories SET content = '生产环境每周三发布。', updated_at = '2030-01-01T00:00:00.000Z' WHERE id = 2;
INSERT INTO memories (content, type, created_at, updated_at)
VALUES ('Only on the laptop', 'learning', '2029-01-01', '2029-01-01'),
    ('Learned on both', 'learning', '2029-02-02', '2029-02-02');
UPDATE facts SET value = '"laptop"' WHERE key = 'port';
INSERT INTO facts (scope, key, value) VALUES ('global', 'new.laptop', '1');
UPDATE edges SET strength = 0.9 WHERE relation = 'related_to';
INSERT INTO turns (message, summary, project) VALUES ('a', 'A turn of the laptop', 'ledger');
INSERT INTO memory_uses (memory_id, session, shown_at) VALUES (1, 'laptop', '2029-01-01'), (2, 'both', '2029-01-02');
INSERT INTO open_questions (project, question, session, asked_at)
VALUES ('ledger', 'Which port has the ferry?', 'laptop', '2029-01-01');
"""

DESKTOP = """
UPDATE memories SET content = '生产环境每周四发布。', updated_at = '2030-01-02T00:00:00.000Z' WHERE id = 2;
INSERT INTO memories (content, type, tags, created_at, updated_at)
VALUES ('Learned on both', 'learning', '["desk"]', '2029-02-03', '2029-02-03'),
    ('Only on the desktop 只在台式机', 'learning', '[]', '2029-01-03', '2029-01-03');
INSERT INTO edges (source_id, target_id, relation) VALUES (1, 2, 'depends_on');
UPDATE facts SET value = '"desktop"' WHERE key = 'port';
UPDATE facts SET value = '"desktop"' WHERE key = 'current.task' AND scope = 'global';
UPDATE long_term_memories SET prompt = 'changed', updated_at = '2030-01-01T00:00:00.000Z';
UPDATE edges SET valid_to = '2031-01-01' WHERE relation = 'causes' AND valid_to IS NULL;
UPDATE short_term_memories SET score = 7 WHERE id = 1;
INSERT INTO memory_uses (memory_id, session, shown_at, judged_at, used_at, how)
VALUES (1, 'desktop', '2029-01-01', NULL, NULL, NULL),
    (2, 'both', '2029-01-01', '2029-01-02', '2029-01-02', 'called');
INSERT INTO open_questions (project, question, session, asked_at)
VALUES ('ledger', 'Which port has the ferry?', 'desktop', '2029-01-02');
"""


@pytest.fixture
def apart(filled: Path, tmp_path: Path, sqlite: Sqlite) -> tuple[Path, Path]:
    """Two copies of one file, changed apart."""
    laptop, desktop = (Path(shutil.copy(filled, tmp_path / name)) for name in ("laptop.db", "desktop.db"))
    sqlite(laptop, LAPTOP)
    sqlite(desktop, DESKTOP)
    return laptop, desktop


def test_both_orders_give_the_same(
    apart: tuple[Path, Path], tmp_path: Path, run: Run, exported: Exported
) -> None:
    laptop, desktop = apart
    copies = [Path(shutil.copy(file, tmp_path / f"of-{file.name}")) for file in apart]
    one = run(laptop, "merge", copies[1], "--json")
    other = run(desktop, "merge", copies[0], "--json")
    assert (one.code, other.code) == (0, 0), one.err + other.err
    assert exported(laptop).splitlines() == exported(desktop).splitlines()
    assert damage(laptop) == damage(desktop) == []
    conflicts = [done.summary["sources"][0]["conflicts"] for done in (one, other)]
    assert conflicts[0] == conflicts[1]
    assert [each.split(":")[0] for each in conflicts[0] if each.startswith("fact")] == [
        "fact port (project ledger)"
    ]


def test_what_both_have_learned_is_there_once(apart: tuple[Path, Path], run: Run, sqlite: Sqlite) -> None:
    laptop, desktop = apart
    assert run(laptop, "merge", desktop).code == 0
    found = sqlite(laptop, "SELECT count(*), max(tags) FROM memories WHERE content = 'Learned on both'")
    assert found == '1|["desk"]'
    assert sqlite(laptop, "SELECT content FROM memories WHERE id = 2") == "生产环境每周四发布。"
    earlier = sqlite(
        laptop, "SELECT content FROM memory_history WHERE memory_id = 2 ORDER BY id"
    ).splitlines()
    assert earlier == ["生产环境每周二上午十点发布，周五不发布。", "生产环境每周三发布。"]
    assert sqlite(laptop, "SELECT count(*) FROM memories WHERE content = 'Twice the same'") == "2"
    uses = "SELECT memory_id, session, shown_at, how FROM memory_uses WHERE shown_at > '2029' ORDER BY 1, 2"
    assert sqlite(laptop, uses).splitlines() == [
        "1|desktop|2029-01-01|", "1|laptop|2029-01-01|", "2|both|2029-01-01|called",
    ]  # fmt: skip
    asked = (
        "SELECT sessions, session, asked_at, asked_again_at FROM open_questions WHERE question LIKE '%ferry%'"
    )
    assert sqlite(laptop, asked) == "2|desktop|2029-01-01|2029-01-02"


def test_sql_of_the_other_file_that_is_not_ours_does_nothing_and_is_told(
    apart: tuple[Path, Path], run: Run, sqlite: Sqlite
) -> None:
    laptop, desktop = apart
    sqlite(desktop, "CREATE TRIGGER evil AFTER INSERT ON memories BEGIN DELETE FROM memories; END")
    content = desktop.read_bytes()
    summary = run(laptop, "merge", desktop, "--json").summary
    assert summary["sources"][0]["conflicts"][0] == (
        "removed trigger evil on memories: it is not of this program"
    )
    assert desktop.read_bytes() == content
    assert sqlite(laptop, "SELECT count(*) FROM sqlite_schema WHERE name = 'evil'") == "0"


def test_a_second_merge_changes_nothing(apart: tuple[Path, Path], run: Run, exported: Exported) -> None:
    laptop, desktop = apart
    run(laptop, "merge", desktop)
    once = exported(laptop)
    again = run(laptop, "merge", desktop, "--json").summary
    assert (again["added"], again["updated"], again["duplicate"]) == (0, 0, 0)
    assert again["sources"][0]["conflicts"] == []
    assert exported(laptop) == once


def test_the_other_file_is_only_read(apart: tuple[Path, Path], tmp_path: Path, run: Run) -> None:
    laptop, desktop = apart
    before, there = desktop.read_bytes(), sorted(tmp_path.iterdir())
    desktop.chmod(0o400)
    assert run(laptop, "merge", desktop).code == 0
    assert desktop.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == there


@pytest.mark.anyio
async def test_what_was_deleted_on_one_side_is_deleted_on_the_other(
    filled: Path, tmp_path: Path, user_folders: dict[str, str], run: Run, exported: Exported, sqlite: Sqlite
) -> None:
    server = Servers(tmp_path, {**user_folders, "PYTHONPATH": str(ROOT)})
    laptop, desktop = server.db, tmp_path / "desktop.db"
    shutil.copy(filled, laptop)
    for name in ("changed", "again"):
        sqlite(
            laptop,
            'INSERT INTO long_term_memories (conversation_id, name, prompt, "trigger")'
            f" SELECT id, '{name}', 'p', 'true' FROM conversations WHERE name = 'project:ledger'",
        )
    shutil.copy(laptop, desktop)
    async with server("--project", "ledger") as client:
        await call(client, "memory_search", query="backups")
        await call(client, "graph_connect", sourceId=3, targetId=1, relation="causes")
        await call(client, "memory_update", id=3, content="Changed before it was deleted")
        await call(client, "memory_delete", id=2)
        await call(client, "memory_delete", id=3)
        for name in ("n", "changed", "again"):
            await call(client, "delete_long_term_memory", name=name)
        await call(client, "add_long_term_memory", name="again", prompt="anew", trigger="true")
    sqlite(
        desktop,
        "UPDATE memories SET content = 'Changed since', updated_at = '2040-01-01' WHERE id = 3",
        "UPDATE long_term_memories SET prompt = 'since', updated_at = '2040-01-01' WHERE name = 'changed'",
    )
    copies = [Path(shutil.copy(file, tmp_path / f"of-{file.name}")) for file in (laptop, desktop)]
    run(laptop, "merge", copies[1])
    run(desktop, "merge", copies[0])
    for file in (laptop, desktop):
        assert sqlite(file, "SELECT id, content FROM memories WHERE id IN (2, 3)") == "3|Changed since"
        left = sqlite(file, "SELECT name || ' ' || prompt FROM long_term_memories ORDER BY name").splitlines()
        assert left == ["again anew", "changed since"]
    assert exported(laptop).splitlines() == exported(desktop).splitlines()


def test_a_project_that_has_another_name_there_is_the_same(
    apart: tuple[Path, Path], run: Run, sqlite: Sqlite
) -> None:
    laptop, desktop = apart
    sqlite(desktop, "UPDATE projects SET name = 'books' WHERE name = 'ledger'")
    assert run(laptop, "merge", desktop).code == 0
    assert sqlite(laptop, "SELECT count(*) FROM memories WHERE project = 'books'") == "0"
    assert sqlite(laptop, "SELECT count(*) FROM projects WHERE name = 'books'") == "0"


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + b"\0" * 2000])
def test_a_file_that_is_no_database_is_refused(copy: Path, tmp_path: Path, content: bytes, run: Run) -> None:
    other = tmp_path / "other.db"
    other.write_bytes(content)
    done = run(copy, "merge", other)
    assert (done.out, done.code) == ("", 1)
    assert other.read_bytes() == content


def test_a_copy_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"other\.db cannot be read"):
        foreign.make_ours(tmp_path, tmp_path / "other.db", [])


def test_a_file_is_not_merged_into_itself(copy: Path, run: Run) -> None:
    done = run(copy, "merge", copy)
    assert done.code == 1
    assert "is this database itself" in done.err


def test_a_trial_tells_and_writes_nothing(apart: tuple[Path, Path], run: Run) -> None:
    laptop, desktop = apart
    before = laptop.read_bytes()
    told = json.loads(run(laptop, "merge", desktop, "--dry-run", "--json").out)
    assert told["dry_run"] is True
    assert told["added"] >= 2
    assert laptop.read_bytes() == before


@pytest.mark.parametrize("version", [1, 3, 5])
def test_a_file_of_an_older_schema_is_merged_and_stays_as_it_is(
    version: int, tmp_path: Path, clock: Clock, run: Run, sqlite: Sqlite
) -> None:
    older = at(version, tmp_path, clock).rename(tmp_path / "older.db")
    before = older.read_bytes()
    summary = run(tmp_path / "new.db", "merge", older, "--json").summary
    assert summary["refused"] == 0
    assert summary["added"] > 3
    assert older.read_bytes() == before
    assert (
        sqlite(tmp_path / "new.db", "SELECT count(*) FROM memories WHERE content = '兰花需要很少的水'") == "1"
    )
    assert damage(tmp_path / "new.db") == []


@pytest.mark.anyio
async def test_a_file_is_merged_while_servers_hold_both(
    apart: tuple[Path, Path], tmp_path: Path, user_folders: dict[str, str], run: Run
) -> None:
    laptop, desktop = apart
    server = Servers(tmp_path, {**user_folders, "PYTHONPATH": str(ROOT)})
    async with (
        server("--db", str(laptop), "--project", "ledger") as one,
        server("--db", str(desktop)) as other,
    ):
        await call(other, "memory_store", content="The parrot speaks three languages", type="learning")
        assert run(laptop, "merge", desktop).code == 0
        found = await call(one, "memory_search", query="parrot", mode="keyword")
        assert [each["content"] for each in found["results"]] == ["The parrot speaks three languages"]
