"""What becomes of each record of a source inside a transaction: new, known already, changed, or left alone."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from memory_server.domain.exchange import reconcile
from memory_server.domain.exchange.filing import Filing
from memory_server.domain.exchange.records import (
    OWN,
    ConversationRecord,
    DeletedRecord,
    DigestRecord,
    EdgeRecord,
    FactRecord,
    FactStep,
    LongTermRecord,
    MemoryRecord,
    Origin,
    ProjectRecord,
    Record,
    Refusal,
    ShortTermRecord,
    SpaceRecord,
    TurnRecord,
)
from memory_server.domain.forgetting import Kind
from memory_server.domain.project import default_conversation
from memory_server.language.text import clean
from memory_server.project import Project
from memory_server.services import projects
from memory_server.sqlite import conversations, origins, trash
from memory_server.sqlite import projects as known_projects
from memory_server.sqlite.database import Database
from memory_server.sqlite.exchange import exported, exported_facts, taken, taken_facts, vectors
from memory_server.sqlite.exchange.exported_projects import known_by
from memory_server.sqlite.tx import Tx, WriteTx


class Outcome(StrEnum):
    """What became of a record. A duplicate says what a memory here says, a deleted one was deleted here."""

    ADDED = "added"
    UPDATED = "updated"
    PRESENT = "present"
    DUPLICATE = "duplicate"
    DELETED = "deleted"
    CHANGED_HERE = "changed_here"
    SECRET = "secret"  # noqa: S105 - left out, because it holds one
    REFUSED = "refused"


@dataclass(slots=True)
class Taking:
    """One import: what it knows of this file and of the source. `texts` are the memories here by what they say."""

    source: str
    filing: Filing
    texts: dict[bytes, list[int]]
    theirs: set[str]
    total: int
    renamed: dict[str, str] = field(default_factory=dict)
    settled: dict[str, str] = field(default_factory=dict)
    conflicts: list[str] = field(default_factory=list)

    @staticmethod
    def begin(
        database: Database, source: str, records: Callable[[], Iterator[Record]], filing: Filing
    ) -> "Taking":
        """Read what is here. The source is read once before: how much it has, and, of a file of ours, its ids, because
        two memories of one file stay two.
        """
        texts: dict[bytes, list[int]] = {}
        with database.read() as tx:
            for id, content, type, name in exported.said(tx):
                texts.setdefault(_said(content, type, name), []).append(id)
        theirs: set[str] = set()
        total = 0
        for record in records():
            total += 1
            if source == OWN and isinstance(record, MemoryRecord):
                theirs.update((record.id, *record.also))
        return Taking(source, filing, texts, theirs, total)

    @property
    def own(self) -> bool:
        return self.source == OWN

    def told(self) -> list[str]:
        """The conflicts since it was asked last."""
        told, self.conflicts = self.conflicts, []
        return told

    def take(self, tx: WriteTx, record: Record) -> Outcome:
        """Write a record, or leave it."""
        match record:
            case MemoryRecord():
                return self._memory(tx, record)
            case TurnRecord():
                project = self._project(tx, record.project or None) or ""
                return self._item(tx, "turn", replace(record, project=project))
            case ShortTermRecord():
                where = self._conversation(tx, record.conversation)
                return self._item(tx, "short_term", replace(record, conversation=where))
            case EdgeRecord():
                return self._edge(tx, record)
            case FactRecord():
                return self._fact(tx, record)
            case LongTermRecord():
                return self._long_term(tx, record)
            case ProjectRecord():
                return self._known_project(tx, record)
            case ConversationRecord():
                record = replace(record, name=self._conversation(tx, record.name))
                there = conversations.find(tx, record.name)
                changed = taken.put_conversation(tx, record)
                return _outcome(there is None, changed)
            case DigestRecord():
                return self._digest(tx, record)
            case SpaceRecord():
                vectors.open_space(tx, record)
                return Outcome.PRESENT
            case DeletedRecord():
                return self._deleted(tx, record)
            case Refusal():
                return Outcome.REFUSED

    # Memories

    def _memory(self, tx: WriteTx, record: MemoryRecord) -> Outcome:
        record = replace(record, project=self._project(tx, record.project))
        if not self.own:
            record = replace(
                record,
                content=clean(record.content),
                tags=tuple(dict.fromkeys(filter(None, (clean(str(each)) for each in record.tags)))),
            )
        there = self._find(tx, "memory", record)
        if there is not None and not taken.is_there(tx, "memory", there):
            restored = self.own and self._restore(tx, Kind.MEMORY, there, record.updated_at)
            if not restored:
                return Outcome.DELETED
        if there is not None:
            (local,) = exported.memories(tx, [there])
            if not self.own:
                return self._changed_memory(tx, there, local, record)
            if reconcile.same_memory(local, record):
                return self._reconcile_memory(tx, there, local, record, joined=False)
            marked = f"{record.id}~{_digest(record.content)[:8]}"
            record = replace(record, id=marked, also=())
            again = origins.find_own(tx, "memory", marked)
            if again is not None:
                (local,) = exported.memories(tx, [again])
                return self._reconcile_memory(tx, again, local, record, joined=False)
        twin = self._twin(tx, record)
        if twin is not None and not self.own:
            origins.insert(tx, "memory", twin, [self._origin(record)])
            return Outcome.DUPLICATE
        if twin is not None:
            (local,) = exported.memories(tx, [twin])
            self._reconcile_memory(tx, twin, local, record, joined=True)
            return Outcome.DUPLICATE
        id = taken.insert_memory(tx, record)
        self._keep_origin(tx, "memory", id, record)
        if not self.own:
            self.texts.setdefault(_said(record.content, record.type, record.project), []).append(id)
        return Outcome.ADDED

    def _changed_memory(self, tx: WriteTx, id: int, local: MemoryRecord, record: MemoryRecord) -> Outcome:
        """What has changed at the source since it was imported is changed here, unless it was changed here too."""
        origin = self._origin(record)
        _, imported = origins.find(tx, "memory", self.source, record.id) or (id, "")
        if imported == origin.digest:
            return Outcome.PRESENT
        if _digest(local.content) != imported:
            self.conflicts.append(f"memory {id}: changed here and in {self.source}: left as it is here")
            return Outcome.CHANGED_HERE
        taken.rewrite_memory(
            tx,
            id,
            replace(
                reconcile.memories(local, replace(record, updated_at=max(record.updated_at, tx.now))),
                created_at=local.created_at,
            ),
        )
        origins.insert(tx, "memory", id, [origin])
        return Outcome.UPDATED

    def _reconcile_memory(
        self, tx: WriteTx, id: int, local: MemoryRecord, record: MemoryRecord, joined: bool
    ) -> Outcome:
        result = reconcile.memories(local, record, joined)
        changed = result != local
        if changed:
            taken.rewrite_memory(tx, id, result)
            origins.keep_own(tx, "memory", id, result.created_at, (result.id, *result.also))
            origins.insert(tx, "memory", id, result.origins)
        return _outcome(False, changed)

    def _twin(self, tx: Tx, record: MemoryRecord) -> int | None:
        """A memory that says exactly the same. Of a file of ours: one that this file alone has."""
        for id in self.texts.get(_said(record.content, record.type, record.project), ()):
            if not taken.is_there(tx, "memory", id):
                continue
            if not self.own or self.theirs.isdisjoint(origins.own_ids_of(tx, "memory", id)):
                return id
        return None

    # Turns and short-term memories

    def _item(self, tx: WriteTx, kind: str, record: TurnRecord | ShortTermRecord) -> Outcome:
        if not self.own:
            record = _cleaned(record)
        there = self._find(tx, kind, record)
        if there is None:
            id = (
                taken.insert_turn(tx, record)
                if isinstance(record, TurnRecord)
                else taken.insert_short_term(tx, record)
            )
            self._keep_origin(tx, kind, id, record)
            return Outcome.ADDED
        if not taken.is_there(tx, kind, there):
            return Outcome.DELETED
        local = (exported.turns if kind == "turn" else exported.short_term)(tx, [there])[0]
        if not self.own:
            return self._changed_item(tx, kind, there, local, record)
        result = _reconciled(local, record)
        if result == local:
            return Outcome.PRESENT
        _rewrite(tx, there, result)
        origins.keep_own(tx, kind, there, local.created_at, (result.id, *result.also))
        origins.insert(tx, kind, there, result.origins)
        return Outcome.UPDATED

    def _changed_item(self, tx: WriteTx, kind: str, id: int, local: Any, record: Any) -> Outcome:
        origin = self._origin(record)
        _, imported = origins.find(tx, kind, self.source, record.id) or (id, "")
        if imported == origin.digest:
            return Outcome.PRESENT
        if _digest(*_texts(local)) != imported:
            self.conflicts.append(f"{kind} {id}: changed here and in {self.source}: left as it is here")
            return Outcome.CHANGED_HERE
        if isinstance(record, TurnRecord):
            taken.rewrite_turn(tx, id, replace(local, message=record.message, summary=record.summary))
        else:
            taken.rewrite_short_term(tx, id, replace(local, text=record.text, keywords=record.keywords))
        origins.insert(tx, kind, id, [origin])
        return Outcome.UPDATED

    # Edges, facts, long-term memories

    def _edge(self, tx: WriteTx, record: EdgeRecord) -> Outcome:
        ends = [self._by_id(tx, "memory", id) for id in (record.source, record.target)]
        source, target = ends
        if source is None or target is None:
            return Outcome.REFUSED if not self.own else Outcome.DELETED
        if source == target:
            return Outcome.PRESENT
        if not (taken.is_there(tx, "memory", source) and taken.is_there(tx, "memory", target)):
            return Outcome.DELETED
        there = taken.edges_between(tx, source, target, record.relation)
        record = replace(record, source="", target="")
        same = [each for each in there if record.valid_from in ("", each[1].valid_from)]
        if not same and record.valid_to is None:
            same = [each for each in there if each[1].valid_to is None]
        if not same:
            taken.insert_edge(tx, source, target, record)
            return Outcome.ADDED
        id, local = same[0]
        result = reconcile.edges(local, replace(record, valid_from=record.valid_from or local.valid_from))
        if result == local:
            return Outcome.PRESENT
        taken.rewrite_edge(tx, id, result)
        return Outcome.UPDATED

    def _fact(self, tx: WriteTx, record: FactRecord) -> Outcome:
        owner = (self._project(tx, record.owner) or "") if record.scope == "project" else record.owner
        record = replace(record, owner=owner, id="")
        local = exported_facts.find(tx, (record.scope, record.owner, record.key))
        if not self.own:
            record = replace(record, origins=(self._origin_of_fact(record),))
            if local is not None and _has_value(local, record.steps[-1]):
                return Outcome.PRESENT
        if local is None:
            id = taken_facts.put(tx, record)
            if id is not None:
                origins.insert(tx, "fact", id, record.origins)
            return Outcome.ADDED
        result, parted = reconcile.facts(local, record)
        if result == local:
            return Outcome.PRESENT
        if parted:
            self.conflicts.append(
                f"fact {record.key} ({record.scope}{' ' + owner if owner else ''}): changed on both sides: "
                f"the value of {result.steps[-1].changed_at} is current, the other one is in its history"
            )
        id = taken_facts.put(tx, result)
        if id is not None:
            origins.insert(tx, "fact", id, result.origins)
        return Outcome.UPDATED

    def _long_term(self, tx: WriteTx, record: LongTermRecord) -> Outcome:
        record = replace(record, conversation=self._conversation(tx, record.conversation), id="")
        local = next(exported.long_term(tx, record.conversation, record.name), None)
        if local is None:
            if trash.select(tx, Kind.LONG_TERM, conversation=record.conversation) and self._deleted_here(
                tx, record
            ):
                return Outcome.DELETED
            id = taken.put_long_term(tx, record)
            if not self.own:
                record = replace(record, origins=(self._origin_of_long_term(record),))
            origins.insert(tx, "long_term", id, record.origins)
            return Outcome.ADDED
        same = (local.prompt, local.trigger) == (record.prompt, record.trigger)
        if not same:
            self.conflicts.append(
                f"long-term memory {record.conversation}/{record.name}: there are two with this name: "
                + ("the one that was changed last stays" if self.own else "the one here stays")
            )
        if not self.own:
            return Outcome.PRESENT if same else Outcome.CHANGED_HERE
        result = reconcile.long_term(local, record)
        if result == local:
            return Outcome.PRESENT
        origins.insert(tx, "long_term", taken.put_long_term(tx, result), result.origins)
        return Outcome.UPDATED

    # Deletions, digests, projects

    def _deleted(self, tx: WriteTx, record: DeletedRecord) -> Outcome:
        """What was deleted there since it was changed here is deleted here too, and can be brought back."""
        if record.item == "long_term":
            return Outcome.PRESENT
        there = origins.find_own(tx, record.item, record.id)
        if there is None or not taken.is_there(tx, record.item, there):
            return Outcome.PRESENT
        if record.item == "memory" and exported.memories(tx, [there])[0].updated_at > record.deleted_at:
            return Outcome.PRESENT
        trash.put(tx, Kind(record.item), [there], self.filing.caller, record.deleted_at)
        return Outcome.UPDATED

    def _deleted_here(self, tx: Tx, record: LongTermRecord) -> bool:
        there = trash.select(tx, Kind.LONG_TERM, conversation=record.conversation)
        return any(each.parts["long_term_memories"][0]["name"] == record.name for each in there)

    def _restore(self, tx: WriteTx, kind: Kind, id: int, updated_at: str) -> bool:
        """Bring back what was changed in the other file after it was deleted here."""
        deleted = trash.find_last(tx, kind, id)
        if deleted is None or updated_at <= deleted.deleted_at:
            return False
        trash.restore(tx, kind, deleted)
        return True

    def _digest(self, tx: WriteTx, record: DigestRecord) -> Outcome:
        item = self._by_id(tx, record.item, record.id)
        digest = None if record.digest is None else self._by_id(tx, "memory", record.digest)
        if item is None or (record.digest is not None and digest is None):
            return Outcome.DELETED
        return _outcome(taken.put_digest(tx, record, item, digest), False)

    def _known_project(self, tx: WriteTx, record: ProjectRecord) -> Outcome:
        """A project that is known here under another name, by its remote or its folder, keeps that name."""
        if self.filing.project is not None:
            return Outcome.PRESENT
        here = known_by(tx, record)
        if here is not None and here != record.name:
            self.renamed[record.name] = here
            record = replace(record, name=here)
        new = known_projects.find(tx, record.name) is None
        return _outcome(new, taken.put_project(tx, record))

    def _project(self, tx: WriteTx, name: str | None) -> str | None:
        """The name under which something is filed here."""
        if self.filing.project is not None:
            return self._settle(tx, self.filing.project)
        if name is None or self.own:
            return self.renamed.get(name or "", name)
        return self._settle(tx, projects.asked(clean(name), self.filing.caller)) or None

    def _settle(self, tx: WriteTx, project: Project) -> str:
        if project.key not in self.settled:
            self.settled[project.key] = projects.settle(tx, project)
        return self.settled[project.key]

    def _conversation(self, tx: WriteTx, name: str) -> str:
        """The conversation of a project follows it."""
        if self.filing.project is not None:
            return default_conversation(self._settle(tx, self.filing.project))
        for old, new in self.renamed.items():
            if name == default_conversation(old):
                return default_conversation(new)
        return name

    # Ids and origins

    def _by_id(self, tx: Tx, kind: str, id: str) -> int | None:
        if self.own:
            return origins.find_own(tx, kind, id)
        found = origins.find(tx, kind, self.source, id)
        return None if found is None else found[0]

    def _find(self, tx: Tx, kind: str, record: MemoryRecord | TurnRecord | ShortTermRecord) -> int | None:
        """What is known here by any id of the record."""
        for id in (record.id, *record.also):
            found = self._by_id(tx, kind, id)
            if found is not None:
                return found
        for each in record.origins:
            known = origins.find(tx, kind, each.source, each.id)
            if known is not None:
                return known[0]
        return None

    def _keep_origin(
        self, tx: WriteTx, kind: str, id: int, record: MemoryRecord | TurnRecord | ShortTermRecord
    ) -> None:
        if self.own:
            origins.keep_own(tx, kind, id, record.created_at, (record.id, *record.also))
            origins.insert(tx, kind, id, record.origins)
        else:
            origins.insert(tx, kind, id, [self._origin(record)])

    def _origin(self, record: MemoryRecord | TurnRecord | ShortTermRecord) -> Origin:
        return Origin(self.source, record.id, _digest(*_texts(record)))

    def _origin_of_fact(self, record: FactRecord) -> Origin:
        return Origin(self.source, record.id or f"{record.scope}/{record.owner}/{record.key}"[:500])

    def _origin_of_long_term(self, record: LongTermRecord) -> Origin:
        return Origin(self.source, f"{record.conversation}/{record.name}"[:500])


def _outcome(added: bool, changed: bool) -> Outcome:
    return Outcome.ADDED if added else Outcome.UPDATED if changed else Outcome.PRESENT


def _said(content: str, type: str, project: str | None) -> bytes:
    """What a memory says, in short."""
    text = f"{project or ''}\0{type}\0{content}".encode(errors="surrogatepass")
    return hashlib.blake2b(text, digest_size=16).digest()


def _digest(*texts: str) -> str:
    """Of the text as it was imported."""
    return hashlib.sha256("\0".join(texts).encode(errors="surrogatepass")).hexdigest()[:32]


def _texts(record: MemoryRecord | TurnRecord | ShortTermRecord) -> Sequence[str]:
    match record:
        case MemoryRecord():
            return (record.content,)
        case TurnRecord():
            return (record.message, record.summary)
        case _:
            return (record.text,)


def _cleaned(record: TurnRecord | ShortTermRecord) -> TurnRecord | ShortTermRecord:
    if isinstance(record, TurnRecord):
        return replace(record, message=clean(record.message), summary=clean(record.summary))
    return replace(record, text=clean(record.text))


def _reconciled(local: Any, record: Any) -> Any:
    return (
        reconcile.turns(local, record)
        if isinstance(record, TurnRecord)
        else reconcile.short_term(local, record)
    )


def _rewrite(tx: WriteTx, id: int, record: Any) -> None:
    if isinstance(record, TurnRecord):
        taken.rewrite_turn(tx, id, record)
    else:
        taken.rewrite_short_term(tx, id, record)


def _has_value(local: FactRecord, step: FactStep) -> bool:
    """Whether a key has had a value already, written at that moment where one is told."""
    wanted = reconcile.text_of((step.value, list(step.tags)))
    return any(
        reconcile.text_of((each.value, list(each.tags))) == wanted
        and step.changed_at in ("", each.changed_at)
        for each in local.steps
    )
