"""The work list of a project: what it finds, and what it leaves alone."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from memory_server.domain.caller import Caller
from memory_server.domain.edge import Edge, Relation
from memory_server.domain.fact import FactDraft, Scope
from memory_server.domain.long_term import LongTermDraft
from memory_server.domain.memory import MemoryDraft, MemoryId, MemoryType
from memory_server.domain.review import Finding, ReviewKind, spread
from memory_server.errors import Mend, Problem
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.project import Project
from memory_server.services import learning
from memory_server.services.facts import FactService
from memory_server.services.recent import RecentService
from memory_server.services.review import OF_EACH, ReviewService
from memory_server.sqlite.database import Database
from tests.conftest import Clock

SHOP = Caller("Claude", "s1", Project("/srv/shop", "shop"))
Remember = Callable[..., MemoryId]


@pytest.fixture
def service(database: Database, segmenter: JiebaSegmenter) -> ReviewService:
    return ReviewService(database, segmenter)


@pytest.fixture
def remember(database: Database) -> Remember:
    def store(
        content: str, type: MemoryType = MemoryType.DECISION, project: str | None = "shop", **more: Any
    ) -> MemoryId:
        with database.write() as tx:
            return tx.memories.insert(MemoryDraft(content, type, project, **more), SHOP).id

    return store


def connect(database: Database, source: MemoryId, relation: Relation, target: MemoryId) -> None:
    with database.write() as tx:
        tx.edges.connect(Edge(source, target, relation), SHOP)


def found(
    service: ReviewService, kind: ReviewKind, caller: Caller = SHOP, conversation: str | None = None
) -> list[tuple[str, ...]]:
    """The handles of the findings of a kind."""
    findings = service.review(conversation, caller).findings
    return [each.refs for each in findings if each.kind is kind]


def test_a_contradiction_is_told_once_with_the_direction_of_its_edge(
    service: ReviewService, database: Database, remember: Remember
) -> None:
    old = remember("The till is blue", occurred_at="2025-01-01")
    new = remember("The till is green")
    connect(database, old, Relation.CONTRADICTS, new)
    connect(database, new, Relation.CONTRADICTS, old)
    (finding,) = service.review(None, SHOP).findings
    assert finding.refs == (f"m{old}", f"m{new}")
    (hint,) = finding.problem.hints
    assert hint.mend is Mend.SETTLE_DISPUTE
    assert (hint.arguments["old"], hint.arguments["new"]) == (old, new)
    assert finding.problem.text == (
        f"[m{new}] contradicts [m{old}]. 2026-03-14: The till is green — 2025-01-01: The till is blue"
    )


def test_what_is_superseded_or_of_another_project_is_no_contradiction(
    service: ReviewService, database: Database, remember: Remember
) -> None:
    one, two, three = remember("It is blue"), remember("It is green"), remember("It is red")
    connect(database, two, Relation.CONTRADICTS, one)
    connect(database, three, Relation.SUPERSEDES, one)
    other = [remember(f"The lamp is {colour}", project="tower") for colour in ("lit", "out")]
    connect(database, other[1], Relation.CONTRADICTS, other[0])
    assert found(service, ReviewKind.CONTRADICTION) == []
    tower = replace(SHOP, project=Project("tower", "tower"))
    assert found(service, ReviewKind.CONTRADICTION, tower) == [(f"m{other[0]}", f"m{other[1]}")]


def test_of_two_that_say_the_same_the_weightier_is_kept(service: ReviewService, remember: Remember) -> None:
    light = remember("Stock is counted on Mondays")
    heavy = remember("The stock is counted on Mondays", MemoryType.PATTERN, importance=8)
    remember("Stock is counted on Tuesdays")
    remember("周一清点库存")
    chinese = remember("周一清点库存。", MemoryType.LEARNING)
    remember("Stock is counted on Mondays", project="tower")
    remember("Stock is counted on Mondays", project=None)
    assert found(service, ReviewKind.DUPLICATE) == [
        (f"m{light}", f"m{heavy}"),
        (f"m{chinese}", f"m{chinese - 1}"),
    ]


def test_of_three_that_say_the_same_two_are_to_go(service: ReviewService, remember: Remember) -> None:
    for type in (MemoryType.DECISION, MemoryType.PATTERN, MemoryType.LEARNING):
        remember("Stock is counted on Mondays", type)
    assert found(service, ReviewKind.DUPLICATE) == [("m2", "m1"), ("m3", "m1")]


def test_work_that_nobody_touched_for_a_month_is_told_unless_it_is_over(
    service: ReviewService, database: Database, clock: Clock
) -> None:
    facts = FactService(database)
    for key, value in (
        ("current.task", "paint the till"),
        ("current.blocker", "none"),
        ("current.progress", "done"),
        ("project.decisions.db", "SQLite"),
    ):
        facts.write(FactDraft(key, value), Scope.PROJECT, SHOP)
    clock.advance(days=30)
    assert found(service, ReviewKind.STALE_TASK) == []
    clock.advance(days=1)
    assert found(service, ReviewKind.STALE_TASK) == [("f current.task",)]
    facts.write(FactDraft("current.task", "paint the till"), Scope.PROJECT, SHOP)
    assert found(service, ReviewKind.STALE_TASK) == []


def test_what_two_sessions_asked_in_vain_is_told_until_something_answers_it(
    service: ReviewService, database: Database, clock: Clock, remember: Remember
) -> None:
    question = "Which port does the ferry gateway use?"
    for session in ("s1", "s2"):
        with database.write() as tx:
            learning.ON.unanswered(tx, question, replace(SHOP, session=session))
        clock.advance(minutes=1)
    (finding,) = service.review(None, SHOP).findings
    assert finding.kind is ReviewKind.OPEN_QUESTION
    assert question in finding.problem.text
    assert [hint.mend for hint in finding.problem.hints] == [Mend.ANSWER_QUESTION]
    assert ReviewService(database, service.segmenter, learns=False).review(None, SHOP).findings == []
    remember("The ferry gateway uses port 7070.")
    assert service.review(None, SHOP).findings == []


def test_triggers_that_woke_nothing_in_a_week_or_fail_are_told(
    service: ReviewService, database: Database, clock: Clock
) -> None:
    with database.write() as tx:
        for conversation, name in (("project:shop", "own"), ("default", "everywhere"), ("chat", "there")):
            place = tx.conversations.find_or_insert(conversation)
            tx.long_term.insert(place, LongTermDraft(name, "p", "true", None), SHOP)
    assert found(service, ReviewKind.UNUSED_TRIGGER) == []
    clock.advance(days=8)
    assert found(service, ReviewKind.UNUSED_TRIGGER) == [("w own",), ("w everywhere",)]
    assert found(service, ReviewKind.UNUSED_TRIGGER, conversation="chat") == [("w there",)]
    with database.write() as tx:
        place = tx.conversations.find_or_insert("project:shop")
        own = tx.long_term.find(place, "own")
        assert own is not None
        tx.long_term.mark_fired([own.id])
    assert found(service, ReviewKind.UNUSED_TRIGGER) == [("w everywhere",)]
    with database.write() as tx:
        tx.long_term.mark_judged(own.id, "boom", 1, None)
    (finding, _) = service.review(None, SHOP).findings
    assert finding.problem.text == "[w own] has a trigger that fails: boom. p"


def test_a_project_with_much_to_tidy_names_the_first_of_each_kind(
    service: ReviewService, database: Database, remember: Remember
) -> None:
    for number in range(OF_EACH + 5):
        for type in (MemoryType.DECISION, MemoryType.PATTERN):
            remember(f"Shelf {number} is counted on Mondays by the night shift", type)
    assert len(found(service, ReviewKind.DUPLICATE)) == OF_EACH


def test_findings_are_spread_over_their_kinds() -> None:
    def finding(kind: ReviewKind, number: int) -> Finding:
        return Finding(kind, (f"m{number}",), Problem("p"))

    many = [finding(ReviewKind.CONTRADICTION, number) for number in range(3)]
    task = finding(ReviewKind.STALE_TASK, 9)
    assert spread([*many, task]) == [many[0], task, many[1], many[2]]


def test_what_is_new_is_that_of_the_project_and_fits(database: Database, remember: Remember) -> None:
    remember("The till is blue", occurred_at="2025-01-01")
    remember("The lamp is lit", project="tower")
    for number in range(60):
        remember(f"Shelf {number} was counted by the night shift and found to be complete")
    recent = RecentService(database)
    assert len(recent.recent(8000, SHOP).lines) == 61
    assert recent.recent(8000, SHOP).lines[-1] == "2025-01-01: The till is blue [m1]"
    few = recent.recent(300, SHOP).lines
    assert 5 < len(few) < 20
    assert few == recent.recent(8000, SHOP).lines[: len(few)]
