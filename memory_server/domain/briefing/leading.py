"""Chooses the facts that a briefing looks at: the first of each heading, and work that nobody has touched for long."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memory_server.domain.briefing.headings import Heading
from memory_server.domain.briefing.items import heading_of, is_overview, is_progress
from memory_server.domain.fact import Headline, Home, Scope

TASK = "current.task"

WORK = (Heading.TASK, Heading.UNDER_WAY)
"""Headings of current work. An old fact there may be about work that is done."""

IN_ORDER = tuple(heading for heading in Heading if heading is not Heading.OLDER)
"""The headings of facts that are told one by one."""


@dataclass(frozen=True, slots=True)
class Limits:
    """At most `of_heading` facts of each heading, and `older` of older work, which was not written since a moment."""

    of_heading: int
    older: int
    untouched_since: str


@dataclass(frozen=True, slots=True)
class Leading:
    """The ids of the chosen facts: `ids` are those of each heading, in the order of headings; `older` those of older
    work. Overviews come first among the facts of a heading, then what was written last.

    `number` counts all keys, `older_number` those of older work, also of facts that were not chosen.
    """

    ids: list[int]
    older: list[int]
    older_number: int
    number: int


def leading(headlines: Sequence[Headline], changed: str | None, limits: Limits) -> Leading:
    """Choose among facts: `headlines` has one of each key, the last written first. `changed` is when the task changed:
    progress that was written before is older work.
    """
    of_heading: dict[Heading, list[int]] = {heading: [] for heading in Heading}
    for headline in headlines:
        heading = heading_of(headline.key, headline.home.scope)
        if heading in WORK and headline.updated_at < older_before(limits, changed, is_progress(headline.key)):
            heading = Heading.OLDER
        ids = of_heading[heading]
        ids.insert(0 if is_overview(headline.key) else len(ids), headline.id)
    chosen = [id for heading in IN_ORDER for id in of_heading[heading][: limits.of_heading]]
    older = of_heading[Heading.OLDER]
    return Leading(chosen, older[: limits.older], len(older), len(headlines))


def older_before(limits: Limits, changed: str | None, progress: bool) -> str:
    """Work that was written before this moment is older work. `progress`: it is the progress of a task."""
    return max(limits.untouched_since, changed) if progress and changed else limits.untouched_since


def task_home(homes: Sequence[Home], has_task: Callable[[Home], bool]) -> Home:
    """The narrowest home that has a task; the project's where none has one."""
    of_project = next(home for home in homes if home.scope is Scope.PROJECT)
    return next(filter(has_task, homes), of_project)
