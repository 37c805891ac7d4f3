"""How often a call waits for the database: each time costs the way to another machine and back."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import anyio
import pytest

from memory_server import embedders
from memory_server.call import again
from memory_server.domain.caller import Caller
from memory_server.domain.embedding import Space, Vector
from memory_server.domain.memory import MemoryId
from memory_server.domain.similar import MEASURED
from memory_server.embedding.hashing import HashingEmbedder
from memory_server.postgres.database import Database
from memory_server.project import Project
from memory_server.services.by_meaning import ByMeaning
from memory_server.services.injections import InjectionService
from memory_server.services.reminding import RemindingService
from memory_server.services.waking import WakingService
from tests.postgres_server import new_place
from tests.storage.replay import SHOP, Side

BLOG = Caller("Claude", "s1", Project("/srv/blog", "blog"))

TEXTS = [
    f"The ledger number {number} of the billing service is kept by clerk {number}" for number in range(30)
]
ASKED = "Who keeps the ledger of the billing service? And which number has it?"

DIMENSIONS = 384

STORES: list[tuple[str, dict[str, object]]] = [
    (
        "a text like many others",
        {"content": "The ledger of the billing service is kept by clerk Ann", "type": "learning"},
    ),
    ("one that is merged", {"content": f"{TEXTS[3]}.", "type": "learning"}),
    ("one that supersedes another", {"content": "Clerk 4 left us", "type": "learning", "supersedes": 4}),
    (
        "one with two ends",
        {"content": "Clerk 5 went too", "type": "learning", "supersedes": 5, "relatedTo": 6},
    ),
    ("one that may replace another", {"content": f"{TEXTS[7]} and by Bob", "type": "learning"}),
    (
        "in a project that is named",
        {"content": "Ann keeps all ledgers", "type": "decision", "project": "shop"},
    ),
]

CALLS: list[tuple[str, dict[str, object], int]] = [
    ("memory_search", {"query": ASKED}, 6),
    ("memory_search", {"query": ASKED, "type": "learning"}, 6),
    ("memory_search", {"query": "Who kept the ledger of billing last week, on May 3, 2025 or in March?"}, 6),
    ("memory_search", {"query": ASKED, "project": "shop"}, 6),
    ("memory_search", {"query": "*"}, 1),
    ("recall", {"query": ASKED}, 6),
    ("recall", {"query": ASKED, "project": "shop"}, 6),
    ("memory_get", {"ids": [1, 2]}, 2),
    ("memory_update", {"id": 9, "content": "Clerk 8 keeps two ledgers"}, 6),
    ("memory_update", {"id": 9, "importance": 3}, 3),
    ("memory_stats", {}, 7),
    ("memory_stats", {"project": "shop"}, 7),
    ("smart_resume", {}, 5),
    ("write_memory", {"key": "ledger.clerk", "value": "Ann"}, 5),
    ("write_memory", {"key": "ledger.clerk", "value": "Bob"}, 4),
    ("read_memory", {"key": "ledger.clerk"}, 1),
    ("graph_connect", {"sourceId": 1, "targetId": 2, "relation": "causes"}, 4),
    ("graph_explore", {"memoryId": 1}, 5),
    ("register_memory", {"message": "Who keeps the ledger?", "summary": "A question"}, 3),
    ("add_short_term_memory", {"messages": [{"role": "user", "content": "Ann keeps the ledger"}]}, 3),
    ("search_short_term_memories", {"recentMessages": [{"role": "user", "content": "the ledger"}]}, 8),
    ("memory_delete", {"id": 11}, 3),
]


class Comparable(HashingEmbedder):
    """Its cosines are used like those of the bundled model, and it has as many dimensions."""

    @property
    def space(self) -> Space:
        return replace(super().space, provider=MEASURED, dimensions=DIMENSIONS)

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        return [each[:DIMENSIONS] for each in super().embed_documents(texts)]

    def embed_questions(self, texts: Sequence[str]) -> list[Vector]:
        return [each[:DIMENSIONS] for each in super().embed_questions(texts)]


@pytest.fixture
def side(monkeypatch: pytest.MonkeyPatch) -> Iterator[Side]:
    """All tools over a tenant with thirty memories."""
    embedder = Comparable()
    monkeypatch.setattr(embedders, "choose", lambda _settings, _known: embedder)
    monkeypatch.setattr(embedders, "load", lambda _space, _settings: embedder)
    side = Side(new_place(), 1, monkeypatch)
    for text in TEXTS:
        anyio.run(side.answer, ("memory_store", {"content": text, "type": "learning"}), SHOP)
    yield side
    side.close()


def database_of(side: Side) -> Database:
    database = side.services.database
    assert isinstance(database, Database)
    return database


def trips(side: Side, name: str, arguments: dict[str, object], caller: Caller = SHOP) -> int:
    """How often a call waits; what the calls before it have still to count is written before."""
    database = database_of(side)
    database.settle()
    before = database.trips.number
    answer = anyio.run(side.answer, (name, arguments), caller)
    number = database.trips.number - before
    assert not isinstance(answer, str), answer
    return number


def test_a_store_waits_six_times_at_most(side: Side) -> None:
    assert {
        what: number for what, given in STORES if (number := trips(side, "memory_store", given)) > 6
    } == {}
    # The first of a project enters that too.
    assert trips(side, "memory_store", {"content": "A blog", "type": "learning"}, BLOG) <= 6


def test_other_calls_wait_a_few_times(side: Side) -> None:
    waited = [(name, given, trips(side, name, given), most) for name, given, most in CALLS]
    assert [each for each in waited if each[2] > each[3]] == []


def test_a_call_whose_project_was_renamed_goes_on_with_the_name_of_now(side: Side) -> None:
    side.services.projects.rename("shop", "store")
    stored = anyio.run(side.answer, ("memory_store", {"content": f"{TEXTS[12]}!", "type": "learning"}), SHOP)
    assert isinstance(stored, dict)
    assert stored["consolidated"]
    with database_of(side).read() as tx:
        assert {memory.project for memory in tx.memories.select([MemoryId(1), MemoryId(13)])} == {"store"}
    found = anyio.run(side.answer, ("memory_search", {"query": ASKED, "project": "/srv/shop"}), SHOP)
    assert isinstance(found, dict)
    assert found["results"]
    assert "Nothing is stored of a project" not in str(found)


def test_hooks_wait_a_few_times_however_many_words_a_prompt_has(side: Side) -> None:
    database = database_of(side)
    waking = WakingService(database, lambda _triggers, _situation, _doubtful: [], lambda: 0.5)
    reminding = RemindingService(database, waking, ByMeaning(side.services.recall).find)
    injections = InjectionService(database)
    told = {"content": "The zeppelin of the staging cluster hangs above Ben", "type": "learning"}
    anyio.run(side.answer, ("memory_store", told), SHOP)
    prompt = f"Where does the zeppelin of the staging cluster hang? {ASKED}"
    before = database.trips.number
    reminder = again.whole(lambda: reminding.remind(prompt, 500, SHOP))
    assert reminder.said
    assert database.trips.number - before <= 9
    before = database.trips.number
    injections.record_reminder(reminder, "UserPromptSubmit", SHOP)
    assert database.trips.number - before == 1
