"""Background work: open questions that something stored answers now leave the list."""

from dataclasses import dataclass, field

from memory_server.call import acting
from memory_server.domain.caller import Caller, Person
from memory_server.domain.learning import OpenQuestion
from memory_server.project import Project
from memory_server.services.learning import LearningService
from memory_server.services.recall import RecallService, RecallWish
from memory_server.storage.database import Database

SURE = 0.4
"""Probability of the best text from which on it answers an open question."""

AT_ONCE = 50
"""Questions that one run asks, the latest: each takes some 30 ms."""


@dataclass(slots=True)
class QuestionService:
    database: Database
    recall: RecallService
    learning: LearningService
    _newest: tuple[int, ...] = field(default=())
    """The newest that was stored when the questions were asked last."""

    def close_answered(self) -> None:
        """Ask every open question again where something was stored since, and delete those that are answered."""
        if not self.learning.on or self.database.read_only:
            return
        with self.database.read() as tx:
            newest = tx.written.newest()
        questions = self.learning.all_questions()
        if not questions or newest == self._newest:
            return
        for question in questions[:AT_ONCE]:
            caller = Caller(project=Project(question.project, question.project), person=_who(question))
            with acting.as_(caller.person):
                found = self.recall.find(question.text, RecallWish(), caller)
            if found.problems:  # without meaning it would not be found; another run asks it
                return
            if found.answered and found.hits and found.hits[0].score >= SURE:
                self.learning.forget(question=question.id)
        self._newest = newest


def _who(question: OpenQuestion) -> Person | None:
    """Return who sees what may answer a question: the person who asks, as far as is sure, or the owner of the file."""
    return Person(question.person, frozenset({question.project} - {""})) if question.person else None
