"""Reads the time that a question or a filter names, and says in a note how it was understood."""

from dataclasses import dataclass
from datetime import datetime

from memory_server.domain.memory import MemoryType
from memory_server.domain.moment import parse, timestamp
from memory_server.language import asked_type, dates, time_asked
from memory_server.language.text import fold

_ALL = {
    "decision": "Decisions {}.", "error": "Errors {}.", "learning": "Learnings {}.", "preference": "Preferences {}.",
    "": "All {}.",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Timed:
    """A question with a time. `since` and `until` are moments of the file; both None where the newest is asked for.

    `subject` is the question without the words of time. `type` is the type of which all is asked for, '' for all types;
    None where the question has a subject. `label` tells the time as `of 2026-11-26`.
    """

    subject: str
    since: str | None
    until: str | None
    type: str | None
    label: str

    @property
    def memory_type(self) -> MemoryType | None:
        return MemoryType(self.type) if self.type else None

    def listed(self, has_type: bool, has_any: bool) -> str:
        """Return the note of a list: the time, and that nothing is stored of it, or nothing of the type."""
        if not has_any:
            return f"Nothing was stored {self.label}."
        if self.type and not has_type:
            return f"No {self.type} was stored {self.label}. This was:"
        return _ALL[self.type or ""].format(self.label)

    def is_told(self, text: str, day: str | None) -> bool:
        """Return true if a text of a day names the time itself, as one of today that tells of 2007."""
        said = parse(day) if day else parse(self.until or self.since or "")
        first, last = (_local(moment).date() if moment else None for moment in (self.since, self.until))
        return any(
            (last is None or named.first <= last) and (first is None or named.last >= first)
            for named in dates.named(fold(text), said.date())
        )


def read(text: str, since: str | None, until: str | None, now: str) -> Timed | None:
    """Return the question with its time; None where it has none, or has a subject and the filter has the time.

    The filter is meant where both name a time.
    """
    named = time_asked.read(text, _local(now))
    subject = named.subject if named else text
    type = asked_type.of(subject)
    if since or until:
        first, last = (_local(moment) if moment else None for moment in (since, until))
        return None if type is None else Timed(subject, since, until, type, time_asked.label(first, last))
    if not text:
        return Timed("", None, None, "", time_asked.label(None, None))
    if named is None or (type is None and named.since is named.until is None):
        return None
    label = time_asked.label(named.since, named.until)
    return Timed(subject, _moment(named.since), _moment(named.until), type, label)


def only(label: str) -> str:
    """Return the note of an answer from the time that was named."""
    return f"Only what is {label}."


def outside(label: str) -> str:
    """Return the note of an answer from all times."""
    return f"Nothing {label} clearly answers this. Of all times:"


def _local(moment: str) -> datetime:
    return parse(moment).astimezone().replace(tzinfo=None)


def _moment(local: datetime | None) -> str | None:
    return None if local is None else timestamp(local.astimezone())
