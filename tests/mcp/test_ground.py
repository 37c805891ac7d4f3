"""A memory that names a line of a file is told with what the line says now, in the project where it was written."""

from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.conftest import Servers, until

pytestmark = pytest.mark.anyio

NOTE = "The staging database listens on port 5433; it is `STAGING_PORT` in config.py."
QUESTION = "Which port does the staging database listen on?"


async def call(client: Client, tool: str, **arguments: object) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    content: dict[str, Any] = result.structured_content
    return content


async def test_a_note_from_before_is_told_with_the_line_of_today(server: Servers, tree: Path) -> None:
    async with server(cwd=tree) as client:
        stored = await call(client, "memory_store", content=NOTE, type="decision", importance=8)
        until(lambda: server.rows("SELECT memory_id FROM memory_anchors"), "the note is looked up")
        assert "now reads" not in (await call(client, "recall", query=QUESTION))["answer"]
        (tree / "config.py").write_text("DEBUG = False\nSTAGING_PORT = 6000\n")
        line = "config.py:2 now reads `STAGING_PORT = 6000`"
        recalled = await call(client, "recall", query=QUESTION)
        assert line in recalled["answer"]
        assert "`supersedes`" in recalled["note"]
        (found,) = (await call(client, "memory_search", query=QUESTION))["results"]
        assert found["now"].startswith(line)
        assert line in (await call(client, "smart_resume"))["briefing"]
        await call(client, "memory_store", content=NOTE.replace("5433", "6000"), supersedes=stored["id"])
        assert "now reads" not in (await call(client, "recall", query=QUESTION))["answer"]


async def test_an_empty_folder_or_another_project_says_nothing(
    server: Servers, tree: Path, tmp_path: Path
) -> None:
    async with server(cwd=tree) as client:
        await call(client, "memory_store", content=NOTE, project="")
        until(lambda: server.rows("SELECT memory_id FROM memory_anchors"), "the note is looked up")
    (tree / "config.py").write_text("STAGING_PORT = 6000\n")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "config.py").write_text("STAGING_PORT = 7000\n")
    async with server(cwd=elsewhere) as client:
        answer = (await call(client, "recall", query=QUESTION))["answer"]
        assert "5433" in answer
        assert "now reads" not in answer
