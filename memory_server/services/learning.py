"""Learns from sessions: memories that are used gain, those that never are lose, questions stay open.

By rule, bounded, off with a setting, listed and forgotten by a command.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memory_server.domain import learning as domain
from memory_server.domain.caller import Caller
from memory_server.domain.learning import OFTEN, OPEN, How, Learnt, OpenQuestion
from memory_server.domain.memory import Memory, MemoryId
from memory_server.domain.message import Message
from memory_server.domain.secrets import find_secret
from memory_server.language import query, sentences
from memory_server.language.asking import asks_for_a_fact
from memory_server.language.text import clean
from memory_server.services import projects
from memory_server.services.shared_words import shared_by, visible_to
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx, WriteTx

JUDGED = 40
"""Memories that a session was shown last, which are looked for in what is said: each takes some 0.3 ms."""

READ = 6_000
"""Characters of what each of them said that are read."""

ANSWERED = 0.7
"""Share of the weight of a question's words that a newer text has, from which on it answers the question."""

LIKELY = 0.05
"""Probability by words of the best text below which a prompt finds nothing. A hook shows a text from .25 on; what is
between may be an answer in other words."""


@dataclass(frozen=True, slots=True)
class Learning:
    """Records what searches show and ask, in their own transactions. Does nothing where it is not `on`."""

    on: bool = True

    def counts(self, tx: Tx, ids: Sequence[int]) -> Mapping[int, domain.Uses]:
        return tx.memory_uses.count(ids) if self.on else {}

    def wants(self, question: str, caller: Caller) -> bool:
        """True if a question that has found nothing is to be kept: not where it holds a credential."""
        is_kept = self.on and caller.session is not None and domain.is_worth_keeping(question)
        return is_kept and find_secret(question) is None

    def asked(
        self, tx: WriteTx, question: str, shown: Sequence[int], caller: Caller, *, answers: bool, vain: bool
    ) -> None:
        """Record that a question has shown these memories.

        `answers`: the best of all that was found is likely; `vain`: nothing is, and the question is to be kept.
        """
        if self.on and caller.session:
            tx.memory_uses.show(shown, caller.session)
        if vain:
            self.unanswered(tx, question, caller)
        elif answers:
            self.answered(tx, question, caller)

    def unanswered(self, tx: WriteTx, question: str, caller: Caller) -> None:
        """Keep a question that has found nothing, or count the session where another one has asked it before."""
        if caller.session is None:
            return
        project = projects.known(tx, caller).project.name
        repeats = domain.same(domain.words(question), tx.open_questions.select(project))
        if not repeats:
            tx.open_questions.insert(project, " ".join(clean(question).split()), caller.session)
        elif repeats[0].session != caller.session:
            tx.open_questions.ask_again(repeats[0].id, caller.session)

    def answered(self, tx: WriteTx, question: str, caller: Caller) -> None:
        """Close a question that has found something."""
        if not self.on:
            return
        open_questions = tx.open_questions.select(projects.known(tx, caller).project.name)
        for open_question in domain.same(domain.words(question), open_questions):
            tx.open_questions.delete(open_question.id)


ON, OFF = Learning(), Learning(on=False)


@dataclass(frozen=True, slots=True)
class LearningService:
    database: Database
    on: bool = True

    def judge(self, turn: Sequence[Message], caller: Caller) -> None:
        """Record which shown memories the last turn of a session uses, and whether the turn asked in vain.

        Call it once for a turn. Of what was shown in this turn, the words of the prompt were asked for: only the answer
        proves a use. Of what was shown before, the prompt proves it too, unless it asks.
        """
        session = caller.session
        if not self.on or session is None:
            return
        prompt, answer = (
            "\n".join(message.content for message in turn if message.role == role)
            for role in ("user", "assistant")
        )
        prompt, answer = prompt[:READ], answer[:READ]
        self.database.settle()
        with self.database.read() as tx:
            shown = tx.memory_uses.not_used(session, JUDGED)
            briefed = tx.hook_injections.memories(session)
            candidates = shown | {id: False for id in briefed if id not in shown}
            texts = {memory.id: memory for memory in tx.memories.select([MemoryId(id) for id in candidates])}
            used = [
                id
                for id, before in candidates.items()
                if _uses(texts.get(MemoryId(id)), before, prompt, answer)
            ]
            prompted = [id for id, at_start in briefed.items() if not at_start]
            vain = self._vain(tx, prompt, caller)
        if not candidates and not vain:
            return
        with self.database.write() as tx:
            tx.memory_uses.show([*prompted, *used], session)
            tx.memory_uses.judge(session, list(candidates))
            tx.memory_uses.mark_used(used, session, How.REPEATED)
            if vain:
                ON.unanswered(tx, prompt, caller)

    def learnt(self, limit: int) -> list[Learnt]:
        """Return the memories that gain or lose, the most used first."""
        self.database.settle()
        with self.database.read() as tx:
            return tx.memory_uses.select(OFTEN, limit)

    def open_questions(self, caller: Caller) -> list[OpenQuestion]:
        """Return the questions of the caller's project that two or more sessions have asked in vain, latest first."""
        self.database.settle()
        with self.database.read() as tx:
            return open_ones(tx, projects.known(tx, caller))

    def all_questions(self) -> list[OpenQuestion]:
        """Return every question that is kept, also those that one session has asked."""
        self.database.settle()
        with self.database.read() as tx:
            return tx.open_questions.select(None)

    def forget(self, memory: int | None = None, question: int | None = None) -> int:
        """Forget what was learnt of a memory, or a question; or all where neither is given. How many things."""
        with self.database.write() as tx:
            number = 0
            if question is None:
                number += tx.memory_uses.delete(memory)
            if memory is None:
                number += tx.open_questions.delete(question)
        return number

    def _vain(self, tx: Tx, prompt: str, caller: Caller) -> bool:
        """True if a prompt asks for something that is to be known, and no word of it leads anywhere."""
        prompt = prompt.strip()
        if not asks_for_a_fact(prompt) or not Learning(self.on).wants(prompt, caller):
            return False
        caller = projects.known(tx, caller)
        for index, rows in shared_by(tx, query.parse(prompt).terms).items():
            near = [id for id, share in rows.items() if share.probability >= LIKELY]
            if near and visible_to(tx, index, near, caller):
                return False
        return True


def _uses(memory: Memory | None, before: bool, prompt: str, answer: str) -> bool:
    if memory is None:
        return False
    if before:
        statements = [sentence for sentence in sentences.split(prompt) if not sentence.endswith(("?", "？"))]
        return domain.is_repeated(memory.content, "", "\n".join([*statements, answer]))
    return domain.is_repeated(memory.content, prompt, answer)


def open_ones(tx: Tx, caller: Caller) -> list[OpenQuestion]:
    """Return a project's open questions that nothing newer answers by its words; `caller` is as the file knows it."""
    questions = tx.open_questions.select(caller.project.name, OPEN)
    return [question for question in questions if not _is_answered(tx, question, caller)]


def _is_answered(tx: Tx, question: OpenQuestion, caller: Caller) -> bool:
    for index, rows in shared_by(tx, sorted(domain.words(question.text))).items():
        covering = [id for id, share in rows.items() if share.mass >= ANSWERED * share.full]
        newer = tx.written.since(index, covering, question.asked_at) if covering else []
        if newer and visible_to(tx, index, newer, caller):
            return True
    return False
