"""Typed memories: what store, get, update and forget do, on a real database."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
from memory_server.errors import Hint, Invalid, Mend, NotFound
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.services.embedding_queue import AT_ONCE, EmbeddingQueue
from memory_server.services.memories import Detailed, MemoryService, Read, Updated
from memory_server.services.search import SearchService
from memory_server.sqlite.database import Database
from tests.conftest import Clock, file_of

CALLER = Caller("tests", "session-1")
TEXT = "We deploy the billing service on Fridays after lunch"
LONGER = "We deploy the billing service on Fridays, after the lunch."

Store = Callable[..., Stored]


@pytest.fixture
def service(database: Database, queue: EmbeddingQueue, segmenter: JiebaSegmenter) -> MemoryService:
    return MemoryService(database, queue, segmenter)


@pytest.fixture
def search(database: Database, queue: EmbeddingQueue) -> SearchService:
    return SearchService(database, queue)


@pytest.fixture
def store(service: MemoryService) -> Store:
    """Stores a decision of project p, or what the keywords say."""

    def store(
        content: str, related_to: int | None = None, supersedes: int | None = None, **fields: object
    ) -> Stored:
        draft = replace(MemoryDraft(content, MemoryType.DECISION, "p"), **fields)  # type: ignore[arg-type]
        related, replaced = (None if id is None else MemoryId(id) for id in (related_to, supersedes))
        return service.store(draft, related, CALLER, supersedes=() if replaced is None else (replaced,))

    return store


def found(search: SearchService, text: str, wanted: Filter = Filter(), mode: str = "hybrid") -> list[int]:  # noqa: B008
    return [hit.memory.id for hit in search.search(text, wanted, 10, mode, caller=Caller()).hits]


def read(service: MemoryService, id: int) -> Detailed:
    (detailed,) = service.get([MemoryId(id)]).memories
    return detailed


def one(service: MemoryService, id: int) -> Memory:
    return read(service, id).memory


def rows(service: MemoryService, sql: str) -> list[tuple[object, ...]]:
    with file_of(service.database).read() as tx:
        return tx.rows(sql)


# Store and consolidate


def test_a_memory_is_kept_as_it_was_given(service: MemoryService, store: Store, clock: Clock) -> None:
    stored = store(TEXT, tags=("ops", "周五"), importance=8, metadata={"ticket": 7, "作者": "李雷"})
    now = "2026-03-14T09:26:53.589Z"
    expected = Memory(
        id=MemoryId(1), content=TEXT, type=MemoryType.DECISION, project="p", tags=("ops", "周五"), importance=8,
        metadata={"ticket": 7, "作者": "李雷"}, access_count=0, created_at=now, updated_at=now, accessed_at=None,
        created_by="tests", occurred_at=now, session="session-1",
    )  # fmt: skip
    assert stored == Stored(expected, consolidated=False, embedding_queued=False, similar=())
    assert one(service, 1) == expected
    assert rows(service, "SELECT session FROM memories") == [("session-1",)]


def test_a_long_text_waits_in_the_queue_until_the_background_work_comes(
    service: MemoryService, search: SearchService, store: Store
) -> None:
    text = "harbour " * 2 * AT_ONCE
    assert store(text).embedding_queued
    assert service.queue.filled.is_set()
    assert found(search, "harbour", mode="semantic") == []
    service.queue.drain()
    assert found(search, "harbour", mode="semantic") == [1]


def test_a_restatement_merges_and_keeps_the_longer_text(
    service: MemoryService, store: Store, clock: Clock
) -> None:
    store(TEXT, tags=("ops",), importance=5, metadata={"a": 1, "b": 1})
    clock.advance(hours=1)
    merged = store(LONGER, tags=("ops", "billing"), importance=5, metadata={"b": 2})
    assert (merged.consolidated, merged.embedding_queued, merged.memory.id) == (True, False, 1)
    assert merged.memory == replace(
        one(service, 1),
        content=LONGER, importance=6, access_count=1, tags=("ops", "billing"), metadata={"a": 1, "b": 2},
        created_at="2026-03-14T09:26:53.589Z", updated_at="2026-03-14T10:26:53.589Z",
    )  # fmt: skip
    assert rows(service, "SELECT content, reason, replaced_at FROM memory_history") == [
        (TEXT, "merged", "2026-03-14T10:26:53.589Z")
    ]
    assert read(service, 1).earlier == (TEXT,)


def test_a_shorter_restatement_goes_into_the_history_and_nothing_is_embedded_again(
    service: MemoryService, store: Store
) -> None:
    store(LONGER)
    merged = store(TEXT)
    assert (merged.consolidated, merged.embedding_queued, merged.memory.content) == (True, False, LONGER)
    assert read(service, 1).earlier == (TEXT,)


def test_the_same_text_again_is_no_history(service: MemoryService, store: Store) -> None:
    store(TEXT)
    assert store(TEXT).memory.importance == 6
    assert read(service, 1).earlier == ()


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
    assert (stored.consolidated, stored.memory.id) == (False, 2)
    assert [each.memory.id for each in stored.similar] == [1]


@pytest.mark.parametrize(
    "elsewhere",
    [{"project": "q"}, {"project": None}],
    ids=["another project", "no project"],
)
def test_what_is_filed_elsewhere_never_merges_and_is_not_similar(
    store: Store, elsewhere: dict[str, object]
) -> None:
    store(TEXT)
    stored = store(TEXT, **elsewhere)
    assert (stored.consolidated, stored.similar, stored.memory.id) == (False, (), 2)


def test_close_memories_are_shown_with_what_differs_five_at_most(store: Store) -> None:
    for number in range(8):
        store(f"The gateway for the harbour app answers within {100 + number} milliseconds on weekdays")
    stored = store("The gateway for the harbour app answers within 250 milliseconds on weekdays")
    assert len(stored.similar) == 5
    assert all(each.differs.endswith("→ 250") for each in stored.similar)


# What is superseded


def test_a_memory_supersedes_another_in_the_call_that_stores_it(service: MemoryService, store: Store) -> None:
    store("The gateway answers within 100 milliseconds on weekdays")
    stored = store("The gateway answers within 250 milliseconds on weekdays", supersedes=1)
    assert (stored.memory.id, stored.consolidated, stored.similar, stored.maybe_supersedes) == (
        2,
        False,
        (),
        (),
    )
    assert one(service, 1).superseded_by == 2
    assert rows(service, "SELECT source_id, target_id, relation FROM edges") == [(2, 1, "supersedes")]


def test_a_memory_is_never_merged_into_the_one_that_it_supersedes(
    service: MemoryService, store: Store
) -> None:
    store(TEXT)
    stored = store(TEXT, supersedes=1)
    assert (stored.memory.id, stored.consolidated) == (2, False)
    assert one(service, 1).superseded_by == 2


def test_what_is_said_already_supersedes_too(service: MemoryService, store: Store) -> None:
    store("We deploy the billing service on Mondays after lunch")
    store(TEXT)
    stored = store(TEXT, supersedes=1)
    assert (stored.memory.id, stored.consolidated) == (2, True)
    assert one(service, 1).superseded_by == 2


def test_superseding_what_is_not_there_stores_nothing(service: MemoryService, store: Store) -> None:
    with pytest.raises(NotFound, match=r"^No memory 41\.$") as error:
        store(TEXT, supersedes=41)
    assert error.value.problem.hints == (Hint(Mend.FIND_MEMORY),)
    assert rows(service, "SELECT * FROM memories") == []


def test_what_was_superseded_and_is_said_again_stays_apart_and_both_are_named(
    service: MemoryService, store: Store
) -> None:
    """A, then B instead, then A again: the last decision stands."""
    store("We deploy the billing service on Fridays after lunch")
    store("From now on all releases of billing go out on a Monday", supersedes=1)
    again = store("We deploy the billing service on Fridays after lunch")
    assert (again.memory.id, again.consolidated) == (3, False)
    assert [(each.memory.id, each.memory.superseded_by) for each in again.similar] == [(1, 2), (2, None)]
    assert again.similar[0].differs == ""
    assert again.maybe_supersedes == (2,)
    assert store("We deploy the billing service on Fridays after lunch", supersedes=2).memory.id == 3
    assert one(service, 2).superseded_by == 3


@pytest.mark.parametrize(
    ("old", "new", "differs"),
    [
        (
            "The API gateway times out after 30 seconds in production",
            "The API gateway times out after 60 seconds in production",
            "30 → 60",
        ),
        (
            "测试环境的数据库端口是5432，由运维组管理",
            "测试环境的数据库端口是5433，由运维组管理",
            "5432 → 5433",
        ),
    ],
)
def test_what_states_another_value_may_supersede(store: Store, old: str, new: str, differs: str) -> None:
    store(old)
    stored = store(new)
    assert [each.differs for each in stored.similar] == [differs]
    assert stored.maybe_supersedes == (1,)


def test_what_is_said_of_another_thing_supersedes_nothing(store: Store) -> None:
    store("Node 3 of the cluster has 64 GB of memory and two disks")
    stored = store("Node 5 of the cluster has 128 GB of memory and two disks")
    assert [each.memory.id for each in stored.similar] == [1]
    assert stored.maybe_supersedes == ()


def test_another_type_is_kept_apart_and_a_change_that_makes_two_the_same_says_so(
    service: MemoryService, store: Store
) -> None:
    store(TEXT)
    other = store(TEXT, type=MemoryType.LEARNING)
    assert (other.consolidated, other.memory.id) == (False, 2)
    updated = service.update(MemoryId(2), MemoryChange(type=MemoryType.DECISION), caller=Caller())
    assert updated.same_as == 1
    elsewhere = service.update(MemoryId(2), MemoryChange(project="q"), caller=Caller())
    assert (elsewhere.same_as, elsewhere.similar) == (None, ())
    back = service.update(MemoryId(2), MemoryChange(content=LONGER, project="p"), caller=Caller())
    assert (back.same_as, back.earlier) == (1, (TEXT,))


def test_no_project_counts_as_a_project(store: Store) -> None:
    store(TEXT, project=None)
    assert store(TEXT, project=None).consolidated


def test_a_twin_is_found_among_thousands_that_share_its_common_words(
    service: MemoryService, store: Store
) -> None:
    """Candidates come from the index, rarest words first, not from the best twenty of a search."""
    with service.database.write() as tx:
        for number in range(3000):
            text = f"We deploy the service number {number} on Fridays after lunch"
            tx.memories.insert(MemoryDraft(text, MemoryType.DECISION, "p"), CALLER)
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
    with pytest.raises(NotFound, match=r"^No memory 41\.$") as error:
        store(TEXT, related_to=41)
    assert error.value.problem.hints == (Hint(Mend.FIND_MEMORY),)
    assert rows(service, "SELECT * FROM memories") == []
    assert store(TEXT).memory.id == 1


# Get


def test_reading_changes_nothing(service: MemoryService, store: Store, clock: Clock) -> None:
    store(TEXT)
    before = rows(service, "SELECT * FROM memories")
    clock.advance(days=1)
    service.get([MemoryId(1)])
    service.statistics(None, caller=Caller())
    assert rows(service, "SELECT * FROM memories") == before


def test_get_answers_in_the_order_asked_and_names_what_is_missing(
    service: MemoryService, store: Store
) -> None:
    store(TEXT)
    store("The invoice bug was caused by rounding")
    answer = service.get([MemoryId(id) for id in (9, 2, 1, 2, 7)])
    assert [each.memory.id for each in answer.memories] == [2, 1]
    assert (answer.missing, answer.degraded) == ([9, 7], ())


# Update


def test_update_changes_what_is_given_and_keeps_the_earlier_text(
    service: MemoryService, search: SearchService, store: Store, clock: Clock
) -> None:
    store(TEXT, tags=("ops",), metadata={"a": 1})
    before = one(service, 1)
    clock.advance(hours=1)
    after = service.update(
        MemoryId(1), MemoryChange(content="We deploy on Mondays", importance=9, project=""), caller=Caller()
    )
    changed = replace(
        before,
        content="We deploy on Mondays",
        importance=9,
        project=None,
        updated_at="2026-03-14T10:26:53.589Z",
    )
    assert after == Updated(changed, (TEXT,))
    assert read(service, 1) == Detailed(changed, (TEXT,))
    assert found(search, "Mondays", Filter(project="")) == [1]
    assert found(search, "billing", mode="keyword") == []


def test_updating_everything_but_the_text_makes_no_history_and_needs_no_embedding(
    service: MemoryService, search: SearchService, store: Store
) -> None:
    store(TEXT)
    found(search, "billing")
    service.update(
        MemoryId(1),
        MemoryChange(type=MemoryType.ERROR, tags=(), metadata={}, project="q", importance=1),
        caller=Caller(),
    )
    assert rows(service, "SELECT * FROM memory_history") == []
    assert rows(service, "SELECT * FROM embedding_queue") == []
    assert found(search, "billing", Filter(MemoryType.ERROR, "q"), "semantic") == [1]


def test_an_update_without_a_field_or_of_no_memory_is_refused(service: MemoryService, store: Store) -> None:
    store(TEXT)
    with pytest.raises(Invalid, match=r"^Nothing to update\.$") as empty:
        service.update(MemoryId(1), MemoryChange(), caller=Caller())
    assert empty.value.problem.hints == (Hint(Mend.NAME_MEMORY_FIELDS),)
    with pytest.raises(NotFound, match=r"^No memory 41\.$") as unknown:
        service.update(MemoryId(41), MemoryChange(importance=1), caller=Caller())
    assert unknown.value.problem.hints == (Hint(Mend.FIND_MEMORY),)


# Forget


def test_forgetting_takes_everything_that_hangs_on_a_memory(
    service: MemoryService, search: SearchService, store: Store
) -> None:
    store(TEXT)
    store(LONGER)
    store("The invoice bug was caused by rounding", related_to=1)
    found(search, "billing")
    service.forget(MemoryId(1), False, CALLER)
    assert found(search, "billing service on Fridays", mode="keyword") == []
    assert found(search, TEXT, mode="semantic") == [2]
    assert service.get([MemoryId(1)]) == Read([], [MemoryId(1)], ())
    for table in ("memory_history", "edges", "embedding_queue"):
        assert rows(service, f"SELECT * FROM {table}") == []
    for table in ("embeddings", "embedding_bits"):
        assert rows(service, f"SELECT memory_id FROM {table}") == [(2,)]


def test_forgetting_what_is_not_there_says_so(service: MemoryService) -> None:
    with pytest.raises(NotFound, match=r"^No memory 41\.$") as error:
        service.forget(MemoryId(41), False, CALLER)
    assert error.value.problem.hints == (Hint(Mend.FIND_MEMORY),)


# Secrets, statistics


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
        service.update(MemoryId(1), MemoryChange(content=secret), caller=Caller())
    assert rows(service, "SELECT content FROM memories") == [(TEXT,)]


def test_statistics_count_by_type_and_project(service: MemoryService, store: Store) -> None:
    store(TEXT)
    store("billing beta", type=MemoryType.ERROR)
    store("billing gamma", type=MemoryType.ERROR, project=None)
    statistics = service.statistics(None, caller=Caller())
    assert statistics.total == 3
    assert statistics.by_type == {"error": 2, "decision": 1}
    assert statistics.by_project == {"p": 2, "": 1}
    assert (statistics.coverage.embedded, statistics.coverage.waiting) == (3, 0)
    assert (statistics.size or 0) > 10_000
    assert service.statistics("p", caller=Caller()).coverage.embedded == 2


# Statements


@contextmanager
def statements(database: Database) -> Iterator[list[str]]:
    """The SQL statements that run inside the block, those that begin and end a transaction too."""
    ran: list[str] = []

    def trace(_: object, sql: str, values: object) -> bool:
        ran.append(sql)
        return True

    with database.read() as tx:
        connection = tx.connection
    connection.exec_trace = trace
    try:
        yield ran
    finally:
        connection.exec_trace = None


@pytest.fixture
def texts(database: Database, queue: EmbeddingQueue) -> Iterator[str]:
    """Texts of 40 words, which share words with 1,000 embedded memories of project p, in a file."""
    file_of(database)
    chance = random.Random(40)
    known = [f"word{number}" for number in range(400)]
    endless = iter(lambda: " ".join(chance.sample(known, 40)), None)
    with database.write() as tx:
        for _ in range(1000):
            tx.memories.insert(MemoryDraft(next(endless), MemoryType.DECISION, "p"), CALLER)
    queue.drain()
    return endless


def test_storing_takes_few_statements_however_many_the_words(
    service: MemoryService, store: Store, texts: Iterator[str]
) -> None:
    text = next(texts)
    with statements(file_of(service.database)) as new:
        stored = store(text, related_to=1)
    with statements(file_of(service.database)) as restated:
        again = store(f"{text}.", related_to=2)
    assert (stored.consolidated, again.consolidated) == (False, True)
    assert len(new) <= 17, new  # the vector is kept by the same write
    assert len(restated) <= 21, restated  # how it was is kept, and that the session uses what it was shown


def test_a_search_takes_one_statement_a_word_and_few_more(
    search: SearchService, texts: Iterator[str]
) -> None:
    text = next(texts)
    with statements(file_of(search.database)) as ran:
        hits = search.search(text, Filter(), 10, "hybrid", caller=Caller()).hits
    assert len(hits) == 10
    assert len(ran) <= len(text.split()) + 25, ran
