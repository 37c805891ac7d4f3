"""An embedder behind an endpoint that comes, goes, stalls and changes: calls are quick, vectors are never mixed."""

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

from memory_server import embedders
from memory_server.domain.caller import Caller
from memory_server.domain.memory import Filter, MemoryDraft, MemoryType, Stored
from memory_server.domain.message import Message
from memory_server.domain.situation import Situation
from memory_server.embedding import endpoint
from memory_server.errors import Hint, Mend, Problem, Unreachable
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.services import answering, embedding_queue
from memory_server.services.answering import PATIENCE
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.meaning import Answering
from memory_server.services.memories import MemoryService
from memory_server.services.nearness import Nearness
from memory_server.services.search import SearchResult, SearchService
from memory_server.settings import Settings
from memory_server.sqlite.database import Database
from memory_server.triggers.engine import MEANING_SECONDS, Engine
from memory_server.triggers.javascript.sandbox import Sandbox
from tests.conftest import Clock
from tests.endpoint import Asked, Local, embedded, local_endpoint, refusing, stall, status

QUICK = PATIENCE + 0.8
"""Seconds that a call may take at most: what it may wait, and the work itself on a busy machine."""


class Window:
    """A server's services on a file, with the background work done when a test says so."""

    def __init__(
        self, database: Database, clock: Clock, segmenter: JiebaSegmenter, settings: Settings
    ) -> None:
        self.database = database
        self.queue = EmbeddingQueue(
            database,
            lambda known: embedders.choose(settings, known),
            lambda space: embedders.load(space, settings),
            clock,
        )
        self.memories = MemoryService(database, self.queue, segmenter)
        self.searching = SearchService(database, self.queue)

    def store(self, text: str) -> Stored:
        return self.memories.store(MemoryDraft(text, MemoryType.LEARNING), None, Caller())

    def search(self, text: str) -> SearchResult:
        return self.searching.search(text, Filter(), 10, "hybrid", caller=Caller())

    def states(self) -> list[tuple[str, int, int, int]]:
        """State, dimensions, embedded, waiting of each space that is in use."""
        with self.database.read() as tx:
            return [
                (
                    each.state,
                    each.space.dimensions,
                    tx.spaces.count_embedded(each.id),
                    tx.spaces.count_waiting(each.id),
                )
                for each in tx.spaces.select()
            ]

    def sizes(self) -> set[int]:
        """Of which dimensions the vectors in the file are."""
        with self.database.read() as tx:
            ids = [memory.id for memory in tx.candidates.newest(Filter(), 100, 0)]
            vectors = [tx.embeddings.vectors_of(space.id, ids).values() for space in tx.spaces.select()]
            return {len(vector) for of_space in vectors for vector in of_space}


Open = Callable[..., Window]


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "PAUSE", 0.0)


@pytest.fixture
def local() -> Iterator[Local]:
    with local_endpoint() as server:
        yield server


@pytest.fixture
def window(database: Database, clock: Clock, segmenter: JiebaSegmenter, local: Local) -> Open:
    """A window on the file that asks the local endpoint, unless told otherwise."""

    def window(embedder: str = "openai:some-model", **given: str) -> Window:
        settings = Settings(embedder=embedder, **{"embedder_url": local.url, **given})  # type: ignore[arg-type]
        return Window(database, clock, segmenter, settings)

    return window


def timed(act: Callable[[], object]) -> float:
    began = time.monotonic()
    act()
    return time.monotonic() - began


def why(found: SearchResult) -> str:
    return "; ".join(problem.text for problem in found.degraded)


def test_a_store_and_a_search_ask_the_endpoint(window: Open, local: Local) -> None:
    one = window()
    one.queue.work()
    stored = one.store("The harbour opens at noon")
    assert not stored.embedding_queued
    found = one.search("harbours opening")
    assert ([hit.memory.id for hit in found.hits], found.embedder, found.degraded) == (
        [stored.memory.id],
        "openai:some-model",
        (),
    )
    assert one.states() == [("active", 512, 1, 0)]


def test_an_endpoint_that_is_down_at_the_start_is_told_and_used_when_it_is_up(
    window: Open, local: Local
) -> None:
    local.stop()
    one = window()
    with pytest.raises(Unreachable, match="cannot be reached"):
        one.queue.work()
    stored = one.store("The harbour opens at noon")
    assert stored.embedding_queued
    found = one.search("harbour")
    assert [hit.memory.id for hit in found.hits] == [stored.memory.id]
    assert why(found).startswith(f"found by words only: {local.url} cannot be reached")
    assert found.degraded[0].hints == (Hint(Mend.CHECK_ENDPOINT),)
    problem = one.memories.statistics(None, caller=Caller()).coverage.problem
    assert problem is not None
    assert "cannot be reached" in problem.text
    local.start()
    one.queue.work()
    assert one.states() == [("active", 512, 1, 0)]
    found = one.search("harbours opening")
    assert (len(found.hits), found.degraded) == (1, ())


def test_a_stalling_endpoint_costs_one_search_two_seconds_and_the_next_ones_nothing(
    window: Open, local: Local
) -> None:
    one = window()
    one.queue.work()
    one.store("The harbour opens at noon")
    one.queue.filled.clear()
    local.answer = stall
    found: list[SearchResult] = []
    assert timed(lambda: found.append(one.search("harbour"))) < QUICK
    assert "did not answer within 2 s" in why(found[0])
    assert one.queue.filled.is_set(), "the job is told to look for it"
    assert timed(lambda: found.append(one.search("harbour"))) < 1.0
    assert [len(each.hits) for each in found] == [1, 1]
    assert timed(lambda: one.store("The lighthouse is white")) < 1.0
    local.answer = embedded
    one.queue.work()
    assert one.states() == [("active", 512, 2, 0)]
    assert one.search("lighthouse").degraded == ()


def test_an_endpoint_that_is_too_slow_for_searches_is_waited_for_once(
    window: Open, local: Local, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It answers, but later than a search can wait: each search would wait in vain."""
    monkeypatch.setattr(embedding_queue, "PATIENCE", 0.7)
    monkeypatch.setattr(answering, "PATIENCE", 0.7)
    one = window()
    one.queue.work()
    one.store("The harbour opens at noon")

    def slow(local: Local, asked: Asked) -> tuple[int, dict[str, str], bytes]:
        local.ended.wait(1.0)
        return embedded(local, asked)

    local.answer = slow
    one.search("harbour")
    with pytest.raises(Unreachable, match="did not answer within"):
        one.queue.work()
    asked = len(local.asked)
    assert "did not answer within" in why(one.search("harbour"))
    assert len(local.asked) == asked
    local.answer = embedded
    one.queue.work()
    assert one.search("harbour").degraded == ()


def test_a_store_waits_two_seconds_at_most_and_queues_its_text(window: Open, local: Local) -> None:
    one = window()
    one.queue.work()
    one.search("anything")
    local.answer = stall
    stored: list[Stored] = []
    assert timed(lambda: stored.append(one.store("The harbour opens at noon"))) < QUICK
    assert stored[0].embedding_queued
    assert one.states() == [("active", 512, 0, 1)]


def test_while_the_endpoint_is_asked_for_the_first_time_one_search_waits_and_no_further_one(
    window: Open, local: Local
) -> None:
    """A local server may take a minute to load its model."""
    one = window()
    one.store("The harbour opens at noon")
    assert timed(lambda: one.search("harbour")) < QUICK
    found: list[SearchResult] = []
    assert timed(lambda: found.append(one.search("harbour"))) < 1.0
    assert "still loading" in why(found[0])


def test_a_failure_in_the_background_is_told_by_searches_at_once(window: Open, local: Local) -> None:
    one = window()
    one.queue.work()
    with one.database.write() as tx:
        tx.memories.insert(MemoryDraft("harbour", MemoryType.LEARNING), Caller())
    local.answer = status(429, "quota")
    with pytest.raises(Unreachable, match="HTTP 429"):
        one.queue.work()
    asked = len(local.asked)
    assert "HTTP 429" in why(one.search("harbour"))
    assert len(local.asked) == asked


def test_a_change_of_dimensions_writes_no_vector_and_opens_a_new_space(window: Open, local: Local) -> None:
    """The endpoint serves another model under the same name."""
    one = window()
    one.queue.work()
    one.store("The harbour opens at noon")
    local.dimensions = 256
    assert one.store("The lighthouse is white").embedding_queued
    assert (one.states(), one.sizes()) == ([("active", 512, 1, 1)], {512})
    assert "another model" in why(one.search("lighthouse"))
    one.queue.work()
    assert (one.states(), one.sizes()) == ([("active", 256, 2, 0)], {256})
    found = one.search("lighthouse")
    assert (found.embedder, found.degraded) == ("openai:some-model", ())


def test_a_change_of_dimensions_in_the_background_writes_no_vector(window: Open, local: Local) -> None:
    one = window()
    one.queue.work()
    with one.database.write() as tx:
        tx.memories.insert(MemoryDraft("harbour", MemoryType.LEARNING), Caller())
    local.dimensions = 256
    with pytest.raises(Unreachable, match="256 numbers, not 512"):
        one.queue.work()
    assert one.sizes() == set()


def test_another_model_at_the_next_start_answers_when_all_is_embedded_anew(
    window: Open, local: Local
) -> None:
    first = window()
    first.queue.work()
    first.store("The harbour opens at noon")
    local.model = 1
    second = window()
    second.queue.warm_up()
    assert second.states() == [("active", 512, 1, 0), ("building", 512, 0, 1)]
    assert "another vector for the same text" in why(second.search("harbour"))
    second.queue.drain()
    assert second.states() == [("active", 512, 1, 0)]
    assert second.search("harbours opening").degraded == ()


def test_another_model_of_the_same_endpoint_lets_the_old_one_answer_meanwhile(
    window: Open, local: Local
) -> None:
    first = window()
    first.queue.work()
    first.store("The harbour opens at noon")
    second = window("openai:other")
    second.queue.warm_up()
    found = second.search("harbours opening")
    assert (found.embedder, len(found.hits)) == ("openai:some-model", 1)
    second.queue.drain()
    assert second.search("harbour").embedder == "openai:other"


@pytest.mark.parametrize("embedder", ["auto", "hashing"])
def test_a_window_without_the_endpoint_never_asks_it(window: Open, local: Local, embedder: str) -> None:
    first = window()
    first.queue.work()
    first.store("The harbour opens at noon")
    asked = len(local.asked)
    second = window(embedder)
    second.queue.warm_up()
    found = second.search("harbour")
    assert len(found.hits) == 1
    if embedder == "auto":  # the other one has a space of its own to answer with
        assert "no text leaves this machine" in why(found)
        assert found.degraded[0].hints == (Hint(Mend.NAME_ENDPOINT_MODEL, {"model": "some-model"}),)
    second.store("The lighthouse is white")
    second.queue.work()
    assert len(local.asked) == asked
    assert [state for state, *_ in second.states()] == ["active"]
    assert second.search("harbour").embedder.partition(":")[0] == (
        "none" if embedder == "auto" else "hashing"
    )


def test_a_text_that_the_endpoint_refuses_does_not_block_the_queue(window: Open, local: Local) -> None:
    one = window()
    one.queue.work()
    local.answer = refusing(lambda texts: any("poison" in text for text in texts), 500)
    with one.database.write() as tx:
        for text in ("one", "poison", "two"):
            tx.memories.insert(MemoryDraft(text, MemoryType.LEARNING), Caller())
    one.queue.work()
    assert one.states() == [("active", 512, 3, 0)]
    assert [hit.memory.content for hit in one.search("poison").hits][:1] == ["poison"]


def test_conditions_of_triggers_wait_no_longer_than_their_budget(window: Open, local: Local) -> None:
    one = window()
    one.queue.work()
    one.search("x")
    engine = Engine(Sandbox(), Nearness(one.queue))
    triggers = [f"similar(messages, 'text {n}', 0.5)" for n in range(40)]
    situation = Situation((Message("user", "text 1"),), "c1", datetime(2026, 1, 1, tzinfo=UTC), 1)

    engine.judge(["true"], situation)  # it starts the worker

    def slow(local: Local, asked: Asked) -> tuple[int, dict[str, str], bytes]:
        local.ended.wait(0.1)
        return embedded(local, asked)

    for answer in (slow, stall):
        local.answer = answer
        assert timed(lambda: engine.judge(triggers, situation)) < MEANING_SECONDS + 0.8
    assert timed(lambda: engine.judge(triggers, situation)) < 0.8
    engine.close()


def test_a_search_that_had_little_time_does_not_count_as_a_failure_of_the_endpoint(
    window: Open, local: Local
) -> None:
    one = window()
    one.queue.work()
    answering = one.queue.answering()
    assert isinstance(answering, Answering)
    local.answer = stall
    embedder = answering.embedder
    assert isinstance(
        one.queue.embed_in_time(embedder, lambda: embedder.embed_questions(["x"])[0], 0.1), Problem
    )
    local.answer = embedded
    assert one.search("x").degraded == ()
