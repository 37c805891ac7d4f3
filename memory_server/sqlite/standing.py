"""Reads the memories of a project that matter most now by the index `memories_by_standing`, so that few are read."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from math import exp
from typing import Any

from memory_server.domain.memory import Memory, MemoryId, MemoryType
from memory_server.domain.scoring import DECAY_PER_DAY
from memory_server.sqlite.tx import Tx, Value
from memory_server.storage.memory_rows import LASTING, STANDS
from memory_server.storage.tables.memories import Memories

EXACT = 40
"""Accesses up to which the column `standing` orders memories exactly; beyond, it is an upper bound."""

_EPOCH = 2460000.5
"""The julian day from which `standing` counts."""

_MOMENT = "julianday(ifnull(occurred_at, created_at))"

_RATES = " ".join(f"WHEN '{type.value}' THEN {rate}" for type, rate in DECAY_PER_DAY.items())

SCORE = f"""
    importance * log2(access_count + 2) * exp(-CASE type {_RATES} END * max(0, julianday(:now) - {_MOMENT}))
"""
"""The decayed score of a memory, as `domain.scoring` tells it."""

_HEADS = """
    SELECT type, importance, (
        SELECT standing
        FROM memories AS m
        WHERE project IS :project AND m.type = c.type AND m.importance = c.importance AND replaced = 0
        ORDER BY standing DESC
        LIMIT 1
    )
    FROM memory_counts AS c
    WHERE project = ifnull(:project, '') AND importance >= :least AND number > replaced
    GROUP BY type, importance
"""

_ROWS = f"""
    SELECT
        id, standing, ifnull({SCORE}, -1), {LASTING} AND {STANDS},
        access_count <= {EXACT} AND {_MOMENT} <= julianday(:now)
    FROM memories
    WHERE project IS :project AND type = :type AND importance = :importance AND replaced = 0
    ORDER BY standing DESC, id DESC
"""

_SLACK = 1 + 1e-9
"""What rounding may take from a bound."""

_TINY = 1e-200
"""Scores below this may be rounded to equal ones."""

_LARGEST = 700.0
"""The exponent beyond which a number is too large, as of a moment that lies centuries ahead."""


_Group = tuple[str, int]
"""A type and an importance."""


def _bound(group: _Group, standing: float | None, day: float) -> float:
    """The highest score that a memory of a group can have on a day with this standing; -1 where its moment is none."""
    if standing is None:
        return -1.0
    type, importance = group
    return (
        importance * exp(min(_LARGEST, standing - DECAY_PER_DAY[MemoryType(type)] * (day - _EPOCH))) * _SLACK
    )


@dataclass(slots=True)
class _Groups:
    """Reads the memories of groups one by one: most groups are hardly looked at."""

    tx: Tx
    values: Mapping[str, Value]
    _cursors: dict[_Group, Any] = field(default_factory=dict)

    def next(self, group: _Group) -> tuple[Any, ...] | None:
        """The next memory of a group: its id, standing and score; whether it lasts; whether its standing is exact."""
        if group not in self._cursors:
            values = {**self.values, "type": group[0], "importance": group[1]}
            self._cursors[group] = self.tx.connection.execute(_ROWS, values)
        row: tuple[Any, ...] | None = self._cursors[group].fetchone()
        return row

    def close(self) -> None:
        """A cursor that is not at its end keeps the file locked."""
        for cursor in self._cursors.values():
            cursor.close()


@dataclass(frozen=True, slots=True)
class Standing:
    """The table of `tx.standing`: see `storage.memories.Standing`."""

    tx: Tx

    def most_important(self, project: str, limit: int, least: int = 1) -> list[Memory]:
        values = {"project": project or None, "least": least, "now": self.tx.now}
        day = float(self.tx.value("SELECT julianday(?)", (self.tx.now,)))
        waiting = [
            (-_bound((type, importance), head, day), (type, importance))
            for type, importance, head in self.tx.rows(_HEADS, values)
        ]
        heapify(waiting)
        best: list[tuple[float, int]] = []
        with closing(_Groups(self.tx, values)) as groups:
            while waiting:
                highest, group = heappop(waiting)
                if len(best) == limit and -highest < best[0][0]:
                    break
                row = groups.next(group)
                if row is None:
                    continue
                id, standing, score, lasting, exact = row
                if lasting:
                    heappush(best, (score, id))
                if len(best) > limit:
                    heappop(best)
                beaten = len(best) == limit and (score, id) < best[0]
                # Else all that come after it in its group are beaten too.
                if not (beaten and exact and score > _TINY):
                    heappush(waiting, (-_bound(group, standing, day), group))
        return Memories(self.tx).select([MemoryId(id) for _, id in sorted(best, reverse=True)])
