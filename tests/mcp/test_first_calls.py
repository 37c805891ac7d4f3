"""Calls of readers who saw the tools for the first time, for requests that others wrote (`first_calls.jsonl`)."""

import json
from pathlib import Path

import pytest

from tests.conftest import Servers

pytestmark = pytest.mark.anyio

CALLS = [
    json.loads(line) for line in Path(__file__).with_name("first_calls.jsonl").read_text("utf-8").splitlines()
]


async def test_only_what_looks_like_a_secret_is_refused(server: Servers) -> None:
    async with server("--toolsets", "core") as client:
        refused = []
        for call in CALLS:
            result = await client.call_tool(call["tool"], call["arguments"])
            if result.is_error:
                refused.append((call["arguments"], str(result.content)))
    assert len(refused) == 2, refused
    assert all("seems to contain a password" in text for _, text in refused), refused
