"""The answers of the toolset `facts`: a fact, its versions, a list of facts, a briefing."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from memory_server.answers.answer import Answer, field, made
from memory_server.domain import trust
from memory_server.domain.briefing.context import Said
from memory_server.domain.fact import Fact, FactChange, Scope
from memory_server.errors import Problem
from memory_server.mcp.tools.answers import DEGRADED, DELETION, Deletion, cost, degraded, unsaid
from memory_server.services.facts import FactsFound, KeyHistory, WrittenFact
from memory_server.services.resume import Resumed

MAX_LISTED = 100_000
"""Characters of JSON of all values in one list. The others are left out and counted: they would fill a model's context."""


def _unsaid(_: Fact) -> str | None:
    """Some times are not said in a list, to save tokens."""
    return None


WRITTEN = Answer(
    WrittenFact,
    "fact.id fact.key scope=fact.home.scope fact.version created fact.updated_at",
    field("hidden_by?", str, description="a scope whose value a read without scope returns instead"),
    field("origin?=fact.origin", trust.outside),
    field("note?=fact.origin", unsaid),
)
_NOW = "key value scope=home.scope version tags? updated_at updated_by"
FACT = Answer(
    Fact,
    _NOW,
    "created_at? created_by? access_count? accessed_at? expires_at?",
    field("origin?", trust.told_origin),
)
LISTED_FACT = Answer(
    Fact,
    _NOW,
    made("created_at?", _unsaid),
    "created_by? access_count?",
    made("accessed_at?", _unsaid),
    "expires_at?",
    field("origin?", trust.outside),
)
PAST_FACT = Answer(
    FactChange,
    "key value scope=home.scope version tags? updated_at=changed_at updated_by=changed_by expires_at?",
)
"""The value of a key at an earlier moment, without the fields that only the present value has."""

STEP = Answer(FactChange, "version action value scope=home.scope tags? changed_at changed_by expires_at?")
FACTS = Answer(FactsFound, field("memories=facts", LISTED_FACT), "more", DEGRADED)
HISTORY = Answer(KeyHistory, field("history=changes", STEP), DEGRADED)


def listed(listing: FactsFound) -> FactsFound:
    """Cut a list of facts to the size of an answer; `more` counts the others too."""
    number, room = 0, MAX_LISTED
    for fact in listing.facts:
        room -= len(json.dumps(fact.value, ensure_ascii=False))
        if room < 0 and number:
            break
        number += 1
    return replace(listing, facts=listing.facts[:number], more=listing.more + len(listing.facts) - number)


FACTS_READ = Answer(dict)
"""One of three: `memory` for a key (null where it has no value), FACTS for a pattern, HISTORY for versions."""


@dataclass(frozen=True, slots=True)
class DeletedFact(Deletion):
    scope: Scope | None = None
    restored: Fact | None = None


DELETED_FACT = Answer(DeletedFact, *DELETION, "scope?", field("restored?", FACT))

SAID = Answer(Said, "value by? at")


def _context(resumed: Resumed) -> dict[str, Any] | None:
    """The facts by part and key."""
    if resumed.context is None:
        return None
    return {
        part.value: {key: SAID.of(fact) for key, fact in facts.items()}
        for part, facts in resumed.context.parts.items()
    }


RESUMED = Answer(Resumed, "briefing=briefing.text", made("context?", _context), "token_count note?", DEGRADED)


def overhead(problems: Sequence[Problem]) -> float:
    """The tokens of an answer of `smart_resume` without the briefing."""
    why = degraded(problems)
    return cost({"briefing": "", "token_count": 8000, **({"degraded": why} if why else {})})
