"""The days on which a server ran decide what is old: a clock that leaps for one day makes nothing old."""

from memory_server.domain.calls import Calls
from memory_server.domain.forgetting import day_of, jumped, start_of
from memory_server.storage.database import Database
from tests.conftest import Clock, two_days_later


def marked(database: Database) -> tuple[str, str | None]:
    """Mark today; the newest day and the one that decides."""
    with database.write() as tx:
        tx.server_days.mark()
    with database.read() as tx:
        newest = tx.server_days.newest()
        assert newest is not None
        return start_of(newest)[:10], tx.server_days.certain()


def test_the_last_day_before_today_decides(database: Database, clock: Clock) -> None:
    assert marked(database) == ("2026-03-14", None)
    assert marked(database) == ("2026-03-14", None)
    clock.advance(days=1)
    assert marked(database) == ("2026-03-15", "2026-03-14T00:00:00.000Z")
    clock.advance(days=20)
    assert marked(database) == ("2026-04-04", "2026-03-15T00:00:00.000Z")


def test_a_leap_for_one_day_decides_nothing_and_is_forgotten(database: Database, clock: Clock) -> None:
    marked(database)
    clock.advance(days=1)
    marked(database)
    clock.advance(days=3650)
    assert marked(database) == ("2036-03-12", "2026-03-15T00:00:00.000Z")
    clock.advance(days=-3649)
    assert marked(database) == ("2026-03-16", "2026-03-15T00:00:00.000Z")


def test_a_jump_of_more_than_30_days_is_told() -> None:
    newest = day_of("2026-03-14T09:26:53.589Z")
    told = jumped("2036-03-12T00:00:00.000Z", newest)
    assert told is not None
    assert told.startswith("The last server ran on 2026-03-14, and the clock says 2036-03-12.")
    assert jumped("2016-03-12T00:00:00.000Z", newest) is not None
    assert jumped("2026-04-13T23:00:00.000Z", newest) is None
    assert jumped("2026-03-14T09:26:53.589Z", None) is None


def test_counts_of_calls_outlive_a_clock_that_leaps(database: Database, clock: Clock) -> None:
    with database.write() as tx:
        tx.call_counts.add({"recall": Calls(calls=1)})
    marked(database)
    clock.advance(days=3650)
    marked(database)
    with database.write() as tx:
        tx.call_counts.add({"recall": Calls(calls=1)})
    with database.read() as tx:
        assert tx.call_counts.select(4000)["recall"].calls == 2
    two_days_later(database, clock)
    with database.write() as tx:
        tx.call_counts.add({"recall": Calls(calls=1)})
    with database.read() as tx:
        assert tx.call_counts.select(4000)["recall"].calls == 2
