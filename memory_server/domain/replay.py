"""The steps of a session, as far as they are stored."""

from dataclasses import dataclass
from enum import StrEnum


class StepKind(StrEnum):
    """`told` came by a hook, `shown` by a search; `used` was repeated or built on afterwards."""

    ASKED = "asked"
    TOLD = "told"
    SHOWN = "shown"
    USED = "used"
    KEPT = "kept"
    UNANSWERED = "unanswered"


@dataclass(frozen=True, slots=True)
class Step:
    """`kind` and `item` name the row; `text` is what it says now, None where it is gone."""

    at: str
    what: StepKind
    kind: str
    item: int
    text: str | None
    tokens: int = 0
    how: str = ""


@dataclass(frozen=True, slots=True)
class SessionOverview:
    """`texts` and `tokens` are what hooks told the session; `last_at` is the last of it."""

    session: str
    last_at: str
    texts: int
    tokens: int
