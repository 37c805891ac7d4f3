"""The order of a re-ranker in searches and recalls: when it holds, when not, and what is said then."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memory_server import app
from memory_server.app import Services
from memory_server.domain.caller import Caller
from memory_server.domain.memory import Filter, MemoryDraft, MemoryId, MemoryType
from memory_server.project import Project
from memory_server.services import reranking
from memory_server.services.looking import LookWish
from memory_server.services.recall import RecallWish
from memory_server.services.search import SearchResult
from memory_server.settings import Settings
from tests.endpoint import Answer, Local, broken, local_endpoint, stall, status
from tests.rerankers import DIALECTS, RUBBISH, jina, llama

QUESTION = "Where did the harbour team keep its keys?"
CALLER = Caller(project=Project("shop", "shop"))

Open = Callable[..., Services]


@pytest.fixture
def local() -> Iterator[Local]:
    with local_endpoint() as server:
        server.answer = jina
        yield server


@pytest.fixture
def services_of(tmp_path: Path, local: Local) -> Iterator[Open]:
    opened = []

    def of(reranker: str | None = "endpoint:m", **settings: Any) -> Services:
        services = app.build(
            Settings(
                db=tmp_path / "memory.db",
                embedder="hashing",
                reranker=reranker,
                **{"reranker_url": local.url, **settings},
            )
        )
        services.queue.warm_up()
        services.reranking.load()
        opened.append(services)
        return services

    yield of
    for services in opened:
        services.close()


def store(services: Services, *contents: str, project: str | None = None) -> list[MemoryId]:
    drafts = [MemoryDraft(content, MemoryType.LEARNING, project=project) for content in contents]
    ids = [services.memories.store(draft, None, CALLER).memory.id for draft in drafts]
    services.queue.work()
    return ids


def plain(services: Services) -> tuple[MemoryId, MemoryId, MemoryId]:
    """Three memories: the best by words, the one that the re-ranker of the tests wants, and another one."""
    first, last, other = store(
        services,
        "The harbour team did keep its keys in the blue box.",
        "Keys of the harbour: they are in the gold cupboard now.",
        "The team has lunch at noon.",
    )
    return first, last, other


def search(services: Services, text: str = QUESTION, mode: str = "hybrid", limit: int = 10) -> SearchResult:
    return services.search.search(text, Filter(), limit, mode, caller=CALLER)


def ids(found: SearchResult) -> list[MemoryId]:
    return [hit.memory.id for hit in found.hits]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_search_and_a_recall_have_the_order_of_the_re_ranker(
    services_of: Open, local: Local, dialect: str
) -> None:
    local.answer = DIALECTS[dialect]
    services, without = services_of(), services_of(None)
    first, gold, _ = plain(services)
    by_words = search(without)
    assert ids(by_words)[:2] == [first, gold]
    found = search(services)
    assert (ids(found)[0], found.degraded) == (gold, ())
    best_first = sorted((hit.score for hit in by_words.hits), reverse=True)
    assert [hit.score for hit in found.hits] == pytest.approx(best_first)
    assert [hit.why.words for hit in found.hits if hit.memory.id == gold] == [
        hit.why.words for hit in by_words.hits if hit.memory.id == gold
    ]
    recalled = services.recall.recall(QUESTION, (), 800, RecallWish(), CALLER, explain=True)
    assert (recalled.items[0].id, recalled.degraded) == (gold, ())
    assert local.asked[-1].body["query"] == QUESTION


def test_no_network_is_used_unless_the_user_names_a_re_ranker(services_of: Open, local: Local) -> None:
    services = services_of(None)
    plain(services)
    search(services)
    services.recall.recall(QUESTION, (), 800, RecallWish(), CALLER)
    assert local.asked == []


def test_what_nobody_asked_for_and_what_names_its_order_does_without(services_of: Open, local: Local) -> None:
    services = services_of()
    plain(services)
    services.recall.find(QUESTION, RecallWish(), CALLER)
    services.reminding.remind(QUESTION, 400, CALLER)
    services.looking.look(QUESTION, LookWish(), 10, CALLER)
    for mode in ("keyword", "semantic"):
        search(services, mode=mode)
    search(services, "*")
    assert local.asked == []


def test_one_hit_needs_no_order(services_of: Open, local: Local) -> None:
    services = services_of()
    store(services, "The harbour team did keep its keys in the blue box.")
    assert (len(search(services).hits), local.asked) == (1, [])


def test_only_the_first_fifty_are_judged_and_the_others_keep_their_places(
    services_of: Open, local: Local
) -> None:
    services, without = services_of(), services_of(None)
    store(
        services,
        *(f"Key number {number} of the harbour team is in box {number * 7}." for number in range(60)),
    )
    before = ids(search(without, limit=60))
    (gold,) = store(services, "Where a key of the harbour team is: in the gold box")
    found = ids(search(services, "Where is a key of the harbour team?", limit=60))
    asked = local.asked[-1].body["documents"]
    assert len(asked) == reranking.FIRST
    assert len(set(asked)) == len(asked)
    assert found[0] == gold
    assert len(before) == 60
    assert found[50:] == ids(search(without, "Where is a key of the harbour team?", limit=61))[50:60]


def test_a_page_goes_on_where_the_one_before_ended(services_of: Open) -> None:
    services = services_of()
    store(
        services,
        *(f"Key {number} of the harbour, box {number * 7}. {number % 3 * 'gold '}" for number in range(30)),
    )
    whole = ids(search(services, limit=20))
    parts = [
        ids(services.search.search(QUESTION, Filter(), 5, "hybrid", offset=offset, caller=CALLER))
        for offset in (0, 5, 10, 15)
    ]
    assert [id for part in parts for id in part] == whole


def test_a_text_that_is_the_query_stays_first_and_another_project_keeps_its_share(services_of: Open) -> None:
    services = services_of()
    (same,) = store(services, "the blue box of the harbour")
    (gold,) = store(services, "gold, gold box of the harbour")
    assert ids(search(services, "the blue box of the harbour"))[:2] == [same, gold]
    (theirs,) = store(services, "gold, gold, gold box of the harbour", project="other")
    found = ids(search(services, "Which box is at the harbour?"))
    assert found.index(theirs) > found.index(gold)
    everywhere = services.search.search(
        "Which box is at the harbour?", Filter(project="*"), 10, "hybrid", caller=CALLER
    )
    assert ids(everywhere)[0] == theirs


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        *((answer, "it is no rerank endpoint, or it is broken") for answer in RUBBISH.values()),
        (broken, "broke off the connection"),
        (status(500, "no memory left"), "HTTP 500"),
        (status(404, "what?"), "no rerank endpoint"),
        (status(401, "who?"), "wants a key, and none is set"),
    ],
)
def test_what_fails_falls_back_to_the_order_without_it_and_says_so(
    services_of: Open, local: Local, answer: Answer, words: str
) -> None:
    services = services_of()
    first, gold, _ = plain(services)
    local.answer = answer
    found = search(services)
    assert ids(found)[:2] == [first, gold]
    (problem,) = found.degraded
    assert problem.text.startswith("ordered without the re-ranker: ")
    assert words in problem.text
    recalled = services.recall.recall(QUESTION, (), 800, RecallWish(), CALLER, explain=True)
    assert recalled.items[0].id == first
    assert [str(problem) for problem in recalled.degraded] == [str(problem) for problem in found.degraded]


def test_a_re_ranker_that_failed_rests_and_is_asked_again(
    services_of: Open, local: Local, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = services_of(reranker_seconds=0.2)
    first, gold, _ = plain(services)
    local.answer = stall
    assert "did not answer" in search(services).degraded[0].text
    asked = len(local.asked)
    for _ in range(20):
        assert (ids(search(services))[0], len(search(services).degraded)) == (first, 1)
    assert len(local.asked) == asked
    local.answer = jina
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + reranking.PAUSE + 1)
    assert (ids(search(services))[0], search(services).degraded) == (gold, ())


def test_before_it_is_loaded_the_order_is_the_one_without_it(services_of: Open, tmp_path: Path) -> None:
    services = services_of(f"sentence-transformers:{tmp_path / 'nothing'}", reranker_url=None)
    first, *_ = plain(services)
    found = search(services)
    assert ids(found)[0] == first
    assert "ordered without the re-ranker: The re-ranker" in found.degraded[0].text
    services.reranking._problem = reranking.Reranking(None)._problem
    assert search(services).degraded[0].text == "ordered without the re-ranker: it is still loading"


def test_a_check_loads_no_second_model_and_asks_the_one_that_is_here(services_of: Open, local: Local) -> None:
    services = services_of()
    loaded = services.reranking._reranker
    assert services.reranking.check() is None
    assert services.reranking._reranker is loaded
    assert local.asked[-1].body["query"] == reranking.CHECKED[0]


def test_logits_of_any_size_are_taken(services_of: Open, local: Local) -> None:
    services = services_of()
    _, gold, _ = plain(services)
    local.answer = llama
    assert ids(search(services))[0] == gold
    order = reranking.Reranking(None)
    order._reranker = type("Huge", (), {"scores": lambda *_: [-1e9, 1e9, 0.5]})()
    assert order._scores("q", ["a", "b", "c"]) == [pytest.approx(0), 1.0, pytest.approx(0.62, abs=0.01)]


def test_of_a_long_text_the_part_that_answers_is_judged(services_of: Open, local: Local) -> None:
    services = services_of()
    filler = "Lunch is served at noon in the hall. " * 200
    store(
        services,
        f"{filler} The harbour team did keep its keys in the gold box. {filler}",
        "Keys of the team.",
    )
    store(services, f"Keys of the harbour. {filler[:4000]}")
    search(services)
    sent = local.asked[-1].body["documents"]
    assert max(map(len, sent)) <= reranking.LONGEST
    assert any("gold box" in text for text in sent)


def test_what_is_deleted_while_it_is_judged_is_not_shown(services_of: Open, local: Local) -> None:
    services = services_of()
    first, gold, _ = plain(services)

    def meanwhile(server: Local, asked: Any) -> Any:
        services.memories.forget(gold, False, CALLER)
        return jina(server, asked)

    local.answer = meanwhile
    assert gold not in ids(search(services))
    assert first in ids(search(services))
