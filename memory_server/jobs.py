"""The background jobs: the work of services, and its pace."""

from functools import partial

from memory_server.call.deadline import CALL
from memory_server.errors import Unavailable
from memory_server.nlp import Segmenter
from memory_server.services.background import Job
from memory_server.services.calls import CallService
from memory_server.services.digests import DigestService
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.erasure import ErasureService
from memory_server.services.facts import FactService
from memory_server.services.forgetting import ForgettingService
from memory_server.services.late_comparing import LateComparing
from memory_server.services.learning import LearningService
from memory_server.services.questions import QuestionService
from memory_server.services.recall import RecallService
from memory_server.services.short_term import ShortTermService
from memory_server.storage.database import Database

WARM_UP_DELAY = 0.25
"""Seconds before the embedder is loaded: the client's first questions come first."""

LOOK = 2.0
"""Seconds between two looks for what another program has written into the file, or what has expired."""

DICTIONARY_DELAY = 1.0
"""Seconds before the Chinese dictionary is loaded: that takes a second of CPU, and the embedder comes first."""

LOOK_FOR_HAN = 60.0
"""Seconds between two looks whether the file holds Chinese now: without any, 67 MB of dictionary are saved."""

SOON = 1.0
"""Seconds until work begins that no call waits for: what a start needs comes first."""

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

BACKING_UP = 3600.0
"""Seconds between two looks whether the backup of today is there."""

KEEPING_COUNTS = 60.0
"""Seconds between two times that the counts of calls go into the file: a process that is killed loses so many."""

CLEANUP = 60.0
"""Seconds between two looks for conversations whose daily cleanup is due."""


def that_follow(database: Database, queue: EmbeddingQueue, segmenter: Segmenter) -> list[Job]:
    """Return the jobs of a process that only searches: another one embeds what is new."""
    return [
        Job("follow what is embedded", queue.follow, LOOK, LOOK, queue.filled),
        Job("load the Chinese dictionary", partial(load_dictionary, database, segmenter), LOOK_FOR_HAN),
        Job("count accesses", partial(count_accesses, database), COUNTING, COUNTING),
    ]


def that_load(
    database: Database, queue: EmbeddingQueue, late: LateComparing, segmenter: Segmenter
) -> list[Job]:
    """Return the jobs that open the database, and load and use the models of language."""
    return [
        Job("open the database", database.open, ONCE),
        Job(
            "embed what is new", partial(embed, queue, late), LOOK, WARM_UP_DELAY, queue.filled, queue.release
        ),
        Job(
            "load the Chinese dictionary",
            partial(load_dictionary, database, segmenter),
            LOOK_FOR_HAN,
            DICTIONARY_DELAY,
        ),
    ]


def that_count(database: Database, calls: CallService) -> list[Job]:
    """Return the jobs that write what reads and calls have counted."""
    return [
        Job("count accesses", partial(count_accesses, database), COUNTING, COUNTING),
        Job("keep the counts of calls", calls.keep, KEEPING_COUNTS, KEEPING_COUNTS),
    ]


def that_tidy(
    facts: FactService,
    short_term: ShortTermService,
    calls: CallService,
    forgetting: ForgettingService,
    erasure: ErasureService,
) -> list[Job]:
    """Return the jobs that take away what is old, and complete what was written by hand."""
    return [
        Job("remove expired facts", facts.remove_expired, LOOK, LOOK, shared=True),
        Job("find keywords of short-term memories", short_term.find_keywords, LOOK, LOOK, shared=True),
        Job("purge what was deleted long ago", forgetting.purge_due, PURGING, LOOK, shared=True),
        Job("erase what was deleted", erasure.erase_at_rest, LOOK, LOOK, shared=True),
        Job("clean up short-term memories", partial(clean_up, short_term, calls), CLEANUP, LOOK, shared=True),
    ]


def that_learn(
    database: Database,
    queue: EmbeddingQueue,
    recall: RecallService,
    learning: LearningService,
    makes_digests: bool,
) -> list[Job]:
    """Return the jobs that make digests, and close questions."""
    digests = DigestService(database, queue, makes_digests)
    questions = QuestionService(database, recall, learning)
    return [
        Job("digest what has faded", digests.make_due, DIGESTING, CLEANUP, shared=True),
        Job("close questions that are answered", questions.close_answered, ASKING_AGAIN, LOOK, shared=True),
    ]


def load_dictionary(database: Database, segmenter: Segmenter) -> None:
    """Load the dictionary where the file has Chinese; else the first Chinese text of a session loads it."""
    with database.read() as tx:
        used = tx.words.holds_han()
    if used:
        segmenter.load()


def embed(queue: EmbeddingQueue, late: LateComparing) -> None:
    """Embed what waits, then compare it."""
    queue.work()
    late.compare()


def clean_up(short_term: ShortTermService, calls: CallService) -> None:
    """The daily cleanup, counted."""
    calls.count_cleaned(short_term.clean_up_due())


def count_accesses(database: Database) -> None:
    """Write what reads have counted. A lock is waited for as any write does.

    Raises:
        Unavailable: it could not be written, and is kept.
    """
    problem = database.settle(CALL)
    if problem is not None:
        raise Unavailable(problem.text, *problem.hints)
