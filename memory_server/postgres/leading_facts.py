"""Which facts a briefing looks at, chosen among the keys of all facts."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.domain.briefing.leading import TASK, Leading, Limits, leading, task_home
from memory_server.domain.fact import Home, narrowest
from memory_server.postgres.fact_history import FactHistory
from memory_server.postgres.facts import Facts
from memory_server.postgres.tx import Tx


@dataclass(frozen=True, slots=True)
class LeadingFacts:
    """Which facts a briefing looks at."""

    tx: Tx

    def select(self, homes: Sequence[Home], limits: Limits) -> Leading:
        there = narrowest(Facts(self.tx).headlines(homes, newest_first=True))
        tasks = {each.home for each in there if each.key == TASK}
        changed = FactHistory(self.tx).changed_at(task_home(homes, tasks.__contains__), TASK)
        return leading(there, changed, limits)
