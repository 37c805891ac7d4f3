"""Export and import."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from memory_server.domain.exchange.records import (
    ConversationRecord,
    DeletedRecord,
    DigestRecord,
    EdgeRecord,
    FactRecord,
    LongTermRecord,
    MemoryRecord,
    ProjectRecord,
    QuestionRecord,
    ShortTermRecord,
    SpaceRecord,
    TurnRecord,
    UseRecord,
)

Place = tuple[str, str, str]

Result = TypeVar("Result")
"""Scope, owner and key."""


class Exported(Protocol):
    """Reads items as records, in an order that is the same in every database that holds the same."""

    def order(self, kind: str, project: str | None = None) -> list[int]:
        """The rows of a kind (of a project) in the order of their own ids."""
        ...

    def memories(self, ids: Sequence[int], embedded: bool = False) -> list[MemoryRecord]:
        """These memories whole, in the order given."""
        ...

    def said(self) -> Iterator[tuple[int, str, str, str | None, str | None]]:
        """Every memory with its text, its type, its project and its person."""
        ...

    def turns(self, ids: Sequence[int], embedded: bool = False) -> list[TurnRecord]:
        """These turns whole, in the order given."""
        ...

    def short_term(self, ids: Sequence[int], embedded: bool = False) -> list[ShortTermRecord]:
        """These short-term memories whole, in the order given."""
        ...

    def edges(self, project: str | None = None) -> Iterator[EdgeRecord]:
        """All edges (between memories of a project), by the ids of their ends."""
        ...

    def digests(self) -> Iterator[DigestRecord]:
        """For what the digests of the server stand, where both are there."""
        ...

    def conversations(self, name: str | None = None) -> Iterator[ConversationRecord]:
        """All conversations, or one, by name."""
        ...

    def long_term(self, conversation: str | None = None, name: str | None = None) -> Iterator[LongTermRecord]:
        """The long-term memories of all conversations or of one, or one of them, by name."""
        ...

    def deleted(self) -> Iterator[DeletedRecord]:
        """What lies in the trash, without its text."""
        ...


class ExportedFacts(Protocol):
    """Reads facts as records: each key with all its steps, also where it has no value any more."""

    def places(self, project: str | None = None) -> list[Place]:
        """Every key that ever had a value, of a project or of all."""
        ...

    def facts(self, there: list[Place], embedded: bool = False) -> Iterator[FactRecord]:
        """These keys, each with its history."""
        ...

    def find(self, place: Place) -> FactRecord | None:
        """A key with its history; None where it never had a value."""
        ...


class ExportedProjects(Protocol):
    """Projects as records, and by which name one of another database is known here."""

    def projects(self, project: str | None = None) -> Iterator[ProjectRecord]:
        """All projects, or one, by name."""
        ...

    def known_by(self, record: ProjectRecord) -> str | None:
        """What the project with any of these remotes or folders is called here."""
        ...


class Learnt(Protocol):
    """What was learnt as records: which sessions have used which memories, and the questions that found nothing."""

    def uses(self, project: str | None = None) -> Iterator[UseRecord]:
        """The uses of all memories that are there, or of those of a project."""
        ...

    def questions(self, project: str | None = None) -> Iterator[QuestionRecord]:
        """All questions, or those of a project."""
        ...

    def find_use(self, memory: int, session: str) -> UseRecord | None:
        """What came of it that a session was shown a memory."""
        ...

    def find_question(
        self, project: str, question: str, person: str | None
    ) -> tuple[int, QuestionRecord] | None:
        """The question of a project and a person in these words, and its row."""
        ...


class WritableLearnt(Learnt, Protocol):
    """The same in a transaction that writes."""

    def put_use(self, memory: int, record: UseRecord) -> None: ...

    def insert_question(self, record: QuestionRecord) -> None: ...

    def rewrite_question(self, id: int, record: QuestionRecord) -> None: ...


class Taken(Protocol):
    """Writes records as items, whole: with their dates and their history. The tables' own rules decide what fits."""

    def long_term_id(self, conversation: str, name: str) -> int | None:
        """The row of a long-term memory."""
        ...

    def edges_between(self, source: int, target: int, relation: str) -> list[tuple[int, EdgeRecord]]:
        """The edges of one relation from one memory to another, those that have ended too."""
        ...

    def is_there(self, kind: str, id: int) -> bool:
        """Whether an item is in its table, not in the trash."""
        ...


class WritableTaken(Taken, Protocol):
    """The same in a transaction that writes."""

    def attempt(self, take: Callable[[], Result]) -> Result | str:
        """Write one item; where a rule of the database refuses it, nothing of it is written: then the rule."""
        ...

    def insert_memory(self, record: MemoryRecord) -> int:
        """The id of the new memory: the one that it had, where no memory here ever had that or a later one."""
        ...

    def rewrite_memory(self, id: int, record: MemoryRecord) -> None:
        """Make a memory what the record says, its history too."""
        ...

    def insert_turn(self, record: TurnRecord) -> int: ...

    def rewrite_turn(self, id: int, record: TurnRecord) -> None: ...

    def insert_short_term(self, record: ShortTermRecord) -> int: ...

    def rewrite_short_term(self, id: int, record: ShortTermRecord) -> None: ...

    def put_long_term(self, record: LongTermRecord) -> int:
        """Insert it, or make what has its name in its conversation what the record says."""
        ...

    def insert_edge(self, source: int, target: int, record: EdgeRecord) -> None: ...

    def rewrite_edge(self, id: int, record: EdgeRecord) -> None: ...

    def put_conversation(self, record: ConversationRecord) -> bool:
        """Insert a conversation, or let it be as old as the older and as clean as the cleaner; whether it changed."""
        ...

    def put_project(self, record: ProjectRecord) -> bool:
        """Insert a project, or give it the keys that no other project has; whether anything changed."""
        ...

    def put_digest(self, record: DigestRecord, item: int, digest: int | None) -> bool:
        """Remember for what a digest stands, unless something stands for it already."""
        ...


class TakenFacts(Protocol):
    """Writes a key of a fact whole: its history as the record has it, and its value."""


class WritableTakenFacts(TakenFacts, Protocol):
    """The same in a transaction that writes."""

    def put(self, record: FactRecord) -> int | None:
        """Write the history and the value of a key anew; the id of the fact, None where it has no value.

        Triggers write a step for each change, and index a step that was written, for which its fact must be there. So
        the
        steps before the last are entered as expired, and are named what they were after that.
        """
        ...


class ExchangedVectors(Protocol):
    """The vectors of items as text: for exports that bring their embeddings along."""

    def spaces(self) -> Iterator[SpaceRecord]:
        """The models in use, by their fingerprint."""
        ...


class WritableExchangedVectors(ExchangedVectors, Protocol):
    """The same in a transaction that writes."""

    def open_space(self, record: SpaceRecord) -> None:
        """Take a model over where none is in use yet: the server goes on with it, or changes to its own."""
        ...
