"""Finds the memory or the fact that a prompt corrects."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memory_server.domain import fact_text
from memory_server.domain.caller import Caller
from memory_server.domain.changing import changed, may_change
from memory_server.domain.correcting import corrected, states_a_value, values
from memory_server.domain.injection import Captured, Injected
from memory_server.domain.learning import words
from memory_server.domain.memory import MemoryId
from memory_server.language.changes import Clause, clauses
from memory_server.language.corrections import corrections
from memory_server.language.sentences import split
from memory_server.services import projects
from memory_server.services.shared_words import shared_by, terms_of, visible_to
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx
from memory_server.storage.words import Index

SHOWN = 40
"""Memories that a session was shown last, which are looked at first."""

FOUND = 10
"""Memories and facts that share most words with the prompt, which are looked at then."""


class _StoredText(NamedTuple):
    """A memory or a fact: its name and its text."""

    name: str
    is_fact: bool
    text: str


@dataclass(frozen=True, slots=True)
class Correction:
    """The name of a stored thing, and the value in it that a prompt corrects; '' where it cannot be told.

    `is_sure`: the prompt denies it. Else it says something in passing that may change it.
    """

    name: str
    is_fact: bool
    value: str
    is_sure: bool = True


@dataclass(frozen=True, slots=True)
class CorrectingService:
    database: Database

    def corrected(self, prompt: str, caller: Caller) -> Correction | None:
        """Return what a prompt corrects of what the session was shown, else of what shares its words; or nothing."""
        statements = [statement for statement in corrections(prompt) if states_a_value(statement)]
        new_clauses = [clause for clause in clauses(prompt) if may_change(clause)]
        session = caller.session
        if session is None or not (statements or new_clauses):
            return None
        self.database.settle()
        with self.database.read() as tx:
            caller = projects.known(tx, caller)
            last = tx.hook_captures.last(Captured.SHORT_TERM, session)
            turn = (last.text or "") if last else ""
            shown = _shown(tx, session, caller)
            if statements and (denied := _denied(tx, statements, turn, shown, caller)):
                return denied
            if not new_clauses:
                return None
            sharing = _sharing(tx, prompt, caller)
            things = _things(tx, shown[0] | sharing[0], shown[1] | sharing[1])
            return _in_passing(new_clauses, prompt, things)


def _denied(
    tx: Tx, statements: Sequence[str], turn: str, shown: tuple[set[int], set[int]], caller: Caller
) -> Correction | None:
    """Return what a message that denies something corrects."""
    for is_shown, (memories, facts) in (
        (True, shown),
        (False, _sharing(tx, " ".join(statements), caller)),
        (False, _sharing(tx, _answering(turn, statements), caller)),
    ):
        hits = list(_corrections(statements, turn, _things(tx, memories, facts), is_shown))
        if hits:
            return _nearest(hits)
    return None


def _in_passing(
    new_clauses: Sequence[Clause], prompt: str, things: Sequence[_StoredText]
) -> Correction | None:
    """Return what the clauses change that shares most words with them; None where two share as many."""
    hits = [
        (change, item)
        for item in things
        for change in (changed(clause, prompt, item.text) for clause in new_clauses)
        if change
    ]
    hits.sort(key=lambda hit: (hit[0].is_sure, hit[0].weight), reverse=True)
    if not hits:
        return None
    change, best = hits[0]
    rivals = [rival for rival, item in hits[1:] if item != best]
    if rivals and (rivals[0].is_sure, rivals[0].weight) == (change.is_sure, change.weight):
        return None
    return Correction(best.name, best.is_fact, ", ".join(change.values), is_sure=False)


def _nearest(hits: Sequence[tuple[Correction, int]]) -> Correction | None:
    """Return the correction of what shares most words with the turn before; None where two share as many."""
    best, *further = sorted(hits, key=lambda hit: -hit[1])
    return best[0] if not further or best[1] > further[0][1] else None


def _answering(turn: str, statements: Sequence[str]) -> str:
    """Return what the user asked and the sentences of the answer that hold a value of a kind that is corrected."""
    kinds = {kind for statement in statements for kind in values(statement).values()}
    prompt, *answer = turn.splitlines() or [""]
    sentences = [part for line in answer for part in split(line) if kinds & set(values(part).values())]
    return " ".join([prompt, *sentences])


def _shown(tx: Tx, session: str, caller: Caller) -> tuple[set[int], set[int]]:
    """Return the memories and the facts that a session was shown."""
    rows = tx.hook_injections.in_context(session)
    memories = {id for kind, id in rows if kind is Injected.MEMORY}
    memories |= {id for id, *_ in tx.memory_uses.of_session(session, SHOWN)}
    return visible_to(tx, Index.MEMORY, sorted(memories), caller), {
        id for kind, id in rows if kind is Injected.FACT
    }


def _sharing(tx: Tx, text: str, caller: Caller) -> tuple[set[int], set[int]]:
    """Return the memories and the facts that share most words with a text."""
    shared = shared_by(tx, terms_of(text))
    best = {
        index: sorted(shared[index], key=lambda id: -shared[index][id].mass)[:FOUND]
        for index in (Index.MEMORY, Index.FACT)
    }
    memories, facts = (visible_to(tx, index, best[index], caller) for index in (Index.MEMORY, Index.FACT))
    return memories, facts


def _things(tx: Tx, memories: set[int], facts: set[int]) -> list[_StoredText]:
    texts = [
        _StoredText(f"m{memory.id}", False, memory.content)
        for memory in tx.memories.select([MemoryId(id) for id in sorted(memories)])
    ]
    return texts + [
        _StoredText(fact.key, True, fact_text.of(fact.key, fact.value))
        for fact in tx.facts.select(sorted(facts))
    ]


def _corrections(
    statements: Sequence[str], turn: str, things: Sequence[_StoredText], shown: bool
) -> Iterator[tuple[Correction, int]]:
    """Yield what the statements correct, with the number of words that it shares with the turn before."""
    for name, is_fact, text in things:
        old_values = (corrected(statement, text, turn, shown=shown) for statement in statements)
        if value := next(filter(None, old_values), None):
            yield Correction(name, is_fact, value), len(words(text) & words(turn))
