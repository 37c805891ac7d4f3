"""Events: what an import has done to each thing, and taking all of it back at once.

What somebody has changed since stays as it is: the digest of what it says is another one, somebody has merged into it
or connected it, or another source says the same.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from memory_server.domain import trust
from memory_server.domain.caller import Caller
from memory_server.domain.change import Kind as Changeable
from memory_server.domain.change import handle
from memory_server.domain.event import Did, Event, Step
from memory_server.domain.exchange.records import (
    OWN,
    ConversationRecord,
    EdgeRecord,
    FactRecord,
    LongTermRecord,
    MemoryRecord,
    Origin,
    ProjectRecord,
    QuestionRecord,
    Record,
    ShortTermRecord,
    TurnRecord,
    UseRecord,
)
from memory_server.domain.forgetting import Kind
from memory_server.importing import own
from memory_server.project import named
from memory_server.services import projects as naming
from memory_server.storage.tx import Tx, WriteTx
from memory_server.transfer import facts, origins, projects, writing
from memory_server.transfer.shapes import CONVERSATION, QUESTION, USE

_SAYS: Final[Mapping[str, tuple[str, str]]] = {
    "memory": ("memories", "content, type, tags, importance, metadata"),
    "turn": ("turns", "message, summary"),
    "short_term": ("short_term_memories", "text"),
    "long_term": ("long_term_memories", 'name, prompt, "trigger", cooldown'),
    "fact": ("facts", "value, tags, version"),
    "edge": ("edges", "relation, strength, valid_to"),
}
"""By kind, the table and the columns that somebody changes on purpose."""

_ROWS: Final = {
    **{kind: table for kind, (table, _) in _SAYS.items()},
    "digest": "digested",
    "use": "memory_uses",
    "question": "open_questions",
    "origin": "origins",
}
"""By kind, the table of what an event has added."""

_PLACES: Final = {
    "project": (
        "projects",
        """
        NOT EXISTS (SELECT 1 FROM memories AS m WHERE m.project = p.name)
        AND NOT EXISTS (SELECT 1 FROM turns AS t WHERE t.project = p.name)
        AND NOT EXISTS (SELECT 1 FROM fact_history AS h WHERE h.scope = 'project' AND h.owner = p.name)
        """,
    ),
    "conversation": (
        "conversations",
        """
        NOT EXISTS (SELECT 1 FROM short_term_memories AS s WHERE s.conversation_id = p.id)
        AND NOT EXISTS (SELECT 1 FROM long_term_memories AS l WHERE l.conversation_id = p.id)
        """,
    ),
}
"""By kind of a place, its table and the condition under which it is empty."""

_ORDER: Final = ("edge", "origin", "digest", "use", "question", "memory", "turn", "short_term", "long_term")
"""The kinds whose rows go in this order; facts and places come after them."""


def newest_places(tx: Tx) -> dict[str, int]:
    """Return the newest project and the newest conversation."""
    return {
        kind: tx.statements.value(f"SELECT coalesce(max(id), 0) FROM {table}")
        for kind, (table, _) in _PLACES.items()
    }


def places_since(tx: Tx, newest: Mapping[str, int]) -> list[Step]:
    """Return as steps the projects and conversations that are newer: they come with what is filed there."""
    return [
        Step(Did.ADDED, kind, id)
        for kind, (table, _) in _PLACES.items()
        for (id,) in tx.statements.rows(f"SELECT id FROM {table} WHERE id > :id", {"id": newest[kind]})
    ]


def record(tx: WriteTx, event: int, steps: Sequence[Step]) -> None:
    """Keep what an event has done, with a digest of what each thing says now."""
    digests = {
        kind: _digests(tx, kind, [step.item for step in steps if step.kind == kind])
        for kind in {step.kind for step in steps} & _SAYS.keys()
    }
    tx.events.add(
        event, [replace(step, after=digests.get(step.kind, {}).get(step.item, "")) for step in steps]
    )


def undo(tx: WriteTx, event: Event, caller: Caller) -> list[str]:
    """Take back what an event has done; return the handles of what stays, because it has been changed since."""
    steps = tx.events.steps(event.id)
    staying = _changed_since(tx, event, steps) | _confirmed(tx, steps, caller)
    names = _named(tx, staying)
    going: dict[str, list[Step]] = defaultdict(list)
    for step in steps:
        if step.did is Did.ADDED and (step.kind, step.item) not in staying:
            going[step.kind].append(step)
    for kind in _ORDER:
        _delete(tx, _ROWS[kind], [step.item for step in going[kind]])
    untouched = staying | {(step.kind, step.item) for kind in _ORDER for step in going[kind]}
    for step in reversed(steps):
        if step.kind == "fact" and step.did is Did.ADDED:
            _erase_fact(tx, step)
        elif step.did is Did.CHANGED and (step.kind, step.item) not in untouched and step.before is not None:
            _restore(tx, step, own.read(step.before), event)
        elif step.did is Did.ENDED and step.kind == "edge":
            _connect_again(tx, own.read(step.before or ""))
        elif step.did is Did.ENDED:
            _bring_back(tx, step)
        elif step.did is Did.RETURNED:
            tx.trash.put(Kind(step.kind), [step.item], caller)
    for kind, (table, empty) in _PLACES.items():
        ids = [step.item for step in going[kind]]
        tx.statements.send(
            f"DELETE FROM main.{table} AS p WHERE p.id IN (SELECT value FROM json_each(:ids)) AND {empty}",
            {"ids": tx.statements.array(ids)},
        )
    tx.events.mark_undone(event.id)
    return names


def _digests(tx: Tx, kind: str, ids: Iterable[int]) -> dict[int, str]:
    """Return for each thing that is there a digest of what it says."""
    table, columns = _SAYS[kind]
    rows = tx.statements.rows(
        f"SELECT id, {columns} FROM {table} WHERE id IN (SELECT value FROM json_each(:ids))",
        {"ids": tx.statements.array(ids)},
    )
    return {id: _digest(values) for id, *values in rows}


def _digest(values: Sequence[Any]) -> str:
    text = json.dumps(values, ensure_ascii=False, default=str)
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=12).hexdigest()


def _changed_since(tx: Tx, event: Event, steps: Sequence[Step]) -> set[tuple[str, int]]:
    """Return the things, each by its kind and its id, that are no longer as the event has left them."""
    written = {
        (step.kind, step.item): step for step in steps if step.did in (Did.ADDED, Did.CHANGED)
    }.values()  # the last step of each thing: it may have been changed again
    staying: set[tuple[str, int]] = set()
    for kind in _SAYS:
        digests = _digests(tx, kind, [step.item for step in written if step.kind == kind])
        staying |= {
            (kind, step.item)
            for step in written
            if step.kind == kind and digests.get(step.item, step.after) != step.after
        }
    added = [step.item for step in steps if step.kind == "memory" and step.did is Did.ADDED]
    rows = tx.statements.rows(
        """
        SELECT memory_id, id
        FROM changes
        WHERE changed_at >= :at AND memory_id IN (SELECT value FROM json_each(:written))
        UNION ALL
        SELECT source_id, id
        FROM edges
        WHERE source_id IN (SELECT value FROM json_each(:added)) AND relation <> 'summarizes'
            AND id NOT IN (SELECT value FROM json_each(:edges))
        UNION ALL
        SELECT target_id, id
        FROM edges
        WHERE target_id IN (SELECT value FROM json_each(:added)) AND relation <> 'summarizes'
            AND id NOT IN (SELECT value FROM json_each(:edges))
        UNION ALL
        SELECT item_id, id
        FROM origins
        WHERE kind = 'memory' AND source <> :own AND imported_at > :at
            AND item_id IN (SELECT value FROM json_each(:added))
        """,  # merged into, connected by somebody (a digest of the server connects nothing), or said elsewhere too
        {
            "at": event.at,
            "own": OWN,
            "written": tx.statements.array(step.item for step in written if step.kind == "memory"),
            "added": tx.statements.array(added),
            "edges": tx.statements.array(step.item for step in written if step.kind == "edge"),
        },
    )
    return staying | {("memory", id) for id, _ in rows}


def _confirmed(tx: Tx, steps: Sequence[Step], caller: Caller) -> set[tuple[str, int]]:
    """Return the rules that a person has confirmed, where no person undoes."""
    ids = [step.item for step in steps if step.kind == "long_term"]
    return set() if trust.is_person(caller.stamp) else {("long_term", id) for id in tx.rules.confirmed(ids)}


def _named(tx: Tx, things: Iterable[tuple[str, int]]) -> list[str]:
    """Return the handles of things that are there, in order. An edge has none."""
    names = []
    for kind, id in sorted(things):
        if kind == "fact":
            row = tx.statements.row("SELECT key, scope FROM facts WHERE id = :id", {"id": id})
            names.append(handle(Changeable.FACT, id, *(row or ("", None))))
        elif kind == "long_term":
            name = tx.statements.value("SELECT name FROM long_term_memories WHERE id = :id", {"id": id})
            names.append(handle(Changeable.LONG_TERM, id, name, None))
        elif kind != "edge":
            names.append(handle(Changeable(kind), id, None, None))
    return names


def _delete(tx: WriteTx, table: str, ids: Sequence[int]) -> None:
    if ids:
        tx.statements.send(
            f"DELETE FROM main.{table} WHERE id IN (SELECT value FROM json_each(:ids))",
            {"ids": tx.statements.array(ids)},
        )


def _erase_fact(tx: WriteTx, step: Step) -> None:
    """Erase a key that had no value before, unless it has been written anew."""
    scope, owner, key = json.loads(step.before or "[]")
    local = facts.find(tx, (scope, owner, key))
    says = _digests(tx, "fact", [step.item]).get(step.item, "")
    if local is not None and local.alive == bool(says) and says == step.after:
        facts.erase(tx, scope, owner, key)


def _bring_back(tx: WriteTx, step: Step) -> None:
    """Restore what ended, if it still lies in the trash, and say again from where it came."""
    trashed = tx.trash.find_last(Kind(step.kind), step.item)
    if trashed is None:
        return
    tx.trash.restore(trashed)
    for *values, place in json.loads(step.before or "[]"):
        origins.insert(tx, step.kind, step.item, [Origin(*values)], place)


def _connect_again(tx: WriteTx, before: Record) -> None:
    """Connect two memories again whose edge has ended, unless one is gone, or somebody else has connected them."""
    if not isinstance(before, EdgeRecord):
        return
    source, target = int(before.source), int(before.target)
    edges = writing.edges_between(tx, source, target, before.relation)
    is_connected = any(edge.valid_to is None for _, edge in edges)
    if not is_connected and all(writing.is_there(tx, "memory", id) for id in (source, target)):
        writing.insert_edge(tx, source, target, before)


def _restore(tx: WriteTx, step: Step, before: Record, event: Event) -> None:
    """Make a thing what its record says."""
    match before:
        case MemoryRecord() | TurnRecord() | ShortTermRecord():
            if isinstance(before, MemoryRecord):
                project = before.project and naming.settle(tx, named(before.project))
                before = replace(before, project=project)
            writing.rewrite(tx, step.item, before)
            origins.replace(tx, before.kind, step.item, before.origins)
            origins.keep_own(tx, before.kind, step.item, before.created_at, (before.id, *before.also))
            if isinstance(before, MemoryRecord):
                for origin in before.origins:
                    origins.agree(tx, origin.source, origin.id, step.item)
        case LongTermRecord():
            origins.replace(tx, "long_term", writing.put_long_term(tx, before), before.origins)
        case FactRecord():
            local = facts.find(tx, (before.scope, before.owner, before.key))
            if not step.after and local is not None and local.alive:
                return  # it ended, and was written anew since
            id = facts.put(tx, before)
            if id is not None:
                places = {event.source: event.path}  # its row was another one
                origins.replace(tx, "fact", id, before.origins, places)
        case EdgeRecord():
            writing.rewrite_edge(tx, step.item, before)
        case ConversationRecord():
            writing.update(tx, "conversations", step.item, CONVERSATION.values(before))
        case ProjectRecord():
            projects.rewrite(tx, step.item, before)
        case UseRecord():
            writing.update(tx, "memory_uses", step.item, USE.values(before))
        case QuestionRecord():
            writing.update(tx, "open_questions", step.item, QUESTION.values(before))
