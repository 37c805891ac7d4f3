"""The words that memories, facts and turns share with a text, weighed by how rare they are."""

import re
from collections.abc import Sequence

from memory_server.domain import fact_text, parts, reminding, trust
from memory_server.domain.caller import Caller
from memory_server.domain.embedding import Embedded
from memory_server.domain.fact import FactFilter, homes
from memory_server.domain.injection import Injected
from memory_server.domain.learning import says_the_same
from memory_server.domain.memory import Memory, MemoryId
from memory_server.domain.reminding import Shared
from memory_server.language import background, query
from memory_server.language.small_talk import is_small_talk
from memory_server.storage.tx import Tx
from memory_server.storage.words import MOST_ROWS, Index

TERMS = 32
"""Words of a prompt that are looked for: each takes some 0.3 ms."""

STORED = 0.6
"""Share of the weight of a sentence's words that a stored text has, from which on it says the same."""

_NUMBER = re.compile(r"\d+(?:[.:]\d+)*")

KINDS = {Index.MEMORY: Injected.MEMORY, Index.FACT: Injected.FACT, Index.TURN: Injected.TURN}


def terms_of(text: str) -> Sequence[str]:
    """Return the words of a text to look for."""
    return query.parse(text).terms[:TERMS]


def is_stored(tx: Tx, sentence: str, caller: Caller) -> bool:
    """True if a memory or a fact says it, with the same numbers; or if it is small talk, which needs no storing."""
    terms = terms_of(sentence)
    if all(map(is_small_talk, terms)):
        return True
    shared = shared_by(tx, terms)
    for index in (Index.MEMORY, Index.FACT):
        likely = [id for id, share in shared[index].items() if share.mass >= STORED * share.full]
        visible = visible_to(tx, index, likely, caller)
        if any(_numbers(sentence) <= _numbers(text) for text in _texts(tx, index, sorted(visible))):
            return True
    return False


def waiting_twin(tx: Tx, sentence: str, caller: Caller) -> Memory | None:
    """Return the memory from outside that says the same and waits to be confirmed."""
    shared = shared_by(tx, terms_of(sentence))[Index.MEMORY]
    likely = [id for id, share in shared.items() if share.mass >= STORED * share.full]
    visible = visible_to(tx, Index.MEMORY, likely, caller)
    memories = tx.memories.select([MemoryId(id) for id in sorted(visible)])
    return next(
        (
            memory
            for memory in memories
            if trust.waits(memory.origin) and says_the_same(sentence, memory.content)
        ),
        None,
    )


def _texts(tx: Tx, index: Index, ids: Sequence[int]) -> list[str]:
    """Return the texts of these memories or facts, but for what somebody outside has said."""
    if index is Index.FACT:
        return [
            fact_text.value_of(fact.value) for fact in tx.facts.select(ids) if not trust.waits(fact.origin)
        ]
    memories = tx.memories.select([MemoryId(id) for id in ids])
    return [memory.content for memory in memories if not trust.waits(memory.origin)]


def _numbers(text: str) -> set[str]:
    """Return the numbers of a text: with another number it says something else."""
    return set(_NUMBER.findall(text))


def shared_by(tx: Tx, terms: Sequence[str]) -> dict[Index, dict[int, Shared]]:
    """Return what each memory, fact and turn shares with these terms; of a long memory the part that shares most."""
    total, hits = tx.word_hits.hits(terms)
    weights: dict[Index, dict[int, list[float]]] = {index: {} for index in Index}
    full = 0.0
    for term, rows in zip(terms, hits, strict=True):
        holding = sum(map(len, rows.values()))
        rarity = background.weight(holding, total, background.share(term))
        weight = reminding.weight(rarity, is_small_talk(term))
        full += weight
        for index, ids in rows.items():
            if len(ids) < MOST_ROWS:
                for id in ids:
                    weights[index].setdefault(id, []).append(weight)
    shared: dict[Index, dict[int, Shared]] = {index: {} for index in Index}
    for index, holders in weights.items():
        for id, term_weights in holders.items():
            whole, here = (
                parts.memory_of(id),
                Shared(sum(term_weights), full, len(term_weights), max(term_weights)),
            )
            best = shared[index].get(whole)
            if best is None or here.mass > best.mass:
                shared[index][whole] = here
    return shared


def visible_to(tx: Tx, index: Index, ids: Sequence[int], caller: Caller) -> set[int]:
    """Return those of the rows that the caller's project may be told."""
    if not ids:
        return set()
    match index:
        case Index.MEMORY:
            return tx.memories.own(ids, caller.project.name)
        case Index.TURN:
            return tx.turns.own(ids, caller.project.name)
        case Index.FACT:
            own = FactFilter(tuple(homes(None, caller)))
            return tx.candidates.passing(Embedded.FACTS, ids, own)
