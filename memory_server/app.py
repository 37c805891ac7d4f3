"""The composition root: picks the adapters and builds the services. It knows no face."""

import logging
import os
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from memory_server import stores
from memory_server.domain import acting
from memory_server.domain.deadline import CALL
from memory_server.domain.embedding import Space
from memory_server.domain.short_term import CleanupRule
from memory_server.embedding import Embedder
from memory_server.embedding.hashing import HashingEmbedder
from memory_server.embedding.sentence_transformers import SentenceTransformersEmbedder
from memory_server.errors import Hint, Mend, Unavailable
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.nlp.keywords import JiebaKeywords
from memory_server.reader import clock
from memory_server.services import copying
from memory_server.services.background import Background, Job
from memory_server.services.by_meaning import ByMeaning
from memory_server.services.calls import CallService
from memory_server.services.changes import ChangeService
from memory_server.services.completing import CompletionService
from memory_server.services.dictionary import DictionaryService
from memory_server.services.digests import DigestService
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.erasure import ErasureService
from memory_server.services.exporting import ExportService
from memory_server.services.facts import FactService
from memory_server.services.forgetting import ForgettingService
from memory_server.services.graph import GraphService
from memory_server.services.health import HealthService
from memory_server.services.importing import ImportService
from memory_server.services.injections import InjectionService
from memory_server.services.learning import Learning, LearningService
from memory_server.services.long_term import LongTermService
from memory_server.services.looking import LookService
from memory_server.services.memories import MemoryService
from memory_server.services.merging import MergeService
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
from memory_server.triggers import TriggerEngine
from memory_server.triggers.lazy import LazyEngine

if TYPE_CHECKING:
    from memory_server.embedding.bundled import BundledEmbedder
    from memory_server.embedding.endpoint import Endpoint

logger = logging.getLogger(__name__)

SENTENCE_TRANSFORMERS = "sentence-transformers"

OPENAI = "openai"

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

    def start(self) -> None:
        """Begin the background work, which opens the file: a locked one must not keep the server from its first answer.

        A file that cannot be opened is told in each answer.
        """
        # On Windows the first import of a native library can deadlock with a blocked read of standard input: so there
        # it happens on the main thread and before the server waits for input. Elsewhere it can wait for its job.
        if os.name == "nt":
            with suppress(Unavailable):
                _bundled_class()
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
            copying.copy(self.database, str(self.settings.db), stores.filling(made, clock), told)
            file = File(made, clock)
            try:
                file.backup(target)
            finally:
                file.close()

    def waiting(self) -> int:
        """How many texts of the file wait for their embedding."""
        with acting.as_(None):
            return self.queue.kept().waiting


def build(settings: Settings, several: bool = False) -> Services:
    """Build the services; nothing is opened or loaded yet. `several`: they serve several people."""
    database = stores.at(settings.db, clock, several, make_folders="db" not in settings.model_fields_set)
    segmenter = JiebaSegmenter(settings.cache)
    secrets, counts = settings.allow_secrets, not settings.read_only
    queue = EmbeddingQueue(
        database, lambda known: choose(settings, known), lambda space: load(space, settings), clock
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
    forgetting = ForgettingService(database)
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
        Job("erase what was deleted", ErasureService(database).erase_at_rest, LOOK, LOOK, shared=True),
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


def choose(settings: Settings, known: Sequence[Space]) -> Embedder:
    """The embedder that the settings ask for.

    `auto` stays with a sentence-transformers model that the file already uses: another window was told
    to use it, and two windows must not move the file to and fro. For the same reason it takes no other embedder
    where the file uses an endpoint; but it does not ask the endpoint, because texts leave this machine only where
    the settings say so. Else bundled, else hashing.

    Raises:
        Unavailable: it is not installed here, or cannot be loaded.
        Unreachable: the endpoint does not answer now.
    """
    match settings.embedder.partition(":"):
        case ("auto", _, _):
            if known and known[0].provider in (SENTENCE_TRANSFORMERS, OPENAI):
                return load(known[0], settings)
            return _bundled_or_hashing()
        case ("bundled", _, _):
            return _bundled()
        case ("hashing", _, _):
            return HashingEmbedder()
        case ("openai", _, model):
            from memory_server.embedding.openai import connected

            return connected(_endpoint(settings), model, known)
        case (_, _, model):
            name, _, revision = model.partition("@")
            return SentenceTransformersEmbedder(name, revision or None)


def load(space: Space, settings: Settings) -> Embedder:
    """The embedder of a space that a file has. An endpoint is asked only where the settings name one.

    Raises:
        Unavailable: it is not installed here, or is another version.
    """
    match space.provider:
        case "bundled":
            embedder: Embedder = _bundled()
        case "hashing":
            embedder = HashingEmbedder()
        case "openai":
            if not settings.embedder.startswith(f"{OPENAI}:"):
                raise Unavailable(
                    f"{space.model} is behind an endpoint, and no text leaves this machine unless the settings "
                    "name the endpoint.",
                    Hint(Mend.NAME_ENDPOINT_MODEL, {"model": space.model}),
                )
            from memory_server.embedding.openai import OpenAIEmbedder

            embedder = OpenAIEmbedder(_endpoint(settings), space)
        case _:
            # A model that the file knows is looked for on this machine only: a hub out of reach takes a minute to fail.
            try:
                embedder = SentenceTransformersEmbedder(
                    space.model, space.revision or None, local_files_only=True
                )
            except Unavailable as error:
                raise Unavailable(str(error), *error.problem.hints, Mend.USE_SAME_EMBEDDER) from error
    if embedder.space.fingerprint != space.fingerprint:
        raise Unavailable(f"{space.model} is installed here in another version.")
    return embedder


def _endpoint(settings: Settings) -> "Endpoint":
    from memory_server.embedding.endpoint import Endpoint

    key = settings.embedder_key
    if key is None and settings.asks_openai:
        raise Unavailable(f"{settings.embedder_url} needs a key, and none is set.", Mend.SET_ENDPOINT_KEY)
    return Endpoint(settings.embedder_url, key)


def _two_tiers(settings: Settings, queue: EmbeddingQueue) -> TriggerEngine:
    from memory_server.triggers.engine import TwoTierEngine
    from memory_server.triggers.javascript.sandbox import Sandbox

    return TwoTierEngine(Sandbox(settings.time_zone), Nearness(queue))


def _bundled_or_hashing() -> Embedder:
    try:
        return _bundled()
    except Unavailable as error:
        logger.error("%s Meaning is replaced by spelling.", error)
        return HashingEmbedder()


def _bundled() -> Embedder:
    return _bundled_class()()


def _bundled_class() -> "type[BundledEmbedder]":
    """Imported where it is needed: a command that asks for no meaning does without its 0.2 s.

    Raises:
        Unavailable: a library that it needs is not here.
    """
    try:
        from memory_server.embedding.bundled import BundledEmbedder
    except ImportError as missing:
        raise Unavailable(f"The bundled embedder cannot be imported: {missing}.") from missing
    return BundledEmbedder
