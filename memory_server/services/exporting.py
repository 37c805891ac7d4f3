"""Everything that a file holds as records, in the order in which another file can take them in."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from memory_server.domain.caller import Caller
from memory_server.domain.exchange.records import MemoryRecord, Record
from memory_server.domain.project import default_conversation
from memory_server.errors import Mend, NotFound, Problem
from memory_server.services import projects
from memory_server.sqlite import temporary
from memory_server.sqlite.database import Database
from memory_server.sqlite.exchange import exported, exported_facts, exported_projects, learnt, vectors
from memory_server.sqlite.tx import Tx


@dataclass(frozen=True, slots=True)
class ExportService:
    """It reads a copy of the file: nobody waits for it, and it shows one moment."""

    database: Database
    clock: Callable[[], datetime]

    @contextmanager
    def records(
        self,
        project: str | None = None,
        caller: Caller = Caller(),  # noqa: B008 - it is frozen
        embeddings: bool = False,
    ) -> Iterator["Export"]:
        """Everything, or what a project has; with the vectors, where these are wanted.

        Of a project its own facts are exported, and the edges between its own memories.

        Raises:
            NotFound: there is no such project.
        """
        asked = None if project is None else projects.asked(project, caller)
        with temporary.folder() as folder:
            path = folder / "memory.db"
            self.database.settle()
            self.database.backup(path)
            copy = Database(path, self.clock)
            try:
                with copy.read() as tx:
                    unknown = None if asked is None else projects.unknown(tx, asked)
                    if unknown is not None:
                        raise NotFound(f"{unknown} Nothing was exported.", Mend.LIST_PROJECTS)
                    name = None if asked is None else projects.name_of(tx, asked)
                    yield Export(tx, name, embeddings, deletions=False)
            finally:
                copy.close()


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
        yield from exported_projects.projects(tx, name)
        yield from self.memories()
        yield from exported.edges(tx, name)
        for places in exported.pages(exported_facts.places(tx, name)):
            yield from exported_facts.facts(tx, places, self.embeddings)
        for page in exported.pages(exported.order(tx, "turn", name)):
            yield from exported.turns(tx, page, self.embeddings)
        if name is None:
            yield from exported.digests(tx)
        yield from learnt.uses(tx, name)
        yield from learnt.questions(tx, name)
        yield from exported.conversations(tx, conversation)
        for page in exported.pages(exported.order(tx, "short_term")):
            for said in exported.short_term(tx, page, self.embeddings):
                if conversation in (None, said.conversation):
                    yield said
        yield from exported.long_term(tx, conversation)
        if self.deletions:
            yield from exported.deleted(tx)

    def memories(self) -> Iterator[MemoryRecord]:
        for page in exported.pages(exported.order(self.tx, "memory", self.project)):
            yield from exported.memories(self.tx, page, self.embeddings)
