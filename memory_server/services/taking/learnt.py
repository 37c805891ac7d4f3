"""Takes what was learnt at a source: which sessions have used which memories, and which questions are open."""

from dataclasses import replace

from memory_server.domain.exchange import reconcile
from memory_server.domain.exchange.records import QuestionRecord, UseRecord
from memory_server.services.taking.run import Outcome, Run, outcome
from memory_server.storage.tx import WriteTx


def take_use(run: Run, tx: WriteTx, record: UseRecord) -> Outcome:
    """Remember that a session was shown a memory, where that is here."""
    memory = run.by_id(tx, "memory", record.memory)
    if memory is None or not tx.taken.is_there("memory", memory):
        return Outcome.DELETED
    local = tx.learnt.find_use(memory, record.session)
    result = replace(record, memory="") if local is None else reconcile.uses(local, record)
    if result != local:
        tx.learnt.put_use(memory, result)
    return outcome(local is None, result != local)


def take_question(run: Run, tx: WriteTx, record: QuestionRecord) -> Outcome:
    """Keep a question that found nothing at the source; one that is asked here in the same words is the same."""
    project = run.project_of(tx, record.project or None) or ""
    record = replace(record, project=project, asked_at=record.asked_at or tx.now)
    row = tx.learnt.find_question(project, record.question, record.person)
    if row is None:
        tx.learnt.insert_question(record)
        return Outcome.ADDED
    id, local = row
    result = reconcile.questions(local, record)
    if result != local:
        tx.learnt.rewrite_question(id, result)
    return outcome(False, result != local)
