"""Reminders in words: each is due at the right moment or topic, told once, and never missed.

`reminders.jsonl` was written before the rules. A line has `when`, said on Thursday, 26 November 2026, 14:30, and one of

    due       the first moment, and of a repeated one the second
    wakes     messages that bring it up; `sleeps` are others. `repeats`: it is told each time
    asked     it is not understood

A third, `held`, chosen by the hash of `when`, was kept apart while the rules were written.
"""

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memory_server.domain.caller import Caller
from memory_server.domain.message import Message
from memory_server.errors import Conflict, Invalid
from memory_server.language import schedules, topics
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.services.long_term import LongTermService
from memory_server.services.reminders import Hints, Reminded, ReminderService
from memory_server.storage.database import Database
from memory_server.triggers.engine import Engine
from memory_server.triggers.javascript.sandbox import Sandbox
from tests.conftest import Clock

NOW = datetime(2026, 11, 26, 14, 30, tzinfo=UTC)
CALLER = Caller("Claude", "s1")
LINES = Path(__file__).with_name("reminders.jsonl").read_text(encoding="utf-8").splitlines()
WISHES: list[dict[str, Any]] = [json.loads(line) for line in LINES]


@pytest.fixture(scope="module")
def segmenter(tmp_path_factory: pytest.TempPathFactory) -> JiebaSegmenter:
    return JiebaSegmenter(tmp_path_factory.mktemp("jieba"))


@pytest.fixture
def service(database: Database, clock: Clock, segmenter: JiebaSegmenter) -> Iterator[ReminderService]:
    clock.now = NOW
    engine = Engine(Sandbox(), lambda one, other: None)
    long_term = LongTermService(database, engine, random.Random(3).random, zone=UTC)
    yield ReminderService(long_term, segmenter.segment, lambda: True)
    engine.close()


def remind(service: ReminderService, text: str, when: str) -> Reminded:
    return service.remind(text, when, Hints("once", "each time"), CALLER)


def told(service: ReminderService, *said: str, session: str = "s1") -> list[str]:
    """The names of what is told now, as `recall` and a briefing tell it."""
    caller = Caller("Claude", session)
    messages = [Message("user", text) for text in said]
    woken = service.long_term.search(messages, None, {}, caller, draws=0, marks=False).activated
    service.long_term.mark(woken, caller)
    return [memory.name for memory in woken]


def right(wish: dict[str, Any], service: ReminderService) -> bool:
    """True if a wish is understood as it is labelled."""
    try:
        reminded = remind(service, f"about {wish['when']}", wish["when"])
    except Invalid:
        return bool(wish.get("asked"))
    if wish.get("asked"):
        return False
    trigger, holds = reminded.trigger, service.long_term.holds
    if "due" in wish:
        moments = [datetime.fromisoformat(text) for text in wish["due"]]
        dues = schedules.read(wish["when"], NOW.replace(tzinfo=None))
        if (
            not dues
            or min(due.first for due in dues) != moments[0]
            or bool(dues[0].every) is (len(moments) < 2)
        ):
            return False
        return all(
            (
                holds(told_at(trigger, moment), [], moment - timedelta(minutes=1)),
                holds(told_at(trigger, moment), [], moment),
            )
            == (False, True)
            for moment in moments
        )
    topic = topics.read(wish["when"], service.segment)
    said = [holds(trigger, [Message("user", text)]) for text in (*wish["wakes"], *wish["sleeps"])]
    expected = [True] * len(wish["wakes"]) + [False] * len(wish["sleeps"])
    return said == expected and topic is not None and topic.repeats is wish.get("repeats", False)


def told_at(trigger: str, moment: datetime) -> str:
    """The trigger as it is evaluated when it was told last an hour before a moment, or a minute if it comes hourly."""
    before = moment.replace(tzinfo=UTC) - timedelta(minutes=2)
    return f"var told={before.timestamp() * 1000:.0f};{trigger}"


@pytest.mark.parametrize("held", [False, True])
def test_a_reminder_in_words_is_due_at_the_moment_or_topic_that_is_meant(
    service: ReminderService, held: bool
) -> None:
    wishes = [wish for wish in WISHES if bool(wish.get("held")) is held]
    wrong = [wish["when"] for wish in wishes if not right(wish, service)]
    assert len(wrong) <= 0.05 * len(wishes), wrong


def days(service: ReminderService, clock: Clock, looks: list[datetime]) -> dict[str, list[datetime]]:
    """When each reminder was told, by somebody who looks at these moments."""
    moments: dict[str, list[datetime]] = {}
    for number, look in enumerate(sorted(looks)):
        clock.now = look
        for name in told(service, session=f"s{number}"):
            moments.setdefault(name, []).append(look)
    return moments


def occurrences(dues: tuple[schedules.Due, ...], until: datetime) -> list[datetime]:
    """All moments at which a reminder is due, counted day by day and not as the trigger does."""
    moments: set[datetime] = set()
    for due in dues:
        count, unit = (int(due.every.split()[0]), due.every.split()[1].rstrip("s")) if due.every else (1, "")
        moment, number = due.first, 0
        while moment <= until:
            if unit != "weekday" or moment.weekday() < 5:
                moments.add(moment)
            number += 1
            if not unit:
                break
            if unit in ("month", "year"):
                months = due.first.month - 1 + number * count * (12 if unit == "year" else 1)
                moment = due.first.replace(year=due.first.year + months // 12, month=months % 12 + 1)
            else:
                length = {"hour": timedelta(hours=1), "week": timedelta(weeks=1)}.get(unit, timedelta(days=1))
                moment = due.first + number * count * length
    return sorted(moments)


def test_in_a_month_each_reminder_is_told_once_each_time_and_none_is_missed(
    service: ReminderService, clock: Clock
) -> None:
    """Somebody looks every half hour by day, and not at all from 5 to 9 December and on 24 December."""
    wishes = [wish for wish in WISHES if "due" in wish]
    expected = {}
    end = datetime(2026, 12, 27, 22)
    for wish in wishes:
        reminded = remind(service, f"about {wish['when']}", wish["when"])
        expected[reminded.name] = schedules.read(wish["when"], NOW.replace(tzinfo=None))
    looks = [
        day + timedelta(minutes=minutes)
        for day in (datetime(2026, 11, 26, tzinfo=UTC) + timedelta(number) for number in range(32))
        for minutes in range(8 * 60, 22 * 60 + 1, 30)
        if not (datetime(2026, 12, 5, tzinfo=UTC) <= day <= datetime(2026, 12, 9, tzinfo=UTC))
        and day.day != 24
    ]
    looks = [look for look in looks if look > NOW]
    seen = days(service, clock, looks)
    for name, dues in expected.items():
        moments = [moment.replace(tzinfo=UTC) for moment in occurrences(dues, end)]
        first_looks = sorted(
            {min(look for look in looks if look >= moment) for moment in moments if moment <= looks[-1]}
        )
        assert seen.get(name, []) == first_looks, name
    assert sum(map(len, seen.values())) > 200


def test_a_topic_is_told_once_and_again_after_it_was_set_again(
    service: ReminderService, clock: Clock
) -> None:
    remind(service, "Ask for the delivery date.", "when we talk about the Okafor order")
    clock.advance(minutes=1)
    assert told(service, "How are you?") == []
    assert told(service, "What about the Okafor order?") == ["Ask for the delivery date."]
    clock.advance(minutes=1)
    assert told(service, "What about the Okafor order?", session="s2") == []
    again = remind(service, "Ask for the delivery date.", "when we talk about the Okafor order")
    assert again.moved
    clock.advance(minutes=1)
    assert told(service, "And the order of Okafor?") == ["Ask for the delivery date."]
    assert told(service, "And the order of Okafor?") == []


def test_for_later_it_is_moved(service: ReminderService, clock: Clock) -> None:
    remind(service, "Call mum.", "in 20 minutes")
    clock.advance(hours=1)
    assert told(service) == ["Call mum."]
    moved = remind(service, "Call mum.", "in an hour")
    assert (moved.moved, moved.when) == (True, "Thursday, 26 November 2026, 16:30")
    clock.advance(minutes=59)
    assert told(service) == []
    clock.advance(minutes=1)
    assert told(service) == ["Call mum."]
    assert told(service) == []


def test_what_comes_back_with_each_session_is_told_once_in_it(service: ReminderService, clock: Clock) -> None:
    remind(service, "Run the licence check.", "before every release")
    clock.advance(minutes=1)
    for session in ("s1", "s2"):
        assert told(service, "Prepare the release.", session=session) == ["Run the licence check."]
        clock.advance(minutes=1)
        assert told(service, "Is the release out?", session=session) == []
    clock.advance(days=1)
    assert told(service, "Prepare the release.", session="s1") == ["Run the licence check."]


def test_a_prompt_of_somebody_elses_hand_is_not_overwritten(service: ReminderService) -> None:
    from memory_server.domain.long_term import LongTermDraft

    draft = LongTermDraft("Call mum.", "Her number is in the book.", "true", None)
    service.long_term.add(draft, "default", CALLER)
    with pytest.raises(Conflict):
        remind(service, "Call mum.", "tomorrow")
    memory, _ = service.long_term.context("Call mum.", "default", CALLER)
    assert memory.prompt == "Her number is in the book."


@pytest.mark.parametrize("when", ["soon", "yesterday", "when it rains", "2026-11-25", "today at 9"])
def test_what_cannot_be_a_reminder_is_asked_back_in_one_line(service: ReminderService, when: str) -> None:
    with pytest.raises(Invalid) as refused:
        remind(service, "Call mum.", when)
    text = str(refused.value)
    assert f"`{when}`" in text
    assert "on Friday at 9" in text
    assert "\n" not in text
    assert service.long_term.select("default", CALLER).memories == []


@pytest.mark.parametrize(
    ("when", "due"),
    [("remind me tomorrow", "2026-11-27T09:00"), ("every Mon, Wed and Fri at 7", "2026-11-27T07:00"),
     ("weekly on Friday at 5pm", "2026-11-27T17:00"),
     ("once a month on the 3rd", "2026-12-03T09:00"), ("每个月15号上午九点", "2026-12-15T09:00"),
     ("at 15:30 on Tuesday", "2026-12-01T15:30")],
)  # fmt: skip
def test_more_words_for_a_moment(when: str, due: str) -> None:
    dues = schedules.read(when, NOW.replace(tzinfo=None))
    assert min(moment.first for moment in dues) == datetime.fromisoformat(due)


@pytest.mark.parametrize(
    ("when", "words"),
    [("wenn es um das Budget geht", ("Budget",)), ('when I say "blue folder"', ("blue folder",)),
     ("the next time we open the billing module", ("billing", "module")),
     ("下次聊到项目进度", ("项目", "进度")), ("when we talk about the Okafor order", ("Okafor",)),
     ("下次提到王老师的订单", ("王老师",)), ("when we talk about Maria's visa", ("Maria", "visa")),
     ("when we talk about the Stripe invoice", ("Stripe", "invoice"))],
)  # fmt: skip
def test_more_words_for_a_topic(when: str, words: tuple[str, ...], segmenter: JiebaSegmenter) -> None:
    topic = topics.read(when, segmenter.segment)
    assert topic is not None
    assert topic.alternatives == (words,)
