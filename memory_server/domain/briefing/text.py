"""The text of a briefing: whose word it is, a line for each heading, and how to read what was left out."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from memory_server.domain.briefing.headings import Heading, Shown
from memory_server.language.tokens import weigh_json

LONGEST_NAME = 20
"""Tokens of the line with the project's name. A longer line becomes "This project.": a briefing may have only 50."""

FROM_USER = "From the user"
"""The title of what the user has said or confirmed."""

STATEMENTS = frozenset(
    [Heading.DECIDED, Heading.FOUND_OUT, Heading.CONVENTIONS, Heading.EVERYWHERE, Heading.OTHER]
)
"""Headings whose items stand together under `FROM_USER` where the user has said them; the others keep their titles."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The text around the items.

    `total` counts the facts and memories that could be said, `pointer` says how to read them, `author` wrote what names
    nobody else, and `titles` replaces titles.
    """

    project: str
    total: int
    pointer: str
    author: str | None = None
    titles: dict[Heading, str] = field(default_factory=dict)

    def opening(self) -> str:
        """The line that names the project."""
        named = f"Project {self.project}." if self.project else "No project."
        return named if weigh_json(named) <= LONGEST_NAME else "This project."

    def title(self, heading: Heading, by_user: bool) -> str:
        if by_user and heading in STATEMENTS:
            return FROM_USER
        title = self.titles.get(heading, heading.title)
        return f"{title}, from the user" if by_user else title

    def noted(self) -> str:
        """Say of all that does not come from the user whose word it is."""
        if not self.pointer:
            return f"By {self.author} unless named:" if self.author else "By assistants:"
        by = f" by {self.author} unless named" if self.author else ""
        return f"Noted{by}, perhaps not the user's word:"


def text(frame: Frame, shown: Sequence[Shown], left_out: int) -> str:
    """Return the text that says these items; `left_out` counts the others."""
    from_user = _lines(frame, [entry for entry in shown if entry.item.by_user])
    noted = _lines(frame, [entry for entry in shown if not entry.item.by_user])
    lines = [frame.opening()]
    if from_user:
        lines += [*from_user, *([frame.noted()] if noted else ())]
    elif noted or left_out:
        lines = [f"{frame.opening()} {frame.noted()}"]
    lines += noted
    if not shown and not left_out:
        lines.append("Nothing is stored for it yet.")
    if left_out:
        lines.append(f"+{left_out} more" + (f": {frame.pointer}" if frame.pointer else ""))
    return "\n".join(lines)


def _lines(frame: Frame, shown: Sequence[Shown]) -> list[str]:
    """Return a line for each title, in the order of the headings; the user's statements come first."""
    by_title: defaultdict[str, list[Shown]] = defaultdict(list)
    for entry in sorted(shown, key=lambda entry: entry.item.heading):
        by_title[frame.title(entry.item.heading, entry.item.by_user)].append(entry)
    return [
        " ".join([f"{title}:", *(entry.text for entry in _in_order(entries))])
        for title, entries in sorted(by_title.items(), key=lambda line: line[0] != FROM_USER)
    ]


def _in_order(shown: Sequence[Shown]) -> list[Shown]:
    """Return what a heading says in order: what may be replaced right behind what may replace it."""
    places = {entry.item.handle: place for place, entry in enumerate(shown)}

    def key(numbered: tuple[int, Shown]) -> tuple[int, int, bool]:
        place, item = numbered[0], numbered[1].item
        return item.closing - item.opening, places.get(item.behind or "", place), item.behind is not None

    return [entry for _, entry in sorted(enumerate(shown), key=key)]
