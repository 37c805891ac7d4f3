"""Chooses the facts of a briefing among the keys of all facts."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.domain.briefing.leading import TASK, Leading, Limits, leading, task_home
from memory_server.domain.fact import Home, narrowest
from memory_server.postgres.spelling import Spelled
from memory_server.postgres.tx import Tx
from memory_server.storage.tables.fact_history import FactHistory
from memory_server.storage.tables.facts import Facts


@dataclass(frozen=True, slots=True)
class LeadingFacts:
    """The table of `tx.leading_facts`: see `storage.memories.LeadingFacts`."""

    tx: Tx

    def select(self, homes: Sequence[Home], limits: Limits) -> Leading:
        headlines = narrowest(Facts(Spelled(self.tx)).headlines(homes, newest_first=True, said_unasked=True))
        tasks = {headline.home for headline in headlines if headline.key == TASK}
        changed = FactHistory(Spelled(self.tx)).changed_at(task_home(homes, tasks.__contains__), TASK)
        return leading(headlines, changed, limits)
