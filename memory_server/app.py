"""The composition root: picks the adapters and builds the services. It knows no face."""

import os
import random
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from memory_server import embedders, jobs, stores
from memory_server.call import acting
from memory_server.call.deadline import CALL
from memory_server.domain.caller import Caller
from memory_server.domain.fact import Fact
from memory_server.domain.memory import Memory
from memory_server.domain.short_term import CleanupRule
from memory_server.errors import MemoryServerError, Mend, Unavailable, Written
from memory_server.nlp import user_words
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.nlp.keywords import JiebaKeywords
from memory_server.services.acts import ActService
from memory_server.services.background import Background, Job
from memory_server.services.by_meaning import ByMeaning
from memory_server.services.calls import CallService, Counted
from memory_server.services.changes import ChangeService
from memory_server.services.changing import ChangeManyService
from memory_server.services.completing import CompletionService
from memory_server.services.coverage import stored_coverage
from memory_server.services.daily_backups import DailyBackups
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.erasure import ErasureService
from memory_server.services.facts import FactService
from memory_server.services.forgetting import ForgettingService
from memory_server.services.graph import GraphService
from memory_server.services.ground import GroundService
from memory_server.services.health import HealthService
from memory_server.services.injections import InjectionService
from memory_server.services.judging import JudgingService
from memory_server.services.late_comparing import LateComparing
from memory_server.services.learning import Learning, LearningService
from memory_server.services.long_term import LongTermService
from memory_server.services.looking import LookService
from memory_server.services.memories import MemoryService
from memory_server.services.mending import MendingService
from memory_server.services.nearness import Nearness
from memory_server.services.overview import OverviewService
from memory_server.services.projects import ProjectService
from memory_server.services.recall import RecallService
from memory_server.services.recent import RecentService
from memory_server.services.reminders import ReminderService
from memory_server.services.reminding import RemindingService
from memory_server.services.replaying import ReplayService
from memory_server.services.reranking import Reranking
from memory_server.services.resume import ResumeService
from memory_server.services.review import ReviewService
from memory_server.services.rules import RuleService
from memory_server.services.ruling import RulingService
from memory_server.services.search import SearchService
from memory_server.services.short_term import ShortTermService
from memory_server.services.things import ThingService
from memory_server.services.timeline import TimelineService
from memory_server.services.tokens import TokenService
from memory_server.services.trusting import TrustService
from memory_server.services.turns import TurnService
from memory_server.services.user_words import UserWordsService
from memory_server.services.waking import WakingService
from memory_server.settings import Settings, is_month_first
from memory_server.sqlite import temporary
from memory_server.sqlite.database import Database as File
from memory_server.stores import clock
from memory_server.transfer import copying, events
from memory_server.transfer.corrections import CorrectionService
from memory_server.transfer.exporting import ExportService
from memory_server.transfer.following import FollowingService
from memory_server.transfer.forgetting import ForgetManyService
from memory_server.transfer.importing import ImportService
from memory_server.transfer.merging import MergeService
from memory_server.transfer.transcripts import TranscriptService
from memory_server.triggers.effort import TriggerEffort
from memory_server.triggers.engine import Engine
from memory_server.triggers.javascript.sandbox import Sandbox

if TYPE_CHECKING:
    from memory_server.postgres.links import Links


def _nobody_hears(_done: int, _total: int) -> None:
    """Of a copy that nobody waits for."""


class SharedParts:
    """Holds what the memories of one server share: the dictionary, counts, and the connections to each database."""

    def __init__(self, settings: Settings) -> None:
        self.user_words = user_words.read(settings.dictionary, settings.stop_words)
        self.segmenter = JiebaSegmenter(settings.cache, self.user_words)
        self.effort = TriggerEffort()
        self.counted = Counted()

    @cache  # noqa: B019 - a server has one, for as long as it runs
    def links(self) -> "Links":
        from memory_server.postgres.links import Links

        return Links()


class Services:
    """Every use case by its name, ready to be started and closed; nothing is opened or loaded yet."""

    def __init__(self, settings: Settings, several: bool, shared: SharedParts | None = None) -> None:
        """`shared`: with the other memories of this server."""
        self.settings, self.several = settings, several
        self.database = stores.at(
            settings.db,
            clock,
            several,
            make_folders="db" not in settings.model_fields_set,
            links=None if shared is None else shared.links,
        )
        self.queue = EmbeddingQueue(
            self.database,
            lambda known: embedders.choose(settings, known),
            lambda space: embedders.load(space, settings),
            clock,
        )
        self.reranking = Reranking(
            partial(embedders.reranker, settings) if settings.reranker else None, settings.reranker_seconds
        )
        # Two engines, so that no call waits for the JavaScript worker while a hook does: see `RemindingService`.
        self.effort = TriggerEffort(whole=None if shared is None else shared.effort)
        self.triggers = tuple(
            Engine(Sandbox(settings.zone, self.effort), Nearness(self.queue)) for _ in range(2)
        )
        self._counted = None if shared is None else shared.counted
        shared = shared or SharedParts(settings)
        self.user_words, segmenter = shared.user_words, shared.segmenter
        learning = Learning(not settings.no_learning)
        self._add_memory(segmenter, learning)
        self._add_questions(segmenter, learning)
        self._add_care()
        self._segmenter = segmenter
        self.background = Background(self.database, self._jobs(segmenter))

    def _add_memory(self, segmenter: JiebaSegmenter, learning: Learning) -> None:
        """Add what stores and finds one kind of memory."""
        settings, database, queue = self.settings, self.database, self.queue
        secrets, counts = settings.allow_secrets, not settings.read_only
        self.ground = GroundService(database)
        self.memories = MemoryService(database, queue, segmenter, secrets, self.ground.written)
        self.late = LateComparing(database, queue, self.memories.texts, self.several)
        self.search = SearchService(database, queue, counts, learning, self.reranking, settings.hides)
        self.graph = GraphService(database, queue, settings.hides)
        self.overview = OverviewService(database, queue)
        self.facts = FactService(database, secrets, counts, self._fact_written, settings.hides)
        self.turns = TurnService(database, queue, self.facts, Learning(learning.on and counts))
        extractor = JiebaKeywords(segmenter, self.user_words)
        self.own_words = UserWordsService(database, extractor, self.user_words, extractor.ignored)
        self.short_term = ShortTermService(
            database,
            extractor,
            random.random,
            secrets,
            counts,
            settings.score_share,
            CleanupRule(
                timedelta(days=settings.cleanup_days), settings.cleanup_floor, settings.cleanup_keeps
            ),
            settings.hides,
        )
        self.long_term = LongTermService(
            database, self.triggers[0], random.random, allow_secrets=secrets, count_access=counts
        )
        self.ruling = RulingService(database, self.triggers[1].judge)
        self.rules = RuleService(database, self.triggers[0], self.ruling, self.long_term)
        self.reminders = ReminderService(self.long_term, segmenter.segment, is_month_first)

    def _fact_written(self, fact: Memory | Fact, caller: Caller) -> None:
        """Embed a value, and look up what it speaks of."""
        self.queue.wake()
        self.ground.written(fact, caller)

    def _add_questions(self, segmenter: JiebaSegmenter, learning: Learning) -> None:
        """Add what reads all kinds of memory."""
        settings, database, queue = self.settings, self.database, self.queue
        of_hooks = WakingService(
            database, self.triggers[1].judge, random.random, allow_secrets=settings.allow_secrets
        )
        self.recall = RecallService(
            database,
            queue,
            self.long_term,
            not settings.read_only,
            learning,
            self.reranking,
            isinstance(settings.db, Path),
            settings.hides,
        )
        self.changes = ChangeService(database, queue.wake, events.undo)
        self.things = ThingService(
            self.memories, self.facts, self.turns, self.short_term, self.long_term, self.recall, self.changes
        )
        self.acts, self.mending = ActService(database), MendingService(database)
        self.reminding = RemindingService(database, of_hooks, ByMeaning(self.recall).find)
        self.judging = JudgingService(queue)
        self.resume = ResumeService(database, learning.on, self.long_term)
        self.recent = RecentService(database)
        self.trust = TrustService(database)
        self.review = ReviewService(database, segmenter, learning.on)
        self.completing = CompletionService(database)
        self.looking = LookService(database, queue)
        self.timeline = TimelineService(database)
        self.learning = LearningService(database, learning.on)
        self.injections = InjectionService(database)
        self.replaying = ReplayService(database)

    def _add_care(self) -> None:
        """Add what keeps the store as a whole: its projects, changes, health, copies, and what is erased."""
        settings, database, queue = self.settings, self.database, self.queue
        self.calls = CallService(database, self.effort, not settings.read_only, self._counted)
        self.projects = ProjectService(database)
        self.tokens = TokenService(database, os.urandom)
        self.health = HealthService(database, queue, self.triggers[0].judge)
        self.forgets = ForgetManyService(database)
        self.changing = ChangeManyService(database, settings.allow_secrets)
        self.imports = ImportService(database, queue, self.triggers[0], settings.allow_secrets)
        self.corrections = CorrectionService(database)
        self.following = FollowingService(self.imports, self.corrections)
        self.transcripts = TranscriptService(database, isinstance(settings.db, Path))
        self.exports = ExportService(database)
        self.merges = MergeService(database, self.imports, clock)
        self.forgetting = ForgettingService(database)
        self.erasure = ErasureService(database)
        self.daily_backups = (
            DailyBackups(settings.db, self.backup, self.erasure.erase_now, clock)
            if isinstance(settings.db, Path) and not settings.no_backups
            else None
        )

    def _jobs(self, segmenter: JiebaSegmenter) -> list[Job]:
        settings, database, queue = self.settings, self.database, self.queue
        return [
            *jobs.that_load(database, queue, self.late, segmenter),
            Job("look up what a memory speaks of", self.ground.observe, jobs.ONCE, wake=self.ground.woken),
            Job("start what judges acts", self.ruling.prepare, jobs.ONCE, jobs.SOON),
            *self._jobs_of_settings(),
            *self._jobs_that_write(),
            *jobs.that_count(database, self.calls),
            *jobs.that_tidy(self.facts, self.short_term, self.calls, self.forgetting, self.erasure),
            *jobs.that_learn(database, queue, self.recall, self.learning, not settings.no_digests),
        ]

    def _jobs_that_write(self) -> list[Job]:
        """Return the jobs that keep up with the folder, the files of clients and the day."""
        if self.settings.read_only:
            return []
        writing = [Job("find the project", partial(self.projects.settle, self.settings.here), jobs.ONCE)]
        if self.writes_back:
            write = self.corrections.write_back
            writing.append(Job("write corrections back", write, jobs.LOOK, jobs.LOOK, shared=True))
        if self.daily_backups is not None:
            writing.append(Job("back up", self.daily_backups.make_due, jobs.BACKING_UP, jobs.CLEANUP))
        return writing

    @property
    def writes_back(self) -> bool:
        """True where corrections go into the files of clients: on PostgreSQL these may be on another machine."""
        return isinstance(self.settings.db, Path) and not self.settings.read_only

    def _jobs_of_settings(self) -> list[Job]:
        """Return the jobs that load what the user has chosen."""
        words = Job("take in the user's words", self.own_words.take_in, jobs.ONCE, jobs.DICTIONARY_DELAY)
        reranker = Job("load the re-ranker", self.reranking.load, jobs.ONCE)
        has_words = self.user_words != user_words.NO_WORDS
        return [*([words] if has_words else []), *([reranker] if self.reranking.is_on else [])]

    def follow(self) -> None:
        """Open the file, and begin the background work of a process that only searches. Waits for the embedder.

        What cannot be had is told in each answer.
        """
        with acting.as_(None), suppress(MemoryServerError):
            self.database.open()
            self.queue.follow()
        following = jobs.that_follow(self.database, self.queue, self._segmenter)
        self.background = Background(self.database, [*following, *self._jobs_of_settings()])
        self.background.start()

    def start(self) -> None:
        """Begin the background work, which opens the file: a locked one must not keep the server from its first answer.

        A file that cannot be opened is told in each answer.
        """
        # On Windows the first import of a native library can deadlock with a blocked read of standard input: so there
        # it happens on the main thread and before the server waits for input. Elsewhere it can wait for its job.
        if os.name == "nt":
            with suppress(Unavailable):
                embedders.bundled_class()
        self.background.start()

    def close(self, timeout: float = CALL) -> None:
        self.queue.stop()
        self.background.stop()
        for engine in self.triggers:
            engine.close()
        with acting.as_(None):
            self.calls.keep()
        self.database.close(timeout)

    def backup(self, target: Path, report: Callable[[int, int], None] = _nobody_hears) -> None:
        """Write a checked copy of all to the file `target`. `report` hears how many pages or rows of how many are."""
        if isinstance(self.database, File):
            self.database.backup(target, report)
            return
        with temporary.folder() as folder:
            made = folder / "memory.db"
            try:
                copying.copy(self.database, str(self.settings.db), stores.filling(made, clock), report)
            except Unavailable as error:  # the folder goes, so this copy does not go on
                raise Unavailable(error.problem.text, Mend.TRY_AGAIN, written=Written.NOTHING) from error
            file = File(made, clock)
            try:
                file.backup(target)
            finally:
                file.close()

    def waiting(self) -> int:
        """How many texts of the file wait for their embedding."""
        with acting.as_(None):
            return stored_coverage(self.database).waiting


def build(settings: Settings, several: bool = False, shared: SharedParts | None = None) -> Services:
    """Build the services; nothing is opened or loaded yet. `several`: they serve several people. `shared`: one of
    several memories of a server.
    """
    return Services(settings, several, shared)
