"""Projects of a source, what its digests stand for, and what was deleted there."""

from dataclasses import replace

from memory_server.domain.exchange.records import DeletedRecord, DigestRecord, ProjectRecord
from memory_server.domain.forgetting import Kind
from memory_server.services.taking.run import Outcome, Run, outcome
from memory_server.storage.tx import WriteTx


def take_deletion(run: Run, tx: WriteTx, record: DeletedRecord) -> Outcome:
    """Delete here what was deleted at the source since it was changed here; it can be brought back."""
    local_id, changed_at = _found(run, tx, record)
    if local_id is None or changed_at > record.deleted_at:
        return Outcome.PRESENT
    tx.trash.put(Kind(record.item), [local_id], run.filing.caller, record.deleted_at)
    return Outcome.UPDATED


def _found(run: Run, tx: WriteTx, record: DeletedRecord) -> tuple[int | None, str]:
    """Return the id here of what was deleted at the source, and when it was changed last, where that is known."""
    if record.item == "long_term":
        where = run.conversation_of(tx, record.conversation)
        local = next(tx.exported.long_term(where, record.id), None)
        return (None, "") if local is None else (tx.taken.long_term_id(where, record.id), local.changed_at)
    local_id = tx.origins.find_own(record.item, record.id)
    if local_id is None or not tx.taken.is_there(record.item, local_id):
        return None, ""
    return local_id, tx.exported.memories([local_id])[0].updated_at if record.item == "memory" else ""


def take_digest(run: Run, tx: WriteTx, record: DigestRecord) -> Outcome:
    """Remember for what a digest of the server stands, where both are here."""
    item = run.by_id(tx, record.item, record.id)
    digest = None if record.digest is None else run.by_id(tx, "memory", record.digest)
    if item is None or (record.digest is not None and digest is None):
        return Outcome.DELETED
    return outcome(tx.taken.put_digest(record, item, digest), False)


def take_project(run: Run, tx: WriteTx, record: ProjectRecord) -> Outcome:
    """Enter a project. One that is known here under another name, by its remote or its folder, keeps that name."""
    if run.filing.project is not None:
        return Outcome.PRESENT
    here = tx.exported_projects.known_by(record)
    if here is not None and here != record.name:
        run.renamed[record.name] = here
        record = replace(record, name=here)
    new = tx.projects.find(record.name) is None
    return outcome(new, tx.taken.put_project(record))
