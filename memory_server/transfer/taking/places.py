"""Projects of a source, what its digests stand for, and what was deleted there."""

from dataclasses import replace

from memory_server.domain.event import Did
from memory_server.domain.exchange import reconcile
from memory_server.domain.exchange.records import (
    ConversationRecord,
    DeletedRecord,
    DigestRecord,
    ProjectRecord,
)
from memory_server.domain.forgetting import Kind
from memory_server.storage.tx import WriteTx
from memory_server.transfer import origins, projects, reading, writing
from memory_server.transfer.shapes import CONVERSATION
from memory_server.transfer.taking.run import Outcome, Run, outcome


def take_deletion(run: Run, tx: WriteTx, record: DeletedRecord) -> Outcome:
    """Delete here what was deleted at the source since it was changed here; it can be brought back."""
    local_id, changed_at = _found(run, tx, record)
    if local_id is None or changed_at > record.deleted_at:
        return Outcome.PRESENT
    if record.item == "long_term" and not run.by_person and tx.rules.confirmed([local_id]):
        run.conflicts.append(f"rule {record.id}: deleted there; a person has confirmed it here, so it stays")
        return Outcome.CHANGED_HERE
    run.did(Did.ENDED, record.item, local_id)
    tx.trash.put(Kind(record.item), [local_id], run.filing.caller, record.deleted_at)
    return Outcome.UPDATED


def _found(run: Run, tx: WriteTx, record: DeletedRecord) -> tuple[int | None, str]:
    """Return the id here of what was deleted at the source, and when it was changed last, where that is known."""
    if record.item == "long_term":
        where = run.conversation_of(tx, record.conversation)
        local = next(reading.long_term(tx, where, record.id), None)
        return (None, "") if local is None else (writing.long_term_id(tx, where, record.id), local.changed_at)
    local_id = origins.find_own(tx, record.item, record.id)
    if local_id is None or not writing.is_there(tx, record.item, local_id):
        return None, ""
    return local_id, reading.memories(tx, [local_id])[0].updated_at if record.item == "memory" else ""


def take_digest(run: Run, tx: WriteTx, record: DigestRecord) -> Outcome:
    """Remember for what a digest of the server stands, where both are here."""
    item = run.by_id(tx, record.item, record.id)
    digest = None if record.digest is None else run.by_id(tx, "memory", record.digest)
    if item is None or (record.digest is not None and digest is None):
        return Outcome.DELETED
    number = tx.statements.change(
        "INSERT INTO digested (kind, item_id, digest_id) VALUES (:kind, :item, :digest) ON CONFLICT DO NOTHING",
        {"kind": record.item, "item": item, "digest": digest or 0},
    )
    if number:
        id = tx.statements.value(
            "SELECT id FROM digested WHERE kind = :kind AND item_id = :item",
            {"kind": record.item, "item": item},
        )
        run.did(Did.ADDED, "digest", id)
    return outcome(number > 0, False)


def take_conversation(run: Run, tx: WriteTx, record: ConversationRecord) -> Outcome:
    """Enter a conversation. One that is known here becomes as old as the older and as clean as the cleaner."""
    record = replace(
        record,
        name=run.conversation_of(tx, record.name),
        created_at=record.created_at or tx.now,
        cleaned_at=record.cleaned_at or tx.now,
    )
    local = next(reading.conversations(tx, record.name), None)
    if local is None:
        tx.statements.send(CONVERSATION.insertion(), CONVERSATION.values(record))
        return Outcome.ADDED
    result = reconcile.conversations(local, record)
    if result != local:
        id = tx.statements.value("SELECT id FROM conversations WHERE name = :name", {"name": record.name})
        run.did(Did.CHANGED, "conversation", id, local)
        tx.statements.send(
            """
            UPDATE conversations
            SET created_at = :created_at, cleaned_at = :cleaned_at, removed = :removed
            WHERE name = :name
            """,
            CONVERSATION.values(result),
        )
    return outcome(False, result != local)


def take_project(run: Run, tx: WriteTx, record: ProjectRecord) -> Outcome:
    """Enter a project. One that is known here under another name, by its remote or its folder, keeps that name."""
    if run.filing.project is not None:
        return Outcome.PRESENT
    here = projects.known_by(tx, record)
    if here is not None and here != record.name:
        run.renamed[record.name] = here
        record = replace(record, name=here)
    before = next(projects.rows(tx, record.name), None)
    changed = projects.put(tx, record)
    if before is not None and changed:
        run.did(Did.CHANGED, "project", *before)
    return outcome(before is None, changed)
