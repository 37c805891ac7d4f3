"""Makes the pictures of docs/view/: each page at two widths, in two languages and two colour schemes, on demo data.

python scripts/screenshots.py            writes docs/view/*.png
python scripts/screenshots.py --keep     and leaves the file with the demo data, whose path it prints
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal
from unittest.mock import patch

from browser import launched

from memory_server import app
from memory_server.demo.log import DEMO_LOG
from memory_server.domain.caller import Caller
from memory_server.domain.edge import Edge, Relation
from memory_server.domain.fact import FactDraft, Scope
from memory_server.domain.long_term import LongTermDraft
from memory_server.domain.memory import Filter, MemoryChange, MemoryDraft, MemoryType
from memory_server.domain.message import Message
from memory_server.domain.turn import TurnDraft
from memory_server.project import Project
from memory_server.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "view"

PAGES = {
    "search": "/?q=database+port",
    "newest": "/",
    "memory": "/memory/{memory}",
    "now": "/now?project=ledger",
    "timeline": "/timeline",
    "graph": "/graph/{hub}?depth=2",
    "facts": "/facts?project=ledger",
    "fact": "/fact/project/current.task?project=ledger",
    "triggers": "/triggers?project=ledger",
    "health": "/doctor",
}
"""The pages by the name of their pictures."""

WIDE, NARROW = (1280, 860), (400, 860)

LEDGER = Project("ledger", "ledger")
CLAUDE, CURSOR = Caller("Claude", "s-4d1a", LEDGER), Caller("Cursor", "s-77c0", LEDGER)


class Clock:
    """The time of the demo: it moves from note to note, and the last one is of today."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=41)
        return self.now


def fill(db: Path) -> dict[str, int]:
    """Write the demo data; the memories that pictures are of."""
    clock = Clock()
    with patch("memory_server.app.clock", clock):
        services = app.build(Settings(db=db, project="ledger"))
    services.queue.work()
    lines = [json.loads(line) for line in DEMO_LOG.read_text(encoding="utf-8").splitlines()]
    notes = [line for line in lines if "content" in line]
    today = datetime.now(UTC)
    last = max(datetime.fromisoformat(note["date"]) for note in notes).replace(tzinfo=UTC)
    for place, note in enumerate(notes):
        day = today - (last - datetime.fromisoformat(note["date"]).replace(tzinfo=UTC))
        clock.now = day.replace(hour=8 + place % 3, minute=place % 60) - timedelta(hours=3)
        draft = MemoryDraft(
            note["content"], MemoryType(note["type"]), note["project"] or "", tuple(note.get("tags", ())),
            note.get("importance", 5),
        )  # fmt: skip
        services.memories.store(draft, None, CLAUDE if place % 3 else CURSOR)
    named = _connect(services)
    _more(services, clock, today)
    services.close()
    return named


def _connect(services: app.Services) -> dict[str, int]:
    """Edges between what is alike, a memory with a history, one that supersedes another."""
    found = services.search.search("*", Filter(project="ledger"), 50, "keyword", caller=Caller()).hits
    hub, *others = sorted((hit.memory for hit in found), key=lambda each: -each.importance)
    relations = [each for each in Relation if each not in (Relation.SUPERSEDES, Relation.SUMMARIZES)]
    for place, memory in enumerate(others[:11]):
        relation = relations[place % len(relations)]
        services.graph.connect(Edge(hub.id, memory.id, relation, 0.5 + 0.1 * (place % 6)), CLAUDE)
        if place % 3 == 0:
            near = services.graph.related(memory.id, 1, graph=False, semantic=True).near
            ends = (memory.id, near[0].memory.id) if near else (memory.id, others[20].id)
            if ends[1] != hub.id:
                services.graph.connect(Edge(*ends, Relation.RELATED_TO, 0.7), CURSOR)
    old = services.memories.store(
        MemoryDraft("The staging database of ledger is on pve-01, port 5433.", MemoryType.OBSERVATION, "ledger",
                    ("staging", "postgres"), 6), None, CURSOR,
    ).memory  # fmt: skip
    services.memories.update(old.id, MemoryChange(importance=7), CLAUDE)
    new = services.memories.store(
        MemoryDraft("The staging database of ledger moved to pve-02 and listens on port 6432, behind pgbouncer.",
                    MemoryType.DECISION, "ledger", ("staging", "postgres"), 8), None, CLAUDE, supersedes=old.id,
    ).memory  # fmt: skip
    text = "The staging database of ledger moved to pve-02 and listens on port 6432, behind pgbouncer in session mode."
    services.memories.update(new.id, MemoryChange(content=text), CURSOR)
    services.graph.connect(Edge(new.id, hub.id, Relation.DEPENDS_ON, 0.8), CLAUDE)
    return {"memory": new.id, "hub": hub.id}


def _more(services: app.Services, clock: Clock, today: datetime) -> None:
    """Facts, turns, triggers with wakes, recalls and something forgotten."""
    clock.now = today - timedelta(days=2)
    for key, value in {
        "current.task": "Move the ledger to PostgreSQL 17",
        "current.blocker": "迁移脚本在分区表上超时",
        "project.deploy": {"days": ["Tuesday", "Thursday"], "window": "10:00 to 12:00", "freeze": "Friday"},
        "project.owner": "Mara",
        "discovered.timeout": "statement_timeout is 30 s on staging",
    }.items():
        services.facts.write(FactDraft(key, value), Scope.PROJECT, CLAUDE)
    services.facts.write(FactDraft("editor", "vim"), Scope.GLOBAL, CURSOR)
    services.facts.write(FactDraft("reply.language", "中文或英文，随提问者"), Scope.GLOBAL, CLAUDE)
    clock.now = today - timedelta(hours=5)
    services.facts.write(
        FactDraft("current.task", "Move the ledger to PostgreSQL 17, then rebuild the indexes"),
        Scope.PROJECT,
        CURSOR,
    )
    said = "The migration of the partitioned table needs a longer timeout; we raise it for one session only."
    services.turns.register(TurnDraft(said, "Timeout of the migration"), {}, CLAUDE)
    services.long_term.add(
        LongTermDraft(
            "before a release", "Run the smoke tests on staging and tell Mara before a release.",
            "match_keys(messages, ['release', 'deploy', '发布'], 'user') > 0 && new Date().getDay() !== 5", None, 30,
        ),
        None, CLAUDE,
    )  # fmt: skip
    services.long_term.add(
        LongTermDraft("周五", "周五不发布，先问清楚是不是急事。", "match_keys(messages, ['发布', '上线']) > 0", None),
        None, CLAUDE,
    )  # fmt: skip
    services.long_term.search([Message("user", "Can we release today? 今天可以发布吗")], None, {}, CLAUDE)
    for question in ("database port", "who owns the ledger", "发布", "timeout", "PostgreSQL", "RabbitMQ"):
        services.search.search(question, Filter(project="ledger"), 5, "keyword", caller=CLAUDE)
    reminder = services.reminding.remind("Which port does the staging database have?", 300, CLAUDE)
    services.injections.record_reminder(reminder, "UserPromptSubmit", CLAUDE)
    gone = (
        services.search.search("RabbitMQ", Filter(project="ledger"), 1, "keyword", caller=Caller())
        .hits[0]
        .memory
    )
    services.memories.forget(gone.id, False, CURSOR)
    services.database.settle()
    services.queue.work()


@contextmanager
def viewing(db: Path, *arguments: str) -> Iterator[str]:
    """Runs `memory-server view` on a file; its address."""
    command = [
        sys.executable,
        "-m",
        "memory_server",
        "view",
        "--db",
        str(db),
        "--project",
        "ledger",
        *arguments,
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def main() -> int:
    folder = Path(tempfile.mkdtemp(prefix="memory-view-"))
    db = folder / "memory.db"
    named = fill(db)
    PICTURES.mkdir(exist_ok=True)
    with viewing(db) as address, launched() as browser:
        base = address.partition("/?")[0]
        looks: list[tuple[str, tuple[int, int], str, Literal["light", "dark"]]] = [
            ("", WIDE, "en-GB", "light"), ("-narrow", NARROW, "en-GB", "light"),
            ("-zh", WIDE, "zh-CN", "dark"), ("-zh-narrow", NARROW, "zh-CN", "dark"),
        ]  # fmt: skip
        state = None
        for suffix, (width, height), language, colours in looks:
            context = browser.new_context(
                viewport={"width": width, "height": height}, locale=language, color_scheme=colours,
                storage_state=state,
            )  # fmt: skip
            page = context.new_page()
            if state is None:
                page.goto(address)
                state = context.storage_state()
            for name, path in PAGES.items():
                page.goto(base + path.format(**named))
                page.wait_for_load_state("networkidle") if name != "health" else page.wait_for_selector(
                    ".chip.good"
                )
                if name == "triggers":
                    page.fill(
                        "[name=trigger]",
                        "match_keys(messages, ['release', '发布']) > 0 && messages.length > 1",
                    )
                    page.fill("[name=messages]", "Can we release on Tuesday?")
                    page.click("[action='/triggers/try'] button")
                    page.wait_for_selector("#tried table")
                page.screenshot(path=PICTURES / f"{name}{suffix}.png")
            context.close()
    print(
        f"{len(list(PICTURES.glob('*.png')))} pictures in {PICTURES}"
        + (f"; {db}" if "--keep" in sys.argv else "")
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
