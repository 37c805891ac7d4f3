"""The tables of short-term memories: the same on both stores, and read in pages."""

from collections.abc import Iterator

import pytest

from memory_server.domain.caller import Caller
from memory_server.storage.database import Database
from memory_server.storage.tables import short_term
from tests.conftest import STORES, Clock, InMemory
from tests.postgres_server import new_tenant


@pytest.fixture(params=STORES)
def database(request: pytest.FixtureRequest, clock: Clock) -> Iterator[Database]:
    database: Database = InMemory(clock) if request.param == "sqlite" else new_tenant(clock)
    yield database
    database.close()


@pytest.mark.parametrize("number", [0, 1, 2, 3, 4, 5])
def test_pages_of_texts_hold_each_text_of_the_conversation_once(
    database: Database, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(short_term, "PAGE", 2)
    with database.write() as tx:
        place, elsewhere = (tx.conversations.find_or_insert(name) for name in "ab")
        expected = []
        for text in map(str, range(number)):
            expected.append((tx.short_term.insert(place, text, tx.now, [], Caller()), text))
            tx.short_term.insert(elsewhere, text, tx.now, [], Caller())
        assert list(tx.short_term.texts(place)) == expected


def test_pages_go_on_behind_texts_that_cannot_be_read(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(short_term, "PAGE", 2)
    file = InMemory(clock)
    with file.write() as tx:
        place = tx.conversations.find_or_insert("c")
        ids = [tx.short_term.insert(place, "text", tx.now, [], Caller()) for _ in range(5)]
        tx.send("UPDATE short_term_memories SET text = CAST(x'63e9' AS TEXT) WHERE id IN (?, ?)", ids[2:4])
        assert [id for id, _ in tx.short_term.texts(place)] == [*ids[:2], ids[4]]
        assert len(tx.skipped) == 2
    file.close()
