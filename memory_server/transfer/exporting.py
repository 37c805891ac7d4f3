"""Exports everything that a file holds as records, in the order in which another file can take them in."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from memory_server.domain.caller import Caller
from memory_server.domain.exchange.pages import pages
from memory_server.domain.exchange.records import MemoryRecord, Record
from memory_server.domain.project import default_conversation
from memory_server.errors import Mend, NotFound, Problem
from memory_server.services import projects
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx
from memory_server.transfer import facts, learnt, reading, vectors
from memory_server.transfer import projects as stored_projects


@dataclass(frozen=True, slots=True)
class ExportService:
    """Reads a copy of the file: nobody waits for it, and it shows one moment."""

    database: Database

    @contextmanager
    def records(self, project: str | None, caller: Caller, embeddings: bool = False) -> Iterator["Export"]:
        """Export everything, or what a project has; with the vectors, where these are wanted.

        Of a project its own facts are exported, and the edges between its own memories.

        Raises:
            NotFound: there is no such project.
        """
        meant = None if project is None else projects.asked(project, caller)
        self.database.settle()
        with self.database.snapshot() as tx:
            unknown = None if meant is None else projects.unknown(tx, meant)
            if unknown is not None:
                raise NotFound(f"{unknown} Nothing was exported.", Mend.LIST_PROJECTS)
            name = None if meant is None else projects.name_of(tx, meant)
            yield Export(tx, name, embeddings, deletions=False)


@dataclass(frozen=True, slots=True)
class Export:
    """The records of one moment, with the vectors and with what was deleted where these are wanted.

    `skipped` are the rows that could not be read, once all records were.
    """

    tx: Tx
    project: str | None
    embeddings: bool
    deletions: bool

    @property
    def skipped(self) -> tuple[Problem, ...]:
        return tuple(self.tx.skipped)

    def __iter__(self) -> Iterator[Record]:
        tx, name = self.tx, self.project
        conversation = None if name is None else default_conversation(name)
        if self.embeddings:
            yield from vectors.spaces(tx)
        yield from stored_projects.read(tx, name)
        yield from self.memories()
        yield from reading.edges(tx, name)
        for places in pages(facts.places(tx, name)):
            yield from facts.read(tx, places, self.embeddings)
        for page in pages(reading.order(tx, "turn", name)):
            yield from reading.turns(tx, page, self.embeddings)
        if name is None:
            yield from reading.digests(tx)
        yield from learnt.uses(tx, name)
        yield from learnt.questions(tx, name)
        yield from reading.conversations(tx, conversation)
        for page in pages(reading.order(tx, "short_term")):
            for record in reading.short_term(tx, page, self.embeddings):
                if conversation in (None, record.conversation):
                    yield record
        yield from reading.long_term(tx, conversation)
        if self.deletions:
            yield from reading.deleted(tx)

    def memories(self) -> Iterator[MemoryRecord]:
        for page in pages(reading.order(self.tx, "memory", self.project)):
            yield from reading.memories(self.tx, page, self.embeddings)
