"""Projects that another server renames or joins while this one remembers their former names."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from memory_server.call import again
from memory_server.domain.caller import Caller
from memory_server.domain.fact import FactDraft, Scope
from memory_server.errors import Conflict, NotFound, Undone
from memory_server.postgres.database import Database
from memory_server.project import Project
from memory_server.services.facts import FactService
from memory_server.services.projects import ProjectService, name_of
from tests.conftest import Clock
from tests.postgres_server import new_place

SHOP = Caller("tests", "s1", Project("/srv/shop", "shop"))


@pytest.fixture
def servers(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Database, Database]]:
    """Two servers of one tenant; the first one remembers that the project of SHOP is called `shop`."""
    monkeypatch.setattr(again, "PAUSE", 0.0)
    place = new_place()
    first, second = Database(place, clock), Database(place, clock)
    FactService(first).write(FactDraft("clerk", "Ann"), Scope.PROJECT, SHOP)
    assert name(first) == "shop"
    yield first, second
    first.close()
    second.close()


def name(database: Database) -> str:
    """The name of the project of SHOP, as a call reads it."""
    with database.read() as tx:
        return name_of(tx, SHOP.project)


def trips(database: Database, call: Callable[[], Any]) -> int:
    before = database.trips.number
    again.whole(call)
    return database.trips.number - before


def owners(database: Database) -> set[tuple[str, Any]]:
    """The project and the value of each fact."""
    with database.read() as tx:
        return {(owner, json.loads(value)) for owner, value in tx.rows("SELECT owner, value FROM facts")}


def test_a_call_that_may_be_repeated_does_not_wait_for_the_names(servers: tuple[Database, Database]) -> None:
    facts = FactService(servers[0])
    assert trips(servers[0], lambda: facts.peek("clerk", Scope.PROJECT, SHOP)) == 1


@pytest.mark.parametrize("change", ["rename", "join"])
def test_a_read_goes_on_with_the_new_name(servers: tuple[Database, Database], change: str) -> None:
    first, second = servers
    move(second, change)
    fact = again.whole(lambda: FactService(first).get("clerk", Scope.PROJECT, SHOP))
    assert (fact.home.owner, fact.value) == ("store", "Ann")


@pytest.mark.parametrize("change", ["rename", "join"])
def test_a_write_goes_into_the_project_with_the_new_name(
    servers: tuple[Database, Database], change: str
) -> None:
    first, second = servers
    move(second, change)
    again.whole(lambda: FactService(first).write(FactDraft("clerk", "Bob"), Scope.PROJECT, SHOP))
    assert owners(first) == {("store", "Bob")}


def move(database: Database, change: str) -> None:
    """Give `shop` the name `store`, or join it with a project of that name."""
    if change == "rename":
        ProjectService(database).rename("shop", "store")
        return
    with database.write() as tx:
        tx.projects.insert("store")
    ProjectService(database).join("shop", "store")


def test_a_project_that_got_the_former_name_is_neither_read_nor_written(
    servers: tuple[Database, Database],
) -> None:
    first, second = servers
    ProjectService(second).rename("shop", "store")
    new_shop = Caller("tests", "s2", Project("/srv/new", "shop"))
    FactService(second).write(FactDraft("clerk", "Eve"), Scope.PROJECT, new_shop)
    with second.read() as tx:
        other_name = name_of(tx, new_shop.project)
    assert again.whole(lambda: FactService(first).get("clerk", Scope.PROJECT, SHOP)).value == "Ann"
    again.whole(lambda: FactService(first).write(FactDraft("clerk", "Bob"), Scope.PROJECT, SHOP))
    assert owners(first) == {("store", "Bob"), (other_name, "Eve")}


def test_no_error_is_told_that_the_former_name_has_caused(servers: tuple[Database, Database]) -> None:
    """A version that is right for the project of now is not refused because of what is under its former name."""
    first, second = servers
    ProjectService(second).rename("shop", "store")
    draft = FactDraft("clerk", "Bob", expected_version=1)
    assert again.whole(lambda: FactService(first).write(draft, Scope.PROJECT, SHOP)).fact.version == 2
    ProjectService(second).rename("store", "shop")
    wrong = FactDraft("clerk", "Cid", expected_version=1)
    with pytest.raises(Conflict, match="at version 2"):
        again.whole(lambda: FactService(first).write(wrong, Scope.PROJECT, SHOP))
    with pytest.raises(NotFound):
        again.whole(lambda: FactService(first).get("none", Scope.PROJECT, SHOP))


def test_a_call_that_cannot_be_repeated_waits_for_the_names(servers: tuple[Database, Database]) -> None:
    first, second = servers
    ProjectService(second).rename("shop", "store")
    assert name(first) == "store"

    def committed() -> str:
        again.forbid()
        return name(first)

    ProjectService(second).rename("store", "depot")
    assert again.whole(committed) == "depot"


def test_a_transaction_that_went_by_a_former_name_writes_nothing(servers: tuple[Database, Database]) -> None:
    first, second = servers
    ProjectService(second).rename("shop", "store")
    with repeatable(), pytest.raises(Undone, match="renamed or joined"), first.write() as tx:
        tx.open_questions.insert(name_of(tx, SHOP.project), "Who keeps the ledger?", "s1")
    with first.read() as tx:
        assert tx.open_questions.select(None) == []


@contextmanager
def repeatable() -> Iterator[None]:
    """A call that says that it would be repeated, and is not."""
    token = again._call.set(again._Call())
    try:
        yield
    finally:
        again._call.reset(token)
