"""Lists what was stored last of a project: memories, facts and turns together, the newest first."""

from collections.abc import Iterator
from dataclasses import dataclass

from memory_server.domain import fact_text
from memory_server.domain.caller import Caller
from memory_server.domain.fact import homes
from memory_server.domain.recall import Found, Recallable, line
from memory_server.errors import Problem
from memory_server.language.sentences import shortened
from memory_server.language.tokens import fitting
from memory_server.services import projects
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx

OF_EACH = 100
"""Of each kind: more than the longest list has."""

SHOWN = 40.0
"""Tokens of each text."""

HEADROOM = 0.88
"""Share of the token limit that the estimate may fill. The real count is up to 12 % higher and must keep the limit."""


@dataclass(frozen=True, slots=True)
class Recent:
    """Lines with date and handle. `degraded` names the rows that could not be read."""

    project: str
    lines: list[str]
    degraded: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class RecentService:
    database: Database

    def recent(self, max_tokens: int, caller: Caller) -> Recent:
        """Return the newest of the caller's project and session, in at most so many tokens. Reads only."""
        with self.database.read() as tx:
            here = projects.known(tx, caller)
            dated_hits = sorted(_newest(tx, here), key=lambda dated: dated[0], reverse=True)
            lines = (line(hit, shortened(hit.said, SHOWN)) for _, hit in dated_hits)
            return Recent(here.project.name, fitting(lines, HEADROOM * max_tokens), tuple(tx.skipped))


def _newest(tx: Tx, caller: Caller) -> Iterator[tuple[str, Found]]:
    """Yield the newest texts, each with its moment."""
    project = caller.project.name
    for memory in tx.memories.newest_of(project, OF_EACH):
        yield (
            memory.occurred_at,
            _found(Recallable.MEMORY, f"m{memory.id}", memory.content, memory.occurred_at),
        )
    for turn in tx.turns.newest(project, OF_EACH):
        text = turn.summary.strip() or turn.message
        yield turn.occurred_at, _found(Recallable.TURN, f"t{turn.id}", text, turn.occurred_at)
    headlines = tx.facts.headlines(homes(None, caller), newest_first=True, said_unasked=True)[:OF_EACH]
    for fact in tx.facts.select([headline.id for headline in headlines]):
        text = fact_text.of(fact.key, fact.value)
        yield fact.updated_at, _found(Recallable.FACT, f"f {fact.key}", text, fact.updated_at)


def _found(kind: Recallable, ref: str, text: str, at: str) -> Found:
    return Found(kind, ref, text, at[:10], 1.0)
