"""Short-term memories, facts and projects on PostgreSQL: the same numbers as SQLite's, and what only its owner sees."""

import random
from collections.abc import Iterator
from datetime import timedelta

import pytest

from memory_server.call import acting
from memory_server.domain.caller import Caller, Person
from memory_server.domain.fact import FactDraft, Home, Scope
from memory_server.domain.injection import Captured
from memory_server.domain.moment import timestamp
from memory_server.domain.short_term import Asking, CleanupRule, Keyword
from memory_server.postgres.database import Database
from memory_server.storage.database import Database as AnyDatabase
from tests.conftest import Clock, InMemory
from tests.postgres_server import new_tenant

CALLER = Caller("Claude", "s1")
WORDS = ["cache", "zebra", "src/app", "app", "王", "王思琪", "harbour", "kelp", "v3.1", "3.1"]


@pytest.fixture
def database(clock: Clock) -> Iterator[Database]:
    tenant = new_tenant(clock)
    yield tenant
    assert tenant.problems() == []
    tenant.close()


def keywords(chance: random.Random) -> list[Keyword]:
    return [
        Keyword(word, round(chance.uniform(0.8, 30), 4), word)
        for word in chance.sample(WORDS, chance.randint(1, len(WORDS)))
    ]


def told(database: AnyDatabase, clock: Clock, seed: int) -> list[object]:
    """All numbers that short-term memories give for some questions."""
    chance = random.Random(seed)
    with database.write() as tx:
        place = tx.conversations.find_or_insert("c")
        ids = []
        for _ in range(40):
            ago = timedelta(
                milliseconds=chance.choice([0, 1, 10**6, 10**9, 10**10, 10**12]) * chance.random()
            )
            said = timestamp(clock() - ago)
            ids.append(tx.short_term.insert(place, "x", said, keywords(chance), CALLER))
            tx.short_term.raise_score(ids[-1], chance.choice([0.0, 0.1, 2.0, 5.0, 99.7]))
    found: list[object] = []
    with database.read() as tx:
        for share in (None, 0.3):
            asking = Asking(keywords(chance), share)
            found += [tx.short_term.relevant(place, asking, tx.now), tx.short_term.recollect(asking, ids)]
            found += [tx.short_term.shared_words(ids, asking), tx.short_term.totals(place)]
        found += [tx.short_term.nth_settled(place, tx.now, number) for number in (0, 7, 39)]
    with database.write() as tx:
        found += [tx.short_term.clean_up(place, CleanupRule(timedelta(days=9), -3.0, 5), tx.now)]
        found += [tx.short_term.settled(place, tx.now)]
    return found


@pytest.mark.parametrize("seed", range(5))
def test_relevance_is_the_same_number_as_in_a_file_of_sqlite(
    database: Database, clock: Clock, seed: int
) -> None:
    file = InMemory(clock)
    assert told(database, clock, seed) == told(file, clock, seed)
    file.close()


def test_facts_are_named_in_the_same_order_as_in_a_file_of_sqlite(database: Database, clock: Clock) -> None:
    chance, place = random.Random(3), Home(Scope.GLOBAL, "")
    drafts = [
        FactDraft(f"key.{number}", {"text": " ".join(chance.choices(WORDS, k=chance.randint(1, 12)))})
        for number in range(60)
    ]
    file = InMemory(clock)
    stores: list[AnyDatabase] = [database, file]
    found = []
    for store in stores:
        with store.write() as tx:
            for draft in drafts:
                tx.facts.insert(place, draft, None, CALLER)
        with store.read() as tx:
            asked = [
                ["zebra"],
                ["zebra", "kelp"],
                ["王 思 琪", "key"],
                ["src/app", "harbour", "v3.1"],
                ["none", "?"],
            ]
            found.append(
                [[fact.key for fact in tx.word_hits.mentioned_facts([place], each, 20)] for each in asked]
            )
    assert found[0] == found[1]
    assert [len(keys) for keys in found[0]] == [20, 20, 20, 20, 0]
    file.close()


def test_a_person_sees_and_renames_no_more_than_the_own(database: Database) -> None:
    ada, bob = Person("ada", frozenset(["app"])), Person("bob", frozenset())
    for person in (ada, bob):
        with acting.as_(person), database.write() as tx:
            tx.conversations.find_or_insert("project:app")
            tx.facts.insert(Home(Scope.GLOBAL, tx.key("")), FactDraft("mine", person.name), None, CALLER)
    with acting.as_(ada), database.write() as tx:
        tx.facts.insert(Home(Scope.PROJECT, "app"), FactDraft("port", 1), None, CALLER)
        assert tx.projects.names() == ["app"]
    with acting.as_(bob), database.read() as tx:
        assert tx.projects.names() == []
        assert tx.facts.find(Home(Scope.PROJECT, "app"), "port") is None
        assert tx.facts.find(Home(Scope.GLOBAL, "ada\x1f"), "mine") is None
        assert tx.fact_history.find(1) is None
        assert tx.conversations.names() == ["project:app"]
    with database.write() as tx:
        project = tx.projects.find("app")
        assert project is not None
        tx.projects.rename(project.id, "shop")
    with database.read() as tx:
        assert tx.conversations.names() == ["bob\x1fproject:shop", "ada\x1fproject:shop"]
    with acting.as_(Person("ada", frozenset(["shop"]))), database.read() as tx:
        port = tx.facts.find(Home(Scope.PROJECT, "shop"), "port")
        assert port is not None
        assert port.value == 1


def test_so_many_marks_of_hooks_are_kept_and_a_new_one_takes_the_place_of_the_old(database: Database) -> None:
    with database.write() as tx:
        for number in range(3):
            tx.facts.insert(Home(Scope.GLOBAL, ""), FactDraft(f"k{number}", number), None, CALLER)
            tx.hook_captures.insert(Captured.FACT, number + 1, "s1", "Stop")
        tx.hook_captures.insert(Captured.FACT, 1, "s2", "Stop")
        assert [each.id for each in tx.hook_captures.select(None, None)] == [1, 3, 2]
        tx.send("UPDATE hook_captures SET id = id + 50000 WHERE item_id = 1")
        tx.hook_captures.insert(Captured.FACT, 4, "s2", "Stop")
        assert [each.id for each in tx.hook_captures.select(None, None)] == [1]
        tx.facts.delete(tx.facts.select([1])[0], CALLER)


def test_the_waits_of_a_call_do_not_grow_with_what_is_remembered(database: Database, clock: Clock) -> None:
    with database.write() as tx:
        place = tx.conversations.find_or_insert("c")
        ids = [tx.short_term.insert(place, "x", tx.now, [Keyword("x", 1.0, "x")], CALLER) for _ in range(30)]
    asking = Asking([Keyword("x", 1.0, "x")])
    before = database.trips.number
    with database.read() as tx:
        for number in range(30):
            tx.short_term.nth_settled(place, tx.now, number)
        tx.short_term.shared_words(ids, asking)
        tx.facts.first([Home(scope, "") for scope in Scope], "k")
    assert database.trips.number - before == 3
