"""Looking: all kinds in one list, and what spoke for each; what happened by day; purging all that is deleted."""

from dataclasses import replace
from datetime import date

import pytest

from memory_server.domain.caller import Caller
from memory_server.domain.fact import FactDraft, Scope
from memory_server.domain.memory import Filter, MemoryDraft, MemoryId, MemoryType
from memory_server.domain.recall import Recallable
from memory_server.domain.timeline import DaySpan, Happened
from memory_server.domain.turn import TurnDraft
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.project import Project
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.facts import FactService
from memory_server.services.forgetting import ForgettingService
from memory_server.services.learning import Learning
from memory_server.services.looking import LookService, LookWish, Seen
from memory_server.services.memories import MemoryService
from memory_server.services.search import NOT_LIKELY
from memory_server.services.timeline import TimelineService
from memory_server.services.turns import TurnService
from memory_server.sqlite.database import Database
from tests.conftest import Clock

CALLER = Caller("tests", "s-1", Project("quay", "quay"))
OTHER = replace(CALLER, project=Project("mill", "mill"))


@pytest.fixture
def memories(database: Database, queue: EmbeddingQueue, segmenter: JiebaSegmenter) -> MemoryService:
    return MemoryService(database, queue, segmenter)


@pytest.fixture
def look(database: Database, queue: EmbeddingQueue, memories: MemoryService, clock: Clock) -> LookService:
    """Two memories of which one supersedes the other, a fact of another project, a turn."""
    old = store(memories, "The lighthouse keeper is Ann", ("keeper",))
    clock.advance(hours=1)
    store(memories, "The lighthouse keeper is Bob, since Ann left", supersedes=old)
    facts = FactService(database)
    clock.advance(hours=1)
    facts.write(FactDraft("lighthouse.colour", "red"), Scope.PROJECT, OTHER)
    clock.advance(hours=1)
    TurnService(database, queue, facts, Learning(False)).register(
        TurnDraft("灯塔刷成红色", "On paint"), {}, CALLER
    )
    queue.work()
    return LookService(database, queue)


def store(
    service: MemoryService, text: str, tags: tuple[str, ...] = (), supersedes: MemoryId | None = None
) -> MemoryId:
    draft = MemoryDraft(text, MemoryType.DECISION, "quay", tags)
    return service.store(draft, None, CALLER, supersedes=[supersedes] if supersedes else ()).memory.id


def kinds(items: list[Seen]) -> list[tuple[Recallable, int]]:
    return [(each.kind, each.id) for each in items]


MEMORY, FACT, TURN = Recallable.MEMORY, Recallable.FACT, Recallable.TURN


def test_without_a_question_the_newest_of_all_kinds_and_projects_comes_first(look: LookService) -> None:
    found = look.look("", LookWish(), 10, CALLER).items
    assert kinds(found) == [(TURN, 1), (FACT, 1), (MEMORY, 2), (MEMORY, 1)]
    assert [each.project for each in found] == ["quay", "mill", "quay", "quay"]
    assert kinds(look.look(" ", LookWish(), 2, CALLER).items) == [(TURN, 1), (FACT, 1)]


def test_what_supersedes_a_memory_comes_before_it(look: LookService) -> None:
    found = look.look("who keeps the lighthouse: Ann?", LookWish(frozenset([MEMORY])), 10, CALLER).items
    assert kinds(found) == [(MEMORY, 2), (MEMORY, 1)]
    assert all(each.spoke is not None and 0 <= each.spoke.words <= 1 for each in found)


def test_what_supersedes_a_hit_is_shown_though_the_question_has_no_word_of_it(
    look: LookService, memories: MemoryService
) -> None:
    old = store(memories, "The payment gateway runs on kelp")
    for number in range(60):
        store(memories, f"{number} lamps, {number * 7} bulbs and {number * 31} wicks")
    new = store(memories, "搬到珊瑚了。", supersedes=old)
    look.queue.work()
    items = look.look("kelp", LookWish(), 10, CALLER).items
    assert kinds(items)[:2] == [(MEMORY, new), (MEMORY, old)]
    elsewhere = LookWish(filter=Filter(project="mill"))
    assert (MEMORY, new) not in kinds(look.look("kelp", elsewhere, 10, CALLER).items)


def test_a_look_says_that_nothing_is_likely_to_answer(look: LookService) -> None:
    assert look.look("房东的电话号码是多少", LookWish(), 10, CALLER).note == NOT_LIKELY
    assert look.look("Who is the lighthouse keeper?", LookWish(), 10, CALLER).note is None


def test_hits_stand_in_the_order_of_the_probability_that_is_shown(
    look: LookService, memories: MemoryService, clock: Clock
) -> None:
    for number in range(12):
        clock.advance(days=20)
        draft = MemoryDraft(
            f"Lighthouse {number} keeps {'a lamp ' * number}", MemoryType.ERROR, "mill", (), 9
        )
        memories.store(draft, None, OTHER)
        facts = FactService(look.database)
        facts.write(FactDraft(f"lighthouse.n{number}", "keeper " * number), Scope.PROJECT, CALLER)
    look.queue.work()
    for question in ("who keeps the lighthouse: Ann?", "lighthouse lamp", "lighthouse keeper 灯塔"):
        found = look.look(question, LookWish(), 30, CALLER).items
        shown = [item.score for item in found if not (item.memory and item.memory.superseded_by)]
        assert len(shown) > 4
        assert shown == sorted(shown, key=lambda score: score or 0.0, reverse=True)


def test_filters_that_only_memories_have_leave_out_other_kinds(look: LookService) -> None:
    assert kinds(look.look("", LookWish(filter=Filter(tags=("KEEPER",))), 10, CALLER).items) == [(MEMORY, 1)]
    assert kinds(look.look("", LookWish(filter=Filter(project="mill")), 10, CALLER).items) == [(FACT, 1)]
    assert kinds(look.look("red", LookWish(frozenset([FACT])), 10, CALLER).items) == [(FACT, 1)]
    assert look.look("红色", LookWish(), 10, CALLER).items[0].kind is TURN


def test_looking_counts_no_access(look: LookService, memories: MemoryService) -> None:
    look.look("lighthouse", LookWish(), 10, CALLER)
    assert [each.memory.access_count for each in memories.get([MemoryId(1), MemoryId(2)]).memories] == [0, 0]


def test_the_timeline_counts_by_day_and_project(
    look: LookService, memories: MemoryService, database: Database, clock: Clock
) -> None:
    clock.advance(days=1)
    memories.forget(MemoryId(1), False, CALLER)
    timeline, today = TimelineService(database), date(2026, 3, 15)
    found = timeline.count(DaySpan(date(2026, 3, 13), today), None)
    assert list(found.days) == ["2026-03-13", "2026-03-14", "2026-03-15"]
    # The edge that superseded it has gone into the trash with the memory.
    assert list(found.days.values()) == [{}, {Happened.STORED: 4}, {Happened.FORGOTTEN: 1}]
    assert found.projects["mill"] == {Happened.STORED: 1}
    assert found.projects["quay"][Happened.FORGOTTEN] == 1
    only = timeline.count(DaySpan(date(2026, 3, 14), today), "mill")
    assert list(only.days.values()) == [{Happened.STORED: 1}, {}]
    yesterday = timeline.count(DaySpan(date(2026, 3, 13), date(2026, 3, 14)), None)
    assert list(yesterday.days.values()) == [{}, {Happened.STORED: 4}]  # what was forgotten afterwards too
    assert list(timeline.count(DaySpan(None, today), None).days) == ["2026-03-14", "2026-03-15"]
    assert list(timeline.count(DaySpan(None, today), "nowhere").days) == ["2026-03-15"]


def test_all_that_is_deleted_is_purged_and_nothing_else(
    look: LookService, memories: MemoryService, database: Database
) -> None:
    facts, forgetting = FactService(database), ForgettingService(database)
    memories.forget(MemoryId(1), False, CALLER)
    facts.delete("lighthouse.colour", Scope.PROJECT, OTHER)
    heard: list[int] = []
    assert forgetting.count_deleted() == 2
    forgetting.purge_deleted(heard.append)
    assert (heard[0], heard[-1], forgetting.count_deleted()) == (2, 0, 0)
    assert kinds(look.look("", LookWish(), 10, CALLER).items) == [(TURN, 1), (MEMORY, 2)]
