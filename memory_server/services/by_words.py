"""What a text is likely about, by its words alone: the memories, facts and turns that share the rarest of them.

It asks the word indices without numpy, for a process that has a tenth of a second; `recall` asks meaning too.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from itertools import chain

from memory_server.domain import fact_text, parts, reminding
from memory_server.domain.caller import Caller
from memory_server.domain.edge import line_of
from memory_server.domain.fact import homes
from memory_server.domain.injection import Injected
from memory_server.domain.memory import MemoryId
from memory_server.domain.recall import Found
from memory_server.domain.reminding import LIKELY, Shared
from memory_server.language import background, query
from memory_server.language.small_talk import is_small_talk
from memory_server.services import projects, showing
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx
from memory_server.storage.words import MOST_ROWS, Index

Told = AbstractSet[tuple[Injected, int]]
"""Rows that a session has been told."""

TERMS = 32
"""Words of a prompt that are looked for: each takes some 0.3 ms."""

STORED = 0.6
"""Share of the weight of a sentence's words that a stored text has, from which on it says the same."""

CANDIDATES = 200
"""Texts of each index, those that share most, that are looked at: those of other projects are among them."""

LOOKED_AT = 8
"""Likely texts that are read. A caller shows fewer: one may be superseded by another one."""

_NUMBER = re.compile(r"\d+(?:[.:]\d+)*")

KINDS = {Index.MEMORY: Injected.MEMORY, Index.FACT: Injected.FACT, Index.TURN: Injected.TURN}


def find(database: Database, text: str, told: Told, caller: Caller) -> list[Found]:
    """The memories, facts and turns that a text is likely about, best first, without those of `told`."""
    with database.read() as tx:
        here, shared = tx.together(lambda: projects.known(tx, caller), lambda: shared_by(tx, terms_of(text)))
        likely = [each for each in _likely(tx, shared, here) if each[0] not in told]
        return list(_found(tx, likely[:LOOKED_AT], told, here))


def terms_of(text: str) -> Sequence[str]:
    """The words of a text that are looked for."""
    return query.parse(text).terms[:TERMS]


def is_stored(tx: Tx, sentence: str, caller: Caller) -> bool:
    """Whether a memory or a fact says it, with the same numbers; a sentence of small talk needs no storing."""
    terms = terms_of(sentence)
    if all(map(is_small_talk, terms)):
        return True
    found = shared_by(tx, terms)
    for index in (Index.MEMORY, Index.FACT):
        likely = [id for id, each in found[index].items() if each.mass >= STORED * each.full]
        own = visible_to(tx, index, likely, caller)
        if any(_numbers(sentence) <= _numbers(text) for text in _texts(tx, index, sorted(own))):
            return True
    return False


def _texts(tx: Tx, index: Index, ids: Sequence[int]) -> list[str]:
    """What these memories or facts say."""
    if index is Index.FACT:
        return [fact_text.value_of(fact.value) for fact in tx.facts.select(ids)]
    return [memory.content for memory in tx.memories.select([MemoryId(id) for id in ids])]


def _numbers(text: str) -> set[str]:
    """The numbers of a text: with another one it says something else."""
    return set(_NUMBER.findall(text))


def _likely(
    tx: Tx, shared: Mapping[Index, Mapping[int, Shared]], caller: Caller
) -> list[tuple[tuple[Injected, int], float]]:
    """The rows that a prompt is likely about and that the caller may see, each with its probability, best first."""
    likely: dict[Index, list[int]] = {}
    for index, rows in shared.items():
        best = sorted(rows, key=lambda id: (-rows[id].mass, -id))[:CANDIDATES]
        likely[index] = [id for id in best if rows[id].probability >= LIKELY]
    own = tx.each([partial(visible_to, tx, index, ids, caller) for index, ids in likely.items()])
    found = [
        ((KINDS[index], id), shared[index][id].probability)
        for (index, ids), seen in zip(likely.items(), own, strict=True)
        for id in ids
        if id in seen
    ]
    return sorted(found, key=lambda each: (-each[1], each[0][0], -each[0][1]))


def shared_by(tx: Tx, terms: Sequence[str]) -> dict[Index, dict[int, Shared]]:
    """What each memory, fact and turn shares with these terms; of a long memory the part that shares most."""
    total, held_by = tx.word_hits.held(terms)
    weights: dict[Index, dict[int, list[float]]] = {index: {} for index in Index}
    full = 0.0
    for term, rows in zip(terms, held_by, strict=True):
        holding = sum(map(len, rows.values()))
        rarity = background.weight(holding, total, background.share(term))
        weight = reminding.weight(rarity, is_small_talk(term))
        full += weight
        for index, ids in rows.items():
            if len(ids) < MOST_ROWS:
                for id in ids:
                    weights[index].setdefault(id, []).append(weight)
    found: dict[Index, dict[int, Shared]] = {index: {} for index in Index}
    for index, holders in weights.items():
        for id, held in holders.items():
            whole, here = parts.memory_of(id), Shared(sum(held), full, len(held), max(held))
            known = found[index].get(whole)
            if known is None or here.mass > known.mass:
                found[index][whole] = here
    return found


def visible_to(tx: Tx, index: Index, ids: Sequence[int], caller: Caller) -> set[int]:
    """Those of these rows that the caller's project may be told."""
    if not ids:
        return set()
    match index:
        case Index.MEMORY:
            return tx.word_hits.own_memories(ids, caller.project.name)
        case Index.TURN:
            return tx.word_hits.own_turns(ids, caller.project.name)
        case Index.FACT:
            return tx.word_hits.own_facts(ids, homes(None, caller))


def _found(
    tx: Tx,
    likely: Sequence[tuple[tuple[Injected, int], float]],
    told: Told,
    caller: Caller,
) -> Iterator[Found]:
    """The rows as an answer shows them. What supersedes a memory stands in its place."""
    ids = {kind: [id for (each, id), _ in likely if each is kind] for kind in Injected}
    line, facts, turns = tx.together(
        lambda: tx.edges.successors([MemoryId(id) for id in ids[Injected.MEMORY]]),
        lambda: tx.facts.select(ids[Injected.FACT]),
        lambda: tx.turns.select(ids[Injected.TURN]),
    )
    newest = {id: [id, *line_of(id, line)][-1] for id in map(MemoryId, ids[Injected.MEMORY])}
    wanted = dict.fromkeys(chain(map(MemoryId, ids[Injected.MEMORY]), newest.values()))
    known = {memory.id: memory for memory in tx.memories.select(list(wanted))}
    of_key = {fact.id: fact for fact in facts}
    spoken = {turn.id: turn for turn in turns}
    shown: set[int] = set()
    for (kind, id), probability in likely:
        match kind:
            case Injected.MEMORY:
                now = newest[MemoryId(id)]
                if now in known and now not in shown and (now == id or (kind, now) not in told):
                    shown.add(now)
                    was = known[MemoryId(id)].content if now != id else None
                    memory = known[now]
                    yield showing.of_memory(memory, memory.content, probability, caller, was)
            case Injected.FACT if id in of_key:
                yield showing.of_fact(of_key[id], probability, caller)
            case Injected.TURN if id in spoken:
                turn = spoken[id]
                yield showing.of_turn(turn, turn.summary or turn.message, probability, caller)
