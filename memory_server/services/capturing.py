"""Keeps of a turn, for a hook and without being asked: the turn as a short-term memory, the facts that the person
plainly told in it as memories, and what a session leaves open.

Only what the person or the assistant said in this conversation, never with a credential, and marked, so that all of it
can be listed and removed at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory_server.domain import forgetting, trust
from memory_server.domain.briefing.session import next_step
from memory_server.domain.caller import Caller
from memory_server.domain.echo import by_user
from memory_server.domain.fact import FactDraft, Scope, home
from memory_server.domain.forgetting import Forgotten, Kind
from memory_server.domain.injection import CAPTURED, Captured, HookCapture
from memory_server.domain.learning import says_the_same, words
from memory_server.domain.memory import MemoryDraft, MemoryType
from memory_server.domain.message import Message
from memory_server.domain.secrets import find_secret
from memory_server.domain.short_term import snapshot
from memory_server.errors import Conflict
from memory_server.language import query
from memory_server.language.small_talk import is_small_talk
from memory_server.language.text import clean
from memory_server.language.told import Judge, Told, spoken, told
from memory_server.services import deleting, projects
from memory_server.services.facts import FactService
from memory_server.services.shared_words import is_stored, waiting_twin
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx

LONGEST = 4_000
"""Characters that are kept of each message: the first and the last half of them."""

LEFT_OPEN = "current.left_open"
"""The fact that says what a session wanted to do next."""

TAG = "captured"
"""The tag of a fact or a memory that was kept unasked."""

IMPORTANCE = 4
"""Of a memory that was kept unasked: a little less than of one that somebody chose to store."""

OF_A_PERSON = 7
"""The same of what people tell of themselves: from here on each briefing considers a memory of no project."""

READ = 20_000
"""Characters of what the person said that are read for facts."""

MOST_TOLD = 5
"""Facts at most that are kept of one turn."""

SEARCHED = 20
"""Kept turns of other sessions, the latest with a word of a statement, in which it is looked for."""

KINDS = {Captured.SHORT_TERM: Kind.SHORT_TERM, Captured.MEMORY: Kind.MEMORY}

STATED = 400
"""Characters of what a session leaves open: a longer one is no next step."""


@dataclass(frozen=True, slots=True)
class CaptureService:
    database: Database

    def keep_turn(self, turn: Sequence[Message], event: str, caller: Caller) -> bool:
        """Keep the last turn of a session, once; return True if it was kept.

        A turn that is small talk alone, or that holds a credential, is not kept.
        """
        messages = [replace(message, content=_shortened(clean(message.content))) for message in turn]
        messages = [message for message in messages if message.content]
        session = caller.session
        if (
            session is None
            or not messages
            or _is_small_talk(messages)
            or find_secret(*(message.content for message in messages))
        ):
            return False
        text = snapshot(messages)
        with self.database.read() as tx:
            last = tx.hook_captures.last(Captured.SHORT_TERM, session)
        if last is not None and last.text == text:
            return False
        with self.database.write() as tx:
            where = projects.settled_conversation(tx, None, caller)
            place = tx.conversations.find_or_insert(where)
            id = tx.short_term.insert(place, text, tx.now, None, signed(caller))
            tx.hook_captures.insert(Captured.SHORT_TERM, id, session, event)
        return True

    def keep_told(self, turn: Sequence[Message], event: str, caller: Caller, judge: Judge) -> int:
        """Keep what the person told in a turn to last, each as a memory, unless one says it; return how many.

        What is unsure is kept once another session says it again. A memory from outside that says the same is the
        person's from now on. What the assistant said is not kept, and of a turn with a credential nothing.
        """
        session = caller.session
        told_ones = [
            statement
            for message in turn
            if message.role == "user"
            for statement in told(clean(message.content)[:READ], judge)
        ]
        if session is None or not told_ones or find_secret(*(message.content for message in turn)):
            return 0
        with self.database.read() as tx:
            lasting = [
                statement
                for statement in told_ones
                if statement.sure or _was_said(tx, statement.text, session)
            ]
        if not lasting:
            return 0
        with self.database.write() as tx:
            caller = projects.settled(tx, caller)
            missing = [
                statement for statement in lasting[:MOST_TOLD] if not is_stored(tx, statement.text, caller)
            ]
            for statement in missing:
                twin = waiting_twin(tx, statement.text, caller)
                if twin is not None:
                    tx.changes.keep_memory(twin, caller)
                    tx.memories.replace(twin, replace(twin, origin=trust.TOLD), "rewritten")
                    continue
                memory = tx.memories.insert(_draft(statement, caller), signed(caller))
                tx.hook_captures.insert(Captured.MEMORY, memory.id, session, event)
        return len(missing)

    def keep_left_open(self, turn: Sequence[Message], event: str, caller: Caller) -> bool:
        """Keep the next step that the end of the last turn names, as a fact of the project; return True if it is kept.

        A fact that somebody has written under that key stays.
        """
        step = next_step(clean(turn[-1].content))[1]
        session = caller.session
        if (
            not step
            or len(step) > STATED
            or session is None
            or find_secret(*(message.content for message in turn))
        ):
            return False
        service = FactService(self.database)
        draft = FactDraft(LEFT_OPEN, step, tags=(TAG,))
        with self.database.write() as tx:
            caller = projects.settled(tx, caller)
            fact = tx.facts.find(home(Scope.PROJECT, caller), LEFT_OPEN)
            if fact is not None and not tx.hook_captures.is_captured(Captured.FACT, fact.id):
                return False
            try:
                written = service.write_in(tx, draft, Scope.PROJECT, signed(caller))
            except Conflict:  # a page says the step, and what stands there is not from outside
                return False
            tx.hook_captures.insert(Captured.FACT, written.fact.id, session, event)
        return True

    def select(self, session: str | None, limit: int) -> list[HookCapture]:
        """Return the captures that are still there, of a session or of all; the latest first."""
        with self.database.read() as tx:
            return tx.hook_captures.select(session, limit)

    def forget(self, session: str | None, caller: Caller) -> Forgotten:
        """Erase for good what was kept unasked, of a session or of all, with the questions that it asked in vain."""
        with self.database.write() as tx:
            captures = tx.hook_captures.select(session, None)
            written = tx.facts.select([capture.id for capture in captures if capture.kind is Captured.FACT])
            first = dict[str, int]()
            for captured, kind in KINDS.items():
                ids = [capture.id for capture in captures if capture.kind is captured]
                if ids:
                    first[deleting.TABLES[kind]] = min(ids)
                tx.trash.put(kind, ids, caller)
                tx.trash.erase([trashed.id for id in ids for trashed in tx.trash.select(kind, item_id=id)])
            questions = tx.open_questions.delete(session=session)
            if questions:
                first["open_questions"] = 1
            for fact in written:
                tx.facts.delete(fact, caller)
                step = tx.fact_history.first(fact.home, fact.key)
                first["fact_history"] = min(step, first.get("fact_history", step))
                tx.facts.erase(fact.home, fact.key)
        number = len(captures) + questions
        return forgetting.erased(number, self.database.files.drop_copies(first) if number else ())


def _was_said(tx: Tx, text: str, session: str) -> bool:
    """True if another session has said this, with the same numbers: its kept turns are looked through."""
    terms = words(text)
    if not terms:
        return False
    turns = tx.hook_captures.of_others(max(terms, key=len), session, SEARCHED)
    statements = (statement for turn in turns for statement in spoken(by_user(turn)))
    return any(says_the_same(text, statement.text) for statement in statements)


def _draft(fact: Told, caller: Caller) -> MemoryDraft:
    """Return the draft of a fact. One that people tell of themselves belongs to no project."""
    type = MemoryType.PREFERENCE if fact.wish else MemoryType.LEARNING
    project = None if fact.personal else caller.project.name or None
    importance = OF_A_PERSON if fact.personal else IMPORTANCE
    return MemoryDraft(fact.text, type, project, (TAG,), importance, origin=trust.TOLD)


def signed(caller: Caller) -> Caller:
    """Return the caller with the mark of what nobody asked to keep."""
    return replace(caller, client=f"{caller.client} ({CAPTURED})" if caller.client else CAPTURED)


def _shortened(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST // 2]} … {text[-LONGEST // 2 :]}"


def _is_small_talk(messages: Sequence[Message]) -> bool:
    """True if none of the messages names anything."""
    terms = [term for message in messages for term in query.parse(message.content).terms]
    return all(map(is_small_talk, terms))
