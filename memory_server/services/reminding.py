"""What a prompt should bring to mind: the memories, facts and turns that share its words, once in a session.

A hook has a tenth of a second for it, so it asks the word indices alone; `recall` asks meaning too.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from memory_server.domain import fact_text, parts, recall, reminding
from memory_server.domain.caller import Caller
from memory_server.domain.edge import line_of
from memory_server.domain.fact import Fact, Scope, homes
from memory_server.domain.injection import Captured, Injected, Injection
from memory_server.domain.memory import Memory, MemoryId
from memory_server.domain.recall import Found, Recallable
from memory_server.domain.reminding import LIKELY, Shared
from memory_server.domain.turn import Turn
from memory_server.language import background, query
from memory_server.language.small_talk import is_small_talk
from memory_server.language.statements import statements
from memory_server.language.telling import telling
from memory_server.language.tokens import estimate
from memory_server.services import projects
from memory_server.sqlite import edges, facts, hook_captures, hook_injections, memories, turns, word_hits
from memory_server.sqlite.database import Database
from memory_server.sqlite.tx import Tx
from memory_server.sqlite.word_hits import Index

READ = 600
"""Characters of a prompt, the most telling sentences, whose words are looked for."""

TERMS = 32
"""Words of a prompt that are looked for: each takes some 0.3 ms."""

STORED = 0.6
"""Share of the weight of a sentence's words that a stored text has, from which on it says the same."""

CANDIDATES = 200
"""Texts of each index, those that share most, that are looked at: those of other projects are among them."""

SHOWN = 5
"""Most texts that a prompt brings to mind."""

_NUMBER = re.compile(r"\d+(?:[.:]\d+)*")

KINDS = {Index.MEMORY: Injected.MEMORY, Index.FACT: Injected.FACT, Index.TURN: Injected.TURN}


@dataclass(frozen=True, slots=True)
class RemindingService:
    """`records` is off where the server is read-only: then nothing is kept of what was said."""

    database: Database
    records: bool = True

    def remind(self, prompt: str, max_tokens: int, event: str, caller: Caller) -> str:
        """Lines with what is likely to bear on a prompt, best first, in at most so many tokens; '' where nothing is.

        What this session has been told already is left out, and what is said now is recorded.
        """
        text = telling(prompt, READ)
        with self.database.read() as tx:
            caller = projects.known(tx, caller)
            told = hook_injections.in_context(tx, caller.session) if caller.session else set()
            likely = [each for each in _likely(tx, text, caller) if each[0] not in told][:SHOWN]
            found = list(_found(tx, likely, told, caller))
        answer = recall.compose(text, [], found, max_tokens)
        if answer.items and caller.session and self.records:
            said = [
                Injection(event, Injected(each.kind.value), each.id, estimate(line))
                for each, line in zip(answer.items, answer.text.split("\n"), strict=True)
            ]
            session = caller.session
            self.database.record(lambda tx: hook_injections.insert(tx, session, said))
        return answer.text

    def not_stored(self, event: str, caller: Caller) -> str | None:
        """A decision, preference or correction that the user stated in the last turn that was kept of this session, and
        that no memory and no fact says; each is told once. None where there is none."""
        session = caller.session
        if session is None or not self.records:
            return None
        with self.database.read() as tx:
            last = hook_captures.last(tx, Captured.SHORT_TERM, session)
            if last is None or hook_injections.was_suggested(tx, session, last.id):
                return None
            caller = projects.known(tx, caller)
            stated = statements(_by_user(last.text or ""))
            missing = next((each for each in stated if not is_stored(tx, each, caller)), None)
        if missing is not None:
            told = [Injection(event, Injected.SUGGESTION, last.id, estimate(missing))]
            self.database.record(lambda tx: hook_injections.insert(tx, session, told))
        return missing


def _by_user(text: str) -> str:
    """What the user said in a snapshot: up to where the assistant begins."""
    return text.partition("\nassistant: ")[0].removeprefix("user: ") if text.startswith("user: ") else ""


def is_stored(tx: Tx, sentence: str, caller: Caller) -> bool:
    """Whether a memory or a fact says it, with the same numbers; a sentence of small talk needs no storing."""
    terms = query.parse(sentence).terms[:TERMS]
    if all(map(is_small_talk, terms)):
        return True
    shared = shared_by(tx, terms)
    for index in (Index.MEMORY, Index.FACT):
        likely = [id for id, each in shared[index].items() if each.mass >= STORED * each.full]
        own = visible_to(tx, index, likely, caller) if likely else set()
        if any(_numbers(sentence) <= _numbers(text) for text in _texts(tx, index, sorted(own))):
            return True
    return False


def _texts(tx: Tx, index: Index, ids: Sequence[int]) -> list[str]:
    """What these memories or facts say."""
    if index is Index.FACT:
        return [fact_text.value_of(fact.value) for fact in facts.select(tx, ids)]
    return [memory.content for memory in memories.select(tx, [MemoryId(id) for id in ids])]


def _numbers(text: str) -> set[str]:
    """The numbers of a text: with another one it says something else."""
    return set(_NUMBER.findall(text))


def _likely(tx: Tx, text: str, caller: Caller) -> list[tuple[tuple[Injected, int], float]]:
    """The rows that a prompt is likely about and that the caller may see, each with its probability, best first."""
    shared = shared_by(tx, query.parse(text).terms[:TERMS])
    found = []
    for index, rows in shared.items():
        best = sorted(rows, key=lambda id: (-rows[id].mass, -id))[:CANDIDATES]
        likely = [id for id in best if rows[id].probability >= LIKELY]
        own = visible_to(tx, index, likely, caller) if likely else set()
        found += [((KINDS[index], id), rows[id].probability) for id in likely if id in own]
    return sorted(found, key=lambda each: (-each[1], each[0][0], -each[0][1]))


def shared_by(tx: Tx, terms: Sequence[str]) -> dict[Index, dict[int, Shared]]:
    """What each memory, fact and turn shares with these terms; of a long memory the part that shares most."""
    total = sum(word_hits.count(tx, index) for index in Index)
    weights: dict[Index, dict[int, list[float]]] = {index: {} for index in Index}
    full = 0.0
    for term in terms:
        rows = {index: word_hits.holding(tx, index, term) for index in Index}
        holding = sum(map(len, rows.values()))
        rarity = background.weight(holding, total, background.share(term))
        weight = reminding.weight(rarity, is_small_talk(term))
        full += weight
        for index, ids in rows.items():
            if len(ids) < word_hits.MOST_ROWS:
                for id in ids:
                    weights[index].setdefault(id, []).append(weight)
    found: dict[Index, dict[int, Shared]] = {index: {} for index in Index}
    for index, holders in weights.items():
        for id, held in holders.items():
            whole, shared = parts.memory_of(id), Shared(sum(held), full, len(held), max(held))
            known = found[index].get(whole)
            if known is None or shared.mass > known.mass:
                found[index][whole] = shared
    return found


def visible_to(tx: Tx, index: Index, ids: Sequence[int], caller: Caller) -> set[int]:
    """Those of these rows that the caller's project may be told."""
    match index:
        case Index.MEMORY:
            return word_hits.own_memories(tx, ids, caller.project.name)
        case Index.TURN:
            return word_hits.own_turns(tx, ids, caller.project.name)
        case Index.FACT:
            return word_hits.own_facts(tx, ids, homes(None, caller))


def _found(
    tx: Tx,
    likely: Sequence[tuple[tuple[Injected, int], float]],
    told: set[tuple[Injected, int]],
    caller: Caller,
) -> Iterator[Found]:
    """The rows as an answer shows them. What supersedes a memory stands in its place."""
    ids = {kind: [id for (each, id), _ in likely if each is kind] for kind in Injected}
    line = edges.successors(tx, [MemoryId(id) for id in ids[Injected.MEMORY]])
    newest = {id: [id, *line_of(id, line)][-1] for id in map(MemoryId, ids[Injected.MEMORY])}
    wanted = dict.fromkeys(chain(map(MemoryId, ids[Injected.MEMORY]), newest.values()))
    known = {memory.id: memory for memory in memories.select(tx, list(wanted))}
    of_key = {fact.id: fact for fact in facts.select(tx, ids[Injected.FACT])}
    spoken = {turn.id: turn for turn in turns.select(tx, ids[Injected.TURN])}
    shown: set[int] = set()
    for (kind, id), probability in likely:
        match kind:
            case Injected.MEMORY:
                now = newest[MemoryId(id)]
                if now in known and now not in shown and (now == id or (kind, now) not in told):
                    shown.add(now)
                    was = known[MemoryId(id)].content if now != id else None
                    yield _of_memory(known[now], was, probability)
            case Injected.FACT if id in of_key:
                yield _of_fact(of_key[id], probability, caller)
            case Injected.TURN if id in spoken:
                yield _of_turn(spoken[id], probability)


def _of_memory(memory: Memory, was: str | None, score: float) -> Found:
    return Found(
        Recallable.MEMORY,
        f"m{memory.id}",
        memory.content,
        memory.occurred_at[:10],
        score,
        was=was,
        id=memory.id,
    )


def _of_fact(fact: Fact, score: float, caller: Caller) -> Found:
    """A fact that assistants share has its author: it may be of another project."""
    said = fact_text.value_of(fact.value)
    if fact.home.scope is Scope.SHARED and fact.updated_by != caller.client:
        said = f"{said} (shared by {fact.updated_by or 'nobody named'})"
    return Found(Recallable.FACT, f"f {fact.key}", said, fact.updated_at[:10], score, id=fact.id)


def _of_turn(turn: Turn, score: float) -> Found:
    return Found(
        Recallable.TURN, f"t{turn.id}", turn.summary or turn.message, turn.occurred_at[:10], score, id=turn.id
    )
