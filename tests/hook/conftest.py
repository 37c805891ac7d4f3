"""Hooks as clients run them, on the database of a real server: a process for each event, without an engine.

What is said before a prompt needs an engine: its services are asked for it in the process of the test.
"""

import json
import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memory_server import app
from memory_server.engine import hooks as hooks_of_engine
from memory_server.engine.witness import Witness
from memory_server.hook import journal
from memory_server.settings import Settings
from memory_server.where import Where
from tests import warm
from tests.conftest import Servers


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

    servers: Servers
    project: Path
    has_engine: bool = True
    embedder: str = "hashing"

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
        sent, words = input or json.dumps(fields), (event, "--db", self.given, *arguments)
        if event == "UserPromptSubmit" and self.has_engine:
            return Said(self._answered(words, sent))
        done = self.run("hook", *words, input=sent, env=env)
        assert (done.returncode, done.stderr) == (0, "")
        return Said(done.stdout)

    def of_engine(self, event: str, **given: Any) -> str:
        """What an engine prints for an event."""
        fields = {"session_id": "s1", "cwd": str(self.project), "hook_event_name": event, **given}
        return self._answered((event, "--db", self.given), json.dumps(fields))

    def _answered(self, words: Sequence[str], sent: str) -> str:
        """What an engine answers a hook."""
        if isinstance(self.place, Path) and not (self.place.exists() and self.place.stat().st_size):
            return ""  # a hook starts no engine for it
        services = app.build(Settings(db=self.place, embedder=self.embedder))
        services.queue.warm_up()
        try:
            return hooks_of_engine.answer(
                services, Witness(time.monotonic, 1), words, {}, sent.encode(), self.project
            )
        finally:
            services.close()

    def run(
        self, *arguments: str, input: str = "", env: dict[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """Any command of the program."""
        return subprocess.run(
            warm.program(*arguments), env={**os.environ, **self.env, **(env or {})},
            cwd=self.project, input=input, capture_output=True, text=True, encoding="utf-8", timeout=60, check=False,
        )  # fmt: skip

    @property
    def db(self) -> Path:
        """The file. A test that asks for it is left out on another store."""
        return self.servers.db

    @property
    def place(self) -> Where:
        return self.servers.place

    @property
    def given(self) -> str:
        """What `--db` gets."""
        return self.servers.given

    @property
    def env(self) -> dict[str, str]:
        return self.servers.env

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """What a statement gives that both stores understand."""
        return self.servers.rows(sql)

    @property
    def log(self) -> list[str]:
        """The lines of the log beside the database, or of its own in the user's folder."""
        path = journal.path_of(self.place)
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


@pytest.fixture
def hooks(server: Servers) -> Hooks:
    """The hooks of the memory of `server`, in a folder that is a project."""
    project = server.folder / "shop"
    project.mkdir()
    return Hooks(server, project)
