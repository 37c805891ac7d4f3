"""Prints what briefings say of what they must: `python scripts/lab/quality/briefings.py [FOLDER ...]`.

A history is JSON: months of a project as calls of tools, and what a briefing afterwards must, should and must not say.
Each is replayed into a database of its own; then `smart_resume` is asked for 200, 500 and 1,500 tokens. The baseline is
a plain list of the newest twenty items, each cut so that the list fits. Tokens are those of o200k, of the whole answer.
"""

import argparse
import importlib
import json
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import anyio
from mcp_types import TextContent

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 3)]

from memory_server import app  # noqa: E402
from memory_server.domain.caller import Caller  # noqa: E402
from memory_server.domain.edge import Edge, Relation  # noqa: E402
from memory_server.domain.fact import FactDraft, Scope  # noqa: E402
from memory_server.domain.memory import MemoryDraft, MemoryId, MemoryType  # noqa: E402
from memory_server.domain.turn import TurnDraft  # noqa: E402
from memory_server.mcp.toolsets import toolsets  # noqa: E402
from memory_server.project import Project  # noqa: E402
from memory_server.settings import Settings  # noqa: E402
from memory_server.sqlite.database import Database  # noqa: E402
from memory_server.sqlite.tx import Tx  # noqa: E402

HISTORIES = Path(__file__).with_name("histories")
LIMITS = (200, 500, 1500)
NEWEST = 20
READER = "Claude Code"
"""The client that asks for the briefing, in a session of its own."""

JSON = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Score:
    """How many of each kind a text says; `tokens` of the text as it is sent, `said` what it must not say."""

    must: int
    should: int
    said: tuple[str, ...]
    missing: tuple[str, ...]
    tokens: int


@dataclass(slots=True)
class Clock:
    now: datetime

    def __call__(self) -> datetime:
        return self.now


@contextmanager
def replayed(history: JSON) -> Iterator[app.Services]:
    """The services after the last event, at the moment of the briefing."""
    clock = Clock(_moment(history["events"][0]["at"]))
    with (
        TemporaryDirectory(prefix="memory-server-briefings-") as folder,
        patch.object(app, "clock", clock),
    ):
        services = app.build(Settings(db=Path(folder) / "memory.db", embedder="hashing", allow_secrets=True))
        try:
            services.queue.warm_up()
            named: dict[str, MemoryId] = {}
            for event in history["events"]:
                clock.now = _moment(event["at"])
                _carry_out(services, event, history["project"], named)
            clock.now = _moment(history["now"])
            yield services
        finally:
            services.close(-1)


def _carry_out(services: app.Services, event: JSON, project: str, named: dict[str, MemoryId]) -> None:
    caller = Caller(event["client"], event["session"], Project(project, project))
    given = event["args"]
    match event["call"]:
        case "memory_store":
            draft = MemoryDraft(
                given["content"],
                MemoryType(given["type"]),
                given.get("project", project) or None,
                tuple(given.get("tags", ())),
                given.get("importance", 5),
                {"expires_at": event["expires_at"]} if "expires_at" in event else None,
            )
            id = services.memories.store(draft, None, caller).memory.id
            if old := given.get("supersedes"):
                services.graph.connect(Edge(id, named[old], Relation.SUPERSEDES), caller)
            if "as" in event:
                named[event["as"]] = id
        case "write_memory":
            ttl = _seconds(event) if "expires_at" in event else None
            draft_fact = FactDraft(given["key"], given["value"], tuple(given.get("tags", ())), ttl)
            services.facts.write(draft_fact, Scope(given.get("scope", "project")), caller)
        case "delete_memory":
            services.facts.delete(given["key"], Scope(given["scope"]), caller)
        case "graph_connect":
            edge = Edge(named[given["source"]], named[given["target"]], Relation(given["relation"]))
            services.graph.connect(edge, caller)
        case "register_memory":
            services.turns.register(TurnDraft(given["message"], given["summary"]), {}, caller)


def _seconds(event: JSON) -> int:
    return int((_moment(event["expires_at"]) - _moment(event["at"])).total_seconds())


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def briefing(services: app.Services, project: str, limit: int) -> str:
    """The whole answer, as a client gets it."""
    caller = Caller(READER, "the next session", Project(project, project))
    tool = next(each for each in toolsets(services)["facts"] if each.name == "smart_resume")
    (block,) = anyio.run(tool.call, {"max_tokens": limit}, caller).content
    assert isinstance(block, TextContent)
    return block.text


def newest(services: app.Services, project: str, limit: int) -> str:
    """The baseline: the newest items of the project, and of none, each cut to the same length."""
    assert isinstance(services.database, Database)
    with services.database.read() as tx:
        items = _newest(tx, project)
    longest = max(map(len, items))
    for length in range(longest, 0, -1):
        text = "\n".join(f"- {item[:length]}" for item in items)
        if tokens(text) <= limit:
            return text
    return ""


def _newest(tx: Tx, project: str) -> list[str]:
    rows = tx.rows(
        """
        SELECT text, at FROM (
            SELECT content AS text, ifnull(occurred_at, created_at) AS at FROM memories
            WHERE ifnull(project, '') IN (:project, '')
            UNION ALL
            SELECT summary, ifnull(occurred_at, created_at) FROM turns WHERE project = :project
            UNION ALL
            SELECT key || ': ' || value, updated_at FROM facts
            WHERE (scope = 'project' AND owner = :project OR scope IN ('shared', 'global'))
                AND (expires_at IS NULL OR expires_at > :now)
        )
        ORDER BY at DESC
        LIMIT :newest
        """,
        {"project": project, "now": tx.now, "newest": NEWEST},
    )
    return [" ".join(text.split()) for text, _ in rows]


def score(history: JSON, text: str) -> Score:
    told = json.loads(text)["briefing"] if text.startswith("{") else text
    lines = told.casefold().split("\n")

    def says(entry: JSON) -> bool:
        return any(each.casefold() in line for each in entry["any_of"] for line in lines)

    must = [entry for entry in history["must"] if says(entry)]
    should = [entry for entry in history["should"] if says(entry)]
    wrong = [entry for entry in history["must_not"] if says(entry) and not _marked(entry, told)]
    missing = [f"MUST {entry['what']}" for entry in history["must"] if entry not in must]
    missing += [entry["what"] for entry in history["should"] if entry not in should]
    return Score(
        len(must), len(should), tuple(entry["what"] for entry in wrong), tuple(missing), tokens(text)
    )


def _marked(entry: JSON, told: str) -> bool:
    """Whether what may be told with a mark has one: its age, or that it is contradicted."""
    if not entry.get("marked_ok"):
        return False
    sentences = told.casefold().replace("\n", ". ").split(". ")
    found = [each for each in sentences if any(part.casefold() in each for part in entry["any_of"])]
    return bool(found) and all(" ago" in each or "contradict" in each for each in found)


def tokens(text: str) -> int:
    return len(_encoding().encode_ordinary(text))


@cache
def _encoding() -> Any:
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        return importlib.import_module("bpe_openai").get_encoding("o200k_base")


def main() -> None:
    given = _arguments()
    folders = [HISTORIES / "held"] if given.held else given.folders
    paths = [path for folder in folders for path in sorted(folder.glob("*.json"))]
    print(
        "| history | limit | text | must | should | must not | tokens |\n| --- | --- | --- | --- | --- | --- | --- |"
    )
    sums: dict[tuple[int, str], list[Score]] = defaultdict(list)
    for path in paths:
        history = json.loads(path.read_text(encoding="utf-8"))
        with replayed(history) as services:
            for limit in LIMITS:
                texts = {name: make(services, history["project"], limit) for name, make in MAKERS.items()}
                for name, text in texts.items():
                    found = score(history, text)
                    print(_row(history, limit, name, found), flush=True)
                    sums[limit, name].append(found)
                if given.show:
                    _show(history, texts["briefing"])
    for (limit, name), every in sums.items():
        must, should = sum(each.must for each in every), sum(each.should for each in every)
        print(f"| all | {limit:,} | {name} | {must} | {should} | {sum(len(each.said) for each in every)} | |")


MAKERS = {"briefing": briefing, "newest twenty": newest}


def _row(history: JSON, limit: int, name: str, found: Score) -> str:
    cells = (
        history["name"],
        f"{limit:,}",
        name,
        f"{found.must} of {len(history['must'])}",
        f"{found.should} of {len(history['should'])}",
        ", ".join(found.said) or "0",
        f"{found.tokens:,}",
    )
    return f"| {' | '.join(cells)} |"


def _show(history: JSON, text: str) -> None:
    print(json.loads(text)["briefing"], file=sys.stderr)
    print("MISSING:", "; ".join(score(history, text).missing), "\n", file=sys.stderr)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add(
        "folders", nargs="*", type=Path, default=[HISTORIES], help="folders of histories; default: those here"
    )
    add("--held", action="store_true", help="those that were held back, and only them")
    add("--show", action="store_true", help="the briefings too, and what they miss, on standard error")
    return parser.parse_args()


if __name__ == "__main__":
    main()
