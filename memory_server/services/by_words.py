"""Finds what a text is likely about by its words alone: the memories, facts and turns that share the rarest of them.

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


def find(database: Database, text: str, told_rows: Told, caller: Caller) -> list[Found]:
    """Return the memories, facts and turns that a text is likely about, best first, without those of `told_rows`."""
    with database.read() as tx:
        here, shared = projects.known(tx, caller), shared_by(tx, terms_of(text))
        likely = [row for row in _likely(tx, shared, here) if row[0] not in told_rows]
        return list(_found(tx, likely[:LOOKED_AT], told_rows, here))


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


def _texts(tx: Tx, index: Index, ids: Sequence[int]) -> list[str]:
    """Return the texts of these memories or facts."""
    if index is Index.FACT:
        return [fact_text.value_of(fact.value) for fact in tx.facts.select(ids)]
    return [memory.content for memory in tx.memories.select([MemoryId(id) for id in ids])]


def _numbers(text: str) -> set[str]:
    """Return the numbers of a text: with another number it says something else."""
    return set(_NUMBER.findall(text))


def _likely(
    tx: Tx, shared: Mapping[Index, Mapping[int, Shared]], caller: Caller
) -> list[tuple[tuple[Injected, int], float]]:
    """Return the rows that a prompt is likely about and the caller may see, each with its probability, best first."""
    likely: dict[Index, list[int]] = {}
    for index, rows in shared.items():
        best = sorted(rows, key=lambda id: (-rows[id].mass, -id))[:CANDIDATES]
        likely[index] = [id for id in best if rows[id].probability >= LIKELY]
    visible = tx.each([partial(visible_to, tx, index, ids, caller) for index, ids in likely.items()])
    ranked = [
        ((KINDS[index], id), shared[index][id].probability)
        for (index, ids), visible_ids in zip(likely.items(), visible, strict=True)
        for id in ids
        if id in visible_ids
    ]
    return sorted(ranked, key=lambda row: (-row[1], row[0][0], -row[0][1]))


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
            return tx.word_hits.own_memories(ids, caller.project.name)
        case Index.TURN:
            return tx.word_hits.own_turns(ids, caller.project.name)
        case Index.FACT:
            return tx.word_hits.own_facts(ids, homes(None, caller))


def _found(
    tx: Tx,
    likely: Sequence[tuple[tuple[Injected, int], float]],
    told_rows: Told,
    caller: Caller,
) -> Iterator[Found]:
    """Yield the rows as an answer shows them. What supersedes a memory stands in its place."""
    ids = {kind: [id for (row_kind, id), _ in likely if row_kind is kind] for kind in Injected}
    line = tx.edges.successors([MemoryId(id) for id in ids[Injected.MEMORY]])
    newest = {id: [id, *line_of(id, line)][-1] for id in map(MemoryId, ids[Injected.MEMORY])}
    memory_ids = dict.fromkeys(chain(map(MemoryId, ids[Injected.MEMORY]), newest.values()))
    memories = {memory.id: memory for memory in tx.memories.select(list(memory_ids))}
    fact_ids, turn_ids = ids[Injected.FACT], ids[Injected.TURN]
    of_key = {fact.id: fact for fact in tx.facts.select(fact_ids)} if fact_ids else {}
    spoken = {turn.id: turn for turn in tx.turns.select(turn_ids)} if turn_ids else {}
    shown = {digest.id for digest in showing.left_out(tx, [*memories.values(), *spoken.values()])}
    for (kind, id), probability in likely:
        match kind:
            case Injected.MEMORY:
                now = newest[MemoryId(id)]
                if now in memories and now not in shown and (now == id or (kind, now) not in told_rows):
                    shown.add(now)
                    was = memories[MemoryId(id)].content if now != id else None
                    memory = memories[now]
                    yield showing.of_memory(memory, memory.content, probability, caller, was)
            case Injected.FACT if id in of_key:
                yield showing.of_fact(of_key[id], probability, caller)
            case Injected.TURN if id in spoken:
                turn = spoken[id]
                yield showing.of_turn(turn, turn.summary or turn.message, probability, caller)
