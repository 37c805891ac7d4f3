"""A transaction with all tables."""

from functools import cached_property
from typing import TYPE_CHECKING

from memory_server.postgres.tx import Tx

if TYPE_CHECKING:
    from memory_server.postgres.call_counts import CallCounts
    from memory_server.postgres.candidates import Candidates
    from memory_server.postgres.changes import Changes
    from memory_server.postgres.completing import Completing
    from memory_server.postgres.conversations import Conversations
    from memory_server.postgres.digests import Digests
    from memory_server.postgres.edges import Edges
    from memory_server.postgres.embeddings import Embeddings
    from memory_server.postgres.erasures import Erasures
    from memory_server.postgres.exchange.copied import Copied
    from memory_server.postgres.exchange.exported import Exported
    from memory_server.postgres.exchange.exported_facts import ExportedFacts
    from memory_server.postgres.exchange.exported_projects import ExportedProjects
    from memory_server.postgres.exchange.learnt import Learnt
    from memory_server.postgres.exchange.taken import TakenRows
    from memory_server.postgres.exchange.taken_facts import TakenFacts
    from memory_server.postgres.exchange.vectors import ExchangedVectors
    from memory_server.postgres.fact_history import FactHistory
    from memory_server.postgres.facts import Facts
    from memory_server.postgres.health import Health
    from memory_server.postgres.hook_captures import HookCaptures
    from memory_server.postgres.hook_injections import HookInjections
    from memory_server.postgres.job_problems import JobProblems
    from memory_server.postgres.joined_projects import JoinedProjects
    from memory_server.postgres.leading_facts import LeadingFacts
    from memory_server.postgres.log import Log
    from memory_server.postgres.long_term import LongTerm
    from memory_server.postgres.memories import Memories
    from memory_server.postgres.memory_counts import MemoryCounts
    from memory_server.postgres.memory_uses import MemoryUses
    from memory_server.postgres.newest import Newest
    from memory_server.postgres.open_questions import OpenQuestions
    from memory_server.postgres.origins import Origins
    from memory_server.postgres.peers import Peers
    from memory_server.postgres.projects import Projects
    from memory_server.postgres.short_term import ShortTerm
    from memory_server.postgres.standing import Standing
    from memory_server.postgres.timeline import Timeline
    from memory_server.postgres.tokens import Tokens
    from memory_server.postgres.trash import Trash
    from memory_server.postgres.turns import Turns
    from memory_server.postgres.wakes import Wakes
    from memory_server.postgres.word_hits import WordHits
    from memory_server.postgres.words import Words
    from memory_server.postgres.written import Written


class Transaction(Tx):
    """Statements, and the tables that make them. A table is imported when it is first used."""

    @cached_property
    def call_counts(self) -> "CallCounts":
        from memory_server.postgres.call_counts import CallCounts

        return CallCounts(self)

    @cached_property
    def candidates(self) -> "Candidates":
        from memory_server.postgres.candidates import Candidates

        return Candidates(self)

    @cached_property
    def changes(self) -> "Changes":
        from memory_server.postgres.changes import Changes

        return Changes(self)

    @cached_property
    def completing(self) -> "Completing":
        from memory_server.postgres.completing import Completing

        return Completing(self)

    @cached_property
    def conversations(self) -> "Conversations":
        from memory_server.postgres.conversations import Conversations

        return Conversations(self)

    @cached_property
    def copied(self) -> "Copied":
        from memory_server.postgres.exchange.copied import Copied

        return Copied(self)

    @cached_property
    def digests(self) -> "Digests":
        from memory_server.postgres.digests import Digests

        return Digests(self)

    @cached_property
    def edges(self) -> "Edges":
        from memory_server.postgres.edges import Edges

        return Edges(self)

    @cached_property
    def embeddings(self) -> "Embeddings":
        from memory_server.postgres.embeddings import Embeddings

        return Embeddings(self)

    @cached_property
    def erasures(self) -> "Erasures":
        from memory_server.postgres.erasures import Erasures

        return Erasures(self)

    @cached_property
    def exchanged_vectors(self) -> "ExchangedVectors":
        from memory_server.postgres.exchange.vectors import ExchangedVectors

        return ExchangedVectors(self)

    @cached_property
    def exported(self) -> "Exported":
        from memory_server.postgres.exchange.exported import Exported

        return Exported(self)

    @cached_property
    def exported_facts(self) -> "ExportedFacts":
        from memory_server.postgres.exchange.exported_facts import ExportedFacts

        return ExportedFacts(self)

    @cached_property
    def exported_projects(self) -> "ExportedProjects":
        from memory_server.postgres.exchange.exported_projects import ExportedProjects

        return ExportedProjects(self)

    @cached_property
    def fact_history(self) -> "FactHistory":
        from memory_server.postgres.fact_history import FactHistory

        return FactHistory(self)

    @cached_property
    def facts(self) -> "Facts":
        from memory_server.postgres.facts import Facts

        return Facts(self)

    @cached_property
    def health(self) -> "Health":
        from memory_server.postgres.health import Health

        return Health(self)

    @cached_property
    def hook_captures(self) -> "HookCaptures":
        from memory_server.postgres.hook_captures import HookCaptures

        return HookCaptures(self)

    @cached_property
    def hook_injections(self) -> "HookInjections":
        from memory_server.postgres.hook_injections import HookInjections

        return HookInjections(self)

    @cached_property
    def job_problems(self) -> "JobProblems":
        from memory_server.postgres.job_problems import JobProblems

        return JobProblems(self)

    @cached_property
    def joined_projects(self) -> "JoinedProjects":
        from memory_server.postgres.joined_projects import JoinedProjects

        return JoinedProjects(self)

    @cached_property
    def leading_facts(self) -> "LeadingFacts":
        from memory_server.postgres.leading_facts import LeadingFacts

        return LeadingFacts(self)

    @cached_property
    def learnt(self) -> "Learnt":
        from memory_server.postgres.exchange.learnt import Learnt

        return Learnt(self)

    @cached_property
    def log(self) -> "Log":
        from memory_server.postgres.log import Log

        return Log(self)

    @cached_property
    def long_term(self) -> "LongTerm":
        from memory_server.postgres.long_term import LongTerm

        return LongTerm(self)

    @cached_property
    def memories(self) -> "Memories":
        from memory_server.postgres.memories import Memories

        return Memories(self)

    @cached_property
    def memory_counts(self) -> "MemoryCounts":
        from memory_server.postgres.memory_counts import MemoryCounts

        return MemoryCounts(self)

    @cached_property
    def memory_uses(self) -> "MemoryUses":
        from memory_server.postgres.memory_uses import MemoryUses

        return MemoryUses(self)

    @cached_property
    def newest(self) -> "Newest":
        from memory_server.postgres.newest import Newest

        return Newest(self)

    @cached_property
    def open_questions(self) -> "OpenQuestions":
        from memory_server.postgres.open_questions import OpenQuestions

        return OpenQuestions(self)

    @cached_property
    def origins(self) -> "Origins":
        from memory_server.postgres.origins import Origins

        return Origins(self)

    @cached_property
    def peers(self) -> "Peers":
        from memory_server.postgres.peers import Peers

        return Peers(self)

    @cached_property
    def projects(self) -> "Projects":
        from memory_server.postgres.projects import Projects

        return Projects(self)

    @cached_property
    def short_term(self) -> "ShortTerm":
        from memory_server.postgres.short_term import ShortTerm

        return ShortTerm(self)

    @cached_property
    def standing(self) -> "Standing":
        from memory_server.postgres.standing import Standing

        return Standing(self)

    @cached_property
    def taken(self) -> "TakenRows":
        from memory_server.postgres.exchange.taken import TakenRows

        return TakenRows(self)

    @cached_property
    def taken_facts(self) -> "TakenFacts":
        from memory_server.postgres.exchange.taken_facts import TakenFacts

        return TakenFacts(self)

    @cached_property
    def timeline(self) -> "Timeline":
        from memory_server.postgres.timeline import Timeline

        return Timeline(self)

    @cached_property
    def tokens(self) -> "Tokens":
        from memory_server.postgres.tokens import Tokens

        return Tokens(self)

    @cached_property
    def trash(self) -> "Trash":
        from memory_server.postgres.trash import Trash

        return Trash(self)

    @cached_property
    def turns(self) -> "Turns":
        from memory_server.postgres.turns import Turns

        return Turns(self)

    @cached_property
    def wakes(self) -> "Wakes":
        from memory_server.postgres.wakes import Wakes

        return Wakes(self)

    @cached_property
    def word_hits(self) -> "WordHits":
        from memory_server.postgres.word_hits import WordHits

        return WordHits(self)

    @cached_property
    def words(self) -> "Words":
        from memory_server.postgres.words import Words

        return Words(self)

    @cached_property
    def written(self) -> "Written":
        from memory_server.postgres.written import Written

        return Written(self)
