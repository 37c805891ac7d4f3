"""A session is replayed out of what is stored of it, in its order, and of no other."""

from datetime import date

import pytest

from memory_server.domain.caller import Caller
from memory_server.domain.injection import Captured, Injected, Injection, Mention, Reminder
from memory_server.domain.learning import How
from memory_server.domain.memory import MemoryDraft, MemoryType
from memory_server.domain.replay import StepKind
from memory_server.domain.timeline import DaySpan
from memory_server.language.tokens import estimate
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.injections import InjectionService
from memory_server.services.memories import MemoryService
from memory_server.services.replaying import ReplayService
from memory_server.sqlite.database import Database
from tests.conftest import Clock

EVERYTHING = DaySpan(None, date(2100, 1, 1))

MINE, OTHER = Caller("tests", "s-1"), Caller("tests", "s-12")


@pytest.fixture
def replay(
    database: Database, queue: EmbeddingQueue, segmenter: JiebaSegmenter, clock: Clock
) -> ReplayService:
    """Session s-1 was told a memory, shown another, used it, and asked in vain; s-12 was told one."""
    memories = MemoryService(database, queue, segmenter)
    texts = ("The harbour opens at noon", "The lighthouse is red")
    ids = [
        memories.store(MemoryDraft(text, MemoryType.DECISION, "quay"), None, OTHER).memory.id
        for text in texts
    ]
    injections = InjectionService(database)
    for caller in (MINE, OTHER):
        clock.advance(minutes=1)
        said = Reminder("x", (Mention(Injected.MEMORY, ids[0], 9),))
        injections.record_reminder(said, "UserPromptSubmit", caller)
    database.settle()
    clock.advance(minutes=1)
    with database.write() as tx:
        tx.memory_uses.show([ids[1]], "s-1")
    clock.advance(minutes=1)
    with database.write() as tx:
        tx.memory_uses.mark_used([ids[1]], "s-1", How.REPEATED)
    clock.advance(minutes=1)
    with database.write() as tx:
        tx.open_questions.insert("quay", "Who paints the buoys?", "s-1")
        tx.hook_captures.insert(Captured.MEMORY, ids[0], "s-12", "Stop")
    return ReplayService(database)


def test_a_briefing_is_one_text_however_much_it_tells(replay: ReplayService, database: Database) -> None:
    with database.write() as tx:
        parts = [Injection("SessionStart", Injected.MEMORY, id, 0) for id in (1, 2)]
        tx.hook_injections.insert("s-2", [Injection("SessionStart", Injected.BRIEFING, 0, 114), *parts])
    assert [(seen.session, seen.texts, seen.tokens) for seen in replay.sessions(EVERYTHING, 1)] == [
        ("s-2", 1, 114)
    ]


def test_the_steps_of_a_session_stand_in_their_order(replay: ReplayService) -> None:
    steps = replay.replay("s-1")
    assert [(step.what, step.text, step.tokens, step.how) for step in steps] == [
        (StepKind.TOLD, "The harbour opens at noon", 9, ""),
        (StepKind.SHOWN, "The lighthouse is red", 0, ""),
        (StepKind.USED, "The lighthouse is red", 0, "repeated"),
        (StepKind.UNANSWERED, "Who paints the buoys?", 0, ""),
    ]
    assert [step.what for step in replay.replay("s-12")] == [StepKind.TOLD, StepKind.KEPT]
    assert replay.replay("s") == []


def test_what_a_hook_has_told_is_not_called_shown(replay: ReplayService, clock: Clock) -> None:
    """The judge of a turn marks what was told as shown, and what was used as shown and used at once."""
    clock.advance(minutes=1)
    with replay.database.write() as tx:
        tx.memory_uses.show([1, 2], "s-12")
        tx.memory_uses.mark_used([2], "s-12", How.REPEATED)
    whats = [step.what for step in replay.replay("s-12")]
    assert whats == [StepKind.TOLD, StepKind.KEPT, StepKind.USED]


def test_the_sessions_are_listed_the_latest_first(replay: ReplayService) -> None:
    before = DaySpan(None, date(2020, 1, 1))
    listed = [(session.session, session.texts, session.tokens) for session in replay.sessions(EVERYTHING, 10)]
    assert listed == [("s-12", 1, 9), ("s-1", 1, 9)]
    assert len(replay.sessions(EVERYTHING, 1)) == 1
    assert replay.sessions(before, 10) == []
    assert (replay.tokens(EVERYTHING), replay.tokens(before)) == (18, 0)
    assert (replay.saved(EVERYTHING), replay.saved(before)) == (estimate("The lighthouse is red"), 0)
    assert replay.tokens(DaySpan(date(2099, 1, 1), date(2100, 1, 1))) == 0
