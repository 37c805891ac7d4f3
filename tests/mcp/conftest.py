"""One server for a whole module, in each wire era; and what a model reads when a call is refused."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from mcp import Client
from mcp_types import CallToolResult, TextContent

from tests.conftest import ERAS, ROOT, Servers


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--renew-schemas", action="store_true", help="write tests/mcp/schemas anew, to be reviewed"
    )


@pytest.fixture(scope="module")
def module_server(tmp_path_factory: pytest.TempPathFactory, user_folders: dict[str, str]) -> Servers:
    """Starts servers on one file for a whole module; tests keep apart by project."""
    return Servers(tmp_path_factory.mktemp("server"), {**user_folders, "PYTHONPATH": str(ROOT)})


@pytest.fixture(scope="module", params=ERAS)
async def client(request: pytest.FixtureRequest, module_server: Servers) -> AsyncIterator[Client]:
    """A client of a running server, one in each era."""
    async with module_server(mode=request.param) as client:
        yield client


@pytest.fixture
def project(request: pytest.FixtureRequest) -> str:
    """A project of the test's own."""
    return str(request.node.name)[:200]


async def refusal(client: Client, tool: str, /, **arguments: object) -> str:
    """The text of the error that a call answers; fails the test when it succeeds."""
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    assert result.is_error, result.content
    assert result.structured_content is None
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


def schema_folder() -> Path:
    return Path(__file__).with_name("schemas")
