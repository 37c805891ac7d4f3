"""Calls as clients and models really write them: each is understood as meant, or refused with what mends it.

`imperfect_calls.jsonl` was written before the rules, but for the lines `later: …`. Each line has a call (`tool`,
`arguments`) and what must happen:

    as        the perfect call that it is understood as, of `as_tool` where that is another one; `note` has the words
              that the answer's note must have. Without `note` the answer must have none
    refused   the words that the refusal must have. It ends with a call that works, unless `works` is false

What is `held`, a third chosen by the hash of the id, was kept apart while the rules were written.
"""

import importlib
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult

from memory_server import app
from memory_server.domain.caller import Caller
from memory_server.mcp.forgiving import times
from memory_server.mcp.offers import offers
from memory_server.mcp.server import MemoryServer
from memory_server.mcp.tool import Tool
from memory_server.mcp.toolsets import toolsets
from memory_server.mcp.work import Work
from memory_server.settings import Settings
from tests import listing
from tests.conftest import Clock

jsonschema: Any = importlib.import_module("jsonschema")  # has no types; `mcp` brings it

LINES = Path(__file__).with_name("imperfect_calls.jsonl").read_text(encoding="utf-8").splitlines()
CALLS: list[dict[str, Any]] = [json.loads(line) for line in LINES]
UNDERSTOOD = [call for call in CALLS if "as" in call]
REFUSED = [call for call in CALLS if "refused" in call]

_WORKS = re.compile(r"^This call ([^{]*): (\w+) (\{.*\})$", re.MULTILINE)
"""The last line of a refusal: with what it lacks, the tool and the arguments."""


class Edge:
    """Every tool of the server, but instead of doing something it keeps what its method was given."""

    def __init__(self, folder: Path, *, real: bool = False) -> None:
        """`real`: each method does what it does."""
        self.services = app.build(Settings(db=folder / "memory.db", embedder="hashing"))
        self.tools: dict[str, Tool] = {
            tool.name: tool for toolset in toolsets(self.services).values() for tool in toolset
        }
        self.given: dict[str, Any] = {}
        for tool in self.tools.values():
            tool.fn = tool.fn if real else self._keep
        work = Work(self.tools, offers(self.services))
        self.server = MemoryServer([], work, lambda name, _: Caller(name, "s"), "ERROR")

    def _keep(self, **given: Any) -> dict[str, Any]:
        self.given = {name: value for name, value in given.items() if name != "caller"}
        return {}

    def call(self, tool: str, arguments: dict[str, Any]) -> tuple[dict[str, Any], str | None]:
        """What the method was given, and the note of the answer.

        Raises:
            ToolError: the call is refused.
        """
        self.given = {}
        result = anyio.run(self.server.call_tool, tool, arguments)
        assert isinstance(result, CallToolResult)
        note = (result.structured_content or {}).get("note")
        assert json.loads(result.content[0].text) == result.structured_content  # type: ignore[union-attr]
        return self.given, note


@pytest.fixture(scope="module")
def edge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Edge]:
    """On Saturday, 14 March 2026, 9:26 in UTC, where people write the month first."""
    edge = Edge(tmp_path_factory.mktemp("edge"))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(times, "clock", Clock())
        patched.setenv("TZ", "UTC")
        patched.setenv("LC_ALL", "C")
        time.tzset()
        yield edge
    time.tzset()
    edge.services.close()


def name(call: dict[str, Any]) -> str:
    return str(call["id"])


@pytest.mark.parametrize("call", UNDERSTOOD, ids=name)
def test_a_call_with_one_meaning_is_understood(edge: Edge, call: dict[str, Any]) -> None:
    tool = call.get("as_tool", call["tool"])
    jsonschema.validate(call["as"], listing.public(edge.tools[tool].schema))
    meant, silent = edge.call(tool, call["as"])
    assert silent is None
    given, note = edge.call(call["tool"], call["arguments"])
    if note and "max_tokens" in given:  # the note takes its part of the answer
        assert 0 < meant["max_tokens"] - given["max_tokens"] < len(note)
        given["max_tokens"] = meant["max_tokens"]
    assert given == meant
    assert types(given) == types(meant)
    missing = [word for word in call.get("note", ()) if word not in (note or "")]
    assert not missing, note
    assert "note" in call or note is None


def types(value: Any) -> Any:
    """The types in a value: 1, 1.0 and True are equal, but not the same."""
    match value:
        case dict():
            return {key: types(each) for key, each in value.items()}
        case list() | tuple():
            return [types(each) for each in value]
        case _:
            return type(value)


@pytest.mark.parametrize("call", REFUSED, ids=name)
def test_any_other_call_is_refused_with_a_call_that_works(edge: Edge, call: dict[str, Any]) -> None:
    with pytest.raises(ToolError) as refused:
        edge.call(call["tool"], call["arguments"])
    text = str(refused.value)
    assert text.startswith("Error: ")
    missing = [word for word in call["refused"] if word not in text]
    assert not missing, text
    works = _WORKS.search(text)
    if not call.get("works", True):
        assert works is None
        return
    assert works, text
    _, note = edge.call(works[2], _filled(works, call))
    assert note is None


def _filled(works: re.Match[str], call: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a suggested call, with those that were too long to repeat."""
    _, _, named = works[1].partition("and your ")
    return {
        **json.loads(works[3]),
        **{name: call["arguments"][name] for name in re.findall("`(.+?)`", named)},
    }


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Edge]:
    edge = Edge(tmp_path_factory.mktemp("real"), real=True)
    yield edge
    edge.services.close()


@pytest.mark.parametrize("call", REFUSED, ids=name)
def test_a_suggested_call_succeeds_and_has_all_that_was_understood(
    edge: Edge, real: Edge, call: dict[str, Any]
) -> None:
    """What it has not is named before it. Only an id that is in no memory may be refused."""
    with pytest.raises(ToolError) as refused:
        edge.call(call["tool"], call["arguments"])
    works = _WORKS.search(str(refused.value))
    if works is None or not works[1].startswith("works"):
        return
    tool, arguments = edge.tools[works[2]], _filled(works, call)
    lacking = re.findall("`(.+?)`", works[1])
    understood = tool._understood(call["arguments"])
    assert [
        name for name in understood.unknown if name not in lacking and not carried(call, name, works)
    ] == []
    wrong = {error["loc"][0] for error in tool._errors(understood.arguments)} | set(understood.wrong)
    for parameter, value in understood.arguments.items():
        if understood.written[parameter] not in lacking:
            assert parameter in arguments
            assert parameter in wrong or arguments[parameter] == value
    assert is_carried_out(real, works[2], arguments)


def is_carried_out(real: Edge, tool: str, arguments: dict[str, Any]) -> bool:
    """True where a call succeeds, or fails only because of what this file has, or has not."""
    try:
        real.call(tool, arguments)
    except ToolError as error:
        return bool(
            re.match(
                r"Error: (No |Nothing |The conversation .* already|`.*` was never|.* version)", str(error)
            )
        )
    return True


def carried(call: dict[str, Any], name: str, works: re.Match[str]) -> bool:
    """True where the value of an argument of another name is in the suggested call, in words that were understood."""
    value = call["arguments"][name]
    texts = [
        *map(
            str, value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]
        )
    ]
    return name in ("time_range", "date_range") or all(text in works[3] or text == "high" for text in texts)
