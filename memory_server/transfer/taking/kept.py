"""Edges, facts and long-term memories of a source: what is known by its place, not by an id."""

import json
from dataclasses import replace

from memory_server.domain.caller import OWNED
from memory_server.domain.event import Did
from memory_server.domain.exchange import reconcile
from memory_server.domain.exchange.records import (
    EdgeRecord,
    FactRecord,
    FactStep,
    LongTermRecord,
    Origin,
    RuleRecord,
)
from memory_server.domain.forgetting import Kind
from memory_server.domain.rules import reads_act
from memory_server.storage.tx import Tx, WriteTx
from memory_server.transfer import facts, origins, reading, writing
from memory_server.transfer.taking import items
from memory_server.transfer.taking.run import Outcome, Run, imported_by, texts_of

NO_EFFECT = "no effect"
"""The state of a rule whose source has left its effect out, as older programs do: it does nothing."""


def take_edge(run: Run, tx: WriteTx, record: EdgeRecord) -> Outcome:
    """Connect two memories, unless they are connected in this way at this time."""
    if not run.own:
        record = replace(record, created_by=imported_by(run.source))
    ends = [run.by_id(tx, "memory", id) for id in (record.source, record.target)]
    source, target = ends
    if source is None or target is None:
        return Outcome.REFUSED if not run.own else Outcome.DELETED
    if source == target:
        return Outcome.PRESENT
    if not (writing.is_there(tx, "memory", source) and writing.is_there(tx, "memory", target)):
        return Outcome.DELETED
    edges = writing.edges_between(tx, source, target, record.relation)
    record = replace(record, source="", target="")
    same = [edge for edge in edges if record.valid_from in ("", edge[1].valid_from)]
    if not same and record.valid_to is None:
        same = [edge for edge in edges if edge[1].valid_to is None]
    if not same:
        id = writing.insert_edge(tx, source, target, record)
        run.present_edges.add(id)
        run.did(Did.ADDED, "edge", id)
        return Outcome.ADDED
    run.present_edges |= {id for id, _ in same}
    id, local = same[0]
    result = reconcile.edges(local, replace(record, valid_from=record.valid_from or local.valid_from))
    if result == local:
        return Outcome.PRESENT
    run.did(Did.CHANGED, "edge", id, local)
    writing.rewrite_edge(tx, id, result)
    return Outcome.UPDATED


def take_fact(run: Run, tx: WriteTx, record: FactRecord) -> Outcome:
    """Write a key with its history, joined with the history that it has here."""
    is_of_project = record.scope == "project" and OWNED not in record.owner
    owner = (run.project_of(tx, record.owner) or "") if is_of_project else record.owner
    record = replace(record, owner=owner, id="")
    local = facts.find(tx, (record.scope, record.owner, record.key))
    if not run.own:
        origin = run.origin_of_fact(record)
        run.present_ids.add(("fact", origin.id))
        record = replace(record, origins=(origin,))
        if local is not None and _has_value(local, record.steps[-1]):
            origins.stand(tx, "fact", origin.source, origin.id, run.place(record))
            return Outcome.PRESENT
    if local is None:
        id = facts.put(tx, record)
        place = json.dumps((record.scope, record.owner, record.key), ensure_ascii=False)
        run.did(Did.ADDED, "fact", id or 0, place)  # by its place: a key without a value now has no row
        if id is not None:
            origins.insert(tx, "fact", id, record.origins, "" if run.own else run.place(record))
        return Outcome.ADDED
    only_there = not run.own and _is_as_imported(local, record.origins[0])
    if only_there and record.steps[-1].changed_at <= local.steps[-1].changed_at:
        record = replace(record, steps=(replace(record.steps[-1], changed_at=run.at),))
    result, parted = reconcile.facts(local, record)
    if result == local:
        return Outcome.PRESENT
    if parted and not only_there:
        run.conflicts.append(
            f"fact {record.key} ({record.scope}{' ' + owner if owner else ''}): changed on both sides: "
            f"the value of {result.steps[-1].changed_at} is current, the other one is in its history"
        )
    id = facts.put(tx, result)
    run.did(Did.CHANGED, "fact", id or 0, local)
    if id is not None:
        origins.insert(tx, "fact", id, result.origins, "" if run.own else run.place(record))
    return Outcome.UPDATED


def _is_as_imported(local: FactRecord, origin: Origin) -> bool:
    """True if a fact comes from this origin alone, and nobody has written it since."""
    origin_ids = [(local_origin.source, local_origin.id) for local_origin in local.origins]
    last = local.steps[-1].changed_at
    return origin_ids == [(origin.source, origin.id)] and last <= local.origins[0].imported_at


def take_long_term(run: Run, tx: WriteTx, record: LongTermRecord) -> Outcome:
    """Store a long-term memory, unless its conversation has one of its name that was changed later."""
    record = replace(record, conversation=run.conversation_of(tx, record.conversation))
    record = replace(record, id="" if run.own else f"{record.conversation}/{record.name}"[:500])
    if not run.own:
        record = replace(record, origins=(run.origin(record),))
        run.present_ids.add(("long_term", record.id))
    local = next(reading.long_term(tx, record.conversation, record.name), None)
    if local is None:
        if _deleted_here(run, tx, record):
            return Outcome.DELETED
        record = replace(record, rule=_brought(run, record.rule))
        id = writing.put_long_term(tx, record)
        _tell_rule(run, record)
        run.did(Did.ADDED, "long_term", id)
        origins.insert(tx, "long_term", id, record.origins, "" if run.own else run.place(record))
        return Outcome.ADDED
    if not run.own:
        return _follow_long_term(run, tx, local, record)
    if not run.by_person and local.is_confirmed:
        return _kept_from_others(run, local, record)
    if texts_of(local) != texts_of(record):
        run.conflicts.append(_two_of_a_name(record, "the one that was changed last stays"))
    result = reconcile.long_term(local, replace(record, rule=_brought(run, record.rule)))
    if result == local:
        return Outcome.PRESENT
    id = writing.put_long_term(tx, result)
    if result.rule != local.rule:
        _tell_rule(run, result)
    run.did(Did.CHANGED, "long_term", id, local)
    origins.insert(tx, "long_term", id, result.origins)
    return Outcome.UPDATED


def _follow_long_term(run: Run, tx: WriteTx, local: LongTermRecord, record: LongTermRecord) -> Outcome:
    """Change a long-term memory as its source has, unless it was changed here too, or made here under its name."""
    row = origins.find(tx, "long_term", run.source, record.id)
    if row is None:
        if texts_of(local) == texts_of(record):
            return Outcome.PRESENT
        run.conflicts.append(_two_of_a_name(record, "the one here stays"))
        return Outcome.CHANGED_HERE
    changed = replace(
        local,
        prompt=record.prompt,
        trigger=record.trigger,
        updated_context=record.updated_context or local.updated_context,
        updated_at=tx.now,
        origin=record.origin,
        rule=local.rule and replace(local.rule, confirmed_at=None),
    )
    return items.change(run, tx, row[0], local, record, changed)


def _brought(run: Run, rule: RuleRecord | None) -> RuleRecord | None:
    """Return a rule as it holds here: one that no person brings waits to be confirmed."""
    return rule if rule is None or run.by_person else replace(rule, confirmed_at=None)


def _tell_rule(run: Run, record: LongTermRecord) -> None:
    """Remember the state of a rule that was written."""
    if record.rule is not None or reads_act(record.trigger):
        run.rules[record.name] = NO_EFFECT if record.rule is None else record.rule.state


def _kept_from_others(run: Run, local: LongTermRecord, record: LongTermRecord) -> Outcome:
    """Leave a rule as it is that a person has confirmed here: only a person changes it."""
    if (*texts_of(local), local.rule) == (*texts_of(record), record.rule):
        return Outcome.PRESENT
    run.conflicts.append(_two_of_a_name(record, "the one here stays, which a person has confirmed as a rule"))
    return Outcome.CHANGED_HERE


def _two_of_a_name(record: LongTermRecord, outcome: str) -> str:
    return f"long-term memory {record.conversation}/{record.name}: there are two with this name: {outcome}"


def _deleted_here(run: Run, tx: Tx, record: LongTermRecord) -> bool:
    """True if it lies in the trash, unless the record, of a file of ours, was changed after it was deleted.

    What has ended with its source has no origin any more.
    """
    if not run.own:
        return origins.find(tx, "long_term", run.source, record.id) is not None
    deleted = tx.trash.select(Kind.LONG_TERM, conversation=record.conversation)
    same = [trashed for trashed in deleted if trashed.parts["long_term_memories"][0]["name"] == record.name]
    return any(record.changed_at <= trashed.deleted_at for trashed in same)


def _has_value(local: FactRecord, step: FactStep) -> bool:
    """True if a key has had a value already, written at that moment where one is told."""
    text = reconcile.text_of((step.value, list(step.tags)))
    return any(
        reconcile.text_of((local_step.value, list(local_step.tags))) == text
        and step.changed_at in ("", local_step.changed_at)
        for local_step in local.steps
    )
