"""Events: an import, a merge, a forgetting, each of many things at once and undone as one."""

from dataclasses import dataclass
from enum import StrEnum

JOINED, RENAMED = "projects join", "projects rename"
"""The sources of what was done to projects: in the table these are imports, of which nothing is undone."""


class Did(StrEnum):
    """The fate of a thing in an event. It ended by going to the trash, and returned from there."""

    ADDED = "added"
    CHANGED = "changed"
    ENDED = "ended"
    RETURNED = "returned"


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that an event was about.

    `before` is JSON: the record as it was, where it was changed; the place of a fact that was added; the origins of
    what ended. `after` is a digest of what the thing has said since, empty where nothing is compared.
    """

    did: Did
    kind: str
    item: int
    before: str | None = None
    after: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    id: int
    action: str
    source: str
    path: str
    at: str
    undone_at: str | None
