"""Transactions as services see them: what can be read, and what can be written."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from memory_server.domain.caller import Person
from memory_server.errors import Problem
from memory_server.storage.statements import Statements
from memory_server.storage.tables import maker
from memory_server.storage.together import Together

if TYPE_CHECKING:
    from memory_server.storage.candidates import Candidates
    from memory_server.storage.copying import Copied
    from memory_server.storage.exchange import WholeRows, WritableWholeRows
    from memory_server.storage.health import Health
    from memory_server.storage.memories import LeadingFacts, Peers, Standing
    from memory_server.storage.projects import Directory, Projects, WritableDirectory, WritableProjects
    from memory_server.storage.spaces import Spaces, WritableSpaces
    from memory_server.storage.tables.anchors import Anchors, WritableAnchors
    from memory_server.storage.tables.call_counts import CallCounts, WritableCallCounts
    from memory_server.storage.tables.changes import Changes, WritableChanges
    from memory_server.storage.tables.choosing import Choosing
    from memory_server.storage.tables.completing import Completing
    from memory_server.storage.tables.conversations import Conversations, WritableConversations
    from memory_server.storage.tables.digests import Digests, WritableDigests
    from memory_server.storage.tables.edges import Edges, WritableEdges
    from memory_server.storage.tables.erasures import Erasures, WritableErasures
    from memory_server.storage.tables.events import Events, WritableEvents
    from memory_server.storage.tables.fact_history import FactHistory
    from memory_server.storage.tables.facts import Facts, WritableFacts
    from memory_server.storage.tables.hook_captures import HookCaptures, WritableHookCaptures
    from memory_server.storage.tables.hook_injections import HookInjections, WritableHookInjections
    from memory_server.storage.tables.job_problems import JobProblems, WritableJobProblems
    from memory_server.storage.tables.joined_projects import JoinedProjects, WritableJoinedProjects
    from memory_server.storage.tables.likely_updates import LikelyUpdates, WritableLikelyUpdates
    from memory_server.storage.tables.log import Log
    from memory_server.storage.tables.long_term import LongTerm, WritableLongTerm
    from memory_server.storage.tables.memories import Memories, WritableMemories
    from memory_server.storage.tables.memory_counts import MemoryCounts, WritableMemoryCounts
    from memory_server.storage.tables.memory_uses import MemoryUses, WritableMemoryUses
    from memory_server.storage.tables.newest import Newest
    from memory_server.storage.tables.open_questions import OpenQuestions, WritableOpenQuestions
    from memory_server.storage.tables.outside import Outside
    from memory_server.storage.tables.rules import Rules, WritableRules
    from memory_server.storage.tables.server_days import ServerDays, WritableServerDays
    from memory_server.storage.tables.short_term import ShortTerm, WritableShortTerm
    from memory_server.storage.tables.timeline import Timeline
    from memory_server.storage.tables.token_vectors import TokenVectors, WritableTokenVectors
    from memory_server.storage.tables.tokens import Tokens, WritableTokens
    from memory_server.storage.tables.turns import Turns, WritableTurns
    from memory_server.storage.tables.wakes import Wakes, WritableWakes
    from memory_server.storage.tables.written import Written
    from memory_server.storage.trash import Trash, TrashRows, WritableTrash, WritableTrashRows
    from memory_server.storage.vectors import Embeddings, WritableEmbeddings
    from memory_server.storage.words import WordHits, Words

One = TypeVar("One")
Contract = TypeVar("Contract", covariant=True)
"""What a table offers."""


class TableOf(Generic[Contract]):
    """A table of a transaction, made when it is first used. Its class is found by its name: see `tables.py`."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, tx: "Tx", owner: type) -> Contract:
        table: Contract = maker(tx.store, self._name)(tx)
        tx.__dict__[self._name] = table
        return table


class Tx:
    """One consistent view of all that is stored, as the person sees it for whom something is done."""

    store: ClassVar[str]
    """The package with the classes of the tables."""
    now: str
    """The moment when it began."""

    skipped: list[Problem]
    """The rows that were left out because they cannot be read."""

    person: Person | None
    """The person for whom it is; None for the owner, who sees all."""

    @property
    def owner(self) -> str | None:
        """The name of the person whose own is what is written for nobody else."""
        raise NotImplementedError

    @property
    def together(self) -> Together:
        """Reads that do not need each other's answers: a database that is far away is waited for once."""
        raise NotImplementedError

    def each(self, calls: Sequence[Callable[[], One]]) -> list[One]:
        """Run several reads of one kind; their results in the same order."""
        raise NotImplementedError

    def size(self) -> int:
        """Bytes of the database."""
        raise NotImplementedError

    @property
    def statements(self) -> Statements:
        """The transaction as the tables take it that both stores share."""
        raise NotImplementedError

    anchors: "TableOf[Anchors]" = TableOf()
    call_counts: "TableOf[CallCounts]" = TableOf()
    candidates: "TableOf[Candidates]" = TableOf()
    changes: "TableOf[Changes]" = TableOf()
    choosing: "TableOf[Choosing]" = TableOf()
    completing: "TableOf[Completing]" = TableOf()
    conversations: "TableOf[Conversations]" = TableOf()
    copied: "TableOf[Copied]" = TableOf()
    digests: "TableOf[Digests]" = TableOf()
    directory: "TableOf[Directory]" = TableOf()
    edges: "TableOf[Edges]" = TableOf()
    embeddings: "TableOf[Embeddings]" = TableOf()
    erasures: "TableOf[Erasures]" = TableOf()
    events: "TableOf[Events]" = TableOf()
    fact_history: "TableOf[FactHistory]" = TableOf()
    facts: "TableOf[Facts]" = TableOf()
    health: "TableOf[Health]" = TableOf()
    hook_captures: "TableOf[HookCaptures]" = TableOf()
    hook_injections: "TableOf[HookInjections]" = TableOf()
    job_problems: "TableOf[JobProblems]" = TableOf()
    joined_projects: "TableOf[JoinedProjects]" = TableOf()
    leading_facts: "TableOf[LeadingFacts]" = TableOf()
    likely_updates: "TableOf[LikelyUpdates]" = TableOf()
    log: "TableOf[Log]" = TableOf()
    long_term: "TableOf[LongTerm]" = TableOf()
    memories: "TableOf[Memories]" = TableOf()
    memory_counts: "TableOf[MemoryCounts]" = TableOf()
    memory_uses: "TableOf[MemoryUses]" = TableOf()
    newest: "TableOf[Newest]" = TableOf()
    open_questions: "TableOf[OpenQuestions]" = TableOf()
    outside: "TableOf[Outside]" = TableOf()
    peers: "TableOf[Peers]" = TableOf()
    projects: "TableOf[Projects]" = TableOf()
    server_days: "TableOf[ServerDays]" = TableOf()
    rules: "TableOf[Rules]" = TableOf()
    short_term: "TableOf[ShortTerm]" = TableOf()
    spaces: "TableOf[Spaces]" = TableOf()
    standing: "TableOf[Standing]" = TableOf()
    timeline: "TableOf[Timeline]" = TableOf()
    token_vectors: "TableOf[TokenVectors]" = TableOf()
    tokens: "TableOf[Tokens]" = TableOf()
    trash: "TableOf[Trash]" = TableOf()
    trash_rows: "TableOf[TrashRows]" = TableOf()
    turns: "TableOf[Turns]" = TableOf()
    wakes: "TableOf[Wakes]" = TableOf()
    whole_rows: "TableOf[WholeRows]" = TableOf()
    word_hits: "TableOf[WordHits]" = TableOf()
    words: "TableOf[Words]" = TableOf()
    written: "TableOf[Written]" = TableOf()


class WriteTx(Tx):
    """A transaction that may write: functions that write demand it by type."""

    anchors: "TableOf[WritableAnchors]" = TableOf()
    call_counts: "TableOf[WritableCallCounts]" = TableOf()
    changes: "TableOf[WritableChanges]" = TableOf()
    conversations: "TableOf[WritableConversations]" = TableOf()
    digests: "TableOf[WritableDigests]" = TableOf()
    directory: "TableOf[WritableDirectory]" = TableOf()
    edges: "TableOf[WritableEdges]" = TableOf()
    embeddings: "TableOf[WritableEmbeddings]" = TableOf()
    erasures: "TableOf[WritableErasures]" = TableOf()
    events: "TableOf[WritableEvents]" = TableOf()
    facts: "TableOf[WritableFacts]" = TableOf()
    hook_captures: "TableOf[WritableHookCaptures]" = TableOf()
    hook_injections: "TableOf[WritableHookInjections]" = TableOf()
    job_problems: "TableOf[WritableJobProblems]" = TableOf()
    joined_projects: "TableOf[WritableJoinedProjects]" = TableOf()
    likely_updates: "TableOf[WritableLikelyUpdates]" = TableOf()
    long_term: "TableOf[WritableLongTerm]" = TableOf()
    memories: "TableOf[WritableMemories]" = TableOf()
    memory_counts: "TableOf[WritableMemoryCounts]" = TableOf()
    memory_uses: "TableOf[WritableMemoryUses]" = TableOf()
    open_questions: "TableOf[WritableOpenQuestions]" = TableOf()
    projects: "TableOf[WritableProjects]" = TableOf()
    rules: "TableOf[WritableRules]" = TableOf()
    server_days: "TableOf[WritableServerDays]" = TableOf()
    short_term: "TableOf[WritableShortTerm]" = TableOf()
    spaces: "TableOf[WritableSpaces]" = TableOf()
    token_vectors: "TableOf[WritableTokenVectors]" = TableOf()
    tokens: "TableOf[WritableTokens]" = TableOf()
    trash: "TableOf[WritableTrash]" = TableOf()
    trash_rows: "TableOf[WritableTrashRows]" = TableOf()
    turns: "TableOf[WritableTurns]" = TableOf()
    wakes: "TableOf[WritableWakes]" = TableOf()
    whole_rows: "TableOf[WritableWholeRows]" = TableOf()
