"""Hooks as clients run them: a process for each event, on the database of a real server."""

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory_server import stores
from memory_server.hook import journal
from memory_server.where import Postgres, Where
from tests import postgres_server, warm
from tests.conftest import Servers, Sqlite

BOTH = frozenset(["test_keeping", "test_light", "test_prompt", "test_start", "test_waking"])
"""The modules whose tests run on both stores. What takes `sqlite` looks into a file, and is left out on the other."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.module.__name__.rpartition(".")[2] in BOTH and "store" in metafunc.fixturenames:
        metafunc.parametrize("store", ["sqlite", "postgres"], indirect=True)


@dataclass
class OnPostgres(Servers):
    """The same servers on a tenant of PostgreSQL."""

    place: Postgres | None = None

    def _arguments(self, arguments: Sequence[str]) -> list[str]:
        assert self.place is not None
        return ["--db", self.place.given, "--embedder", "hashing", *arguments]


@pytest.fixture
def store(request: pytest.FixtureRequest) -> str:
    """Which one; see `BOTH`."""
    return str(getattr(request, "param", "sqlite"))


@pytest.fixture
def server(server: Servers, store: str) -> Servers:
    if store == "sqlite":
        return server
    return OnPostgres(server.folder, server.env, place=postgres_server.new_place())


@pytest.fixture
def sqlite(sqlite: Sqlite, store: str) -> Sqlite:
    if store != "sqlite":
        pytest.skip("it looks into a file of SQLite")
    return sqlite


@dataclass(frozen=True)
class Said:
    """What a hook printed: all of it, and the context in it; it must have left with 0 and without a complaint."""

    out: str

    @property
    def context(self) -> str:
        answer = json.loads(self.out)
        found: str = answer["hookSpecificOutput"]["additionalContext"]
        return found


@dataclass(frozen=True)
class Hooks:
    """Runs `memory-server hook EVENT` in a folder of its own, `project`."""

    db: Path
    project: Path
    env: dict[str, str]
    place: Where
    """The file `db`, or a tenant of PostgreSQL."""

    def __call__(
        self,
        event: str,
        *arguments: str,
        input: str | None = None,
        env: dict[str, str] | None = None,
        **given: Any,
    ) -> Said:
        """The fields of the event are keyword arguments; `input` is sent as it is instead."""
        fields = {"session_id": "s1", "cwd": str(self.project), "hook_event_name": event, **given}
        done = self.run(
            "hook", event, "--db", self.given, *arguments, input=input or json.dumps(fields), env=env
        )
        assert (done.returncode, done.stderr) == (0, "")
        return Said(done.stdout)

    def run(
        self, *arguments: str, input: str = "", env: dict[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """Any command of the program."""
        return subprocess.run(
            warm.program(*arguments), env={**os.environ, **self.env, **(env or {})},
            cwd=self.project, input=input, capture_output=True, text=True, encoding="utf-8", timeout=60, check=False,
        )  # fmt: skip

    @property
    def given(self) -> str:
        """What `--db` gets."""
        return self.place.given if isinstance(self.place, Postgres) else str(self.place)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """What a statement gives that both stores understand."""
        database: Any = stores.at(self.place, lambda: datetime.now(UTC))
        with database.read() as tx:
            found: list[tuple[Any, ...]] = tx.rows(sql)
        database.close()
        return found

    @property
    def log(self) -> list[str]:
        """The lines of the log beside the database, or of its own in the user's folder."""
        path = journal.path_of(self.place)
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


@pytest.fixture
def hooks(server: Servers) -> Hooks:
    """The hooks of the database of `server`, in a folder that is a project."""
    project = server.folder / "shop"
    project.mkdir()
    place = server.place if isinstance(server, OnPostgres) and server.place else server.db
    return Hooks(server.db, project, server.env, place)
