"""Forgetting: deleting at first, and erasing for good later or at once."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from memory_server.domain.moment import timestamp

KEPT = timedelta(days=30)
"""How long a deleted thing can be restored: long enough to miss it, short enough to be gone for good soon."""


class Kind(StrEnum):
    """Kinds of things that can be deleted and brought back. (Facts are brought back from their own history.)"""

    MEMORY = "memory"
    TURN = "turn"
    SHORT_TERM = "short_term"
    LONG_TERM = "long_term"


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The result of forgetting: `number` things were deleted, or erased for good.

    `undo_until` is the moment until which they can be brought back; None where they were erased. `elsewhere` are the
    files that may hold what was erased still, and are not the server's to remove. `refused`: it was to be erased, and
    only deleted, because somebody else has written it.
    """

    number: int
    undo_until: str | None
    elsewhere: tuple[str, ...] = ()
    refused: bool = False


def deleted(number: int, now: str) -> Forgotten:
    return Forgotten(number, timestamp(datetime.fromisoformat(now) + KEPT) if number else None)


def not_erased(deleted_at: str) -> Forgotten:
    """The result for a thing that stays deleted, but is not erased, because somebody else has written it."""
    return replace(deleted(1, deleted_at), refused=True)


def erased(number: int, elsewhere: tuple[str, ...] = ()) -> Forgotten:
    return Forgotten(number, None, elsewhere)


def after(now: str) -> str:
    """The moment after this one: what was deleted by now was deleted before it."""
    return timestamp(datetime.fromisoformat(now) + timedelta(milliseconds=1))


def day_of(now: str) -> int:
    """The day of a moment, in days since 1970."""
    return int(datetime.fromisoformat(now).timestamp() // 86_400)


def start_of(day: int) -> str:
    """The first moment of a day."""
    return timestamp(datetime.fromtimestamp(day * 86_400, UTC))


def jumped(now: str, newest: int | None) -> str | None:
    """A warning that the clock may be wrong, if the newest day of a server is over 30 days from now; else None."""
    if newest is None or abs(day_of(now) - newest) <= KEPT.days:
        return None
    return (
        f"The last server ran on {start_of(newest)[:10]}, and the clock says {now[:10]}. If that is wrong, set it: "
        "nothing is removed by its age before a server has run on two days"
    )


def expired_before(now: str) -> str:
    """The moment before which deleted things are due to be erased."""
    return timestamp(datetime.fromisoformat(now) - KEPT)
