"""Long-term memories without a database: how long a failing trigger rests, which others come along."""

import random
from collections import Counter
from datetime import timedelta

import pytest

from memory_server.domain.long_term import LongTermId, LongTermMemory, draw, quarantine


@pytest.mark.parametrize(
    ("failures", "hours"),
    [(0, None), (2, None), (3, 1), (4, 2), (5, 4), (6, 8), (7, 16), (8, 24), (9, 24), (10_000, 24)],
)
def test_three_failures_in_a_row_bring_an_hour_of_quarantine_then_twice_as_much_up_to_a_day(
    failures: int, hours: int | None
) -> None:
    assert quarantine(failures) == (None if hours is None else timedelta(hours=hours))


def test_as_many_are_drawn_as_there_are_none_twice_and_each_as_often() -> None:
    chance = random.Random(1).random
    assert draw([], 2, chance) == []
    assert draw(["a"], 2, chance) == ["a"]
    pairs = Counter(tuple(draw("abcd", 2, chance)) for _ in range(6000))
    assert len(pairs) == 12
    assert all(abs(count - 500) < 100 for count in pairs.values())


def test_the_largest_chance_is_within_the_items() -> None:
    assert draw("abc", 3, lambda: 1 - 2**-53) == ["c", "b", "a"]


@pytest.mark.parametrize(
    ("error", "until", "status"),
    [
        (None, None, "ready"),
        ("TypeError", None, "failing: TypeError"),
        ("TypeError", "2026-03-14T08:00:00.000Z", "failing: TypeError"),
        ("too slow", "2026-03-14T10:00:00.000Z", "quarantined until 2026-03-14T10:00:00.000Z: too slow"),
        (None, "2026-03-14T10:00:00.000Z", "quarantined until 2026-03-14T10:00:00.000Z"),
    ],
)
def test_the_status_of_a_trigger_is_its_state_with_the_reason(
    error: str | None, until: str | None, status: str
) -> None:
    at = "2026-03-14T09:00:00.000Z"
    memory = LongTermMemory(
        LongTermId(1), "name", "prompt", "true", None, None, at, None, None, 0, error, 3, until, 0
    )
    assert memory.status(at) == status
