"""Typed memories: what store, search, get, update and forget do, on a real database."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from memory_server.domain.caller import Caller
from memory_server.domain.memory import (
    Filter,
    Memory,
    MemoryChange,
    MemoryDraft,
    MemoryId,
    MemoryType,
    Stored,
)
from memory_server.embedding import Embedder
from memory_server.errors import Invalid, NotFound, Unavailable
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.memories import MemoryService
from memory_server.sqlite.database import Database
from tests.conftest import Clock, Holder

CALLER = Caller("tests", "session-1")
TEXT = "We deploy the billing service on Fridays after lunch"
LONGER = "We deploy the billing service on Fridays, after the lunch."

Store = Callable[..., Stored]


@pytest.fixture
def service(database: Database, indexer: EmbeddingQueue, segmenter: JiebaSegmenter) -> MemoryService:
    return MemoryService(database, indexer, segmenter)


@pytest.fixture
def store(service: MemoryService) -> Store:
    """Stores a decision of project p, or what the keywords say."""

    def store(content: str, related_to: int | None = None, **fields: object) -> Stored:
        draft = replace(MemoryDraft(content, MemoryType.DECISION, "p"), **fields)  # type: ignore[arg-type]
        return service.store(draft, None if related_to is None else MemoryId(related_to), CALLER)

    return store


def found(service: MemoryService, text: str, wanted: Filter = Filter(), mode: str = "hybrid") -> list[int]:  # noqa: B008
    return [hit.memory.id for hit in service.search(text, wanted, 10, mode).hits]


def one(service: MemoryService, id: int) -> Memory:
    (detailed,), _ = service.get([MemoryId(id)])
    return detailed.memory


def rows(service: MemoryService, sql: str) -> list[tuple[object, ...]]:
    with service.database.read() as tx:
        return tx.rows(sql)


# Store and consolidate


def test_a_memory_is_kept_as_it_was_given(service: MemoryService, store: Store, clock: Clock) -> None:
    stored = store(TEXT, tags=("ops", "周五"), importance=8, metadata={"ticket": 7, "作者": "李雷"})
    now = "2026-03-14T09:26:53.589Z"
    expected = Memory(
        id=MemoryId(1), content=TEXT, type=MemoryType.DECISION, project="p", tags=("ops", "周五"), importance=8,
        metadata={"ticket": 7, "作者": "李雷"}, access_count=0, created_at=now, updated_at=now, accessed_at=None,
        created_by="tests",
    )  # fmt: skip
    assert stored == Stored(expected, consolidated=False, embedding_queued=True, similar=())
    assert one(service, 1) == expected
    assert rows(service, "SELECT session FROM memories") == [("session-1",)]


def test_a_restatement_merges_and_keeps_the_longer_text(
    service: MemoryService, store: Store, clock: Clock
) -> None:
    store(TEXT, tags=("ops",), importance=5, metadata={"a": 1, "b": 1})
    clock.advance(hours=1)
    merged = store(LONGER, tags=("ops", "billing"), importance=5, metadata={"b": 2})
    assert (merged.consolidated, merged.embedding_queued, merged.memory.id) == (True, True, 1)
    assert merged.memory == replace(
        one(service, 1),
        content=LONGER, importance=6, access_count=1, tags=("ops", "billing"), metadata={"a": 1, "b": 2},
        created_at="2026-03-14T09:26:53.589Z", updated_at="2026-03-14T10:26:53.589Z",
    )  # fmt: skip
    assert rows(service, "SELECT content, reason, replaced_at FROM memory_history") == [
        (TEXT, "merged", "2026-03-14T10:26:53.589Z")
    ]
    assert service.get([MemoryId(1)])[0][0].earlier == (TEXT,)


def test_a_shorter_restatement_goes_into_the_history_and_nothing_is_embedded_again(
    service: MemoryService, store: Store
) -> None:
    store(LONGER)
    merged = store(TEXT)
    assert (merged.consolidated, merged.embedding_queued, merged.memory.content) == (True, False, LONGER)
    assert service.get([MemoryId(1)])[0][0].earlier == (TEXT,)


def test_the_same_text_again_is_no_history(service: MemoryService, store: Store) -> None:
    store(TEXT)
    assert store(TEXT).memory.importance == 6
    assert service.get([MemoryId(1)])[0][0].earlier == ()


def test_importance_grows_by_one_and_stops_at_ten(store: Store) -> None:
    store(TEXT, importance=9)
    assert [store(TEXT, importance=1).memory.importance for _ in range(3)] == [10, 10, 10]


def test_a_merge_of_many_tags_keeps_them_all(service: MemoryService, store: Store) -> None:
    store(TEXT, tags=tuple(f"a{n}" for n in range(10)))
    store(TEXT, tags=tuple(f"b{n}" for n in range(10)))
    assert len(one(service, 1).tags) == 20


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I spent $15.82 on lunch today", "I spent $24.01 on lunch today"),
        ("我的上司学历是本科", "我的同事学历是本科"),
        ("Alice owns the billing service", "Bob owns the billing service"),
        ("We do deploy on Fridays", "We do not deploy on Fridays"),
    ],
)
def test_another_fact_in_the_same_words_is_kept_apart_and_named(store: Store, one: str, other: str) -> None:
    store(one)
    stored = store(other)
    assert (stored.consolidated, stored.memory.id, stored.similar) == (False, 2, (1,))


@pytest.mark.parametrize(
    "elsewhere",
    [{"project": "q"}, {"project": None}, {"type": MemoryType.LEARNING}],
    ids=["another project", "no project", "another type"],
)
def test_what_is_filed_elsewhere_never_merges_and_is_not_similar(
    store: Store, elsewhere: dict[str, object]
) -> None:
    store(TEXT)
    stored = store(TEXT, **elsewhere)
    assert (stored.consolidated, stored.similar, stored.memory.id) == (False, (), 2)


def test_no_project_counts_as_a_project(store: Store) -> None:
    store(TEXT, project=None)
    assert store(TEXT, project=None).consolidated


def test_a_twin_is_found_among_thousands_that_share_its_common_words(
    service: MemoryService, store: Store
) -> None:
    """Candidates come from the index, rarest words first, not from the best twenty of a search."""
    with service.database.write() as tx:
        tx.execute(
            """
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
            INSERT INTO memories (content, type, project)
            SELECT 'We deploy the service number ' || i || ' on Fridays after lunch', 'decision', 'p' FROM n
            """
        )
    first = store("We deploy the service Quuxify on Fridays after lunch")
    assert not first.consolidated
    again = store("We deploy the service Quuxify on Fridays after lunch!")
    assert (again.consolidated, again.memory.id) == (True, first.memory.id)


# Edges


def test_related_to_writes_an_edge(service: MemoryService, store: Store) -> None:
    store(TEXT)
    store("The invoice bug was caused by rounding", related_to=1)
    assert rows(service, "SELECT source_id, target_id, relation, strength, created_by FROM edges") == [
        (2, 1, "related_to", 1.0, "tests")
    ]


def test_a_restatement_that_relates_to_its_own_twin_makes_no_edge_to_itself(
    service: MemoryService, store: Store
) -> None:
    store(TEXT)
    assert store(TEXT, related_to=1).consolidated
    assert rows(service, "SELECT * FROM edges") == []


def test_relating_to_a_memory_that_is_not_there_writes_nothing(service: MemoryService, store: Store) -> None:
    with pytest.raises(NotFound, match="No memory 41"):
        store(TEXT, related_to=41)
    assert rows(service, "SELECT * FROM memories") == []
    assert store(TEXT).memory.id == 1


# Search, get


def test_a_hit_counts_one_access_and_leaves_the_moment_of_the_last_change(
    service: MemoryService, store: Store, clock: Clock
) -> None:
    store(TEXT)
    before = one(service, 1)
    clock.advance(days=2)
    assert found(service, "billing") == [1]
    assert one(service, 1) == replace(before, access_count=1, accessed_at="2026-03-16T09:26:53.589Z")


def test_a_memory_that_is_not_among_the_results_counts_no_access(
    service: MemoryService, store: Store
) -> None:
    for number in range(5):
        store(f"billing note number {number}")
    hits = service.search("billing", Filter(), 2, "hybrid").hits
    counted = {id for (id,) in rows(service, "SELECT id FROM memories WHERE access_count = 1")}
    assert counted == {hit.memory.id for hit in hits}
    assert len(counted) == 2


def test_a_read_only_service_counts_no_access(
    database: Database, indexer: EmbeddingQueue, segmenter: JiebaSegmenter
) -> None:
    service = MemoryService(database, indexer, segmenter, count_access=False)
    service.store(MemoryDraft(TEXT, MemoryType.DECISION), None, CALLER)
    assert found(service, "billing") == [1]
    assert one(service, 1).access_count == 0


def test_reading_changes_nothing(service: MemoryService, store: Store, clock: Clock) -> None:
    store(TEXT)
    before = rows(service, "SELECT * FROM memories")
    clock.advance(days=1)
    service.get([MemoryId(1)])
    service.statistics(None)
    assert rows(service, "SELECT * FROM memories") == before


def test_get_answers_in_the_order_asked_and_names_what_is_missing(
    service: MemoryService, store: Store
) -> None:
    store(TEXT)
    store("The invoice bug was caused by rounding")
    details, missing = service.get([MemoryId(id) for id in (9, 2, 1, 2, 7)])
    assert [each.memory.id for each in details] == [2, 1]
    assert missing == [9, 7]


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
    service: MemoryService, store: Store, wanted: Filter, expected: set[int], mode: str
) -> None:
    store("billing alpha", tags=("Ops",))
    store("billing beta", type=MemoryType.ERROR)
    store("billing gamma", project="q", importance=9)
    store("billing delta", project=None)
    assert set(found(service, "billing", wanted, mode)) == expected


# Update


def test_update_changes_what_is_given_and_keeps_the_earlier_text(
    service: MemoryService, store: Store, clock: Clock
) -> None:
    store(TEXT, tags=("ops",), metadata={"a": 1})
    before = one(service, 1)
    clock.advance(hours=1)
    after = service.update(
        MemoryId(1), MemoryChange(content="We deploy on Mondays", importance=9, project="")
    )
    assert after == replace(
        before,
        content="We deploy on Mondays",
        importance=9,
        project=None,
        updated_at="2026-03-14T10:26:53.589Z",
    )
    assert service.get([MemoryId(1)])[0][0].earlier == (TEXT,)
    assert found(service, "Mondays", Filter(project="")) == [1]
    assert found(service, "billing", mode="keyword") == []


def test_updating_everything_but_the_text_makes_no_history_and_needs_no_embedding(
    service: MemoryService, store: Store
) -> None:
    store(TEXT)
    found(service, "billing")
    service.update(
        MemoryId(1), MemoryChange(type=MemoryType.ERROR, tags=(), metadata={}, project="q", importance=1)
    )
    assert rows(service, "SELECT * FROM memory_history") == []
    assert rows(service, "SELECT * FROM embedding_queue") == []
    assert found(service, "billing", Filter(MemoryType.ERROR, "q"), "semantic") == [1]


def test_an_update_without_a_field_or_of_no_memory_is_refused(service: MemoryService, store: Store) -> None:
    store(TEXT)
    with pytest.raises(Invalid, match="Nothing to update"):
        service.update(MemoryId(1), MemoryChange())
    with pytest.raises(NotFound, match="No memory 41"):
        service.update(MemoryId(41), MemoryChange(importance=1))


# Forget


def test_forgetting_takes_everything_that_hangs_on_a_memory(service: MemoryService, store: Store) -> None:
    store(TEXT)
    store(LONGER)
    store("The invoice bug was caused by rounding", related_to=1)
    found(service, "billing")
    service.forget(MemoryId(1))
    assert found(service, "billing service on Fridays", mode="keyword") == []
    assert found(service, TEXT, mode="semantic") == [2]
    assert service.get([MemoryId(1)]) == ([], [MemoryId(1)])
    for table in ("memory_history", "edges", "embedding_queue"):
        assert rows(service, f"SELECT * FROM {table}") == []
    for table in ("embeddings", "embedding_bits"):
        assert rows(service, f"SELECT memory_id FROM {table}") == [(2,)]


def test_forgetting_what_is_not_there_says_so(service: MemoryService) -> None:
    with pytest.raises(NotFound, match="No memory 41, so nothing was deleted"):
        service.forget(MemoryId(41))


# Secrets, statistics, degraded answers


def test_what_looks_like_a_credential_is_refused_wherever_it_stands(
    service: MemoryService, store: Store
) -> None:
    secret = "ghp_" + "a1B2" * 9
    for fields in ({"tags": (secret,)}, {"metadata": {"token": secret}}):
        with pytest.raises(Invalid):
            store(TEXT, **fields)
    with pytest.raises(Invalid):
        store(f"the token is {secret}")
    store(TEXT)
    with pytest.raises(Invalid):
        service.update(MemoryId(1), MemoryChange(content=secret))
    assert rows(service, "SELECT content FROM memories") == [(TEXT,)]


def test_statistics_count_by_type_and_project(service: MemoryService, store: Store) -> None:
    store(TEXT)
    store("billing beta", type=MemoryType.ERROR)
    store("billing gamma", type=MemoryType.ERROR, project=None)
    statistics = service.statistics(None)
    assert statistics.total == 3
    assert statistics.by_type == {"error": 2, "decision": 1}
    assert statistics.by_project == {"p": 2, "": 1}
    assert (statistics.coverage.embedded, statistics.coverage.waiting) == (0, 3)
    assert statistics.size > 10_000
    found(service, "billing")
    assert service.statistics("p").coverage.embedded == 2


def test_without_an_embedder_words_answer_and_the_answer_says_why(
    database: Database, segmenter: JiebaSegmenter, clock: Clock
) -> None:
    def missing(_: object) -> Embedder:
        raise Unavailable("no model is installed")

    indexer = EmbeddingQueue(database, missing, missing, segmenter, clock)
    indexer.warm_up()
    service = MemoryService(database, indexer, segmenter)
    service.store(MemoryDraft(TEXT, MemoryType.DECISION), None, CALLER)
    for mode in ("hybrid", "semantic"):
        answer = service.search("billing", Filter(), 10, mode)
        assert [hit.memory.id for hit in answer.hits] == [1]
        assert answer.embedder == "none"
        assert answer.degraded is not None
        assert "no model is installed" in answer.degraded
    assert service.search("billing", Filter(), 10, "keyword").degraded is None
    assert service.statistics(None).coverage.problem == "no model is installed"


def test_a_search_that_comes_before_the_embedder_is_ready_is_answered_by_words(
    database: Database,
    embedder: Embedder,
    segmenter: JiebaSegmenter,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("memory_server.services.embedding_queue.PATIENCE", 0.01)
    indexer = EmbeddingQueue(database, lambda known: embedder, lambda space: embedder, segmenter, clock)
    service = MemoryService(database, indexer, segmenter)
    service.store(MemoryDraft(TEXT, MemoryType.DECISION), None, CALLER)
    early = service.search("billing", Filter(), 10, "hybrid")
    assert ([hit.memory.id for hit in early.hits], early.degraded) == (
        [1],
        "found by words only: the embedder is still loading",
    )
    indexer.warm_up()
    assert service.search("billing", Filter(), 10, "hybrid").degraded is None


def test_a_search_says_how_many_memories_meaning_does_not_reach_yet(
    service: MemoryService, store: Store
) -> None:
    with service.database.write() as tx:
        for number in range(40):
            tx.execute(
                "INSERT INTO memories (content, type) VALUES (?, 'error')", (f"billing note {number}",)
            )
    answer = service.search("billing", Filter(), 10, "hybrid")
    assert len(answer.hits) == 10
    assert answer.degraded == "40 memories are not embedded yet and were found by words only"


def test_a_search_answers_though_the_file_cannot_be_written(
    file_database: Database, embedder: Embedder, segmenter: JiebaSegmenter, clock: Clock
) -> None:
    indexer = EmbeddingQueue(file_database, lambda _: embedder, lambda _: embedder, segmenter, clock)
    indexer.warm_up()
    service = MemoryService(file_database, indexer, segmenter)
    service.store(MemoryDraft("The bakery opens at seven", MemoryType.OBSERVATION), None, CALLER)
    assert service.search("bakery", Filter(), 10, "hybrid").degraded is None
    assert file_database.path is not None
    with Holder(file_database.path, "UPDATE memories SET importance = importance"):
        answer = service.search("bakery", Filter(), 10, "hybrid")
    assert [hit.memory.content for hit in answer.hits] == ["The bakery opens at seven"]
    assert answer.degraded is not None
    assert answer.degraded.startswith("accesses were not counted: Another process has kept")
