"""Takes records of another program or another file in: each once, with its dates, its history and its origin."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from memory_server.domain.caller import Caller
from memory_server.domain.exchange.filing import Filing
from memory_server.domain.exchange.records import (
    OWN,
    ConversationRecord,
    EdgeRecord,
    FactRecord,
    LongTermRecord,
    MemoryRecord,
    ProjectRecord,
    QuestionRecord,
    Record,
    Refusal,
    ShortTermRecord,
    TurnRecord,
    UseRecord,
)
from memory_server.domain.fact import WILDCARD
from memory_server.domain.secrets import find_secret
from memory_server.errors import MemoryServerError, Mend, TriggerRejected, broken_off
from memory_server.services import projects
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.storage.database import Database
from memory_server.storage.tx import WriteTx
from memory_server.transfer import ending, events, taking
from memory_server.transfer.counts import of_event
from memory_server.transfer.taking.run import Outcome, Run
from memory_server.triggers import TriggerEngine

AT_ONCE = 100
"""Rows of one transaction at most: others write between two of them. An item with more rows of its own goes alone."""

_NO_END = "one of its two memories was not taken over"
"""Why the writing itself refuses an edge."""

Progress = Callable[[int, int], None]
"""Told how many records of how many are done."""


@dataclass(frozen=True, slots=True)
class Source:
    """Records to take in, under the name of their format. `records` can be called again: it begins anew.

    `path` is the file or the folder, whole. Unless it `ends` what it has no more, the records are a part of it.
    """

    name: str
    records: Callable[[], Iterator[Record]]
    path: str = ""
    ends: bool = True


@dataclass(slots=True)
class Imported:
    """The number of records by kind and outcome; and what was refused or conflicts, with a text for each.

    `event` is the number under which it is undone; None where it has changed nothing. `is_damaged`: a part of the
    source cannot be read. `followed`: files to which corrections are written back. `rules` are the states of the rules
    that were written, by name. `lowered` are the records that were added and that a person has said, as the file says,
    but no person imports. `filed` counts the memories that were added by project ('' is none); of an export of ours
    nothing, since it says that itself.
    """

    counts: dict[str, Counter[Outcome]] = field(default_factory=dict)
    refused: list[Refusal] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    event: int | None = None
    is_damaged: bool = False
    followed: int = 0
    rules: dict[str, str] = field(default_factory=dict)
    lowered: int = 0
    filed: Counter[str] = field(default_factory=Counter)

    def count(self, kind: str, outcome: Outcome, number: int = 1) -> None:
        self.counts.setdefault(kind, Counter())[outcome] += number

    def total(self, outcome: Outcome) -> int:
        return sum(counter[outcome] for counter in self.counts.values())

    @property
    def written(self) -> int:
        """Return the number of records that have changed the database."""
        return sum(map(self.total, (Outcome.ADDED, Outcome.UPDATED, Outcome.DUPLICATE)))


@dataclass(frozen=True, slots=True)
class ImportService:
    database: Database
    queue: EmbeddingQueue
    triggers: TriggerEngine
    allow_secrets: bool = False

    def take(
        self,
        source: Source,
        project: str | None,
        caller: Caller,
        progress: Progress = lambda _done, _total: None,
    ) -> Imported:
        """Take all records of a source in, in batches; all under one project where one is named.

        What is there already is left alone, so an import that was broken off goes on when it is repeated. The failure
        that breaks it off says how much was written.
        """
        imported = Imported()
        named = None if project is None else projects.asked(project, caller)
        run = Run.begin(self.database, source.name, source.path, source.records, Filing(caller, named))
        done = 0
        try:
            for batch in _batches(source.records()):
                ready = [record for record in batch if self._passes(record, source.name, imported)]
                self._write(run, ready, imported)
                done += len(batch)
                progress(done, run.total)
            if source.ends:
                self._end(run, imported)
        except MemoryServerError as error:
            raise broken_off(error, imported.written, Mend.IMPORT_AGAIN) from error
        self.queue.wake()
        imported.event, imported.rules, imported.conflicts = run.event, run.rules, run.conflicts
        imported.filed = Counter() if run.own else run.filed
        return imported

    def _passes(self, record: Record, source: str, imported: Imported) -> bool:
        """True if a record may be written; if not, it is counted and named with the reason."""
        unreadable = isinstance(record, Refusal)
        imported.is_damaged |= isinstance(record, Refusal) and not record.elsewhere
        refusal = (Outcome.REFUSED, "") if unreadable else self._refused(record, source)
        if refusal is None:
            return True
        outcome, why = refusal
        imported.count(record.kind, outcome)
        imported.refused.append(record if isinstance(record, Refusal) else Refusal(_name(record), why))
        return False

    def _refused(self, record: Record, source: str) -> tuple[Outcome, str] | None:
        """Return why a record is left out: a credential, a trigger that does not compile, or what cannot be stored."""
        try:
            kind = None if self.allow_secrets else _secret(record)
        except UnicodeEncodeError:
            return Outcome.REFUSED, "holds text that is not UTF-8"
        if kind is not None:
            return Outcome.SECRET, f"seems to contain {kind}"
        if source == OWN:
            return None
        if isinstance(record, FactRecord) and WILDCARD in record.key:
            return Outcome.REFUSED, f"a key holds no `{WILDCARD}`: that is for patterns"
        if isinstance(record, LongTermRecord):
            try:
                self.triggers.check(record.trigger)
            except TriggerRejected as error:
                return Outcome.REFUSED, str(error)
        return None

    def _write(self, run: Run, batch: list[Record], imported: Imported) -> None:
        """Write a batch with what it does, all or nothing: what is counted is on disk."""
        outcomes: list[tuple[Record, Outcome | str]] = []
        run.steps.clear()
        with self.database.write() as tx:
            newest = events.newest_places(tx)
            for record in batch:
                done = len(run.steps)
                outcome = tx.whole_rows.attempt(partial(taking.take, run, tx, record))
                if not isinstance(outcome, Outcome):
                    run.settled.clear()  # a project that was entered with it is undone too
                    del run.steps[done:]
                outcomes.append((record, outcome))
            run.steps += events.places_since(tx, newest)
            if run.steps:
                self._keep_event(run, tx, imported, outcomes)
        for record, outcome in outcomes:
            why = _NO_END if outcome is Outcome.REFUSED else outcome
            imported.lowered += outcome is Outcome.ADDED and run.lowers(record)
            imported.count(record.kind, outcome if isinstance(outcome, Outcome) else Outcome.REFUSED)
            if not isinstance(why, Outcome):
                imported.refused.append(Refusal(_name(record), why))

    def _end(self, run: Run, imported: Imported) -> None:
        """End what the source has no more; where a part of it cannot be read, nothing ends."""
        if run.own or not run.path or imported.is_damaged:
            return
        run.steps.clear()
        with self.database.write() as tx:
            ended = ending.end(run, tx, run.path)
            for (kind, outcome), number in ended.items():
                imported.count(kind, outcome, number)
            if run.steps:
                self._keep_event(run, tx, imported, [])

    def _keep_event(
        self,
        run: Run,
        tx: WriteTx,
        imported: Imported,
        outcomes: Sequence[tuple[Record, Outcome | str]],
    ) -> None:
        """Keep what a batch has done as a part of the event of the import."""
        if run.event is None:
            run.event = tx.events.insert("imported", run.source, run.path, run.at, run.filing.caller)
        counts = {kind: Counter(counter) for kind, counter in imported.counts.items()}
        for record, outcome in outcomes:
            if isinstance(outcome, Outcome):
                counts.setdefault(record.kind, Counter())[outcome] += 1
        tx.events.count(run.event, of_event(counts))
        events.record(tx, run.event, run.steps)


def _batches(records: Iterator[Record]) -> Iterator[list[Record]]:
    batch: list[Record] = []
    rows = 0
    for record in records:
        weight = _rows(record)
        if batch and rows + weight > AT_ONCE:
            yield batch
            batch, rows = [], 0
        batch.append(record)
        rows += weight
    if batch:
        yield batch


def _rows(record: Record) -> int:
    match record:
        case MemoryRecord():
            return 1 + len(record.history) + len(record.also) + len(record.origins)
        case FactRecord():
            return 1 + len(record.steps)
        case LongTermRecord():
            return 1 + len(record.wakes)
        case _:
            return 1


def _secret(record: Record) -> str | None:
    """Return the kind of credential that a record holds. It reads the same values as a call that stores this kind."""
    match record:
        case MemoryRecord():
            return find_secret(
                record.content, record.project, list(record.tags), dict(record.metadata), record.session,
                *(version.content for version in record.history),
            )  # fmt: skip
        case FactRecord():
            return find_secret(
                *({record.key: step.value} for step in record.steps), list(record.steps[-1].tags)
            )
        case TurnRecord():
            return find_secret(record.message, record.summary, record.session)
        case ShortTermRecord():
            return find_secret(record.conversation, record.text)
        case LongTermRecord():
            return find_secret(
                record.conversation, record.name, record.prompt, record.trigger,
                record.created_context, record.updated_context,
                *((*record.rule.holds, *record.rule.passes) if record.rule is not None else ()),
            )  # fmt: skip
        case ProjectRecord():
            return find_secret(record.name, record.folder, *(key for _, key in record.keys))
        case ConversationRecord():
            return find_secret(record.name)
        case QuestionRecord():
            return find_secret(record.question, record.project, record.session)
        case UseRecord():
            return find_secret(record.session)
        case _:
            return None


def _name(record: Record) -> str:
    """Return how a person finds a record in its source; never its text, which may hold a credential."""
    match record:
        case FactRecord():
            return f"fact {record.key}"
        case LongTermRecord():
            return f"long_term {record.conversation}/{record.name}"
        case EdgeRecord():
            return f"edge {record.source} {record.relation} {record.target}"
        case _:
            id = getattr(record, "id", "") or getattr(record, "name", "") or getattr(record, "source", "")
            return f"{record.kind} {id}".strip()
