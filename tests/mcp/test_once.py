"""The list of tools is made once in a process, and not for those who may not have it."""

from pathlib import Path

import pytest
from mcp import Client
from mcp_types import Tool

from memory_server import app
from memory_server.domain.caller import Caller
from memory_server.mcp import listed
from memory_server.mcp.offers import offers
from memory_server.mcp.server import MemoryServer
from memory_server.mcp.toolsets import toolsets
from memory_server.mcp.work import Work
from memory_server.settings import Settings
from tests.conftest import ERAS

pytestmark = pytest.mark.anyio


class Counting(MemoryServer):
    made = 0

    async def list_tools(self) -> list[Tool]:
        self.made += 1
        return await super().list_tools()


@pytest.fixture
def server() -> Counting:
    settings = Settings(db=Path("never-opened.db"))
    services = app.build(settings)
    tools = {tool.name: tool for tools in toolsets(services).values() for tool in tools}
    work = Work(tools, offers(services))
    return Counting(listed.chosen(settings), work, lambda name, _: Caller(name, "s1"), "ERROR")


@pytest.mark.parametrize("mode", ERAS)
async def test_the_list_of_tools_is_made_once_for_many_clients(server: Counting, mode: str) -> None:
    listed = []
    for _ in range(2):
        async with Client(server, mode=mode) as client:
            listed += [(await client.list_tools(cache_mode="bypass")).tools for _ in range(3)]
    assert server.made == 1
    assert len(listed[0]) == 33
    assert all(each == listed[0] for each in listed)


async def test_a_request_that_says_more_is_left_to_the_sdk(server: Counting) -> None:
    async with Client(server, mode="legacy") as client:
        await client.list_tools()
        await client.list_tools(cursor="x", cache_mode="bypass")
    assert server.made == 2
