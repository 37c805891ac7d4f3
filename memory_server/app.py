"""The composition root: opens the database, picks the adapters, builds services, toolsets and the server."""

import logging
import random
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from memory_server.domain.embedding import Space
from memory_server.domain.text import clean
from memory_server.embedding import Embedder
from memory_server.embedding.hashing import HashingEmbedder
from memory_server.embedding.sentence_transformers import SentenceTransformersEmbedder
from memory_server.errors import MemoryServerError, Unavailable
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.nlp.keywords import JiebaKeywords
from memory_server.services.conversation import ConversationService
from memory_server.services.facts import FactService, Place
from memory_server.services.graph import GraphService
from memory_server.services.indexing import Indexer
from memory_server.services.long_term import LongTermService
from memory_server.services.memories import MemoryService
from memory_server.services.nearness import Nearness
from memory_server.services.resume import ResumeService
from memory_server.services.short_term import ShortTermService
from memory_server.settings import Settings
from memory_server.sqlite.database import Database
from memory_server.tools.conversation import ConversationTools
from memory_server.tools.facts import FactTools
from memory_server.tools.graph import GraphTools
from memory_server.tools.long_term import LongTermTools
from memory_server.tools.memories import MemoryTools
from memory_server.tools.short_term import ShortTermTools
from memory_server.tools.tool import Tool
from memory_server.triggers import TriggerEngine
from memory_server.triggers.lazy import LazyEngine

try:
    # On the main thread and before the server waits for input: on Windows the first import of a native
    # library can deadlock with a blocked read of standard input.
    from memory_server.embedding.bundled import BundledEmbedder
except ImportError as missing:
    _NO_BUNDLED: str | None = str(missing)
else:
    _NO_BUNDLED = None

logger = logging.getLogger(__name__)

SENTENCE_TRANSFORMERS = "sentence-transformers"


@dataclass(frozen=True, slots=True)
class App:
    """Everything that runs, ready to be started and closed."""

    settings: Settings
    database: Database
    indexer: Indexer
    memories: MemoryService
    triggers: TriggerEngine
    toolsets: dict[str, list[Tool]]

    def start(self) -> None:
        """Open the file and begin to load the embedder. A file that cannot be opened is told in each answer."""
        try:
            self.database.open()
        except MemoryServerError as error:
            logger.error("%s", error)
        self.indexer.start()

    def close(self, timeout: float) -> None:
        self.indexer.stop()
        self.triggers.close()
        self.database.close(timeout)


def build(settings: Settings) -> App:
    """Build the application; nothing is opened or loaded yet."""
    database = Database(settings.db, clock, make_folders="db" not in settings.model_fields_set)
    segmenter = JiebaSegmenter(settings.cache)
    here = settings.here
    # A client that gives no session has one for as long as this process lives.
    place = Place(here.key, settings.session or f"process-{uuid.uuid4().hex}")
    facts = FactService(
        database, place, allow_secrets=settings.allow_secrets, count_access=not settings.read_only
    )
    short_term = ShortTermService(
        database,
        JiebaKeywords(segmenter),
        random.random,
        allow_secrets=settings.allow_secrets,
        count_access=not settings.read_only,
    )
    indexer = Indexer(
        database,
        lambda known: choose(settings, known),
        load,
        segmenter,
        clock,
        chores=[facts.sweep, short_term.sweep],
    )
    memories = MemoryService(
        database,
        indexer,
        segmenter,
        allow_secrets=settings.allow_secrets,
        count_access=not settings.read_only,
    )
    triggers = LazyEngine(lambda: _two_tiers(settings, indexer))
    long_term = LongTermService(
        database,
        triggers,
        random.random,
        allow_secrets=settings.allow_secrets,
        count_access=not settings.read_only,
    )
    resume = ResumeService(database, place, here)
    conversation = ConversationService(database, indexer, facts)
    toolsets = {
        "memories": MemoryTools(memories, clean(here.name) or None, place.session).tools(),
        "graph": GraphTools(GraphService(database, indexer), place.session).tools(),
        "facts": FactTools(facts, resume).tools(),
        "conversation": ConversationTools(conversation).tools(),
        "short_term": ShortTermTools(short_term).tools(),
        "long_term": LongTermTools(long_term).tools(),
    }
    return App(settings, database, indexer, memories, triggers, toolsets)


def clock() -> datetime:
    return datetime.now(UTC)


def choose(settings: Settings, known: Sequence[Space]) -> Embedder:
    """The embedder that the settings ask for.

    `auto` stays with a sentence-transformers model that the file already uses: another window was told
    to use it, and two windows must not move the file to and fro. Else bundled, else hashing.

    Raises:
        Unavailable: it is not installed here, or cannot be loaded.
    """
    match settings.embedder.partition(":"):
        case ("auto", _, _):
            if known and known[0].provider == SENTENCE_TRANSFORMERS:
                return load(known[0])
            return _bundled_or_hashing()
        case ("bundled", _, _):
            return _bundled()
        case ("hashing", _, _):
            return HashingEmbedder()
        case (_, _, model):
            name, _, revision = model.partition("@")
            return SentenceTransformersEmbedder(name, revision or None)


def load(space: Space) -> Embedder:
    """The embedder of a space that a file has.

    Raises:
        Unavailable: it is not installed here, or is another version.
    """
    match space.provider:
        case "bundled":
            embedder: Embedder = _bundled()
        case "hashing":
            embedder = HashingEmbedder()
        case _:
            # A model that the file knows is looked for on this machine only: a hub out of reach takes a minute to fail.
            try:
                embedder = SentenceTransformersEmbedder(
                    space.model, space.revision or None, local_files_only=True
                )
            except Unavailable as error:
                raise Unavailable(
                    f"start memory-server with the same --embedder as the window that chose it ({error})"
                ) from error
    if embedder.space.fingerprint != space.fingerprint:
        raise Unavailable(f"{space.model} is installed here in another version.")
    return embedder


def _two_tiers(settings: Settings, indexer: Indexer) -> TriggerEngine:
    from memory_server.triggers.engine import TwoTierEngine
    from memory_server.triggers.sandbox import Sandbox

    return TwoTierEngine(Sandbox(settings.time_zone), Nearness(indexer))


def _bundled_or_hashing() -> Embedder:
    if _NO_BUNDLED is None:
        return BundledEmbedder()
    logger.error("the bundled embedder cannot be imported (%s): meaning is replaced by spelling", _NO_BUNDLED)
    return HashingEmbedder()


def _bundled() -> Embedder:
    if _NO_BUNDLED is not None:
        raise Unavailable(f"The bundled embedder cannot be imported: {_NO_BUNDLED}.")
    return BundledEmbedder()
