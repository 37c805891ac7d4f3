"""Projects of a source, what its digests stand for, and what was deleted there."""

from dataclasses import replace

from memory_server.domain.exchange.records import DeletedRecord, DigestRecord, ProjectRecord
from memory_server.domain.forgetting import Kind
from memory_server.services.taking.run import Outcome, Run, outcome
from memory_server.sqlite import origins, trash
from memory_server.sqlite import projects as known_projects
from memory_server.sqlite.exchange import exported, taken
from memory_server.sqlite.exchange.exported_projects import known_by
from memory_server.sqlite.tx import WriteTx


def take_deletion(run: Run, tx: WriteTx, record: DeletedRecord) -> Outcome:
    """What was deleted there since it was changed here is deleted here too, and can be brought back."""
    there, changed_at = _found(run, tx, record)
    if there is None or changed_at > record.deleted_at:
        return Outcome.PRESENT
    trash.put(tx, Kind(record.item), [there], run.filing.caller, record.deleted_at)
    return Outcome.UPDATED


def _found(run: Run, tx: WriteTx, record: DeletedRecord) -> tuple[int | None, str]:
    """What is here of what was deleted there, and when it was changed last, where that is known."""
    if record.item == "long_term":
        where = run.conversation_of(tx, record.conversation)
        local = next(exported.long_term(tx, where, record.id), None)
        return (None, "") if local is None else (taken.long_term_id(tx, where, record.id), local.changed_at)
    there = origins.find_own(tx, record.item, record.id)
    if there is None or not taken.is_there(tx, record.item, there):
        return None, ""
    return there, exported.memories(tx, [there])[0].updated_at if record.item == "memory" else ""


def take_digest(run: Run, tx: WriteTx, record: DigestRecord) -> Outcome:
    """Remember for what a digest of the server stands, where both are here."""
    item = run.by_id(tx, record.item, record.id)
    digest = None if record.digest is None else run.by_id(tx, "memory", record.digest)
    if item is None or (record.digest is not None and digest is None):
        return Outcome.DELETED
    return outcome(taken.put_digest(tx, record, item, digest), False)


def take_project(run: Run, tx: WriteTx, record: ProjectRecord) -> Outcome:
    """A project that is known here under another name, by its remote or its folder, keeps that name."""
    if run.filing.project is not None:
        return Outcome.PRESENT
    here = known_by(tx, record)
    if here is not None and here != record.name:
        run.renamed[record.name] = here
        record = replace(record, name=here)
    new = known_projects.find(tx, record.name) is None
    return outcome(new, taken.put_project(tx, record))
