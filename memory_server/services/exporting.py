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


@dataclass(frozen=True, slots=True)
class ExportService:
    """Reads a copy of the file: nobody waits for it, and it shows one moment."""

    database: Database

    @contextmanager
    def records(
        self,
        project: str | None = None,
        caller: Caller = Caller(),  # noqa: B008 - it is frozen
        embeddings: bool = False,
    ) -> Iterator["Export"]:
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
            yield from tx.exchanged_vectors.spaces()
        yield from tx.exported_projects.projects(name)
        yield from self.memories()
        yield from tx.exported.edges(name)
        for places in pages(tx.exported_facts.places(name)):
            yield from tx.exported_facts.facts(places, self.embeddings)
        for page in pages(tx.exported.order("turn", name)):
            yield from tx.exported.turns(page, self.embeddings)
        if name is None:
            yield from tx.exported.digests()
        yield from tx.learnt.uses(name)
        yield from tx.learnt.questions(name)
        yield from tx.exported.conversations(conversation)
        for page in pages(tx.exported.order("short_term")):
            for record in tx.exported.short_term(page, self.embeddings):
                if conversation in (None, record.conversation):
                    yield record
        yield from tx.exported.long_term(conversation)
        if self.deletions:
            yield from tx.exported.deleted()

    def memories(self) -> Iterator[MemoryRecord]:
        for page in pages(self.tx.exported.order("memory", self.project)):
            yield from self.tx.exported.memories(page, self.embeddings)
