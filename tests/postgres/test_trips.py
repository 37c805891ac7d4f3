"""How often a search and a store wait for the database."""

from collections.abc import Callable
from functools import partial

import pytest

from memory_server.domain.caller import Caller
from memory_server.domain.memory import Filter, MemoryDraft, MemoryType
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.postgres.database import Database
from memory_server.project import Project
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.memories import MemoryService
from memory_server.services.search import SearchService
from tests.conftest import Clock
from tests.postgres_server import new_tenant

SHOP = Caller("Claude", "s1", Project("/srv/shop", "shop"))


@pytest.fixture
def database(clock: Clock) -> Database:
    return new_tenant(clock)


def trips(database: Database, call: Callable[[], object]) -> int:
    before = database.trips.number
    call()
    return database.trips.number - before


def test_a_search_and_a_store_wait_a_few_times_however_much_they_read(
    database: Database, queue: EmbeddingQueue, segmenter: JiebaSegmenter
) -> None:
    memories, search = MemoryService(database, queue, segmenter), SearchService(database, queue)
    queue.answering()
    texts = [
        f"The ledger number {number} of the billing service is kept by clerk {number}" for number in range(30)
    ]

    def store(text: str) -> int:
        draft = MemoryDraft(text, MemoryType.LEARNING, "/srv/shop")
        return trips(database, lambda: memories.store(draft, None, SHOP))

    assert max(list(map(store, texts))[1:]) <= 6  # the first one enters the project
    queue.drain()
    database.settle()
    asked = "Who keeps the ledger of the billing service? And which number has it?"
    for wanted, most in (
        (Filter(), 4),
        (Filter(type=MemoryType.LEARNING), 4),
        (Filter(project="/srv/shop"), 5),
    ):
        found = []
        ask = partial(search.search, asked, wanted, 10, "hybrid", caller=SHOP)
        assert trips(database, lambda: found.append(ask())) <= most  # noqa: B023 - it is called at once
        assert len(found[0].hits) == 10
    database.close()
