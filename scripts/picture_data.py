"""Fills a file for the pictures through the services of the product: the log of the demo, and one session."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch

from memory_server import app
from memory_server.demo.log import DEMO_LOG
from memory_server.domain import plain_rules
from memory_server.domain.caller import Caller
from memory_server.domain.edge import Edge, Relation
from memory_server.domain.fact import FactDraft, Scope
from memory_server.domain.long_term import LongTermDraft
from memory_server.domain.memory import Filter, MemoryChange, MemoryDraft, MemoryId, MemoryType
from memory_server.domain.message import Message
from memory_server.domain.turn import TurnDraft
from memory_server.engine import hooks
from memory_server.engine.witness import Witness
from memory_server.project import Project
from memory_server.settings import Settings

SESSION = "s-9c2e"
"""The session that is replayed."""

LEDGER = Project("ledger", "ledger")
CLAUDE, CURSOR = Caller("Claude", SESSION, LEDGER), Caller("Cursor", "s-77c0", LEDGER)

HUB = "Ledger is a payment service"
"""The memory in the middle of the graph, by its first words."""

EDGES = (
    ("Every handler that changes money", Relation.DEPENDS_ON, HUB),
    ("Amounts are stored as integers", Relation.EXTENDS, HUB),
    ("JPY 和 KRW", Relation.EXTENDS, "Amounts are stored as integers"),
    ("C++ 写的旧对账工具", Relation.CONTRADICTS, "Amounts are stored as integers"),
    ("Deploy order for ledger", Relation.DEPENDS_ON, HUB),
    ("部署 2.4 时 Alembic", Relation.RELATED_TO, "Deploy order for ledger"),
    ("请不要在周五下午发布", Relation.RELATED_TO, "Deploy order for ledger"),
    ("RabbitMQ 消费者卡住", Relation.RELATED_TO, HUB),
    ("Runbook: a payout batch hangs", Relation.SOLVES, "RabbitMQ 消费者卡住"),
    ("psycopg.errors.SerializationFailure", Relation.RELATED_TO, HUB),
    ("Splitting the fee accounts", Relation.SOLVES, "psycopg.errors.SerializationFailure"),
    ("Daily reconciliation with Kestrel", Relation.DEPENDS_ON, HUB),
    ("LGR-4091 DuplicateEntry", Relation.RELATED_TO, "Daily reconciliation with Kestrel"),
    ("Reconciliation will begin one hour later", Relation.SUPERSEDES, "Daily reconciliation with Kestrel"),
    ("Backups changed place", Relation.SUPERSEDES, "The nightly dump of ledger"),
    ("Finance asked for tighter control", Relation.SUPERSEDES, "The refund limit without"),
)

TURNS = (
    (
        "Why did we get duplicate postings from the bank file?",
        "LGR-4091: the SFTP poller read the settlement file while it was still being written, so the same "
        "bank reference was posted twice.",
    ),
    ("How much memory does pve-01 have?", "`pve-01` 是虚拟化主机，内存 64GB，跑着 CI runner 和 Grafana。"),
    ("Which dentist do you recommend?", "I do not know; nothing is stored about it."),
    (
        "I always review database migrations myself before they are merged. What is the refund limit now?",
        "Anything above 300 EUR needs two people to sign off before money goes back to a customer.",
    ),
)
"""What the user asks in the session, and what the assistant answers."""


class Clock:
    """The time of the story: it moves with each look, and the last note is of today."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=3)
        return self.now


@contextmanager
def filled(db: Path, embedder: str = "bundled") -> Iterator[dict[str, int]]:
    """Write the story, and yield the memories that pictures are of, by name; the file is closed then."""
    clock = Clock()
    with patch("memory_server.app.clock", clock):
        services = app.build(Settings(db=db, project=LEDGER.name, embedder=embedder))
    services.queue.work()
    ids = _store_log(services, clock)
    _connect(services, ids)
    _add_facts_triggers_and_rules(services, clock)
    moved = _move_staging(services, clock)
    _play_session(services, clock, db)
    services.database.settle()
    services.queue.work()
    services.close()
    yield {"memory": moved, "hub": _starting(ids, HUB)}


def _store_log(services: app.Services, clock: Clock) -> dict[str, MemoryId]:
    """Store the notes of the demo, each on its day, so that the last one is of yesterday."""
    lines = [json.loads(line) for line in DEMO_LOG.read_text(encoding="utf-8").splitlines()]
    notes = [line for line in lines if "content" in line]
    days = [datetime.fromisoformat(note["date"]).replace(tzinfo=UTC) for note in notes]
    yesterday = datetime.now(UTC) - timedelta(days=1)
    ids = {}
    for place, (note, day) in enumerate(zip(notes, days, strict=True)):
        clock.now = (yesterday - (max(days) - day)).replace(hour=8 + place % 9, minute=7 * place % 60)
        draft = MemoryDraft(
            note["content"], MemoryType(note["type"]), note["project"] or "", tuple(note.get("tags", ())),
            note.get("importance", 5),
        )  # fmt: skip
        ids[note["content"]] = services.memories.store(draft, None, CURSOR).memory.id
    return ids


def _starting(ids: dict[str, MemoryId], words: str) -> MemoryId:
    return next(id for text, id in ids.items() if text.startswith(words))


def _connect(services: app.Services, ids: dict[str, MemoryId]) -> None:
    for source, relation, target in EDGES:
        services.graph.connect(Edge(_starting(ids, source), _starting(ids, target), relation, 0.8), CURSOR)


def _add_facts_triggers_and_rules(services: app.Services, clock: Clock) -> None:
    clock.now = datetime.now(UTC) - timedelta(days=2)
    for key, value in {
        "current.task": "Move the ledger to PostgreSQL 17",
        "current.blocker": "迁移脚本在分区表上超时",
        "project.deploy": {"days": ["Tuesday", "Thursday"], "window": "10:00 to 12:00", "freeze": "Friday"},
        "project.owner": "Mara",
    }.items():
        services.facts.write(FactDraft(key, value), Scope.PROJECT, CURSOR)
    services.facts.write(FactDraft("reply.language", "中文或英文，随提问者"), Scope.GLOBAL, CURSOR)
    said = "The migration of the partitioned table needs a longer timeout; we raise it for one session only."
    services.turns.register(TurnDraft(said, "Timeout of the migration"), {}, CURSOR)
    prompt = "Run the smoke tests on staging and tell Mara before a release."
    trigger = "match_keys(messages, ['release', 'deploy', '发布'], 'user') > 0 && new Date().getDay() !== 5"
    services.long_term.add(LongTermDraft("before a release", prompt, trigger, None, 30), None, CURSOR)
    services.long_term.search([Message("user", "Can we release today?")], None, {}, CURSOR)
    rule = plain_rules.read("never push to main")
    assert rule is not None
    services.rules.add(
        LongTermDraft(rule.name, rule.reason, rule.trigger, None, rule=rule.draft), None, CURSOR
    )
    for question in ("database port", "who owns the ledger", "发布", "timeout", "PostgreSQL", "RabbitMQ"):
        services.search.search(question, Filter(project="ledger"), 5, "keyword", caller=CURSOR)


def _move_staging(services: app.Services, clock: Clock) -> MemoryId:
    """Supersede a memory and edit the new one, so that it has a history; return it."""
    clock.now = datetime.now(UTC) - timedelta(hours=30)
    old = services.memories.store(
        MemoryDraft("The staging database of ledger is on pve-01, port 5433.", MemoryType.OBSERVATION, "ledger",
                    ("staging", "postgres"), 6), None, CURSOR,
    ).memory  # fmt: skip
    clock.now = datetime.now(UTC) - timedelta(hours=3)
    moved = services.memories.store(
        MemoryDraft("The staging database of ledger moved to pve-02 and listens on port 6432, behind pgbouncer.",
                    MemoryType.DECISION, "ledger", ("staging", "postgres"), 8), None, CLAUDE, supersedes=[old.id],
    ).memory  # fmt: skip
    text = "The staging database of ledger moved to pve-02 and listens on port 6432, behind pgbouncer in session mode."
    services.memories.update(moved.id, MemoryChange(content=text), CURSOR)
    return moved.id


def _play_session(services: app.Services, clock: Clock, db: Path) -> None:
    """Let hooks tell and keep what they would in a session, and let the assistant search in it."""
    clock.now = datetime.now(UTC) - timedelta(minutes=50)
    witness = Witness(lambda: clock.now.timestamp(), 7)
    arguments = ("--db", str(db), "--project", "ledger", "--client", "claude")

    def hook(event: str, **members: str) -> None:
        data = json.dumps({"session_id": SESSION, **members}).encode()
        hooks.answer(services, witness, (event, *arguments), {}, data, db.parent)
        clock.now += timedelta(minutes=2)

    hook("SessionStart", source="startup")
    for place, (question, reply) in enumerate(TURNS):
        hook("UserPromptSubmit", prompt=question)
        if place == len(TURNS) - 1:
            services.search.search("refund limit", Filter(project="ledger"), 3, "hybrid", caller=CLAUDE)
            clock.now += timedelta(minutes=1)
        hook("Stop", prompt=question, last_assistant_message=reply)
    hook("SessionEnd")
