"""The values of the room: an anchor of a note, and the verdict on it."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Anchor:
    """Lines of a file that hold a name of a note, as they were observed.

    `name` is written as the file writes it: a note that says "port 5433" has the name `PORT`. It is empty where the
    note names only a file. `path` starts at the root of the working tree and has "/". `line` is the number of the
    first observed line, from 1; 0 for a file alone. `digests` has the digest of each observed line (lines.py), none for
    a file alone. `value` is the value of the note that these lines hold, else empty. `commit` has 12 digits of HEAD,
    else nothing.
    """

    name: str
    path: str
    line: int
    digests: tuple[str, ...]
    value: str
    commit: str
    branch: str


class State(StrEnum):
    SAME = "same"
    """All observed lines stand where they stood."""

    MOVED = "moved"
    """All observed lines stand, at another place or in another file."""

    CHANGED = "changed"
    """The name stands, and an observed line does not."""

    GONE = "gone"
    """The name, or the file, stands nowhere."""

    UNKNOWN = "unknown"
    """Nothing is proved: too large, binary, in a conflict, not checked out, or over budget."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The state of an anchor now. `path` and `line` say where it stands; `text` is the line as it reads now, if it has
    changed. `commit` and `branch` are those of now; `modified` is the date of the file in seconds, else 0.
    """

    anchor: Anchor
    state: State
    path: str
    line: int
    text: str = ""
    commit: str = ""
    branch: str = ""
    modified: float = 0.0
