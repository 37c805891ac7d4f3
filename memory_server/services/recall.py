"""Asks one question of all stores: memories, facts, turns, short-term memories, and the prompts that are due."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from memory_server.domain import confidence, fact_text, recall, rights, trust
from memory_server.domain.briefing import clauses
from memory_server.domain.caller import Caller
from memory_server.domain.echo import covers, may_replace, said_of
from memory_server.domain.embedding import Embedded
from memory_server.domain.fact import Fact, FactFilter, homes
from memory_server.domain.memory import Filter, MemoryId
from memory_server.domain.message import Message
from memory_server.domain.project import EVERYWHERE, default_conversation
from memory_server.domain.recall import AnswerText, Found, Recallable
from memory_server.domain.short_term import SaidFilter, ShortTermId, ShortTermMemory
from memory_server.domain.turn import TurnKinds
from memory_server.errors import Problem
from memory_server.language import question, time_asked
from memory_server.language.tokens import weigh_json
from memory_server.project import Project
from memory_server.services import ground, listing, projects, retrieval, search, showing, shown_hits, turns
from memory_server.services import timed as times
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.gathering import KindSearch, SearchItem
from memory_server.services.learning import ON, Learning
from memory_server.services.listing import ListWish
from memory_server.services.meaning import Meaning, Unanswered
from memory_server.services.ordering import Ranked
from memory_server.services.projects import Among
from memory_server.services.reranking import OFF as NO_RERANKER
from memory_server.services.reranking import Reordering, Reranking
from memory_server.services.shown_hits import Load
from memory_server.services.timed import Timed
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx, WriteTx
from memory_server.storage.vectors import TextFilter

if TYPE_CHECKING:
    from memory_server.services.long_term import LongTermService
    from memory_server.services.waking import Woken

WANTED = 50
"""Texts of each kind that a question looks for: more than the longest answer has."""

TURNS = 3
"""Most kept turns that an answer has."""

KEY = 0.5
"""Added to a fact whose key, or the last part of it, the question is: `current.task`, "release day". Where that is a
part of the question, the same part of this."""

OF_ALL_TIMES = 0.5
"""Share of the probability of the best text of all times with which one of the time that is asked for answers. It was
.25 and .37 where the answer is of another time, else .73 and more (`tests/quality/test_asked_times.py`)."""

PER_REMARK, PER_HINT = 5, 30
"""Tokens of a note, or of why the answer is less than it could be, besides its text; and of what mends that."""

NOTHING = "Nothing stored answers this."

NOT_FOUND = "Nothing was found that answers this, but the search was not complete."
"""Said instead of NOTHING where `degraded` says why: texts that were just stored have no vectors for some seconds."""

NEAREST = "Nothing stored answers this. Nearest: {}"

NEAR = 0.35
"""Probability from which on the best text is named where nothing answers. With .35 it was the answer of 8 of 29 stored
questions of seven sets that get none, and was named for a fifth of 1,223 about other stores."""


@dataclass(frozen=True, slots=True)
class RecallWish:
    """The wish of a recall: these kinds, of a project (`*`: all, equally), of that time."""

    kinds: frozenset[Recallable] = frozenset(Recallable)
    project: str | None = None
    since: str | None = None
    until: str | None = None


@dataclass(frozen=True, slots=True)
class Recalled:
    """`degraded` says why the answer is less than it could be, `note` what a reader should know.

    `items` are the texts of the answer where they are to be explained. `is_outdated`: files have changed that a text
    speaks of.
    """

    answer: AnswerText
    items: tuple[Found, ...]
    note: str | None
    degraded: tuple[Problem, ...]
    is_outdated: bool = False


@dataclass(frozen=True, slots=True)
class Hits:
    """All that may answer a question, best first; `answered`: some of it likely does.

    `problems` say why it is less than it could be, `note` that the project is unknown.
    """

    hits: list[Found]
    answered: bool
    problems: tuple[Problem, ...]
    note: str | None


class RecallReading(Protocol):
    """Reads all that may answer a question; its texts in this order, where a re-ranker orders them."""

    def __call__(self, tx: Tx, meaning: Meaning | Unanswered, order: Reordering | None = None) -> Hits: ...


@dataclass(frozen=True, slots=True)
class RecallService:
    """`count_access` is off where the server was started read-only. Where `long_term` is None no prompt wakes.

    `on_file`: a statement waits for no other machine, so recall asks first which kinds of turns there are.
    `hides`: an answer leaves out what waits to be confirmed.
    """

    database: Database
    queue: EmbeddingQueue
    long_term: "LongTermService | None"
    count_access: bool = True
    learning: Learning = ON
    reranking: Reranking = NO_RERANKER
    on_file: bool = True
    hides: bool = False

    def recall(
        self,
        text: str,
        messages: Sequence[Message],
        max_tokens: int,
        wish: RecallWish,
        caller: Caller,
        *,
        explain: bool = False,
    ) -> Recalled:
        """Return what answers a question, in all stores, best first. What is shown is counted as accessed once.

        Prompts whose trigger holds for the messages or the question come first.
        """
        due, asleep = self._woken([*messages, *([Message("user", text)] if text else [])], wish, caller)
        woken = [_of_woken(memory) for memory in due]
        result, is_list = self._answering(text, wish, caller)
        problems = (*asleep, *result.problems)
        shown = [hit for hit in result.hits if trust.is_listed(hit.origin, self.hides)]
        hits = ground.with_remarks(shown, caller) if result.answered else []
        note = result.note
        if not (note or hits):
            note = NOT_FOUND if result.problems else _nothing(shown)
        room = max_tokens - _weight(note, problems) - (PER_HINT if any(hit.remark for hit in hits) else 0)
        answer = recall.compose(text, woken, hits, room, explain=explain)
        vain = (
            wish == RecallWish()
            and not (hits or is_list)
            and not result.problems
            and self.learning.wants(text, caller)
        )
        if not is_list:
            self._record(text, answer.items, caller, result.answered, vain)
        if self.long_term is not None:
            shown_ids = {hit.id for hit in answer.items if hit.kind is Recallable.WOKEN}
            self.long_term.mark([memory for memory in due if memory.id in shown_ids], caller)
        return Recalled(
            answer,
            answer.items if explain else (),
            note,
            problems,
            any(hit.remark for hit in answer.items),
        )

    def _answering(self, text: str, wish: RecallWish, caller: Caller) -> tuple[Hits, bool]:
        """Return what answers, and whether it is a list of the time that the question or the wish names."""
        timed = self._timed(text, wish)
        if timed is None:
            return self.find(text, wish, caller, reranked=True, transcripts=True), False
        within = replace(wish, since=timed.since, until=timed.until)
        if timed.type is not None:
            return self._listed(timed, within, caller), True
        in_time = self.find(timed.subject, within, caller, reranked=True, transcripts=True)
        of_all = self.find(timed.subject, wish, caller)
        best, is_told = _best(of_all), False
        if best and best.ref not in {hit.ref for hit in in_time.hits}:
            is_told = timed.is_told(best.said, best.day)
        if in_time.answered and not is_told and _score(in_time) >= OF_ALL_TIMES * _score(of_all):
            return replace(in_time, note=in_time.note or times.only(timed.label)), False
        of_all = self.find(text, wish, caller, reranked=True, transcripts=True)
        note = None if is_told or not of_all.answered else times.outside(timed.label)
        return replace(of_all, note=of_all.note or note), False

    def _timed(self, text: str, wish: RecallWish) -> Timed | None:
        """Return the question with the time that it or the wish names; None where there is none."""
        if text and not (wish.since or wish.until or time_asked.may_name(text)):
            return None
        with self.database.read() as tx:
            return times.read(text, wish.since, wish.until, tx.now)

    def _listed(self, timed: Timed, wish: RecallWish, caller: Caller) -> Hits:
        lookup = projects.among(wish.project, caller)
        list_wish = ListWish(wish.kinds, wish.project, timed.since, timed.until, timed.memory_type)
        with self.database.read() as tx:
            where, here = lookup(tx), projects.known(tx, caller)
            of_type = listing.listed(tx, list_wish, where, here)
            hits = of_type or listing.listed(tx, replace(list_wish, type=None), where, here)
            shown = [hit for hit in hits if trust.is_listed(hit.origin, self.hides)]
            note = where.note or timed.listed(bool(of_type), bool(shown))
            return Hits(shown, True, tuple(tx.skipped), note)

    def find(
        self,
        text: str,
        wish: RecallWish,
        caller: Caller,
        *,
        reranked: bool = False,
        transcripts: bool = False,
    ) -> Hits:
        """Return all that may answer, best first; `reranked`: in the order of the re-ranker, where the user names one.

        What nobody asked for, such as a hook's search, does without it, and without `transcripts`.
        """
        answer = self.reading(text, wish, caller, transcripts=transcripts)
        if not reranked:
            return self.queue.read(retrieval.questions(text), answer)
        hits, unordered = self.reranking.read(self.queue, text, answer)
        return replace(hits, problems=(*hits.problems, *unordered))

    def reading(
        self, text: str, wish: RecallWish, caller: Caller, *, transcripts: bool = False
    ) -> RecallReading:
        """Return what reads, in a transaction of its caller, all that may answer."""
        lookup = projects.among(wish.project, caller)

        def answer(tx: Tx, meaning: Meaning | Unanswered, order: Reordering | None = None) -> Hits:
            where, here = lookup(tx), projects.known(tx, caller)
            has = tx.turns.kinds() if self.on_file else TurnKinds(stored=True, transcripts=True)
            by_meaning = meaning if isinstance(meaning, Meaning) else None
            load = partial(search.load, learning=self.learning)
            mode = "hybrid" if by_meaning else "keyword"
            searches = tuple(asked_of(text, wish, where, here, mode, load))
            kinds = [kind_search.kind for kind_search in searches]

            def in_transcripts() -> list[Ranked[Any]]:
                kinds_of_turns = has if self.on_file else tx.turns.kinds()
                of_transcripts = tuple(_of_transcripts(searches, kinds_of_turns)) if transcripts else ()
                return retrieval.rank_all(tx, text, of_transcripts, by_meaning)

            stored, captured, read, problems = tx.together(
                lambda: retrieval.rank_all(tx, text, tuple(_stored(searches, has)), by_meaning),
                lambda: retrieval.rank_all(tx, text, tuple(_captured(searches)), by_meaning),
                in_transcripts,
                lambda: retrieval.without_meaning(tx, kinds, meaning),
            )
            turns = list(islice(_telling(captured, text), TURNS))
            answered = retrieval.is_answered(text, stored, by_meaning)
            by_turns = bool(turns) and retrieval.is_answered(text, [turns[0][0], *captured], by_meaning)
            by_reranker = order.of(stored, where.first) if order else stored
            shown = shown_hits.all_found(tx, by_reranker, here, load, caller)
            hits = _with_turns(shown, turns, answered, text)
            by_transcripts = retrieval.is_answered(text, read, by_meaning)
            if by_transcripts:
                hits = _with_transcripts(
                    hits, [shown_hits.as_found(hit, here) for hit in read], answered or by_turns
                )
            return Hits(hits, answered or by_turns or by_transcripts, (*problems, *tx.skipped), where.note)

        return answer

    def _woken(
        self, messages: Sequence[Message], wish: RecallWish, caller: Caller
    ) -> tuple[list["Woken"], tuple[Problem, ...]]:
        """Return the prompts whose trigger holds, and why there may be more."""
        if self.long_term is None or Recallable.WOKEN not in wish.kinds:
            return [], ()
        result = self.long_term.search(messages, None, {}, caller, draws=0, marks=False)
        return result.activated, result.degraded

    def _record(self, text: str, shown: Sequence[Found], caller: Caller, answers: bool, vain: bool) -> None:
        """Count the accesses, and keep what the question teaches."""
        memory_ids = [hit.id for hit in shown if hit.kind is Recallable.MEMORY]
        read = [hit.id for hit in shown if hit.kind is Recallable.FACT]
        if not (memory_ids or read or vain) or not self.count_access:
            return

        def mark(tx: WriteTx) -> None:
            tx.memories.mark_accessed([MemoryId(id) for id in memory_ids])
            tx.facts.mark_accessed(read)
            self.learning.asked(tx, text, memory_ids, caller, answers=answers, vain=vain)

        self.database.later(mark)


def _nothing(hits: Sequence[Found]) -> str:
    """Return the note that nothing answers. It names the best hit where that is near, and nobody outside wrote it."""
    if not hits or hits[0].score < NEAR or trust.waits(hits[0].origin):
        return NOTHING
    return NEAREST.format(recall.in_short(hits[0]))


def _best(hits: Hits) -> Found | None:
    return max(hits.hits, key=lambda hit: hit.score, default=None)


def _score(hits: Hits) -> float:
    best = _best(hits)
    return best.score if best else 0.0


def _of_woken(memory: "Woken") -> Found:
    return Found(Recallable.WOKEN, f"w {memory.name}", memory.prompt, None, 1.0, why=memory.why, id=memory.id)


def _weight(note: str | None, problems: Sequence[Problem]) -> int:
    """Return the tokens that the note and the problems need in the answer."""
    texts = [*([note] if note else []), *(problem.text for problem in problems)]
    hints = sum(len(problem.hints) for problem in problems)
    return round(sum(PER_REMARK + weigh_json(text) for text in texts) + PER_HINT * hints)


def asked_of(
    text: str, wish: RecallWish, where: Among, here: Caller, mode: str, load: Load
) -> Iterator[KindSearch[Any]]:
    """Yield a search for each kind that is wanted. `here` is the caller as the file knows it. Turns of transcripts are
    left out.

    Facts and short-term memories are those of the project that is named, else of the caller's and of the user.
    """

    def of_kind(
        kind: Embedded, load: Callable[[Tx, Sequence[int]], Any], filter: TextFilter
    ) -> KindSearch[Any]:
        return KindSearch(kind, load, filter, WANTED, mode, where.first)

    everywhere, since, until = wish.project == EVERYWHERE, wish.since, wish.until
    filter = Filter(project=where.only, since=since, until=until)
    project_caller = here if where.only is None else replace(here, project=Project(where.only, where.only))
    if Recallable.MEMORY in wish.kinds:
        yield of_kind(Embedded.MEMORIES, load, filter)
    if Recallable.TURN in wish.kinds:
        yield of_kind(Embedded.TURNS, turns.load, replace(filter, transcripts=False))
    if Recallable.FACT in wish.kinds:
        visible = None if everywhere else tuple(homes(None, project_caller))
        yield of_kind(Embedded.FACTS, _facts_for(text), FactFilter(visible, since, until))
    if Recallable.SHORT_TERM in wish.kinds:
        places = [project_caller.project.name, *([] if wish.project else [""])]
        conversations = tuple(rights.key(here.person, default_conversation(place)) for place in places)
        said = SaidFilter(None if everywhere else conversations, since, until)
        yield of_kind(Embedded.SHORT_TERM, _load_said, said)


def _facts_for(text: str) -> Any:
    """Return the function that loads facts; those whose key the question has get the bonus."""
    core = question.read(text).core

    def load(tx: Tx, ids: Sequence[int]) -> dict[int, SearchItem[Fact]]:
        return {
            fact.id: SearchItem(
                fact,
                (fact_text.value_of(fact.value), fact.key),
                "",
                fact.updated_at,
                bonus=KEY * fact_text.named(fact.key, core),
            )
            for fact in tx.facts.select(ids)
        }

    return load


def _load_said(tx: Tx, ids: Sequence[int]) -> Mapping[int, SearchItem[ShortTermMemory]]:
    memories = tx.short_term.select([ShortTermId(id) for id in ids])
    return {id: SearchItem(memory, (memory.text,), "", memory.said_at) for id, memory in memories.items()}


def _stored(searches: Sequence[KindSearch[Any]], has: TurnKinds) -> Iterator[KindSearch[Any]]:
    """Yield the searches for what was stored on purpose; where no turn was, without that for turns.

    Where all turns here are of one kind, none is asked for it.
    """
    for kind_search in searches:
        if kind_search.kind is Embedded.SHORT_TERM:
            yield _narrowed(kind_search, captured=False)
        elif kind_search.kind is not Embedded.TURNS:
            yield kind_search
        elif has.stored:
            yield _narrowed(kind_search, transcripts=False if has.transcripts else None)


def _captured(searches: Sequence[KindSearch[Any]]) -> Iterator[KindSearch[Any]]:
    """Yield the search for kept turns, which hooks have captured."""
    for kind_search in searches:
        if kind_search.kind is Embedded.SHORT_TERM:
            yield _narrowed(kind_search, captured=True)


def _of_transcripts(searches: Sequence[KindSearch[Any]], has: TurnKinds) -> Iterator[KindSearch[Any]]:
    """Yield the search for turns of transcripts, where there are any and turns are searched."""
    for kind_search in searches:
        if kind_search.kind is Embedded.TURNS and has.transcripts:
            yield _narrowed(kind_search, transcripts=True if has.stored else None)


def _narrowed(kind_search: KindSearch[Any], **fields: Any) -> KindSearch[Any]:
    """Return the search with these fields of its filter."""
    return replace(kind_search, filter=replace(kind_search.filter, **fields))


def _with_transcripts(hits: Sequence[Found], read: Sequence[Found], answered: bool) -> list[Found]:
    """Return the hits, and the likely turns of transcripts below all that is likely.

    Where nothing that was stored answers, there is nothing above them.
    """
    likely = [hit for hit in hits if answered and hit.score >= recall.LEAST]
    unlikely = [hit for hit in hits if hit not in likely]
    return [*likely, *(hit for hit in read if hit.score >= recall.LEAST), *unlikely]


def _telling(captured: Sequence[Ranked[Any]], text: str) -> Iterator[tuple[Ranked[Any], Found]]:
    """Yield the kept turns that say something of the question, each as an answer shows it.

    They are likely to answer, or have half of its words.
    """
    for hit in captured:
        statement = said_of(hit.item.text, text) if hit.probability >= recall.LEAST else ""
        if statement and (hit.probability >= confidence.LIKELY or covers(statement, text)):
            yield hit, showing.of_short_term(hit.item.thing, statement, hit.probability)


def _with_turns(
    hits: Sequence[Found], turns: Sequence[tuple[Ranked[Any], Found]], answered: bool, text: str
) -> list[Found]:
    """Return the likely hits, then the kept turns that none of them outdates, then the other hits.

    Where the hits do not answer, the turns come first.
    """
    likely = [hit for hit in hits if hit.score >= recall.LEAST]
    current = [
        shown
        for turn, shown in turns
        if not any(_outdates(hit, shown.said, turn.item.occurred_at, text) for hit in likely)
    ]
    place = len(likely) if answered else 0
    ordered = [*likely, *(hit for hit in hits if hit.score < recall.LEAST)]
    return [*ordered[:place], *current, *ordered[place:]]


def _outdates(hit: Found, statement: str, said_at: str, text: str) -> bool:
    """True if a memory or a fact was written after something was said, and may answer the question instead of it."""
    is_newer = hit.changed_at is not None and hit.changed_at > said_at
    return is_newer and may_replace(f"{clauses.words(hit.ref)} {hit.said}", statement, text)
