"""Takes what was learnt at a source: which sessions have used which memories, and which questions are open."""

from dataclasses import replace

from memory_server.domain.event import Did
from memory_server.domain.exchange import reconcile
from memory_server.domain.exchange.records import QuestionRecord, UseRecord
from memory_server.storage.tx import WriteTx
from memory_server.transfer import learnt, writing
from memory_server.transfer.shapes import QUESTION, USE
from memory_server.transfer.taking.run import Outcome, Run, outcome


def take_use(run: Run, tx: WriteTx, record: UseRecord) -> Outcome:
    """Remember that a session was shown a memory, where that is here."""
    memory = run.by_id(tx, "memory", record.memory)
    if memory is None or not writing.is_there(tx, "memory", memory):
        return Outcome.DELETED
    id, local = learnt.find_use(tx, memory, record.session) or (None, None)
    result = replace(record, memory="") if local is None else reconcile.uses(local, record)
    if result != local:
        row_id = writing.put(tx, "memory_uses", id, {"memory_id": memory, **USE.values(result)})
        run.did(Did.CHANGED if local else Did.ADDED, "use", row_id, local)
    return outcome(local is None, result != local)


def take_question(run: Run, tx: WriteTx, record: QuestionRecord) -> Outcome:
    """Keep a question that found nothing at the source; one that is asked here in the same words is the same."""
    project = run.project_of(tx, record.project or None) or ""
    record = replace(record, project=project, asked_at=record.asked_at or tx.now)
    id, local = learnt.find_question(tx, project, record.question, record.person) or (None, None)
    result = record if local is None else reconcile.questions(local, record)
    if result != local:
        row_id = writing.put(tx, "open_questions", id, QUESTION.values(result))
        run.did(Did.CHANGED if local else Did.ADDED, "question", row_id, local)
    return outcome(local is None, result != local)
