"""Takes each record of a source inside a transaction: adds it, changes what is known already, or leaves it alone."""

from memory_server.domain.exchange.records import (
    ConversationRecord,
    DeletedRecord,
    DigestRecord,
    EdgeRecord,
    FactRecord,
    LongTermRecord,
    MemoryRecord,
    ProjectRecord,
    QuestionRecord,
    Record,
    Refusal,
    ShortTermRecord,
    SpaceRecord,
    TurnRecord,
    UseRecord,
)
from memory_server.storage.tx import WriteTx
from memory_server.transfer import vectors
from memory_server.transfer.taking import kept, learnt, memories, places, said
from memory_server.transfer.taking.run import Outcome, Run


def take(run: Run, tx: WriteTx, record: Record) -> Outcome:
    """Write a record, or leave it."""
    record = run.stamped(record)
    match record:
        case MemoryRecord():
            return memories.take(run, tx, record)
        case TurnRecord():
            return said.take_turn(run, tx, record)
        case ShortTermRecord():
            return said.take_short_term(run, tx, record)
        case EdgeRecord():
            return kept.take_edge(run, tx, record)
        case FactRecord():
            return kept.take_fact(run, tx, record)
        case LongTermRecord():
            return kept.take_long_term(run, tx, record)
        case ProjectRecord():
            return places.take_project(run, tx, record)
        case ConversationRecord():
            return places.take_conversation(run, tx, record)
        case DigestRecord():
            return places.take_digest(run, tx, record)
        case UseRecord():
            return learnt.take_use(run, tx, record)
        case QuestionRecord():
            return learnt.take_question(run, tx, record)
        case SpaceRecord():
            vectors.open_space(tx, record)
            return Outcome.PRESENT
        case DeletedRecord():
            return places.take_deletion(run, tx, record)
        case Refusal():
            return Outcome.REFUSED
