"""The composition root: picks the adapters and builds the services. It knows no face."""

import os
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

from memory_server import embedders, stores
from memory_server.call import acting
from memory_server.call.deadline import CALL
from memory_server.domain.short_term import CleanupRule
from memory_server.errors import Mend, Unavailable, Written
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.nlp.keywords import JiebaKeywords
from memory_server.reader import clock
from memory_server.services.background import Background, Job
from memory_server.services.by_meaning import ByMeaning
from memory_server.services.calls import CallService
from memory_server.services.changes import ChangeService
from memory_server.services.completing import CompletionService
from memory_server.services.coverage import stored_coverage
from memory_server.services.dictionary import DictionaryService
from memory_server.services.digests import DigestService
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.erasure import ErasureService
from memory_server.services.facts import FactService
from memory_server.services.forgetting import ForgettingService
from memory_server.services.graph import GraphService
from memory_server.services.health import HealthService
from memory_server.services.injections import InjectionService
from memory_server.services.learning import Learning, LearningService
from memory_server.services.long_term import LongTermService
from memory_server.services.looking import LookService
from memory_server.services.memories import MemoryService
from memory_server.services.nearness import Nearness
from memory_server.services.projects import ProjectService
from memory_server.services.questions import QuestionService
from memory_server.services.recall import RecallService
from memory_server.services.recent import RecentService
from memory_server.services.reminding import RemindingService
from memory_server.services.resume import ResumeService
from memory_server.services.review import ReviewService
from memory_server.services.search import SearchService
from memory_server.services.short_term import ShortTermService
from memory_server.services.timeline import TimelineService
from memory_server.services.turns import TurnService
from memory_server.services.waking import WakingService
from memory_server.settings import Settings
from memory_server.sqlite import temporary
from memory_server.sqlite.database import Database as File
from memory_server.storage.database import Database
from memory_server.transfer import copying
from memory_server.transfer.exporting import ExportService
from memory_server.transfer.importing import ImportService
from memory_server.transfer.merging import MergeService
from memory_server.triggers import TriggerEngine
from memory_server.triggers.lazy import LazyEngine

WARM_UP_DELAY = 0.25
"""Seconds before the embedder is loaded: the client's first questions come first."""

LOOK = 2.0
"""Seconds between two looks for what another program has written into the file, or what has expired."""

DICTIONARY_DELAY = 1.0
"""Seconds before the Chinese dictionary is loaded: that takes a second of CPU, and the embedder comes first."""

LOOK_FOR_HAN = 60.0
"""Seconds between two looks whether the file holds Chinese now: without any, 67 MB of dictionary are saved."""

ONCE = 86_400.0
"""Seconds: longer than it matters. What is loaded stays loaded."""

COUNTING = 1.0
"""Seconds between two writes of the accesses that were counted meanwhile: a process that is killed loses so many."""

PURGING = 3600.0
"""Seconds between two looks for what was deleted 30 days ago."""

DIGESTING = 3600.0
"""Seconds between two looks for observations and turns that have faded."""

ASKING_AGAIN = 30.0
"""Seconds between two looks whether something stored since answers an open question."""

KEEPING_COUNTS = 60.0
"""Seconds between two times that the counts of calls go into the file: a process that is killed loses so many."""

CLEANUP = 60.0
"""Seconds between two looks for conversations whose daily cleanup is due."""


def _nobody_hears(_done: int, _total: int) -> None:
    """Of a copy that nobody waits for."""


@dataclass(frozen=True, slots=True)
class Services:
    """Every use case, ready to be started and closed."""

    settings: Settings
    database: Database
    queue: EmbeddingQueue
    background: Background
    triggers: tuple[TriggerEngine, ...]
    memories: MemoryService
    search: SearchService
    graph: GraphService
    facts: FactService
    resume: ResumeService
    recent: RecentService
    review: ReviewService
    completing: CompletionService
    turns: TurnService
    recall: RecallService
    short_term: ShortTermService
    long_term: LongTermService
    projects: ProjectService
    changes: ChangeService
    health: HealthService
    reminding: RemindingService
    learning: LearningService
    imports: ImportService
    exports: ExportService
    merges: MergeService
    calls: CallService
    looking: LookService
    timeline: TimelineService
    injections: InjectionService
    forgetting: ForgettingService
    erasure: ErasureService

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

    def backup(self, target: Path, told: Callable[[int, int], None] = _nobody_hears) -> None:
        """Write a checked copy of all to the file `target`. `told` hears how many pages or rows of how many are."""
        if isinstance(self.database, File):
            self.database.backup(target, told)
            return
        with temporary.folder() as folder:
            made = folder / "memory.db"
            try:
                copying.copy(self.database, str(self.settings.db), stores.filling(made, clock), told)
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


def build(settings: Settings, several: bool = False) -> Services:
    """Build the services; nothing is opened or loaded yet. `several`: they serve several people."""
    database = stores.at(settings.db, clock, several, make_folders="db" not in settings.model_fields_set)
    segmenter = JiebaSegmenter(settings.cache)
    secrets, counts = settings.allow_secrets, not settings.read_only
    queue = EmbeddingQueue(
        database,
        lambda known: embedders.choose(settings, known),
        lambda space: embedders.load(space, settings),
        clock,
    )
    # Two engines, so that no call waits for the JavaScript worker while a hook does: see `RemindingService`.
    triggers, of_hooks = (LazyEngine(lambda: _two_tiers(settings, queue)) for _ in range(2))
    facts = FactService(database, secrets, counts, queue.wake)
    short_term = ShortTermService(
        database,
        JiebaKeywords(segmenter),
        random.random,
        secrets,
        counts,
        settings.score_share,
        CleanupRule(timedelta(days=settings.cleanup_days), settings.cleanup_floor, settings.cleanup_keeps),
    )
    long_term = LongTermService(database, triggers, random.random, None, secrets, counts)
    waking = WakingService(database, of_hooks.judge, random.random, None, secrets)
    projects = ProjectService(database)
    learning = Learning(not settings.no_learning)
    recall = RecallService(database, queue, long_term, counts, learning)
    learnt = LearningService(database, learning.on)
    calls = CallService(database, counts)
    forgetting, erasure = ForgettingService(database), ErasureService(database)
    jobs = [
        Job("open the database", database.open, ONCE),
        *(
            []
            if settings.read_only
            else [Job("find the project", lambda: projects.settle(settings.here), ONCE)]
        ),
        Job("embed what is new", queue.work, LOOK, WARM_UP_DELAY, queue.filled, queue.release),
        Job(
            "load the Chinese dictionary",
            DictionaryService(database, segmenter).load_if_used,
            LOOK_FOR_HAN,
            DICTIONARY_DELAY,
        ),
        Job("count accesses", partial(count_accesses, database), COUNTING, COUNTING),
        Job("remove expired facts", facts.remove_expired, LOOK, LOOK, shared=True),
        Job("find keywords of short-term memories", short_term.find_keywords, LOOK, LOOK, shared=True),
        Job("purge what was deleted long ago", forgetting.purge_due, PURGING, LOOK, shared=True),
        Job("erase what was deleted", erasure.erase_at_rest, LOOK, LOOK, shared=True),
        Job("clean up short-term memories", partial(clean_up, short_term, calls), CLEANUP, LOOK, shared=True),
        Job("keep the counts of calls", calls.keep, KEEPING_COUNTS, KEEPING_COUNTS),
        Job(
            "digest what has faded",
            DigestService(database, queue, not settings.no_digests).make_due,
            DIGESTING,
            CLEANUP,
            shared=True,
        ),
        Job(
            "close questions that are answered",
            QuestionService(database, recall, learnt).close_answered,
            ASKING_AGAIN,
            LOOK,
            shared=True,
        ),
    ]
    imports = ImportService(database, queue, triggers, secrets)
    return Services(
        settings,
        database,
        queue,
        Background(database, jobs),
        (triggers, of_hooks),
        MemoryService(database, queue, segmenter, secrets),
        SearchService(database, queue, counts, learning),
        GraphService(database, queue),
        facts,
        ResumeService(database, learning.on),
        RecentService(database),
        ReviewService(database, segmenter, learning.on),
        CompletionService(database),
        TurnService(database, queue, facts, Learning(learning.on and counts)),
        recall,
        short_term,
        long_term,
        projects,
        ChangeService(database, queue.wake),
        HealthService(database, queue),
        RemindingService(database, waking, ByMeaning(recall).find),
        learnt,
        imports,
        ExportService(database),
        MergeService(database, imports, clock),
        calls,
        LookService(database, queue),
        TimelineService(database),
        InjectionService(database),
        forgetting,
        erasure,
    )


def clean_up(short_term: ShortTermService, calls: CallService) -> None:
    """The daily cleanup, counted."""
    calls.cleaned += short_term.clean_up_due()


def count_accesses(database: Database) -> None:
    """Write what reads have counted. A lock is waited for as any write does.

    Raises:
        Unavailable: it could not be written, and is kept.
    """
    problem = database.settle(CALL)
    if problem is not None:
        raise Unavailable(problem.text, *problem.hints)


def _two_tiers(settings: Settings, queue: EmbeddingQueue) -> TriggerEngine:
    from memory_server.triggers.engine import TwoTierEngine
    from memory_server.triggers.javascript.sandbox import Sandbox

    return TwoTierEngine(Sandbox(settings.time_zone), Nearness(queue))
