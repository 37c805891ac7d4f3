"""Each day a backup is made by itself: whole or not there, by one process, and only where the disk has room."""

import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from memory_server import app
from memory_server.app import Services
from memory_server.domain.caller import Caller
from memory_server.domain.memory import MemoryDraft, MemoryType
from memory_server.errors import Unavailable
from memory_server.services import backups
from memory_server.services.daily_backups import DailyBackups
from memory_server.settings import Settings
from tests.conftest import Sqlite, damage

NOON = datetime(2026, 3, 14, 12, tzinfo=UTC)
DAY = timedelta(days=1)


class Days:
    """Makes the backups of a file day by day; `now` is the present."""

    def __init__(self, path: Path) -> None:
        self.now, self.path = NOON, path
        path.write_text("all of it")
        self.backups = self.made_by(self.write)

    def made_by(self, write: object) -> DailyBackups:
        return DailyBackups(self.path, write, lambda: None, lambda: self.now)  # type: ignore[arg-type]

    def write(self, target: Path) -> None:
        target.write_text("all of it")
        os.utime(target, (self.now.timestamp(),) * 2)

    def pass_by(self, days: int) -> list[str]:
        for _ in range(days):
            self.backups.make_due()
            self.now += DAY
        return [path.stem[-8:] for path in backups.dailies(self.path)]

    def left(self) -> list[str]:
        return sorted(path.name for path in (self.path.parent / "backups").glob("*"))


@pytest.fixture
def days(tmp_path: Path) -> Days:
    return Days(tmp_path / "memory [1].db")


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    services = app.build(Settings(db=tmp_path / "memory.db", embedder="hashing"))
    yield services
    services.close()


def test_the_backup_of_today_is_whole_and_made_once(
    services: Services, tmp_path: Path, sqlite: Sqlite
) -> None:
    services.memories.store(
        MemoryDraft("The harbour opens at noon", MemoryType.DECISION), None, Caller("a", "s")
    )
    daily = services.daily_backups
    assert daily is not None
    daily.make_due()
    (made,) = (tmp_path / "backups").iterdir()
    before = made.stat()
    daily.make_due()
    assert made.stat() == before
    assert sqlite(made, "SELECT content FROM memories") == "The harbour opens at noon"
    assert damage(made) == []
    if os.name != "nt":
        assert (made.stat().st_mode & 0o077, made.parent.stat().st_mode & 0o077) == (0, 0)
    assert services.database.files.drop_copies({"memories": 1}) == (str(made),)
    assert services.database.files.drop_copies({"memories": 2}) == ()


def test_seven_days_and_four_weeks_are_kept(days: Days) -> None:
    assert days.pass_by(60) == [
        *("20260412", "20260419", "20260426", "20260503"),  # Sundays
        *("20260506", "20260507", "20260508", "20260509", "20260510", "20260511", "20260512"),
    ]


def test_a_person_s_own_backups_are_left_alone(days: Days) -> None:
    days.backups.make_due()
    own = days.path.parent / "backups" / "memory [1]-20200101-000000.db"
    own.touch()
    days.pass_by(20)
    assert own.exists()


def test_where_the_disk_lacks_room_none_is_made(days: Days, monkeypatch: pytest.MonkeyPatch) -> None:
    days.backups.make_due()
    days.now += DAY
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=100_000_000))
    assert len(days.pass_by(12)) == 1
    os.utime(days.path, (days.now.timestamp(),) * 2)
    assert days.backups.problem() == "no backup for 13 days: its disk has too little room"


def test_two_processes_make_one(days: Days) -> None:
    made = list[Path]()

    def write(target: Path) -> None:
        made.append(target)
        days.made_by(write).make_due()  # the other one looks meanwhile
        days.write(target)

    days.made_by(write).make_due()
    assert len(made) == 1
    assert days.left() == ["memory [1]-daily-20260314.db"]


def test_a_backup_that_fails_leaves_nothing_and_removes_none(days: Days) -> None:
    before = days.pass_by(9)

    def fail(_: Path) -> None:
        raise Unavailable("the disk failed")

    with pytest.raises(Unavailable):
        days.made_by(fail).make_due()
    assert [path.stem[-8:] for path in backups.dailies(days.path)] == before
    assert not [name for name in days.left() if "claim" in name]


def test_what_a_killed_process_has_left_goes_with_the_next_backup(days: Days) -> None:
    days.backups.make_due()
    folder = days.path.parent / "backups"
    for name in (".memory [1]-daily-20260313.db.claim", "memory [1]-daily-20260313.db.x7.tmp"):
        (folder / name).touch()
        os.utime(folder / name, (NOON.timestamp(),) * 2)
    days.now += DAY
    days.backups.make_due()
    assert days.left() == ["memory [1]-daily-20260314.db", "memory [1]-daily-20260315.db"]


def test_a_week_without_a_backup_is_told_where_something_is_new(days: Days) -> None:
    days.backups.make_due()
    days.now += 12 * DAY
    os.utime(days.path, (NOON.timestamp(),) * 2)
    assert days.backups.problem() is None
    os.utime(days.path, (days.now.timestamp(),) * 2)
    assert days.backups.problem() == "no backup for 12 days"
    days.backups.make_due()
    assert days.backups.problem() is None


def test_a_setting_ends_it(tmp_path: Path) -> None:
    services = app.build(Settings(db=tmp_path / "memory.db", no_backups=True))
    assert services.daily_backups is None
    services.close()
