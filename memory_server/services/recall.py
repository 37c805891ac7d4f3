"""One question to all stores: memories, facts, turns, short-term memories, and the prompts that are due."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from memory_server.domain import fact_text, recall, rights
from memory_server.domain.caller import Caller
from memory_server.domain.edge import line_of
from memory_server.domain.embedding import Embedded
from memory_server.domain.fact import Fact, FactFilter, homes
from memory_server.domain.memory import Filter, Memory, MemoryId
from memory_server.domain.message import Message
from memory_server.domain.project import EVERYWHERE, default_conversation
from memory_server.domain.recall import Answer, Found, Recallable
from memory_server.domain.short_term import SaidFilter, ShortTermId, ShortTermMemory
from memory_server.domain.turn import Turn
from memory_server.errors import Problem
from memory_server.language import question
from memory_server.language.text import fold
from memory_server.language.tokens import weigh_json
from memory_server.project import Project
from memory_server.services import projects, retrieval, search, showing, turns
from memory_server.services.embedding_queue import EmbeddingQueue, Meaning, Unanswered
from memory_server.services.gathering import Asked, Item
from memory_server.services.guesses import Guesses
from memory_server.services.learning import ON, Learning
from memory_server.services.projects import Among
from memory_server.services.retrieval import Ranked
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx, WriteTx

if TYPE_CHECKING:
    from memory_server.services.long_term import LongTermService

WANTED = 50
"""Texts of each kind that a question looks for: more than the longest answer has."""

KEY = 0.5
"""Added to a fact whose key, or the last part of it, the question has: `current.task`, "release day"."""

PER_REMARK, PER_HINT = 5, 30
"""Tokens of a note, or of why the answer is less than it could be, besides its text; and of what mends that."""

Load = Callable[[Tx, Sequence[int]], dict[int, Item[Memory]]]

NOTHING = "Nothing that is stored is likely to answer this."


@dataclass(frozen=True, slots=True)
class RecallWish:
    """What a recall wants: these kinds, of a project (`*`: all, equally), of that time."""

    kinds: frozenset[Recallable] = frozenset(Recallable)
    project: str | None = None
    since: str | None = None
    until: str | None = None


@dataclass(frozen=True, slots=True)
class Recalled:
    """`degraded` says why the answer is less than it could be, `note` what a reader should know."""

    answer: Answer
    note: str | None
    degraded: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class RecallService:
    """`count_access` is off where the server was started read-only. Where `long_term` is None no prompt wakes."""

    database: Database
    queue: EmbeddingQueue
    long_term: "LongTermService | None"
    count_access: bool = True
    learning: Learning = ON
    guesses: Guesses = field(default_factory=Guesses)

    def recall(
        self, text: str, messages: Sequence[Message], max_tokens: int, wish: RecallWish, caller: Caller
    ) -> Recalled:
        """What answers a question, in all stores, best first. What is shown is counted as accessed once.

        Prompts whose trigger holds for the messages come first.
        """
        woken = self._woken(messages, wish, caller)
        found, problems, note = self.find(text, wish, caller)
        answer = recall.compose(text, woken, found, max_tokens - _weight(note, problems))
        answers = bool(found) and found[0].score >= recall.LIKELY
        vain = wish == RecallWish() and not answers and not problems and self.learning.wants(text, caller)
        self._record(text, answer.items, caller, answers, vain)
        return Recalled(answer, note or (None if answer.items or answer.left_out else NOTHING), problems)

    def find(
        self, text: str, wish: RecallWish, caller: Caller
    ) -> tuple[list[Found], tuple[Problem, ...], str | None]:
        """All that may answer, best first; why that is less than it could be; a note on an unknown project."""
        among = projects.among(wish.project, caller)

        def ask(tx: Tx, meaning: Meaning | Unanswered) -> tuple[list[Found], tuple[Problem, ...], str | None]:
            _, found = self.guesses.go_on(
                tx,
                (among.asked, caller.project),
                (among.guess, caller.project.name),
                lambda: tx.together(lambda: among(tx), lambda: projects.name_of(tx, caller.project)),
                lambda known: answer(tx, meaning, known[0], projects.called(caller, known[1])),
            )
            return found

        def answer(
            tx: Tx, meaning: Meaning | Unanswered, where: Among, here: Caller
        ) -> tuple[list[Found], tuple[Problem, ...], str | None]:
            known = meaning if isinstance(meaning, Meaning) else None
            load = partial(search.load, learning=self.learning)
            asked = tuple(asked_of(text, wish, where, here, "hybrid" if known else "keyword", load))
            kinds = [each.kind for each in asked]
            ranked, problems = tx.together(
                lambda: retrieval.rank_all(tx, text, asked, known) if asked else [],
                lambda: retrieval.without_meaning(tx, kinds, meaning),
            )
            return list(_found(tx, ranked, here, load)), (*problems, *tx.skipped), where.note

        return self.queue.read(retrieval.questions(text), ask)

    def _woken(self, messages: Sequence[Message], wish: RecallWish, caller: Caller) -> list[Found]:
        if self.long_term is None or not messages or Recallable.WOKEN not in wish.kinds:
            return []
        due = self.long_term.search(messages, None, {}, caller).activated
        return [
            Found(Recallable.WOKEN, f"w {each.name}", each.prompt, None, 1.0, why=each.why) for each in due
        ]

    def _record(self, text: str, shown: Sequence[Found], caller: Caller, answers: bool, vain: bool) -> None:
        """Count the accesses, and keep what the question teaches."""
        known = [each.id for each in shown if each.kind is Recallable.MEMORY]
        read = [each.id for each in shown if each.kind is Recallable.FACT]
        if not (known or read or vain) or not self.count_access:
            return

        def mark(tx: WriteTx) -> None:
            tx.memories.mark_accessed([MemoryId(id) for id in known])
            tx.facts.mark_accessed(read)
            self.learning.asked(tx, text, known, caller, answers=answers, vain=vain)

        self.database.later(mark)


def _weight(note: str | None, problems: Sequence[Problem]) -> int:
    """Tokens that the answer needs to say so."""
    texts = [*([note] if note else []), *(each.text for each in problems)]
    hints = sum(len(each.hints) for each in problems)
    return round(sum(PER_REMARK + weigh_json(text) / recall.HEADROOM for text in texts) + PER_HINT * hints)


def asked_of(
    text: str, wish: RecallWish, where: Among, here: Caller, mode: str, load: Load
) -> Iterator[Asked[Any]]:
    """What is searched of each kind that is wanted. `here` is the caller as the file knows it.

    Facts and short-term memories are those of the project that is named, else of the caller's and of the user.
    """
    everywhere, first = wish.project == EVERYWHERE, where.own

    def own() -> str | None:
        return first

    since, until = wish.since, wish.until
    wanted = Filter(project=where.only, since=since, until=until)
    there = here if where.only is None else replace(here, project=Project(where.only, where.only))
    if Recallable.MEMORY in wish.kinds:
        yield Asked(Embedded.MEMORIES, load, wanted, WANTED, mode, own)
    if Recallable.TURN in wish.kinds:
        yield Asked(Embedded.TURNS, turns.load, wanted, WANTED, mode, own)
    if Recallable.FACT in wish.kinds:
        visible = None if everywhere else tuple(homes(None, there))
        yield Asked(Embedded.FACTS, _facts_for(text), FactFilter(visible, since, until), WANTED, mode, own)
    if Recallable.SHORT_TERM in wish.kinds:
        places = [there.project.name] if wish.project else [there.project.name, ""]
        conversations = (
            None
            if everywhere
            else tuple(rights.key(here.person, default_conversation(each)) for each in places)
        )
        yield Asked(
            Embedded.SHORT_TERM, _load_said, SaidFilter(conversations, since, until), WANTED, mode, own
        )


def _facts_for(text: str) -> Any:
    """Loads facts; those whose key the question has get the bonus."""
    asked = fold(question.read(text).core)

    def load(tx: Tx, ids: Sequence[int]) -> dict[int, Item[Fact]]:
        return {
            fact.id: Item(
                fact,
                (fact_text.value_of(fact.value), fact.key),
                "",
                fact.updated_at,
                bonus=KEY * fact_text.is_named(fact.key, asked),
            )
            for fact in tx.facts.select(ids)
        }

    return load


def _load_said(tx: Tx, ids: Sequence[int]) -> Mapping[int, Item[ShortTermMemory]]:
    found = tx.short_term.select([ShortTermId(id) for id in ids])
    return {id: Item(each, (each.text,), "", each.said_at) for id, each in found.items()}


def _found(tx: Tx, ranked: Sequence[Ranked[Any]], caller: Caller, load: Load) -> Iterator[Found]:
    """What was found as an answer shows it. What supersedes a memory stands in its place; what solves it, behind it."""
    known = [MemoryId(each.id) for each in ranked if each.kind is Embedded.MEMORIES]
    items = {each.id: each.item for each in ranked if each.kind is Embedded.MEMORIES}
    line, fixes = tx.together(lambda: tx.edges.successors(known), lambda: tx.edges.answering(known, 1))
    newest = {id: line_of(id, line)[-1] for id in known if id in line}
    new = sorted(set(newest.values()) - set(known))
    if new:
        more, loaded = tx.together(lambda: tx.edges.answering(new, 1), lambda: load(tx, new))
        fixes, items = fixes | more, items | loaded
    solving = {id: [each.id for each in linked if each.relation == "solves"] for id, linked in fixes.items()}
    others = {id for ids in solving.values() for id in ids} - set(items)
    if others:
        items |= load(tx, sorted(others))
    shown: set[int] = set()
    for each in ranked:
        if each.kind is not Embedded.MEMORIES:
            yield _of(each, caller)
            continue
        id = newest.get(MemoryId(each.id), each.id)
        was = each.item.thing.content if id != each.id else None
        for one in (id, *solving.get(MemoryId(id), ())):
            if one in items and one not in shown:
                shown.add(one)
                part = each.part if one == each.id else 0
                memory = items[one].thing
                said, _ = search.shown(memory, part)
                superseded = was if one == id else None
                yield showing.of_memory(memory, said, each.probability, caller, superseded)


def _of(ranked: Ranked[Any], caller: Caller) -> Found:
    thing, score = ranked.item.thing, ranked.probability
    match thing:
        case Turn():
            return showing.of_turn(thing, turn_text(thing), score, caller)
        case Fact():
            return showing.of_fact(thing, score, caller)
        case _:
            return Found(
                Recallable.SHORT_TERM, f"s{thing.id}", thing.text, thing.said_at[:10], score, id=thing.id
            )


def turn_text(turn: Turn) -> str:
    """The summary, and the message where that says more."""
    if fold(turn.summary) in fold(turn.message):
        return turn.message
    return f"{turn.summary}\n{turn.message}"
