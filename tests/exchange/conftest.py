"""What the tests of import, export and merge share: the commands, and a file that holds every kind."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests import terminal, warm
from tests.conftest import ROOT, Servers, Sqlite, call, lay_empty_file


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command printed, and its exit code."""

    out: str
    err: str
    code: int

    @property
    def summary(self) -> dict[str, Any]:
        """Of `--json`."""
        assert self.out, self.err
        summary: dict[str, Any] = json.loads(self.out)
        return summary


Run = Callable[..., Ran]
Typed = Callable[..., str]


@pytest.fixture
def run(user_folders: dict[str, str], tmp_path: Path) -> Run:
    """`run(db, "import", path)` runs the program on a database."""

    def run(db: Path, *arguments: str | Path) -> Ran:
        done = subprocess.run(
            warm.program(*map(str, arguments), "--db", str(db), "--embedder", "hashing"),
            capture_output=True, text=True, encoding="utf-8", check=False, cwd=tmp_path, timeout=120,
            env={**user_folders, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        return Ran(done.stdout, done.stderr, done.returncode)

    return run


@pytest.fixture
def typed(user_folders: dict[str, str], tmp_path: Path) -> Typed:
    """`typed(db, "import", path)` is what a command prints that a person types."""

    def typed(db: Path | str, *arguments: str | Path) -> str:
        words = (*map(str, arguments), "--db", str(db), "--embedder", "hashing")
        env = {**os.environ, **user_folders, "PYTHONPATH": str(ROOT)}
        printed, code = terminal.typed(*words, env=env, folder=tmp_path)
        assert code == 0, printed
        return printed

    return typed


@pytest.fixture
def taken(run: Run) -> Callable[..., dict[str, Any]]:
    """`taken(db, path)` imports a path; its summary. A file that is not there is laid ready: a program takes .13 s of
    CPU to make one."""

    def taken(db: Path, *arguments: str | Path) -> dict[str, Any]:
        if isinstance(db, Path) and not db.exists():  # it may be the address of a server
            lay_empty_file(db)
        return run(db, "import", *arguments, "--json").summary

    return taken


@pytest.fixture
def exported(run: Run) -> Callable[..., str]:
    """`exported(db)` is the export of a database."""

    def exported(db: Path, *arguments: str) -> str:
        done = run(db, "export", *arguments)
        assert (done.err, done.code) == ("", 0)
        return done.out

    return exported


BY_HAND = """
INSERT INTO memories (content, type, project, tags, metadata, created_at, occurred_at)
VALUES ('手写的记忆：审计在十二月三日。', 'decision', 'ledger', '["审计", 7]', '{"来源": "by hand", "n": [1, 2.5]}',
    '2025-01-02', '2024-12-31');
INSERT INTO memories (id, content, type) VALUES (90, 'A hand-made row with an id of its own', 'observation');
INSERT INTO memories (content, type) VALUES ('Twice the same', 'observation'), ('Twice the same', 'observation');
INSERT INTO edges (source_id, target_id, relation, strength, valid_from, valid_to)
VALUES (1, 90, 'causes', 0.25, '2025-01-01', '2025-06-01'), (1, 90, 'causes', 0.5, '2025-07-01', NULL);
UPDATE memories SET content = 'The staging database listens on port 6000, since the move' WHERE id = 1;
INSERT INTO facts (scope, owner, key, value) VALUES ('project', 'ledger', '手写.键', '{"a": [1, null, "零"]}');
UPDATE facts SET value = '"changed by hand"' WHERE key = 'current.task' AND scope = 'project';
INSERT INTO turns (message, summary, project) VALUES ('写在手上', '手写的轮次', 'ledger');
INSERT INTO short_term_memories (conversation_id, text)
SELECT id, 'user: written by hand' FROM conversations WHERE name = 'c';
INSERT INTO rules (memory_id, effect, holds, passes, off)
SELECT id, 'deny', '["git push origin main"]', '["git push origin 特性"]', 1 FROM long_term_memories WHERE name = 'n';
INSERT INTO projects (name, folder) VALUES ('empty', '/srv/empty');
INSERT INTO project_keys (kind, key, project_id)
SELECT 'remote', 'git.example/ledger', id FROM projects WHERE name = 'ledger';
INSERT INTO digested (kind, item_id, digest_id) VALUES ('memory', 90, 2), ('turn', 1, 0);
INSERT INTO hook_captures (kind, item_id, session, event)
VALUES ('short_term', 1, 's', 'Stop'), ('memory', 90, 's', 'SessionEnd');
INSERT INTO memory_uses (memory_id, session, shown_at, judged_at, used_at, how)
VALUES (90, 's', '2026-01-02', '2026-01-03', '2026-01-03', 'repeated'),
    (1, 's', '2026-01-01', '2026-01-03', NULL, NULL);
INSERT INTO open_questions (project, question, sessions, session, asked_at, asked_again_at)
VALUES ('ledger', '渡轮网关用哪个端口？', 2, 's2', '2026-01-01', '2026-01-02'),
    ('', 'Who may enter the harbour?', 1, 's1', '2026-01-03', NULL);
"""


async def fill(server: Servers) -> None:
    """At least one row of every kind, in both languages, with history, edges, changed facts, and what was deleted."""
    async with server("--project", "ledger", name="Claude 代码") as client:
        stored = {
            "content": "The staging database listens on port 5433",
            "type": "observation",
            "tags": ["staging"],
        }
        await call(client, "memory_store", **stored)
        await call(
            client,
            "memory_store",
            content="生产环境每周二上午十点发布，周五不发布。",
            type="decision",
            importance=8,
        )
        await call(client, "memory_store", content="Backups are kept for a year", type="pattern", relatedTo=1)
        await call(
            client, "memory_store", content="Long. " * 1500, type="learning", metadata={"k": {"deep": ["值"]}}
        )
        await call(client, "memory_update", id=3, content="Backups are kept for two years")
        await call(client, "memory_search", query="backups")
        for value in ("one", {"二": 2}):
            for scope in ("project", "global", "session", "shared"):
                await call(client, "write_memory", key="current.task", value=value, scope=scope, tags=["t"])
        await call(client, "delete_memory", key="current.task", scope="shared")
        await call(
            client, "register_memory", message="We talked 关于税务", summary="About it", facts={"port": 5433}
        )
        said = [{"role": "user", "content": "the zebra escaped from 动物园"}]
        await call(client, "add_short_term_memory", messages=said, conversation_id="c")
        await call(
            client, "add_long_term_memory", name="n", prompt="提示", trigger="match_keys(messages, ['x'])"
        )
        await call(client, "search_long_term_memories", messages=[{"role": "user", "content": "x"}])
        await call(client, "memory_store", content="Deleted afterwards", type="error")
        await call(client, "memory_delete", id=5)


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory, user_folders: dict[str, str], sqlite: Sqlite) -> Path:
    """A file with every kind. Do not change it: take a `copy`."""
    server = Servers(tmp_path_factory.mktemp("filled"), {**user_folders, "PYTHONPATH": str(ROOT)})
    server.env["MEMORY_SERVER_SESSION"] = "session-42"
    anyio.run(fill, server)
    sqlite(server.db, BY_HAND)
    return server.db


@pytest.fixture
def copy(filled: Path, tmp_path: Path) -> Path:
    """A file with every kind, of this test's own."""
    return Path(shutil.copy(filled, tmp_path / "memory.db"))
