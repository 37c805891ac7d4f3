"""Replays a session out of what is stored: what was asked, what the memory told, what of it was used."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from memory_server.domain.memory import MemoryId
from memory_server.domain.replay import SessionOverview, Step, StepKind
from memory_server.domain.timeline import DaySpan
from memory_server.language.tokens import estimate
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx

MOST = 500
"""Steps of each kind that are read, the latest."""


@dataclass(frozen=True, slots=True)
class ReplayService:
    database: Database

    def sessions(self, span: DaySpan, limit: int) -> list[SessionOverview]:
        """Return the sessions that a hook has told something in a span, the latest first."""
        with self.database.read() as tx:
            return tx.hook_injections.sessions(span.since, span.until, limit)

    def replay(self, session: str) -> list[Step]:
        """Return what happened in a session, in its order."""
        self.database.settle()
        with self.database.read() as tx:
            tellings = list(_told(tx, session))
            before_prompts = {step.item for step in tellings if step.kind == "memory" and step.tokens}
            steps = [
                *tellings,
                *_kept(tx, session),
                *_shown(tx, session, before_prompts),
                *_unanswered(tx, session),
            ]
        return sorted(steps, key=lambda step: step.at)

    def tokens(self, span: DaySpan) -> int:
        """Count the tokens that hooks have told in a span."""
        with self.database.read() as tx:
            return tx.hook_injections.tokens(span.since, span.until)

    def saved(self, span: DaySpan) -> int:
        """Count the tokens of the memories that sessions used in a span: nobody had to say them again."""
        with self.database.read() as tx:
            return sum(map(estimate, tx.memory_uses.repeated(span.since, span.until)))


def _told(tx: Tx, session: str) -> Iterator[Step]:
    for logged in tx.hook_injections.of_session(session, MOST):
        yield Step(logged.at, StepKind.TOLD, logged.kind, logged.item, logged.text, logged.tokens)


def _kept(tx: Tx, session: str) -> Iterator[Step]:
    """Yield the turns that hooks have kept, which say what was asked, and what they read out of them."""
    for capture in tx.hook_captures.select(session, MOST):
        if capture.session == session:
            what = StepKind.ASKED if capture.kind.value == "short_term" else StepKind.KEPT
            yield Step(capture.at, what, capture.kind.value, capture.id, capture.text)


def _shown(tx: Tx, session: str, except_for: Collection[int]) -> Iterator[Step]:
    """Yield the memories that searches showed, and those that were used afterwards.

    What a hook has told counts as shown when the turn is judged, which no search has done.
    """
    uses = tx.memory_uses.of_session(session, MOST)
    texts = {memory.id: memory.excerpt for memory in tx.memories.select([MemoryId(id) for id, *_ in uses])}
    for id, shown_at, used_at, how in uses:
        text = texts.get(MemoryId(id))
        if shown_at != used_at and id not in except_for:
            yield Step(shown_at, StepKind.SHOWN, "memory", id, text)
        if used_at is not None:
            yield Step(used_at, StepKind.USED, "memory", id, text, how=how or "")


def _unanswered(tx: Tx, session: str) -> Iterator[Step]:
    for question in tx.open_questions.select(None):
        if question.session == session:
            yield Step(question.asked_at, StepKind.UNANSWERED, "", question.id, question.text)
