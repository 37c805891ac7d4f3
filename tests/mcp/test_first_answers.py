"""The first answers need nothing of what carries out calls; that is made once, when a request needs it."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError

from memory_server import app
from memory_server.cli.serve import Later
from memory_server.cli.served import work_of
from memory_server.domain.caller import Caller
from memory_server.mcp import listed
from memory_server.mcp.offers import offers
from memory_server.mcp.server import MemoryServer
from memory_server.mcp.toolsets import toolsets
from memory_server.mcp.work import Work
from memory_server.settings import Settings
from tests.conftest import ERAS, ROOT, Servers

pytestmark = pytest.mark.anyio

LATER = ("memory_server.app", "memory_server.services", "memory_server.sqlite", "memory_server.mcp.tools")
"""What the first answers do without, and the libraries of it."""

LIBRARIES = ("apsw", "numpy", "onnxruntime", "jieba", "rapidfuzz")

PROGRAM = f"""
import sys
from memory_server.cli import main, serve
from memory_server.mcp import listed
from memory_server.settings import Settings
listed.chosen(Settings())
print([each for each in sys.modules if each.startswith({LATER!r}) or each.split(".")[0] in {LIBRARIES!r}])
"""


def test_the_first_answers_import_nothing_of_the_services() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"read_only": True},
        {"toolsets": "core,graph"},
        {"tools": "memory_get,recall"},
        {"exclude_tools": "memory_delete,write_memory"},
        {"toolsets": "facts", "read_only": True, "exclude_tools": "smart_resume"},
    ],
)
def test_what_is_listed_is_what_can_be_called(given: dict[str, Any]) -> None:
    settings = Settings(db=Path("never-opened.db"), **given)
    assert work_of(app.build(settings), None).listed == listed.chosen(settings)


def test_what_was_asked_before_the_end_of_the_input_is_answered(server: Servers) -> None:
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    said: list[dict[str, Any]] = [
        {"id": 0, "method": "initialize", "params": about},
        {"method": "notifications/initialized"},
        {"id": 1, "method": "prompts/list"},
    ]
    text = "".join(json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in said)
    with server.process("--no-early-answers") as process:
        out, _ = process.communicate(text.encode(), timeout=60)
    assert process.returncode == 0
    answers = [json.loads(line) for line in out.splitlines()]
    assert sorted(each["id"] for each in answers if "result" in each) == [0, 1]


def test_what_carries_out_calls_is_made_once_for_all_who_ask(tmp_path: Path) -> None:
    later = Later(Settings(db=tmp_path / "memory.db", embedder="hashing", no_socket=True))
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda _: later.work(), range(8)))
    assert all(each is made[0] for each in made)
    later.close(1)


@pytest.mark.parametrize("mode", ERAS)
async def test_what_cannot_be_made_now_is_told_and_tried_again(mode: str) -> None:
    services = app.build(Settings(db=Path("never-opened.db")))
    tools = [tool for each in toolsets(services).values() for tool in each]
    work, failures = (
        Work.of(tools, offers(services)),
        [OSError(24, "Too many open files"), ImportError("libc")],
    )

    def make() -> Work:
        if failures:
            raise failures.pop()
        return work

    server = MemoryServer(work.listed, make, lambda name, _: Caller(name, "s1"), "CRITICAL")
    async with Client(server, mode=mode) as client:
        assert len((await client.list_tools()).tools) == len(tools)
        with pytest.raises(MCPError, match="failed inside the server"):
            await client.list_prompts()
        with pytest.raises(MCPError, match="too many files open"):
            await client.call_tool("memory_stats")
        assert (await client.list_prompts()).prompts
