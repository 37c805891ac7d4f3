"""A random history of tool calls, the same on any store: what they answer must be the same too."""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from memory_server import app
from memory_server.app import Services
from memory_server.domain.caller import Caller
from memory_server.errors import MemoryServerError
from memory_server.mcp.refusals import ArgumentsRefusedError
from memory_server.mcp.tool import Tool
from memory_server.mcp.toolsets import toolsets
from memory_server.project import Project
from memory_server.settings import Settings
from memory_server.where import Where
from tests.conftest import Clock

Call = tuple[str, dict[str, Any]]

SHOP = Caller("Claude", "s1", Project("/srv/shop", "shop"))
BLOG = Caller("Cursor", "s2", Project("/srv/blog", "blog"))

SUBJECTS = (
    "the cache|Redis|the login page|pagination|the nightly job|Anna|数据库|缓存|登录页面|部署脚本|memory_server.py|"
    "10.0.0.7"
).split("|")
VERBS = "uses|fails on|was moved to|needs|replaces|测试|使用|替换了|失败于|depends on".split("|")
OBJECTS = (
    "port 8080|a longer timeout|PostgreSQL 16|the staging cluster|UTF-8 only|每天凌晨三点|新的服务器|two retries|"
    "v2.3.1|the blue-green switch|三个副本|an index on (user_id, at)"
).split("|")
TAGS = ("ops", "Bug", "前端", "db")
KEYS = ("cache.limit", "deploy/target", "端口", "owner")
VALUES = (1, 2.5, "x", "数据", None, True, {"a": [1, {"b": "c"}]}, [1, "two"], 10**20, "")
RELATIONS = ("related_to", "causes", "solves", "depends_on", "contradicts", "extends", "supersedes")
TRIGGERS = (
    "match_keys(messages, ['deploy', '缓存'], 'user') > 0",
    "match_keys_all(messages, ['deploy', 'Anna'], 'any', 6)",
    "new Date().getHours() >= 12",
    "messages.some(m => m.role === 'user' && m.content.length > 60)",
    "similar(messages, 'the cache fails on the staging cluster')",
    "1 +",
)


@dataclass
class Side:
    """All tools over one store, with a clock and a chance of its own."""

    where: Where
    seed: int
    patch: pytest.MonkeyPatch
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.patch.setattr(app, "clock", self.clock)
        self.patch.setattr("memory_server.stores.clock", self.clock)
        self.patch.setattr(app, "random", random.Random(self.seed))
        # A busy machine cuts no explanation of a trigger short.
        self.patch.setattr("memory_server.triggers.engine.EXPLAINING", 20.0)
        self.patch.setattr("memory_server.triggers.javascript.sandbox.SLICE", 5.0)
        self.services: Services = app.build(Settings(db=self.where, embedder="hashing"))
        self.services.queue.work()
        self.tools: dict[str, Tool] = {
            tool.name: tool for tools in toolsets(self.services).values() for tool in tools
        }

    async def answer(self, call: Call, caller: Caller) -> object:
        """What a model reads, or why it was refused."""
        name, arguments = call
        try:
            result = await self.tools[name].call(arguments, caller)
        except (MemoryServerError, ArgumentsRefusedError) as error:
            return f"{type(error).__name__}: {error}"
        return result.structured_content

    def close(self) -> None:
        self.services.close()


def calls(chance: random.Random) -> Iterator[tuple[Call, Caller, timedelta]]:
    """Endless calls, each with who makes it and how much later than the one before."""
    makers = (
        [_store] * 8 + [_search] * 4 + [_update] * 2 + [_delete] * 2 + [_connect] * 2 + [_around] * 2
        + [_fact] * 6 + [_turn] * 2 + [_short_term] * 4 + [_long_term] * 3 + [_overview] * 2
    )  # fmt: skip
    while True:
        make: Callable[[random.Random], Call] = chance.choice(makers)
        later = timedelta(seconds=chance.choice((1, 30, 600, 4000, 90_000)))
        yield make(chance), chance.choice((SHOP, SHOP, BLOG)), later


def _text(chance: random.Random) -> str:
    said = f"{chance.choice(SUBJECTS)} {chance.choice(VERBS)} {chance.choice(OBJECTS)}"
    more = f", because {chance.choice(SUBJECTS)} {chance.choice(VERBS)} it" if chance.random() < 0.3 else ""
    return (
        said + more + ("." if chance.random() < 0.8 else " " + "很久以前就这样了。" * chance.randint(1, 700))
    )


def _id(chance: random.Random) -> int:
    return int(40 * chance.random() ** 2) + 1


def _some(chance: random.Random, likely: float, **given: Any) -> dict[str, Any]:
    return {name: value for name, value in given.items() if chance.random() < likely}


def _store(chance: random.Random) -> Call:
    return "memory_store", {
        "content": _text(chance),
        "type": chance.choice(("observation", "decision", "learning", "error", "pattern", "preference")),
        **_some(
            chance, 0.3, tags=chance.sample(TAGS, 2), importance=chance.randint(1, 10),
            project=chance.choice(("", "shop", "blog")), metadata={"k": chance.choice(VALUES)},
            occurred_at=f"2025-{chance.randint(1, 12):02}-11T10:00:00Z",
        ),
        **_some(chance, 0.1, supersedes=_id(chance)),
        **_some(chance, 0.1, relatedTo=_id(chance)),
    }  # fmt: skip


def _search(chance: random.Random) -> Call:
    if chance.random() < 0.3:
        return "recall", {"query": _text(chance)[:200], **_some(chance, 0.3, max_tokens=800)}
    return "memory_search", {
        "query": _text(chance)[:200],
        **_some(
            chance, 0.2, type="decision", tags=[chance.choice(TAGS)], minImportance=5, project="shop",
            mode=chance.choice(("keyword", "semantic")), since="2025-06-01", limit=3, explain=True,
        ),
    }  # fmt: skip


def _update(chance: random.Random) -> Call:
    changed = _some(
        chance, 0.5, content=_text(chance), tags=[chance.choice(TAGS)], importance=chance.randint(1, 10),
        project=chance.choice(("", "shop")),
    )  # fmt: skip
    return "memory_update", {"id": _id(chance), **(changed or {"type": "error"})}


def _delete(chance: random.Random) -> Call:
    how = chance.choice(({}, {}, {"undo": True}, {"purge": True}))
    match chance.randint(0, 4):
        case 0:
            return "delete_turn", {"id": _id(chance), **how}
        case 1:
            return "delete_memory", {"key": chance.choice(KEYS), **how}
        case 2:
            return "delete_long_term_memory", {"name": f"w{chance.randint(1, 6)}", **how}
        case 3:
            return "delete_short_term_memories", {
                "pattern": chance.choice(("Anna", "数据", "/cache/i")),
                **how,
            }
        case _:
            return "memory_delete", {"id": _id(chance), **how}


def _connect(chance: random.Random) -> Call:
    return "graph_connect", {
        "sourceId": _id(chance),
        "targetId": _id(chance),
        "relation": chance.choice(RELATIONS),
        **_some(chance, 0.2, strength=0.5, end=True),
    }


def _around(chance: random.Random) -> Call:
    match chance.randint(0, 2):
        case 0:
            return "graph_explore", {"memoryId": _id(chance), **_some(chance, 0.3, depth=2)}
        case 1:
            return "memory_related", {"memoryId": _id(chance)}
        case _:
            return "memory_get", {"ids": sorted({_id(chance) for _ in range(3)})}


def _fact(chance: random.Random) -> Call:
    key, scope = (
        chance.choice(KEYS),
        _some(chance, 0.4, scope=chance.choice(("global", "project", "session"))),
    )
    match chance.randint(0, 5):
        case 0 | 1 | 2:
            more = _some(
                chance, 0.2, ttl=5000, tags=[chance.choice(TAGS)], expectedVersion=chance.randint(0, 3)
            )
            return "write_memory", {"key": key, "value": chance.choice(VALUES), **scope, **more}
        case 3:
            return "read_memory", {"key": key, **scope, **_some(chance, 0.4, history=True)}
        case 4:
            return "list_memories", {**_some(chance, 0.5, pattern="c*"), **scope}
        case _:
            return "delete_memory", {"key": key, **scope, **_some(chance, 0.3, undo=True)}


def _turn(chance: random.Random) -> Call:
    if chance.random() < 0.3:
        return "retrieve_memories", {"query": _text(chance)[:200]}
    return "register_memory", {
        "message": _text(chance), "summary": _text(chance)[:150], **_some(chance, 0.2, facts={"owner": "Anna"}),
    }  # fmt: skip


def _short_term(chance: random.Random) -> Call:
    where = _some(chance, 0.5, conversation_id=chance.choice(("c1", "c2")))
    messages = [
        {"role": role, "content": _text(chance)[:300]}
        for role in ("user", "assistant")[: chance.randint(1, 2)]
    ]
    match chance.randint(0, 5):
        case 0 | 1 | 2:
            return "add_short_term_memory", {"messages": messages, **where}
        case 3 | 4:
            return "search_short_term_memories", {"recentMessages": messages, **where}
        case _:
            return chance.choice(("get_memory_stats", "cleanup_memories")), where


def _long_term(chance: random.Random) -> Call:
    where = {"conversation_id": chance.choice(("c1", "c2"))}
    name = f"w{chance.randint(1, 6)}"
    match chance.randint(0, 4):
        case 0 | 1:
            return "add_long_term_memory", {
                "name": name, "prompt": _text(chance)[:200], "trigger": chance.choice(TRIGGERS), **where,
                **_some(chance, 0.3, cooldown=60),
            }  # fmt: skip
        case 2:
            messages = [{"role": "user", "content": _text(chance)[:200] + " deploy"}]
            return "search_long_term_memories", {"messages": messages, **where}
        case 3:
            return "update_long_term_memory", {"name": name, "prompt": _text(chance)[:200], **where}
        case _:
            return "list_long_term_memories", where


def _overview(chance: random.Random) -> Call:
    return chance.choice(
        (
            ("memory_stats", {}),
            ("smart_resume", {}),
            ("get_frequent_conversation", {}),
            ("memory_stats", {"project": "shop"}),
        )
    )


OWN = ("database_bytes", "since_start")
"""What each store, or each process, answers for itself."""


def difference(one: object, other: object, place: str = "answer") -> str | None:
    """Where two answers differ, or None. Numbers may differ as sums of floats in another order do."""
    match one, other:
        case (dict(), dict()) if one.keys() == other.keys():
            found = (difference(one[name], other[name], f"{place}.{name}") for name in one if name not in OWN)
        case (list(), list()) if len(one) == len(other):
            found = (
                difference(a, b, f"{place}[{i}]") for i, (a, b) in enumerate(zip(one, other, strict=True))
            )
        case (float() | int(), float() | int()) if one == pytest.approx(other, rel=1e-5, abs=0.011):
            return None
        case _ if one == other:
            return None
        case _:
            shown = (json.dumps(each, ensure_ascii=False)[:600] for each in (one, other))
            return f"{place}: {' and '.join(shown)}"
    return next(filter(None, found), None)
