"""One service call a tool, and one transaction an answer: so an answer shows one moment of the file."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import MethodType
from typing import Any

import anyio
import pytest

from memory_server import app
from memory_server.domain.caller import Caller
from memory_server.mcp.tool import Tool
from memory_server.mcp.toolsets import toolsets
from memory_server.settings import Settings
from memory_server.sqlite.database import Database

CALLER = Caller("tests", "session")
SAID = [{"role": "user", "content": "deploy the staging server"}]
FILLED: list[tuple[str, dict[str, Any]]] = [
    ("memory_store", {"content": "The staging server listens on port 5433", "type": "decision"}),
    ("memory_store", {"content": "Grafana shows the build times", "type": "observation"}),
    ("write_memory", {"key": "current.task", "value": "deploy"}),
    ("register_memory", {"message": "deploy the staging server", "summary": "deployment"}),
    ("add_short_term_memory", {"messages": SAID, "conversation_id": "c"}),
    (
        "add_long_term_memory",
        {"name": "ship", "prompt": "check", "trigger": "match_keys(messages, ['deploy']) > 0"},
    ),
]
"""What is in the file before each call."""

ANSWERS: list[tuple[str, dict[str, Any]]] = [
    ("memory_search", {"query": "staging port"}),
    ("memory_search", {"query": "staging port", "mode": "keyword"}),
    ("memory_get", {"ids": [1, 2]}),
    ("memory_update", {"id": 1, "content": "The staging server listens on port 5434"}),
    ("memory_delete", {"id": 1}),
    ("memory_store", {"content": "Alpha uses redis", "type": "decision", "relatedTo": 1}),
    ("memory_related", {"memoryId": 1}),
    ("graph_connect", {"sourceId": 1, "targetId": 2, "relation": "causes"}),
    ("graph_explore", {"memoryId": 1}),
    ("write_memory", {"key": "current.task", "value": "test"}),
    ("read_memory", {"key": "current.task"}),
    ("read_memory", {"pattern": "current.*"}),
    ("read_memory", {"key": "current.task", "history": True}),
    ("read_memory", {"key": "current.task", "at": "2999-01-01"}),
    ("list_memories", {}),
    ("delete_memory", {"key": "current.task"}),
    ("register_memory", {"message": "x", "summary": "y", "facts": {"a": 1, "b": 2}}),
    ("retrieve_memories", {"query": "deployment"}),
    ("delete_turn", {"id": 1}),
    ("add_short_term_memory", {"messages": SAID, "conversation_id": "c"}),
    ("search_short_term_memories", {"recentMessages": SAID, "conversation_id": "c"}),
    ("delete_short_term_memories", {"pattern": "staging", "conversation_id": "c", "dry_run": True}),
    ("get_memory_stats", {}),
    ("cleanup_memories", {}),
    ("get_frequent_conversation", {}),
    ("list_long_term_memories", {}),
    ("get_memory_context", {"name": "ship"}),
    ("delete_long_term_memory", {"name": "ship"}),
]
"""Calls that one transaction answers. It may be followed by one that counts the access."""

SEVERAL = {
    "memory_stats": "the embedder, then the counts",
    "delete_short_term_memories": "a pattern may take seconds, and must not keep the file locked for writes meanwhile",
    "add_long_term_memory": "a trigger is tried for up to six seconds outside of any transaction",
    "update_long_term_memory": "as above",
    "remind": "as above",
    "search_long_term_memories": "triggers are evaluated for up to two seconds between reading them and the prompts",
    "test_trigger": "as above",
    "forget": "each thing is forgotten on its own, because it is of another kind",
    "recall": "as above: the prompts that the question wakes come first",
    "smart_resume": "as above: it tells the prompts that are due",
}
"""Tools that are not among them, and why."""


class Counted:
    """Counts the transactions of a database; those in which a read records itself apart."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.answers = self.records = 0
        self._recording = False
        for name in ("read", "write"):
            patch.setattr(Database, name, self._counting(getattr(Database, name)))
        record = Database.record

        def recording(database: Database, mark: Callable[..., object]) -> object:
            self._recording = True
            try:
                return record(database, mark)
            finally:
                self._recording = False

        patch.setattr(Database, "record", recording)

    def _counting(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @contextmanager
        def counted(*arguments: Any) -> Iterator[Any]:
            if self._recording:
                self.records += 1
            else:
                self.answers += 1
            with method(*arguments) as tx:
                yield tx

        return counted


@contextmanager
def opened(db: Path) -> Iterator[dict[str, Tool]]:
    """Every tool over services without background work."""
    services = app.build(Settings(db=db, embedder="hashing"))
    services.queue.warm_up()
    services.queue.drain()
    yield {tool.name: tool for toolset in toolsets(services).values() for tool in toolset}
    services.close()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a little of each kind."""
    db = tmp_path_factory.mktemp("filled") / "memory.db"
    with opened(db) as tools:
        for name, arguments in FILLED:
            anyio.run(tools[name].call, arguments, CALLER)
    return db


@pytest.fixture
def tools(tmp_path: Path, filled: Path) -> Iterator[dict[str, Tool]]:
    """Every tool over a copy of that file."""
    with opened(Path(shutil.copy(filled, tmp_path))) as tools:
        yield tools


@pytest.mark.parametrize(
    ("name", "arguments"), ANSWERS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_one_transaction_answers(
    tools: dict[str, Tool], name: str, arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = Counted(monkeypatch)
    anyio.run(tools[name].call, arguments, CALLER)
    assert counted.answers == 1
    assert counted.records <= 1


def _face(tool: Tool) -> Any:
    """The toolset that a tool is a method of."""
    assert isinstance(tool.fn, MethodType)
    return tool.fn.__self__


def test_every_tool_is_among_them_or_says_why_not(tools: dict[str, Tool]) -> None:
    assert {name for name, _ in ANSWERS} | set(SEVERAL) == set(tools)


@pytest.mark.parametrize(
    ("name", "arguments"), ANSWERS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_tool_makes_one_service_call(
    tools: dict[str, Tool], name: str, arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    face = _face(tools[name])
    depth = 0

    def spy(method: Callable[..., Any], label: str) -> Callable[..., Any]:
        def called(*args: Any, **kwargs: Any) -> Any:
            nonlocal depth
            if depth == 0:
                calls.append(label)
            depth += 1
            try:
                return method(*args, **kwargs)
            finally:
                depth -= 1

        return called

    for field in type(face).__dataclass_fields__:
        kind = type(getattr(face, field))
        for label, method in vars(kind).items():
            if callable(method) and not label.startswith("_"):
                monkeypatch.setattr(kind, label, spy(method, f"{field}.{label}"))
    anyio.run(tools[name].call, arguments, CALLER)
    assert len(calls) == 1, calls
