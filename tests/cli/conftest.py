"""The command line as a person uses it: real processes on a real file, in a folder that is the project `ledger`."""

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import warm
from tests.conftest import Servers, call


@dataclass(frozen=True, slots=True)
class Printed:
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[list[str]]:
        """The lines of a table in a pipe, each with its cells."""
        return [line.split("\t") for line in self.out.splitlines()]

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Terminal:
    """Runs `memory-server …` without a terminal, in the folder of the project."""

    servers: Servers
    folder: Path

    def __call__(self, *arguments: str, code: int = 0, given: str | None = None, **env: str) -> Printed:
        done = subprocess.run(
            warm.program(*arguments, "--db", self.servers.given, "--embedder", "hashing"),
            env={**os.environ, **self.servers.env, **env}, cwd=self.folder, input=given or "",
            capture_output=True, text=True, encoding="utf-8", timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == code, f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
        assert "Traceback" not in done.stderr
        return Printed(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    folder = tmp_path / "ledger"
    folder.mkdir()
    return folder


@pytest.fixture
def terminal(server: Servers, ledger: Path) -> Terminal:
    server.env["TZ"] = "UTC"
    return Terminal(server, ledger)


Filled = Callable[[], Any]

HARBOUR = "The harbour opens at noon"
ORCHID = "兰花每周二浇水，周五不浇水。"
RELEASE = "We release on Tuesdays"


async def fill(server: Servers, ledger: Path) -> None:
    """Something of every kind, stored by an assistant."""
    async with server(cwd=ledger, name="Claude") as client:
        await call(client, "memory_store", content=HARBOUR, type="learning", tags=["sea"])
        await call(client, "memory_store", content=ORCHID, type="decision", importance=8)
        await call(client, "memory_store", content=RELEASE, type="decision", project="shop")
        await call(client, "graph_connect", sourceId=2, targetId=1, relation="solves")
        await call(client, "write_memory", key="current.task", value="move the ledger")
        await call(client, "write_memory", key="editor", value={"name": "vim"}, scope="global")
        await call(client, "register_memory", message="We spoke of lighthouses", summary="On the sea")
        said = [{"role": "user", "content": "the zebra escaped"}]
        await call(client, "add_short_term_memory", messages=said)
        await call(
            client, "add_long_term_memory",
            name="zoo", prompt="Close the gate.", trigger="match_keys(messages, ['zebra'])",
        )  # fmt: skip
        await call(client, "search_long_term_memories", messages=said)
