"""Which facts a briefing looks at, read by the index `facts_by_topic`, so that not all facts are read."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from memory_server.domain.briefing.choice import Heading
from memory_server.domain.briefing.items import heading_of
from memory_server.domain.briefing.leading import (
    IN_ORDER,
    TASK,
    WORK,
    Leading,
    Limits,
    older_before,
    task_home,
)
from memory_server.domain.fact import Home
from memory_server.sqlite.fact_history import FactHistory
from memory_server.sqlite.tx import Tx, Value

_HEADINGS = {
    "blocked": Heading.BLOCKED,
    "task": Heading.TASK,
    "under_way": Heading.UNDER_WAY,
    "found_out": Heading.FOUND_OUT,
    "decided": Heading.DECIDED,
    "conventions": Heading.CONVENTIONS,
    "shared": Heading.SHARED,
    "other": None,
}
"""The headings of the column `topic`; None: the scope decides."""

_PLACE = "scope = :scope AND owner = :owner"
_ALIVE = "(expires_at IS NULL OR expires_at > :now)"

_LATEST = "~"
"""A text that sorts after every moment."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A value of the column `topic`: `base` is a key of `_HEADINGS`. Whether its facts are progress, and overviews."""

    base: str
    progress: bool
    overview: bool

    @property
    def name(self) -> str:
        """As the column has it."""
        return f"{self.base}{'.progress' * self.progress}{'.overview' * self.overview}"

    def heading(self, home: Home) -> Heading:
        """The heading of the facts of this topic in a home."""
        heading = _HEADINGS[self.base]
        return heading_of("", home.scope) if heading is None else heading


TOPICS = {
    topic.name: topic
    for base, heading in _HEADINGS.items()
    for progress in ((False, True) if heading in WORK else (False,))
    for overview in (False, True)
    for topic in [Topic(base, progress, overview)]
}

_Row = tuple[str, int]
"""When a fact was written, and its id."""

_Hidden = defaultdict[tuple[Home, str], dict[int, str]]
"""Of each home and topic the facts whose key has another value in a narrower home: by id, when they were written."""


@dataclass(frozen=True, slots=True)
class LeadingFacts:
    """Which facts a briefing looks at."""

    tx: Tx

    def select(self, homes: Sequence[Home], limits: Limits) -> Leading:
        changed = FactHistory(self.tx).changed_at(task_home(homes, self._has_task), TASK)
        numbers = {home: number for home in homes if (number := self._number(home))}
        hidden = self._hidden(numbers)
        found: dict[tuple[Heading, bool], list[_Row]] = defaultdict(list)
        older_number = 0
        there = [(home, topic) for home in numbers for topic in self._topics(home)]
        for home, topic in there:
            heading, before = topic.heading(home), ""
            if heading in WORK:
                before = older_before(limits, changed, topic.progress)
                older = self._first(home, topic, "", before, limits.older, hidden)
                found[Heading.OLDER, topic.overview] += older
                if older:
                    older_number += self._number_before(home, topic, before, hidden)
            newer = self._first(home, topic, before, _LATEST, limits.of_heading, hidden)
            found[heading, topic.overview] += newer
        return Leading(
            [id for heading in IN_ORDER for id in _ids(found, heading, limits.of_heading)],
            _ids(found, Heading.OLDER, limits.older),
            older_number,
            sum(numbers.values()) - sum(map(len, hidden.values())),
        )

    def _has_task(self, home: Home) -> bool:
        clause = f"{_PLACE} AND key = :key AND {_ALIVE}"
        return bool(self.tx.value(f"SELECT 1 FROM facts WHERE {clause}", {**self._asked(home), "key": TASK}))

    def _number(self, home: Home) -> int:
        """How many facts a home has."""
        return int(
            self.tx.value(f"SELECT count(*) FROM facts WHERE {_PLACE} AND {_ALIVE}", self._asked(home))
        )

    def _topics(self, home: Home) -> list[Topic]:
        """The topics of a home, found one by one."""
        next_one = f"(SELECT min(topic) FROM facts WHERE {_PLACE} AND topic > there.topic)"
        rows = self.tx.rows(
            f"""
            WITH RECURSIVE there (topic) AS (
                SELECT ''
                UNION ALL
                SELECT {next_one} FROM there WHERE topic IS NOT NULL
            )
            SELECT topic FROM there WHERE topic <> ''
            """,
            self._asked(home),
        )
        return [TOPICS[name] for (name,) in rows]

    def _number_before(self, home: Home, topic: Topic, before: str, hidden: _Hidden) -> int:
        """How many facts of a topic were written before a moment."""
        number = self.tx.value(
            f"SELECT count(*) FROM facts WHERE {_PLACE} AND topic = :topic AND updated_at < :before AND {_ALIVE}",
            {**self._asked(home), "topic": topic.name, "before": before},
        )
        return int(number) - sum(at < before for at in hidden[home, topic.name].values())

    def _first(
        self, home: Home, topic: Topic, since: str, before: str, limit: int, hidden: _Hidden
    ) -> list[_Row]:
        """The first facts of a topic in its order that were written between two moments."""
        there = hidden[home, topic.name]
        direction = "ASC" if topic.overview else "DESC"
        rows = self.tx.rows(
            f"""
            SELECT updated_at, id
            FROM facts
            WHERE {_PLACE} AND topic = :topic AND updated_at >= :since AND updated_at < :before AND {_ALIVE}
            ORDER BY updated_at {direction}, id {direction}
            LIMIT :limit
            """,
            {
                **self._asked(home),
                "topic": topic.name,
                "since": since,
                "before": before,
                "limit": limit + len(there),
            },
        )
        return [(at, id) for at, id in rows if id not in there][:limit]

    def _hidden(self, numbers: Mapping[Home, int]) -> _Hidden:
        """The facts that a narrower home hides. The keys of the smaller one of two homes are looked up in the other."""
        found: _Hidden = defaultdict(dict)
        for narrow, wide in combinations(numbers, 2):
            tables = ["facts AS narrow", "facts AS wide"]
            if numbers[wide] < numbers[narrow]:
                tables.reverse()
            rows = self.tx.rows(
                f"""
                SELECT wide.topic, wide.id, wide.updated_at
                FROM {" CROSS JOIN ".join(tables)}
                WHERE narrow.scope = :narrow_scope AND narrow.owner = :narrow_owner
                    AND (narrow.expires_at IS NULL OR narrow.expires_at > :now)
                    AND wide.scope = :scope AND wide.owner = :owner AND wide.key = narrow.key
                    AND (wide.expires_at IS NULL OR wide.expires_at > :now)
                """,
                {**self._asked(wide), "narrow_scope": narrow.scope.value, "narrow_owner": narrow.owner},
            )
            for topic, id, at in rows:
                found[wide, topic][id] = at
        return found

    def _asked(self, home: Home) -> dict[str, Value]:
        return {"scope": home.scope.value, "owner": home.owner, "now": self.tx.now}


def _ids(found: Mapping[tuple[Heading, bool], Sequence[_Row]], heading: Heading, limit: int) -> list[int]:
    """The facts of all homes and topics under one heading, in the order of headings."""
    overviews, others = (found.get((heading, overview), ()) for overview in (True, False))
    return [id for _, id in (*sorted(overviews), *sorted(others, reverse=True))][:limit]
