"""Transactions as services see them: what can be read, and what can be written."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from memory_server.domain.caller import Person
from memory_server.errors import Problem
from memory_server.storage.together import Together

if TYPE_CHECKING:
    from memory_server.storage.candidates import Candidates
    from memory_server.storage.copying import Copied
    from memory_server.storage.edges import Edges, WritableEdges
    from memory_server.storage.exchange import (
        ExchangedVectors,
        Exported,
        ExportedFacts,
        ExportedProjects,
        Learnt,
        TakenFacts,
        TakenRows,
        WritableExchangedVectors,
        WritableLearnt,
        WritableTakenFacts,
        WritableTakenRows,
    )
    from memory_server.storage.facts import FactHistory, Facts, LeadingFacts, WritableFacts
    from memory_server.storage.health import Health
    from memory_server.storage.history import (
        Changes,
        Log,
        Origins,
        Timeline,
        Trash,
        WritableChanges,
        WritableOrigins,
        WritableTrash,
        Written,
    )
    from memory_server.storage.jobs import Erasures, JobProblems, WritableErasures, WritableJobProblems
    from memory_server.storage.learning import OpenQuestions, WritableOpenQuestions
    from memory_server.storage.long_term import LongTerm, Wakes, WritableLongTerm, WritableWakes
    from memory_server.storage.memories import (
        Digests,
        Memories,
        MemoryCounts,
        MemoryUses,
        Newest,
        Peers,
        Standing,
        WritableDigests,
        WritableMemories,
        WritableMemoryCounts,
        WritableMemoryUses,
    )
    from memory_server.storage.people import CallCounts, Tokens, WritableCallCounts, WritableTokens
    from memory_server.storage.projects import (
        Completing,
        JoinedProjects,
        Projects,
        WritableJoinedProjects,
        WritableProjects,
    )
    from memory_server.storage.short_term import (
        Conversations,
        ShortTerm,
        WritableConversations,
        WritableShortTerm,
    )
    from memory_server.storage.turns import (
        HookCaptures,
        HookInjections,
        Turns,
        WritableHookCaptures,
        WritableHookInjections,
        WritableTurns,
    )
    from memory_server.storage.vectors import Embeddings, WritableEmbeddings
    from memory_server.storage.words import WordHits, Words

One = TypeVar("One")


class Tx(Protocol):
    """One consistent view of all that is stored, as the person sees it for whom something is done."""

    @property
    def now(self) -> str:
        """The moment when it began."""
        ...

    @property
    def skipped(self) -> list[Problem]:
        """The rows that were left out because they cannot be read."""
        ...

    @property
    def person(self) -> Person | None:
        """The person for whom it is; None for the owner, who sees all."""
        ...

    @property
    def owner(self) -> str | None:
        """The name of the person whose own is what is written for nobody else."""
        ...

    @property
    def together(self) -> Together:
        """Reads that do not need each other's answers: a database that is far away is waited for once."""
        ...

    def each(self, calls: Sequence[Callable[[], One]]) -> list[One]:
        """The same for several reads of one kind."""
        ...

    def size(self) -> int:
        """Bytes of the database."""
        ...

    @property
    def call_counts(self) -> "CallCounts": ...

    @property
    def candidates(self) -> "Candidates": ...

    @property
    def changes(self) -> "Changes": ...

    @property
    def completing(self) -> "Completing": ...

    @property
    def conversations(self) -> "Conversations": ...

    @property
    def copied(self) -> "Copied": ...

    @property
    def digests(self) -> "Digests": ...

    @property
    def edges(self) -> "Edges": ...

    @property
    def embeddings(self) -> "Embeddings": ...

    @property
    def erasures(self) -> "Erasures": ...

    @property
    def exchanged_vectors(self) -> "ExchangedVectors": ...

    @property
    def exported(self) -> "Exported": ...

    @property
    def exported_facts(self) -> "ExportedFacts": ...

    @property
    def exported_projects(self) -> "ExportedProjects": ...

    @property
    def fact_history(self) -> "FactHistory": ...

    @property
    def facts(self) -> "Facts": ...

    @property
    def health(self) -> "Health": ...

    @property
    def hook_captures(self) -> "HookCaptures": ...

    @property
    def hook_injections(self) -> "HookInjections": ...

    @property
    def job_problems(self) -> "JobProblems": ...

    @property
    def joined_projects(self) -> "JoinedProjects": ...

    @property
    def leading_facts(self) -> "LeadingFacts": ...

    @property
    def learnt(self) -> "Learnt": ...

    @property
    def log(self) -> "Log": ...

    @property
    def long_term(self) -> "LongTerm": ...

    @property
    def memories(self) -> "Memories": ...

    @property
    def memory_counts(self) -> "MemoryCounts": ...

    @property
    def memory_uses(self) -> "MemoryUses": ...

    @property
    def newest(self) -> "Newest": ...

    @property
    def open_questions(self) -> "OpenQuestions": ...

    @property
    def origins(self) -> "Origins": ...

    @property
    def peers(self) -> "Peers": ...

    @property
    def projects(self) -> "Projects": ...

    @property
    def short_term(self) -> "ShortTerm": ...

    @property
    def standing(self) -> "Standing": ...

    @property
    def taken(self) -> "TakenRows": ...

    @property
    def taken_facts(self) -> "TakenFacts": ...

    @property
    def timeline(self) -> "Timeline": ...

    @property
    def tokens(self) -> "Tokens": ...

    @property
    def trash(self) -> "Trash": ...

    @property
    def turns(self) -> "Turns": ...

    @property
    def wakes(self) -> "Wakes": ...

    @property
    def word_hits(self) -> "WordHits": ...

    @property
    def words(self) -> "Words": ...

    @property
    def written(self) -> "Written": ...


class WriteTx(Tx, Protocol):
    """A transaction that may write: functions that write demand it by type."""

    @property
    def call_counts(self) -> "WritableCallCounts": ...

    @property
    def changes(self) -> "WritableChanges": ...

    @property
    def conversations(self) -> "WritableConversations": ...

    @property
    def digests(self) -> "WritableDigests": ...

    @property
    def edges(self) -> "WritableEdges": ...

    @property
    def embeddings(self) -> "WritableEmbeddings": ...

    @property
    def erasures(self) -> "WritableErasures": ...

    @property
    def exchanged_vectors(self) -> "WritableExchangedVectors": ...

    @property
    def facts(self) -> "WritableFacts": ...

    @property
    def hook_captures(self) -> "WritableHookCaptures": ...

    @property
    def hook_injections(self) -> "WritableHookInjections": ...

    @property
    def job_problems(self) -> "WritableJobProblems": ...

    @property
    def joined_projects(self) -> "WritableJoinedProjects": ...

    @property
    def learnt(self) -> "WritableLearnt": ...

    @property
    def long_term(self) -> "WritableLongTerm": ...

    @property
    def memories(self) -> "WritableMemories": ...

    @property
    def memory_counts(self) -> "WritableMemoryCounts": ...

    @property
    def memory_uses(self) -> "WritableMemoryUses": ...

    @property
    def open_questions(self) -> "WritableOpenQuestions": ...

    @property
    def origins(self) -> "WritableOrigins": ...

    @property
    def projects(self) -> "WritableProjects": ...

    @property
    def short_term(self) -> "WritableShortTerm": ...

    @property
    def taken(self) -> "WritableTakenRows": ...

    @property
    def taken_facts(self) -> "WritableTakenFacts": ...

    @property
    def tokens(self) -> "WritableTokens": ...

    @property
    def trash(self) -> "WritableTrash": ...

    @property
    def turns(self) -> "WritableTurns": ...

    @property
    def wakes(self) -> "WritableWakes": ...
