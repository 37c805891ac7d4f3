"""The work of the last session and its next step: from the newest turns and observations."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.domain.briefing.forms import CERTAIN, Guess, Reader, disputed, forms, marked
from memory_server.domain.briefing.headings import Heading, Item
from memory_server.domain.memory import MemoryId
from memory_server.domain.scoring import age_in_days
from memory_server.language import sentences
from memory_server.language.lazy import lazy

RECENT = 3.0
"""Days before the last event in which others are told too: the session before the last often says more."""

HALF = 1.0
"""Days before the newest event after which another one counts half."""

ORDINARY = 5
"""The importance of an event that counts 1."""

NEXT = 3.0
"""How much it counts what was to come next, and the event that says it: who says so sums up the session."""

_NEXT = lazy(
    r"(?P<before>.*?)(?:^|(?<=[\s,;.:(，；。：（、]))"
    r"(?:(?:the )?next(?: steps?| up| time| session)?(?: is| are)?\s*[:：\-–—,]\s*(?:to )?"
    r"|(?:the )?next steps? (?:is|are) (?:to )?"
    r"|(?:to ?do|remaining|still to do|left to do|still open|tomorrow)\s*[:：]\s*"
    r"|(?:下一步|接下来|下次|待办|明天)(?:的计划)?(?:是|要|需要|打算|准备)?\s*[:：，,]?\s*)"
    r"(?P<next>[^\s].*)",
    re.IGNORECASE | re.DOTALL,
)
"""Where a text says what comes next."""


@dataclass(frozen=True, slots=True)
class SessionEvent:
    """A turn or an observation, with the memories that contradict it and what it may replace."""

    text: str
    at: str
    session: str | None
    by: str | None
    importance: int
    memory: MemoryId | None = None
    contradicting: tuple[MemoryId, ...] = ()
    turn: int | None = None
    guess: Guess = CERTAIN


@dataclass(frozen=True, slots=True)
class LastSession:
    """Events, the newest first, and the newest word on what comes next, with its event."""

    events: tuple[SessionEvent, ...]
    next: tuple[str, SessionEvent] | None


def last_session(events: Sequence[SessionEvent]) -> LastSession | None:
    """The newest event and those of a few days before it; None where there is none."""
    ordered = sorted(events, key=lambda event: event.at, reverse=True)
    if not ordered:
        return None
    recent = [event for event in ordered if age_in_days(event.at, ordered[0].at) <= RECENT]
    following = ((step, event) for event in recent if (step := next_step(event.text)[1]))
    return LastSession(tuple(recent), next(following, None))


def next_step(text: str) -> tuple[str, str | None]:
    """Split a text into the part before the next step, and that step without the words that announce it, or None."""
    match = _NEXT.fullmatch(text.strip())
    if match is None:
        return text, None
    return match["before"].strip(" ,;:，；：("), sentences.split(match["next"])[0]


def of_session(last: LastSession, reader: Reader) -> list[Item]:
    """The items of the events, then that of the next step. Events of a session before the last have their age."""
    newest = last.events[0]

    def item(statement: str, event: SessionEvent, worth: float, label: str = "") -> Item:
        def worded() -> tuple[str, ...]:
            dispute = disputed(event.contradicting, event.guess)
            marks = short = f" ({dispute})" if dispute else ""
            if event.session != newest.session:
                marks = marked(reader.age(event.at), event.by, reader, dispute)
            return forms(label, sentences.split(statement), marks, short)

        leads = event is last.next[1] if last.next else event.importance >= ORDINARY
        counted = event.memory is not None and not label
        memory = event.memory if statement == event.text else None
        return Item(
            Heading.LAST_SESSION,
            worded,
            worth,
            event.at,
            leads,
            first=bool(label),
            closing=bool(label),
            counted=counted,
            memory=memory,
            behind=event.guess.by,
        )

    items = []
    for event in last.events:
        before, following = next_step(event.text)
        worth = NEXT if last.next and event is last.next[1] else event.importance / ORDINARY
        if statement := before if following else event.text:
            items.append(item(statement, event, worth / (1 + age_in_days(event.at, newest.at) / HALF)))
    if last.next is not None:
        items.append(item(*last.next, NEXT, "Next: "))
    return items


def title(last: LastSession, reader: Reader, session: str | None) -> str:
    """The heading: the age of the session and its author; `session` is the reader's own session."""
    newest = last.events[0]
    name = "This session" if session and newest.session == session else Heading.LAST_SESSION.title
    return name + marked(reader.age(newest.at), newest.by, reader)
