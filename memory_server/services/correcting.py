"""Finds the memory or the fact that a prompt corrects."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory_server.domain import fact_text
from memory_server.domain.caller import Caller
from memory_server.domain.correcting import corrected, states_a_value, values
from memory_server.domain.injection import Captured, Injected
from memory_server.domain.learning import words
from memory_server.domain.memory import MemoryId
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


@dataclass(frozen=True, slots=True)
class Correction:
    """The name of a stored thing, and the value in it that a prompt corrects."""

    name: str
    is_fact: bool
    value: str


@dataclass(frozen=True, slots=True)
class CorrectingService:
    database: Database

    def corrected(self, prompt: str, caller: Caller) -> Correction | None:
        """Return what a prompt corrects of what the session was shown, else of what shares its words; or nothing."""
        statements = [statement for statement in corrections(prompt) if states_a_value(statement)]
        session = caller.session
        if not statements or session is None:
            return None
        self.database.settle()
        with self.database.read() as tx:
            caller = projects.known(tx, caller)
            last = tx.hook_captures.last(Captured.SHORT_TERM, session)
            turn = (last.text or "") if last else ""
            for shown, (memories, facts) in (
                (True, _shown(tx, session, caller)),
                (False, _sharing(tx, " ".join(statements), caller)),
                (False, _sharing(tx, _answering(turn, statements), caller)),
            ):
                hits = list(_corrections(tx, statements, turn, memories, facts, shown))
                if hits:
                    return _nearest(hits)
        return None


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


def _corrections(
    tx: Tx, statements: Sequence[str], turn: str, memories: set[int], facts: set[int], shown: bool
) -> Iterator[tuple[Correction, int]]:
    """Yield what the statements correct, with the number of words that it shares with the turn before."""
    texts = [
        (f"m{memory.id}", False, memory.content)
        for memory in tx.memories.select([MemoryId(id) for id in sorted(memories)])
    ]
    texts += [(fact.key, True, fact_text.of(fact.key, fact.value)) for fact in tx.facts.select(sorted(facts))]
    for name, is_fact, text in texts:
        old_values = (corrected(statement, text, turn, shown=shown) for statement in statements)
        if value := next(filter(None, old_values), None):
            yield Correction(name, is_fact, value), len(words(text) & words(turn))
