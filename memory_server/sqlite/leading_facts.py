"""Reads the facts of a briefing by the index `facts_by_topic`, so that few facts are read."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from memory_server.domain.briefing.headings import Heading
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
from memory_server.sqlite.tx import Tx, Value
from memory_server.storage.memory_rows import OUTSIDE, STANDS
from memory_server.storage.tables.fact_history import FactHistory

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
_SAID = f"(expires_at IS NULL OR expires_at > :now) AND {STANDS}"
"""The clause for a fact that has not ended and may be said unasked."""

_BOTH_SAID = " AND ".join(
    f"{table}.origin NOT LIKE '{pattern}'" for table in ("narrow", "wide") for pattern in OUTSIDE
)
"""The same of the origins of two facts."""

_LATEST = "~"
"""A text that sorts after every moment."""


@dataclass(frozen=True, slots=True)
class FactTopic:
    """A value of the column `topic`; `base` is a key of `_HEADINGS`."""

    base: str
    progress: bool
    overview: bool

    @property
    def name(self) -> str:
        """The value of the column."""
        return f"{self.base}{'.progress' * self.progress}{'.overview' * self.overview}"

    def heading(self, home: Home) -> Heading:
        """Return the heading of this topic's facts in a home."""
        heading = _HEADINGS[self.base]
        return heading_of("", home.scope) if heading is None else heading


TOPICS = {
    topic.name: topic
    for base, heading in _HEADINGS.items()
    for progress in ((False, True) if heading in WORK else (False,))
    for overview in (False, True)
    for topic in [FactTopic(base, progress, overview)]
}

_Row = tuple[str, int]
"""The time at which a fact was written, and its id."""

_Hidden = defaultdict[tuple[Home, str], dict[int, str]]
"""By home and topic the facts whose key has another value in a narrower home: their time by their id."""


@dataclass(frozen=True, slots=True)
class LeadingFacts:
    """The table of `tx.leading_facts`: see `storage.memories.LeadingFacts`."""

    tx: Tx

    def select(self, homes: Sequence[Home], limits: Limits) -> Leading:
        changed = FactHistory(self.tx).changed_at(task_home(homes, self._has_task), TASK)
        numbers = {home: count for home in homes if (count := self._number(home))}
        hidden = self._hidden(numbers)
        rows: dict[tuple[Heading, bool], list[_Row]] = defaultdict(list)
        older_number = 0
        home_topics = [(home, topic) for home in numbers for topic in self._topics(home)]
        for home, topic in home_topics:
            heading, before = topic.heading(home), ""
            if heading in WORK:
                before = older_before(limits, changed, topic.progress)
                older = self._first(home, topic, "", before, limits.older, hidden)
                rows[Heading.OLDER, topic.overview] += older
                if older:
                    older_number += self._number_before(home, topic, before, hidden)
            newer = self._first(home, topic, before, _LATEST, limits.of_heading, hidden)
            rows[heading, topic.overview] += newer
        return Leading(
            [id for heading in IN_ORDER for id in _ids(rows, heading, limits.of_heading)],
            _ids(rows, Heading.OLDER, limits.older),
            older_number,
            sum(numbers.values()) - sum(map(len, hidden.values())),
        )

    def _has_task(self, home: Home) -> bool:
        clause = f"{_PLACE} AND key = :key AND {_SAID}"
        return bool(self.tx.value(f"SELECT 1 FROM facts WHERE {clause}", {**self._values(home), "key": TASK}))

    def _number(self, home: Home) -> int:
        """Count the facts of a home."""
        return int(
            self.tx.value(f"SELECT count(*) FROM facts WHERE {_PLACE} AND {_SAID}", self._values(home))
        )

    def _topics(self, home: Home) -> list[FactTopic]:
        """Return the topics of a home; the index gives one after the other, without reading all facts."""
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
            self._values(home),
        )
        return [TOPICS[name] for (name,) in rows]

    def _number_before(self, home: Home, topic: FactTopic, before: str, hidden: _Hidden) -> int:
        """Count the facts of a topic that were written before a moment, without hidden ones."""
        number = self.tx.value(
            f"SELECT count(*) FROM facts WHERE {_PLACE} AND topic = :topic AND updated_at < :before AND {_SAID}",
            {**self._values(home), "topic": topic.name, "before": before},
        )
        return int(number) - sum(written_at < before for written_at in hidden[home, topic.name].values())

    def _first(
        self, home: Home, topic: FactTopic, since: str, before: str, limit: int, hidden: _Hidden
    ) -> list[_Row]:
        """Return the first facts of a topic, in its order, that were written between two moments; no hidden ones."""
        hidden_facts = hidden[home, topic.name]
        direction = "ASC" if topic.overview else "DESC"
        rows = self.tx.rows(
            f"""
            SELECT updated_at, id
            FROM facts
            WHERE {_PLACE} AND topic = :topic AND updated_at >= :since AND updated_at < :before AND {_SAID}
            ORDER BY updated_at {direction}, id {direction}
            LIMIT :limit
            """,
            {
                **self._values(home),
                "topic": topic.name,
                "since": since,
                "before": before,
                "limit": limit + len(hidden_facts),
            },
        )
        return [(written_at, id) for written_at, id in rows if id not in hidden_facts][:limit]

    def _hidden(self, numbers: Mapping[Home, int]) -> _Hidden:
        """Return the facts that a narrower home hides. Of two homes the keys of the smaller are looked up in the
        other.
        """
        hidden: _Hidden = defaultdict(dict)
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
                    AND {_BOTH_SAID}
                """,
                {**self._values(wide), "narrow_scope": narrow.scope.value, "narrow_owner": narrow.owner},
            )
            for topic, id, written_at in rows:
                hidden[wide, topic][id] = written_at
        return hidden

    def _values(self, home: Home) -> dict[str, Value]:
        return {"scope": home.scope.value, "owner": home.owner, "now": self.tx.now}


def _ids(rows: Mapping[tuple[Heading, bool], Sequence[_Row]], heading: Heading, limit: int) -> list[int]:
    """Return the facts of all homes and topics under one heading: overviews first, then the newest."""
    overviews, newest_first = (rows.get((heading, overview), ()) for overview in (True, False))
    return [id for _, id in (*sorted(overviews), *sorted(newest_first, reverse=True))][:limit]
