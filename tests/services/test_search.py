"""The search in typed memories: what it finds, counts and says of itself, on a real database."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from memory_server.domain import parts
from memory_server.domain.caller import Caller
from memory_server.domain.memory import Filter, Memory, MemoryChange, MemoryDraft, MemoryId, MemoryType
from memory_server.domain.moment import timestamp
from memory_server.domain.notice import LikelyUpdate, Thing
from memory_server.domain.ranking import LEAST
from memory_server.embedding import Embedder
from memory_server.errors import Hint, Mend, Problem, Unavailable
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.project import Project
from memory_server.services import retrieval
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.memories import MemoryService
from memory_server.services.recall import RecallService, RecallWish
from memory_server.services.search import SearchService
from memory_server.sqlite.database import Database
from tests.conftest import Clock, Holder, file_of

TEXT = "We deploy the billing service on Fridays after lunch"

Store = Callable[..., None]


@pytest.fixture
def service(database: Database, queue: EmbeddingQueue) -> SearchService:
    return SearchService(database, queue)


@pytest.fixture
def memories(database: Database, queue: EmbeddingQueue, segmenter: JiebaSegmenter) -> MemoryService:
    return MemoryService(database, queue, segmenter)


@pytest.fixture
def store(memories: MemoryService) -> Store:
    """Stores a decision of project p, or what the keywords say."""

    def store(content: str, **fields: object) -> None:
        draft = replace(MemoryDraft(content, MemoryType.DECISION, "p"), **fields)  # type: ignore[arg-type]
        memories.store(draft, None, Caller())

    return store


def found(service: SearchService, text: str, wanted: Filter = Filter(), mode: str = "hybrid") -> list[int]:  # noqa: B008
    return [hit.memory.id for hit in service.search(text, wanted, 10, mode, caller=Caller()).hits]


def one(memories: MemoryService, id: int) -> Memory:
    (detailed,) = memories.get([MemoryId(id)]).memories
    return detailed.memory


def test_a_hit_counts_one_access_and_leaves_the_moment_of_the_last_change(
    service: SearchService, memories: MemoryService, store: Store, clock: Clock
) -> None:
    store(TEXT)
    before = one(memories, 1)
    clock.advance(days=2)
    assert found(service, "billing") == [1]
    assert one(memories, 1) == replace(before, access_count=1, accessed_at="2026-03-16T09:26:53.589Z")


def test_a_vector_that_holds_no_numbers_costs_only_itself(
    service: SearchService, store: Store, queue: EmbeddingQueue
) -> None:
    store(TEXT)
    store("The billing service speaks to the ledger")
    queue.work()
    with file_of(service.database).write() as tx:
        size = tx.value("SELECT length(vector) FROM embeddings WHERE memory_id = 1")
        tx.execute("UPDATE embeddings SET vector = ? WHERE memory_id = 1", (b"\xff" * size,))
    assert found(service, "billing service", mode="semantic") == [2]
    assert set(found(service, "billing service")) == {1, 2}


def test_a_memory_that_is_not_among_the_results_counts_no_access(
    service: SearchService, store: Store
) -> None:
    for number in range(5):
        store(f"billing note number {number}")
    hits = service.search("billing", Filter(), 2, "hybrid", caller=Caller()).hits
    assert service.database.settle() is None
    with file_of(service.database).read() as tx:
        counted = {id for (id,) in tx.rows("SELECT id FROM memories WHERE access_count = 1")}
    assert counted == {hit.memory.id for hit in hits}
    assert len(counted) == 2


def test_a_read_only_service_counts_no_access(
    database: Database, queue: EmbeddingQueue, memories: MemoryService, store: Store
) -> None:
    store(TEXT)
    assert found(SearchService(database, queue, count_access=False), "billing") == [1]
    assert one(memories, 1).access_count == 0


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Filter(), {1, 2, 3, 4}),
        (Filter(type=MemoryType.ERROR), {2}),
        (Filter(project="q"), {3}),
        (Filter(project=""), {4}),
        (Filter(tags=("OPS", "none")), {1}),
        (Filter(min_importance=9), {3}),
        (Filter(type=MemoryType.ERROR, project="q"), set()),
    ],
)
@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic"])
def test_a_search_stays_inside_its_filter(
    service: SearchService, store: Store, wanted: Filter, expected: set[int], mode: str
) -> None:
    store("billing alpha", tags=("Ops",))
    store("billing beta", type=MemoryType.ERROR)
    store("billing gamma", project="q", importance=9)
    store("billing delta", project=None)
    assert set(found(service, "billing", wanted, mode)) == expected


def test_hits_are_in_the_order_of_their_rank_and_likely_ones_alone_are_shown_on_demand(
    service: SearchService, store: Store
) -> None:
    store(TEXT)
    for number in range(30):
        store(
            f"On gardens, note {number} of {number * 7}: water the roses on day {number}",
            session=f"s{number}",
        )
    text = "When do we deploy the billing service?"
    every = service.search(text, Filter(), 20, "hybrid", caller=Caller()).hits
    assert every[0].memory.id == 1
    assert [hit.rank for hit in every] == sorted((hit.rank for hit in every), reverse=True)
    assert all(0 <= hit.score <= 1 for hit in every)
    assert len(every) == 20
    some = service.search(text, Filter(), 20, "hybrid", likely=True, caller=Caller()).hits
    assert [hit.memory.id for hit in some] == [
        hit.memory.id for hit in every if hit.memory.id == 1 or hit.score >= LEAST
    ]
    assert len(some) < len(every)


def test_what_a_memory_may_replace_comes_behind_it_until_somebody_says_more(
    service: SearchService, memories: MemoryService, store: Store, database: Database, clock: Clock
) -> None:
    store("The tablet app needs Android 11", importance=10)
    store("Gardens need water in May")
    store("The tablet app needs Android 13 soon")

    def order() -> list[int]:
        return found(service, "Which Android does the tablet app need?", mode="keyword")

    def recalled() -> list[str]:
        recall = RecallService(database, service.queue, None)
        return [
            hit.ref
            for hit in recall.find("Which Android does the tablet app need?", RecallWish(), Caller()).hits
        ]

    with database.write() as tx:
        update = LikelyUpdate(Thing("memory", 3, "m3"), Thing("memory", 1, "m1"))
        assert tx.likely_updates.replacing([1, 2]) == tx.likely_updates.replacing([1, 2, 3]) == [update]
        assert tx.likely_updates.replacing([2, 3]) == tx.likely_updates.replacing([]) == []
        tx.likely_updates.insert(LikelyUpdate(Thing("fact", 1, "f app.android"), Thing("memory", 3, "m3")))
    assert order() == [3, 1, 2]
    assert recalled() == ["m3", "m1", "m2"]
    clock.advance(seconds=1)
    memories.update(MemoryId(1), MemoryChange(tags=("checked",)), Caller())
    assert order() == [1, 3, 2]
    assert recalled() == ["m1", "m3", "m2"]


@pytest.mark.parametrize(
    ("question", "month"),
    [
        ("In which garden did the roses bloom on October 3, 2025?", 10),
        ("In which garden did the roses bloom in October?", 10),
        ("2025年10月3日 the roses 在 garden 里开了什么？", 10),
        ("十月 the roses 在 garden 里开了什么？", 10),
        ("In which garden did the roses bloom on May 3, 2025?", 5),
    ],
)
def test_what_is_of_the_named_days_is_looked_at_among_many_that_are_more_alike(
    service: SearchService, store: Store, monkeypatch: pytest.MonkeyPatch, question: str, month: int
) -> None:
    monkeypatch.setattr(retrieval, "LOOKED_AT", 5)
    for number in range(30):
        store(
            f"The roses bloom in garden {number}", occurred_at=f"2025-01-{1 + number % 28:02}T08:00:00.000Z"
        )
    days = {"2025-10-04T09:00:00.000Z": 10, "2025-05-02T09:00:00.000Z": 5}
    for occurred_at, number in days.items():
        store(f"Kyoto 4-{number}", occurred_at=occurred_at)
        store(f"Kyoto 5-{number}", occurred_at=occurred_at, project="q")
    hits = service.search(question, Filter(project="p"), 200, "hybrid", caller=Caller()).hits
    dated = [hit for hit in hits if "Kyoto" in hit.memory.content]
    assert [(days[hit.memory.occurred_at], hit.memory.project) for hit in dated] == [(month, "p")]
    assert "date" in dated[0].why.also
    excluded = Filter(project="p", until="2025-02-01T00:00:00.000Z")
    hits = service.search(question, excluded, 200, "hybrid", caller=Caller()).hits
    assert all("Kyoto" not in hit.memory.content for hit in hits)


def test_pages_follow_one_another(service: SearchService, store: Store) -> None:
    for number in range(7):
        store(f"billing note number {number} " + "x " * number)
    for text in ("billing", "*", ""):
        whole = [hit.memory.id for hit in service.search(text, Filter(), 7, "hybrid", caller=Caller()).hits]
        pages = [
            service.search(text, Filter(), 3, "hybrid", offset=offset, caller=Caller()).hits
            for offset in (0, 3, 6, 9)
        ]
        assert [[hit.memory.id for hit in page] for page in pages] == [whole[:3], whole[3:6], whole[6:], []]


@pytest.mark.parametrize("text", ["", "*", " * ", "\n"])
@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic"])
def test_an_empty_text_lists_what_occurred_last_and_counts_no_access(
    service: SearchService, memories: MemoryService, store: Store, text: str, mode: str
) -> None:
    store("stored first")
    store("told of long ago", occurred_at="2020-01-02T03:04:05.000Z")
    store("stored last", project=None)
    answer = service.search(text, Filter(), 10, mode, caller=Caller())
    assert [hit.memory.id for hit in answer.hits] == [3, 1, 2]
    assert [hit.score for hit in answer.hits] == [1.0] * 3
    assert found(service, text, Filter(since="2021-01-01T00:00:00.000Z", project="p"), mode) == [1]
    assert found(service, text, Filter(until="2021-01-01T00:00:00.000Z"), mode) == [2]
    assert one(memories, 1).access_count == 0


def test_memories_of_the_own_project_come_first_unless_all_are_asked_for(
    service: SearchService, store: Store
) -> None:
    store("The billing service runs on the host bramble, as it always has", project="own", session="a")
    store("billing service host", project="other", session="b")

    def projects(caller: Caller, project: str | None = None) -> list[str | None]:
        hits = service.search(
            "billing service host", Filter(project=project), 10, "hybrid", caller=caller
        ).hits
        return [hit.memory.project for hit in hits]

    own = Caller(project=Project("/srv/own", "own"))
    assert projects(Caller()) == projects(own, "*") == ["other", "own"]
    assert projects(Caller(project=Project("/srv/other", "other"))) == ["other", "own"]
    assert projects(own, "other") == ["other"]


def test_what_is_shown_of_a_long_memory_is_the_part_that_answers(
    service: SearchService, store: Store, queue: EmbeddingQueue
) -> None:
    store("The garden needs water. " * 300 + "The billing service runs on bramble. " + "Roses bloom. " * 300)
    store("The weather is fine today", session="s2")
    queue.drain()
    for mode in ("hybrid", "keyword", "semantic"):
        hit, *_ = service.search(
            "On which host does the billing service run?", Filter(), 10, mode, caller=Caller()
        ).hits
        assert hit.memory.id == 1
        assert "billing service runs on bramble" in hit.content
        assert len(hit.content) <= parts.PART + 2 * (parts.PART - parts.STEP)
        assert hit.part in {f"{place} of {len(parts.split(hit.memory.content))}" for place in (4, 5)}
        assert len(hit.memory.content) > parts.LONG


# Degraded answers


def test_without_an_embedder_words_answer_and_the_answer_says_why(
    database: Database, segmenter: JiebaSegmenter, clock: Clock, store: Store
) -> None:
    def missing(_: object) -> Embedder:
        raise Unavailable("no model is installed", Mend.USE_SAME_EMBEDDER)

    queue = EmbeddingQueue(database, missing, missing, clock)
    queue.warm_up()
    service = SearchService(database, queue)
    store(TEXT)
    hints = (Hint(Mend.USE_SAME_EMBEDDER),)
    for mode in ("hybrid", "semantic"):
        answer = service.search("billing", Filter(), 10, mode, caller=Caller())
        assert [hit.memory.id for hit in answer.hits] == [1]
        assert answer.embedder == "none"
        assert answer.degraded == (Problem("found by words only: no model is installed", hints),)
    assert service.search("billing", Filter(), 10, "keyword", caller=Caller()).degraded == ()
    statistics = MemoryService(database, queue, segmenter).statistics(None, caller=Caller())
    assert statistics.coverage.problem == Problem("no model is installed", hints)


def test_a_search_that_comes_before_the_embedder_is_ready_is_answered_by_words(
    database: Database, embedder: Embedder, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_server.services.embedding_queue.PATIENCE", 0.01)
    queue = EmbeddingQueue(database, lambda known: embedder, lambda space: embedder, clock)
    service = SearchService(database, queue)
    store(TEXT)
    early = service.search("billing", Filter(), 10, "hybrid", caller=Caller())
    assert ([hit.memory.id for hit in early.hits], early.degraded) == (
        [1],
        (Problem("found by words only: the embedder is still loading"),),
    )
    queue.warm_up()
    assert service.search("billing", Filter(), 10, "hybrid", caller=Caller()).degraded == ()


def test_a_search_says_how_many_memories_meaning_does_not_reach_yet(service: SearchService) -> None:
    with file_of(service.database).write() as tx:
        for number in range(40):
            tx.execute(
                "INSERT INTO memories (content, type) VALUES (?, 'error')", (f"billing note {number}",)
            )
    answer = service.search("billing", Filter(), 10, "hybrid", caller=Caller())
    assert len(answer.hits) == 10
    assert answer.degraded == (Problem("40 memories are not embedded yet and were found by words only"),)


def test_a_search_waits_for_no_lock_and_is_counted_when_the_file_can_be_written(
    file_database: Database, embedder: Embedder, segmenter: JiebaSegmenter, clock: Clock
) -> None:
    queue = EmbeddingQueue(file_database, lambda _: embedder, lambda _: embedder, clock)
    queue.work()
    draft = MemoryDraft("The bakery opens at seven", MemoryType.OBSERVATION)
    MemoryService(file_database, queue, segmenter).store(draft, None, Caller())
    service = SearchService(file_database, queue)
    assert file_database.path is not None
    with Holder(file_database.path, "UPDATE memories SET importance = importance"):
        for _ in range(2):
            answer = service.search("bakery", Filter(), 10, "hybrid", caller=Caller())
            assert [hit.memory.content for hit in answer.hits] == ["The bakery opens at seven"]
            assert answer.degraded == ()
        problem = file_database.settle()
        assert problem is not None
        assert problem.text.startswith("Another process has kept")
        assert problem.hints == (Hint(Mend.TRY_AGAIN),)
    assert file_database.settle() is None
    with file_database.read() as tx:
        assert tx.rows("SELECT access_count, accessed_at FROM memories") == [(2, timestamp(clock.now))]
