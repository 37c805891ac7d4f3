"""What is listed without the code of the tools is what can be called."""

import json
from pathlib import Path
from typing import Any

import pytest

from memory_server import app
from memory_server.engine.served import work_of
from memory_server.mcp import listed
from memory_server.mcp.first_answers import IN_CORE
from memory_server.settings import Settings
from tests import listing
from tests.conftest import Servers

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"read_only": True},
        {"toolsets": "graph,recall"},
        {"toolsets": "all"},
        {"tools": "memory_get,recall"},
        {"exclude_tools": "memory_delete,write_memory"},
        {"toolsets": "facts", "read_only": True, "exclude_tools": "smart_resume"},
    ],
)
def test_what_is_listed_is_what_can_be_called(given: dict[str, Any]) -> None:
    settings = Settings(db=Path("never-opened.db"), **given)
    assert [*map(listing.listed, work_of(app.build(settings), None).tools.values())] == listed.chosen(
        settings
    )


def test_with_core_what_is_not_listed_can_be_called_unless_a_setting_forbids_it() -> None:
    settings = Settings(db=Path("never-opened.db"), toolsets=("core",), exclude_tools=("memory_delete",))
    names = listed.callable_names(settings)
    assert names == {*listed.names()} - {"memory_delete"}
    assert {tool.name for tool in listed.chosen(settings)} == set(IN_CORE)


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
