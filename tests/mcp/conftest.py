"""One server for a whole module, in each wire era; and what a model reads when a call is refused."""

import json
import subprocess
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_types import CallToolResult, TextContent

from memory_server import app
from memory_server.mcp.first_answers import LISTED
from memory_server.mcp.toolsets import toolsets
from memory_server.settings import Settings
from tests.conftest import ERAS, ROOT, Servers, eventually
from tests.listing import listed
from tests.tokenizer import tokens_of


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--renew-schemas",
        action="store_true",
        help="write tests/mcp/schemas and the json files in memory_server/mcp anew, to be reviewed",
    )


@pytest.fixture(scope="session", autouse=True)
def renewed(request: pytest.FixtureRequest) -> None:
    """Before any server is started: what it lists is read from this file."""
    if request.config.getoption("--renew-schemas", default=False):
        text = json.dumps(made_by_code(), indent=1, ensure_ascii=False)
        Path(LISTED).write_text(f"{text}\n", encoding="utf-8")


def made_by_code() -> dict[str, list[dict[str, Any]]]:
    """What the code of each tool says that clients see of it, by toolset."""
    known = toolsets(app.build(Settings(db=Path("never-opened.db"))))
    return {
        toolset: [listed(tool).model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]
        for toolset, tools in known.items()
    }


@pytest.fixture(scope="module")
def module_server(
    tmp_path_factory: pytest.TempPathFactory, user_folders: dict[str, str], store: str
) -> Servers:
    """Starts servers on one memory for a whole module; tests keep apart by project."""
    return Servers(tmp_path_factory.mktemp("server"), {**user_folders, "PYTHONPATH": str(ROOT)}, store)


IN_ONE_ERA = ("test_facts.py", "test_memories.py", "test_short_term.py")
"""Files with many tests of what tools do with arguments, which is the same in each era. The tests of graph, search,
turns and long-term memories run in both, and so do those of schemas, which call each tool."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "client" in metafunc.fixturenames:
        eras = ERAS[:1] if metafunc.definition.path.name in IN_ONE_ERA else ERAS
        metafunc.parametrize("client", eras, indirect=True, scope="module")


@pytest.fixture(scope="module")
async def client(request: pytest.FixtureRequest, module_server: Servers) -> AsyncIterator[Client]:
    """A client of a running server, in one era or one in each."""
    async with module_server(mode=request.param) as client:
        yield client


@pytest.fixture
def project(request: pytest.FixtureRequest) -> str:
    """A project of the test's own."""
    return str(request.node.name)[:200]


async def refusal(client: Client, tool: str, /, **arguments: object) -> str:
    """What a call is told that is refused, behind `Error: `; fails the test when it succeeds."""
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    assert result.is_error, result.content
    assert result.structured_content is None
    (block,) = result.content
    assert isinstance(block, TextContent)
    assert block.text.startswith("Error: ")
    return block.text.removeprefix("Error: ")


def in_30_days(answer: Mapping[str, Any]) -> str:
    """Until when an answer says that a deletion can be undone, which must be in 30 days."""
    until = str(answer["undo_until"])
    left = datetime.fromisoformat(until) - datetime.now(UTC)
    assert timedelta(days=30) - timedelta(minutes=1) < left <= timedelta(days=30)
    return until


def traces(server: Servers, text: str) -> bool:
    """Whether the bytes of the file hold a text. Read by another process: to close the file here drops locks."""
    read = subprocess.run(["cat", str(server.db)], capture_output=True, check=True)
    return text.encode() in read.stdout


async def erased(server: Servers, *texts: str) -> None:
    """Wait until the bytes of the file hold none of the texts: the background work overwrites what was deleted."""

    async def gone() -> bool:
        return not any(traces(server, text) for text in texts)

    await eventually(gone, f"nothing of {', '.join(texts)} is in the file")


def tokens(shown: object) -> int:
    """What a text, or an answer as compact JSON, costs a model: counted offline by the tokenizer of GPT-4o."""
    text = shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
    return tokens_of(text)


def schema_folder() -> Path:
    return Path(__file__).with_name("schemas")
