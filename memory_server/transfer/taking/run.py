"""One import: what it knows of this file and of its source, and by which ids and names things are known here."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from memory_server.domain import fact_text, trust
from memory_server.domain.caller import OWNED
from memory_server.domain.event import Did, Step
from memory_server.domain.exchange.edited import Text, pairs
from memory_server.domain.exchange.filing import Filing
from memory_server.domain.exchange.pages import pages
from memory_server.domain.exchange.records import (
    OWN,
    FactRecord,
    FactStep,
    Item,
    LongTermRecord,
    MemoryRecord,
    Origin,
    Record,
    ShortTermRecord,
    TurnRecord,
)
from memory_server.domain.project import default_conversation
from memory_server.importing import own
from memory_server.language.text import clean
from memory_server.project import Project
from memory_server.services import projects
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx, WriteTx
from memory_server.transfer import origins, reading
from memory_server.transfer import projects as file_projects
from memory_server.transfer.origins import digest


class Outcome(StrEnum):
    """The fate of a record. A duplicate says what a memory here says, a deleted one was deleted here; one that has
    ended stands in its source no longer.
    """

    ADDED = "added"
    UPDATED = "updated"
    PRESENT = "present"
    DUPLICATE = "duplicate"
    DELETED = "deleted"
    ENDED = "ended"
    CHANGED_HERE = "changed_here"
    SECRET = "secret"  # noqa: S105 - left out, because it holds one
    REFUSED = "refused"


@dataclass(slots=True)
class Run:
    """One import: what it knows of this file and of the source. `texts` are the memories here by what they say.

    `path` is the file or the folder. `present_ids` are the ids of the source with their kinds, `present_edges` the rows
    of its edges. `edited` has, by the new id of an edited text, the id that it had before. `rules` are the states of
    the rules that were written, by name. `filed` counts the memories added by project ('' is none). `at` is the moment
    when the import began, `steps` what it has done in the batch under way, `event` the row of its event, once it has
    changed something.
    """

    source: str
    filing: Filing
    path: str
    at: str = ""
    total: int = 0
    texts: dict[bytes, list[int]] = field(default_factory=dict)
    source_ids: set[str] = field(default_factory=set)
    present_ids: set[tuple[str, str]] = field(default_factory=set)
    present_edges: set[int] = field(default_factory=set)
    edited: dict[str, str] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    settled: dict[str, str] = field(default_factory=dict)
    conflicts: list[str] = field(default_factory=list)
    rules: dict[str, str] = field(default_factory=dict)
    filed: Counter[str] = field(default_factory=Counter)
    steps: list[Step] = field(default_factory=list)
    event: int | None = None

    @staticmethod
    def begin(
        database: Database,
        source: str,
        path: str,
        records: Callable[[], Iterator[Record]],
        filing: Filing,
    ) -> "Run":
        """Read what is here, and the source once before its records are taken.

        Of the source: how much it has, its ids, and which of its texts were edited since they were imported. Where it
        is a file of ours, two memories of one file stay two.
        """
        run = Run(source, filing, path)
        texts: list[Text] = []
        for record in records():
            run.total += 1
            if run.own and isinstance(record, MemoryRecord):
                run.source_ids.update((record.id, *record.also))
            elif not run.own:
                if isinstance(record, Item):  # a fact is seen when it is taken: its project is known then
                    run.present_ids.add((record.kind, record.id))
                if isinstance(record, MemoryRecord):
                    texts.append((record.id, run.place(record), record.content))
        with database.read() as tx:
            run.at = tx.now
            for page in pages(reading.order(tx, "memory")):
                for id, *says in reading.said(tx, page):
                    run.texts.setdefault(said_as(*says), []).append(id)
            if path and not run.own:
                run.edited = run.find_edited(tx, texts)
        return run

    def find_edited(self, tx: Tx, texts: Sequence[Text]) -> dict[str, str]:
        """Return by its new id the earlier one of each text that was edited in the source."""
        places = [origin for origin in origins.below(tx, self.source, self.path) if origin.kind == "memory"]
        gone = {
            origin.item: origin for origin in places if ("memory", origin.source_id) not in self.present_ids
        }
        if not gone:
            return {}
        known_ids = {origin.source_id for origin in places}
        texts_by_id = {id: content for id, content, *_ in reading.said(tx, list(gone))}
        earlier = [
            (origin.source_id, origin.place, texts_by_id[id])
            for id, origin in gone.items()
            if id in texts_by_id
        ]
        return pairs(earlier, [text for text in texts if text[0] not in known_ids])

    def place(self, record: Record) -> str:
        """Return the place at which a record stands in the source."""
        return getattr(record, "place", "") or self.path

    @property
    def by_person(self) -> bool:
        """True if a person imports: what that person brings is confirmed with it."""
        return trust.is_person(self.filing.caller.stamp)

    @property
    def own(self) -> bool:
        return self.source == OWN

    def did(self, did: Did, kind: str, item: int, before: Record | str | None = None) -> None:
        """Remember what is done to a thing; `before` is the record that it was, or the JSON of `Step.before`."""
        text = before if before is None or isinstance(before, str) else own.line(before)
        self.steps.append(Step(did, kind, item, text))

    def stamped(self, record: Record) -> Record:
        """Return a record with its origin: that of the file where it is ours and a person imports it, else the source,
        or what the client has read outside."""
        if self.own and self.by_person:
            return record
        match record:
            case MemoryRecord() | TurnRecord() | ShortTermRecord() | LongTermRecord():
                origin = self._stamp("\n".join(texts_of(record)), record.origin)
                return replace(
                    record, origin=trust.with_names(origin, names_of(record), self.filing.caller.stamp)
                )
            case FactRecord():
                return replace(
                    record, steps=tuple(self._stamped_step(record.key, step) for step in record.steps)
                )
            case _:
                return record

    def lowers(self, record: Record) -> bool:
        """True if a file of ours says that a person has said a record, and no person imports it."""
        origin = record.steps[-1].origin if isinstance(record, FactRecord) else getattr(record, "origin", "")
        return self.own and not self.by_person and trust.is_of_user(origin)

    def _stamped_step(self, key: str, step: FactStep) -> FactStep:
        origin = fact_text.origin(key, step.value, lambda text: self._stamp(text, step.origin), step.tags)
        return replace(step, origin=origin)

    def _stamp(self, text: str, origin: str) -> str:
        by_source = trust.unproved(origin, self.source) if self.own else trust.of_format(self.source)
        if trust.waits(by_source):
            return by_source
        stamp = self.filing.caller.stamp(text)
        return stamp if trust.waits(stamp) else by_source

    def project_of(self, tx: WriteTx, name: str | None) -> str | None:
        """Return the name under which something is filed here."""
        if self.filing.project is not None:
            return self.settle(tx, self.filing.project)
        if name is None or self.own:
            return self.renamed.get(name or "", name)
        return self.settle(tx, projects.asked(clean(name), self.filing.caller)) or None

    def settle(self, tx: WriteTx, project: Project) -> str:
        if project.key not in self.settled:
            before = dict(file_projects.rows(tx))
            self.settled[project.key] = projects.settle(tx, project)
            for id, record in file_projects.rows(tx):
                if before.get(id, record) != record:
                    self.did(Did.CHANGED, "project", id, before[id])
        return self.settled[project.key]

    def conversation_of(self, tx: WriteTx, name: str) -> str:
        """Return the name that a conversation has here: that of a project follows it."""
        if self.filing.project is not None:
            return default_conversation(self.settle(tx, self.filing.project))
        person, parted, conversation = name.rpartition(OWNED)
        for old, new in self.renamed.items():
            if conversation == default_conversation(old):
                return f"{person}{parted}{default_conversation(new)}"
        return name

    # Ids and origins

    def by_id(self, tx: Tx, kind: str, id: str) -> int | None:
        if self.own:
            return origins.find_own(tx, kind, id)
        row = origins.find(tx, kind, self.source, id)
        return None if row is None else row[0]

    def known(self, tx: Tx, record: Item | LongTermRecord) -> tuple[str, str]:
        """Return the id by which the source has known an item until now, and the digest of its imported text."""
        also = () if isinstance(record, LongTermRecord) else record.also
        ids = (record.id, *also, *filter(None, [self.edited.get(record.id)]))
        rows = ((id, origins.find(tx, record.kind, self.source, id)) for id in ids)
        return next(((id, row[1]) for id, row in rows if row is not None), (record.id, ""))

    def find_earlier(self, tx: WriteTx, record: MemoryRecord) -> int | None:
        """Return the memory whose text was edited in the source into this one."""
        old = self.edited.get(record.id)
        row = None if old is None else origins.find(tx, "memory", self.source, old)
        return None if row is None else row[0]

    def find(self, tx: Tx, record: Item) -> int | None:
        """Return the id that an item has here by any id of the record; None where it has none."""
        for id in (record.id, *record.also):
            local_id = self.by_id(tx, record.kind, id)
            if local_id is not None:
                return local_id
        for origin in record.origins:
            row = origins.find(tx, record.kind, origin.source, origin.id)
            if row is not None:
                return row[0]
        return None

    def keep_origin(self, tx: WriteTx, id: int, record: Item) -> None:
        kind = record.kind
        if self.own:
            origins.keep_own(tx, kind, id, record.created_at, (record.id, *record.also))
            origins.insert(tx, kind, id, record.origins)
        else:
            origins.insert(tx, kind, id, [self.origin(record)], self.place(record))

    def origin(self, record: Item | LongTermRecord) -> Origin:
        return Origin(self.source, record.id, digest(*texts_of(record)), self.at)

    def origin_of_fact(self, record: FactRecord) -> Origin:
        id = record.id or f"{record.scope}/{record.owner}/{record.key}"[:500]
        return Origin(self.source, id, imported_at=self.at)


def outcome(added: bool, changed: bool) -> Outcome:
    return Outcome.ADDED if added else Outcome.UPDATED if changed else Outcome.PRESENT


def said_as(content: str, type: str, project: str | None, person: str | None) -> bytes:
    """Return a digest of what a memory says and whose it is."""
    text = f"{person or ''}\0{project or ''}\0{type}\0{content}".encode(errors="surrogatepass")
    return hashlib.blake2b(text, digest_size=16).digest()


def imported_by(source: str) -> str:
    """Return who has made the edges of a source: a client may have the name of the source itself."""
    return f"import of {source}"


def texts_of(record: Item | LongTermRecord) -> Sequence[str]:
    match record:
        case MemoryRecord():
            return (record.content,)
        case TurnRecord():
            return (record.message, record.summary)
        case LongTermRecord():
            return (record.prompt, record.trigger)
        case _:
            return (record.text,)


def names_of(record: Item | LongTermRecord) -> Sequence[object]:
    """Return what is shown with the texts of a record."""
    match record:
        case MemoryRecord():
            return (*record.tags, record.metadata)
        case LongTermRecord():
            return (record.name,)
        case _:
            return ()
