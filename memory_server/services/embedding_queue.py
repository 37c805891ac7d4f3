"""Keeps the embeddings up with the texts, in the background and across several processes."""

import logging
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate
from typing import TypeVar

import numpy as np

from memory_server.call import deadline
from memory_server.call.deadline import CALL
from memory_server.domain.embedding import Embedded, Space, Vector
from memory_server.domain.moment import timestamp
from memory_server.embedding import Embedder
from memory_server.errors import MemoryServerError, Problem, Unavailable, Unreachable
from memory_server.language.tokens import estimate
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx
from memory_server.storage.vectors import KnownSpace, Waiting

Answer = TypeVar("Answer")

logger = logging.getLogger(__name__)

BATCH = 32
"""Texts that are embedded together and kept in one transaction: about 0.3 s of work, so that a write waits little."""

LOOKED_AT = 8 * BATCH
"""Waiting texts among which those of like length are chosen: where lengths are mixed, padding falls from 12 to 5 % of
what the model has to read."""

FEW = 2 * BATCH
"""So many waiting texts need no lease: to embed one twice costs less than to agree on who does it."""

LEASE = timedelta(seconds=10)
"""How long a process that has died keeps others from going on with its work; a batch takes a tenth of it."""

AT_ONCE = 200
"""Tokens of what is embedded before it is stored: about 40 ms on two quiet cores. Longer texts are queued."""

PATIENCE = 2.0
"""Seconds that a search waits for the embedder: while the server warms up, which takes the bundled model about 0.5 s,
and for an endpoint that embeds the question. A store waits as long for the endpoint."""

FAIR = 0.5
"""Seconds that an endpoint must have had before its silence counts as a failure."""

MOMENT = 1.0
"""Seconds that the first batch waits for other writes: the first search waits behind it, PATIENCE at most in all."""

_LOADING = Problem("the embedder is still loading")

WITHOUT = Problem("meaning was not asked for")
"""Why no embedder answers where a caller wants words alone."""


@dataclass(frozen=True, slots=True)
class Answering:
    """The space that answers searches now and the embedder that belongs to it."""

    space_id: int
    embedder: Embedder


@dataclass(frozen=True, slots=True)
class Fresh:
    """The vectors of texts that are about to be stored."""

    space_id: int
    space: Space
    texts: tuple[str, ...]
    vectors: tuple[Vector, ...]


def usable(tx: Tx, fresh: Fresh | None) -> Fresh | None:
    """Return the vectors, or None where another process has retired their space."""
    return fresh if fresh is not None and tx.embeddings.in_use(fresh.space_id) else None


@dataclass(frozen=True, slots=True)
class Meaning:
    """The space that answers, and the vector of each question."""

    space_id: int
    space: Space
    vectors: tuple[Vector, ...]


@dataclass(frozen=True, slots=True)
class Unanswered:
    """The reason why no embedder answers searches now."""

    problem: Problem


@dataclass(frozen=True, slots=True)
class Coverage:
    """The progress of the embeddings; `problem` says why meaning does not (fully) answer."""

    embedder: str
    embedded: int
    waiting: int
    problem: Problem | None


class EmbeddingQueue:
    """Loads the embedder, and embeds what waits in the queue.

    `choose` gives the embedder that this process wants, knowing the file's spaces; `load` gives the
    embedder of a space that the file has, or raises Unavailable where it is not installed.
    `filled` is set when there is something new in the queue.

    An embedder that raises Unreachable is not asked again by searches and stores, which say why and go on without it.
    `work` chooses anew until it answers: another process may have brought it back, or another model in its place.
    """

    def __init__(
        self,
        database: Database,
        choose: Callable[[list[Space]], Embedder],
        load: Callable[[Space], Embedder],
        clock: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._choose = choose
        self._load = load
        self._clock = clock
        self._holder = uuid.uuid4().hex
        self.filled = threading.Event()
        self._ready = threading.Event()
        self._stopping = threading.Event()
        self._embedding = threading.Lock()
        self._changing = threading.Lock()
        self._embedders: dict[str, Embedder | Problem] = {}
        self._wanted: Space | None = None
        self._leased: int | None = None
        self._last: Answering | None = None
        self._give_up = False
        self._waited = False
        self._failed_a_call = False
        self._problem = _LOADING

    def stop(self) -> None:
        """End `work` after the batch that it is at."""
        self._stopping.set()

    def work(self) -> None:
        """Load the embedder, once and after it was lost, and embed what waits.

        Raises:
            Unreachable: it does not answer now.
        """
        if self._wanted is None and not self._give_up:
            try:
                self._load_wanted()
                self._answer()  # from now on stores embed their own text
                self._embed_first()
            finally:
                self._ready.set()
        self.drain()

    def warm_up(self) -> None:
        """Load the embedder and give it its space, for programs without background work.

        While the database cannot be opened this can be called again; an embedder that cannot be loaded stays away.
        """
        try:
            with suppress(Unreachable):
                self._load_wanted()
        finally:
            self._ready.set()

    def go_without(self) -> None:
        """Load no embedder: words alone answer, at once."""
        self._problem = WITHOUT
        self._ready.set()

    def _load_wanted(self) -> None:
        try:
            with self._database.read() as tx:
                spaces = [known_space.space for known_space in tx.embeddings.spaces()]
            self._give_up = True
            embedder = self._choose(spaces)
            self._give_up = False
            self._refuse_slow(embedder)
            if not self._database.read_only:
                self._open(embedder.space, spaces)
            self._embedders = {
                key: loaded for key, loaded in self._embedders.items() if not isinstance(loaded, Problem)
            }
            if spaces and spaces[0] != embedder.space:
                self._embedder_of(spaces[0])
            with self._changing:
                self._embedders[embedder.space.fingerprint] = embedder
                self._wanted = embedder.space
        except Unreachable as error:
            self._give_up = False
            self._problem = error.problem
            raise
        except MemoryServerError as error:
            self._problem = error.problem
            logger.error("no embedder: %s", error)
        except Exception as error:
            self._problem = Problem(f"the embedder cannot be loaded ({type(error).__name__}: {error})")
            raise

    def _refuse_slow(self, embedder: Embedder) -> None:
        """After it failed a call, an embedder must show that it is fast enough: else each call would wait in vain."""
        if self._failed_a_call:
            with deadline.within(PATIENCE):
                embedder.embed_questions(["ready"])
            self._failed_a_call = False

    def _embed_first(self) -> None:
        """Embed what was stored before the embedder was ready, if that is little: the first search waits for it."""
        with suppress(Unavailable):  # then it waits for `drain`, and searches do not wait for it
            if self._wanted is None or self._database.read_only:
                return
            with self._database.read() as tx:
                spaces = tx.embeddings.spaces()
            for known_space in spaces:
                embedder = self._embedders.get(known_space.space.fingerprint)
                if (
                    embedder
                    and not isinstance(embedder, Problem)
                    and self._count_waiting(known_space.id) <= BATCH
                ):
                    for kind in Embedded:
                        self._embed_batch(known_space.id, embedder, kind, MOMENT)

    def _open(self, space: Space, spaces: list[Space]) -> None:
        """Give the embedder its space, and abandon a switch of embedders that no process continues."""
        if space not in spaces:
            with self._database.write() as tx:
                tx.embeddings.open_space(space)
        elif len(spaces) > 1 and spaces[0] == space:
            with self._database.write() as tx:
                tx.embeddings.abandon()

    def wake(self) -> None:
        """Signal that the queue has new texts."""
        self.filled.set()

    @property
    def knows_meaning(self) -> bool:
        """True if an embedder that knows meaning, not spelling alone, answers already: then no call waits for it."""
        return self._last is not None and not self._last.embedder.space.lexical

    def answering(self, *, anew: bool = False) -> Answering | Unanswered:
        """Return the space that answers a search now, or why none does. Waits a moment while the server warms up.

        It is the space that answered last; with `anew`, the one that the file names now. The last one is enough:
        a transaction checks that the space is in use still, and `work` looks often.
        """
        self._wait()
        if self._last is not None and not anew:
            return self._last
        if not self._ready.is_set():
            return Unanswered(_LOADING)
        return self._answer()

    def _answer(self) -> Answering | Unanswered:
        """Return the first space in use whose embedder is here, as the file says now."""
        if self._wanted is None:
            return Unanswered(self._problem)
        with self._database.read() as tx:
            spaces = tx.embeddings.spaces()
        self._last = None
        problem = Problem("the file has no embeddings yet")
        for known_space in spaces:
            embedder = self._embedder_of(known_space.space)
            if not isinstance(embedder, Problem):
                self._last = Answering(known_space.id, embedder)
                return self._last
            problem = embedder
        return Unanswered(problem)

    def _wait(self) -> float:
        """Wait a moment while the server warms up; return the seconds that it took."""
        began = time.monotonic()
        # Once is enough where it is in vain: an endpoint may take a minute.
        seconds = 0.0 if self._waited else deadline.left(PATIENCE)
        if not self._ready.wait(seconds) and seconds == PATIENCE:
            self._waited = True
        return time.monotonic() - began

    def read(self, texts: Sequence[str], ask: Callable[[Tx, Meaning | Unanswered], Answer]) -> Answer:
        """Read the file once: `ask` gets the transaction and the vectors of the questions, or why there are none.

        The questions are embedded before the transaction, and once more where their space has been retired meanwhile.
        """
        ends = time.monotonic() + PATIENCE
        for anew in (False, True):
            meaning = self.meaning(texts, anew, max(FAIR, ends - time.monotonic()))
            with self._database.read() as tx:
                if anew or isinstance(meaning, Unanswered) or tx.embeddings.in_use(meaning.space_id):
                    return ask(tx, meaning)
        raise AssertionError("the second try always answers")

    def meaning(self, texts: Sequence[str], anew: bool, seconds: float) -> Meaning | Unanswered:
        """Return the vectors of questions in the space that answers, in so many seconds; `anew` as for `answering`."""
        waited = self._wait()
        answering = self.answering(anew=anew)
        if isinstance(answering, Unanswered):
            return answering
        embedder = answering.embedder
        vectors: tuple[Vector, ...] | Problem = ()
        if texts:
            vectors = self.embed_in_time(
                embedder, lambda: tuple(embedder.embed_questions(texts)), seconds - waited
            )
        if isinstance(vectors, Problem):
            return Unanswered(vectors)
        return Meaning(answering.space_id, embedder.space, vectors)

    def embed_in_time(
        self, embedder: Embedder, embed: Callable[[], Answer], seconds: float | None = None
    ) -> Answer | Problem:
        """Return what `embed` gives while a caller waits, or why nothing. An endpoint gets `seconds`, or PATIENCE."""
        seconds = deadline.left(PATIENCE if seconds is None else seconds)
        try:
            with deadline.within(seconds):
                return embed()
        except Unreachable as error:
            if seconds >= FAIR:
                self._failed_a_call = True
                self._lose(embedder, error.problem)
            return error.problem

    def _lose(self, embedder: Embedder, problem: Problem) -> None:
        """Stop asking an embedder that does not answer, until `work` has found that it does."""
        with self._changing:
            if self._last is not None and self._last.embedder is embedder:
                self._last = None
            if self._embedders.get(embedder.space.fingerprint) is not embedder:
                return  # it was lost before, and perhaps there is another one now
            self._embedders[embedder.space.fingerprint] = problem
            if embedder.space == self._wanted:
                self._wanted, self._problem = None, problem
        logger.warning("%s is not asked for now: %s", name(embedder.space), problem.text)
        self.filled.set()

    def embed_now(self, *texts: str) -> Fresh | None:
        """Return the vectors of texts about to be stored. None where that would take long or the embedder is not ready.

        They are of the space that answered last. A space that has been retired since takes no vector.
        """
        answering = self._last
        if answering is None or sum(map(estimate, texts)) > AT_ONCE:
            return None
        embedder = answering.embedder
        vectors = self.embed_in_time(embedder, lambda: embedder.embed_documents(texts))
        if isinstance(vectors, Problem):
            return None
        arrays = tuple(np.asarray(vector, dtype=np.float32) for vector in vectors)
        return Fresh(answering.space_id, embedder.space, texts, arrays)

    def coverage(self, project: str | None = None) -> Coverage:
        """Return the progress of the embeddings of the answering space."""
        answering = self.answering(anew=True)
        with self._database.read() as tx:
            return self.coverage_in(tx, answering, project)

    @staticmethod
    def coverage_in(tx: Tx, answering: Answering | Unanswered, project: str | None) -> Coverage:
        """Return `coverage` in a transaction that is open; `answering` is what answers now."""
        if isinstance(answering, Unanswered):
            return Coverage("none", 0, 0, answering.problem)
        return Coverage(
            name(answering.embedder.space),
            tx.embeddings.count_embedded(answering.space_id, project),
            tx.embeddings.count_waiting(answering.space_id, Embedded.MEMORIES),
            None,
        )

    def kept(self, project: str | None = None) -> Coverage:
        """Return the progress of the embeddings that the file has, without loading the model that made them.

        Before a model has made any, all memories wait.
        """
        with self._database.read() as tx:
            for known_space in tx.embeddings.spaces()[:1]:
                return Coverage(
                    name(known_space.space),
                    tx.embeddings.count_embedded(known_space.id, project),
                    tx.embeddings.count_waiting(known_space.id, Embedded.MEMORIES),
                    None,
                )
            return Coverage("none", 0, tx.memory_counts.total(), None)

    def _embedder_of(self, space: Space) -> Embedder | Problem:
        """Return the embedder of a space, loaded once at need; or why it cannot be had here."""
        if space.fingerprint not in self._embedders:
            try:
                self._embedders[space.fingerprint] = self._load(space)
            except MemoryServerError as error:
                text = f"the file's embeddings are of {name(space)}, which cannot be loaded here: {error}"
                logger.error("%s", text)
                self._embedders[space.fingerprint] = Problem(text, error.problem.hints)
        return self._embedders[space.fingerprint]

    def drain(self) -> None:
        """Embed all that waits in every space whose embedder is here; complete spaces become active."""
        if self._wanted is None or self._database.read_only:
            return
        self.answering(anew=True)
        with self._database.read() as tx:
            spaces = tx.embeddings.spaces()
        for known_space in spaces:
            embedder = self._embedders.get(known_space.space.fingerprint)
            if embedder is not None and not isinstance(embedder, Problem):
                self._fill(known_space, embedder)

    def _fill(self, known_space: KnownSpace, embedder: Embedder) -> None:
        while not self._stopping.is_set():
            left = self._count_waiting(known_space.id)
            if left == 0:
                break
            if left > FEW and not self._take_lease(known_space.id):
                return
            if not any(self._embed_batch(known_space.id, embedder, kind) for kind in Embedded):
                return
        if known_space.state == "building" and embedder.space == self._wanted and not self._stopping.is_set():
            self._activate(known_space)

    def _activate(self, known_space: KnownSpace) -> None:
        """Activate a space, unless another process has retired it: its queue is empty then, but so are its vectors."""
        with self._database.write() as tx:
            in_use = any(space.id == known_space.id for space in tx.embeddings.spaces())
            if in_use and tx.embeddings.count_waiting(known_space.id) == 0:
                tx.embeddings.activate(known_space.id)
                logger.info("searches now use %s", name(known_space.space))

    def _count_waiting(self, space_id: int, *kinds: Embedded) -> int:
        with self._database.read() as tx:
            return tx.embeddings.count_waiting(space_id, *kinds)

    def _take_lease(self, space_id: int) -> bool:
        with self._database.write() as tx:
            is_leased = tx.embeddings.lease(space_id, self._holder, timestamp(self._clock() + LEASE))
        self._leased = space_id if is_leased else None
        return is_leased

    def release(self) -> None:
        """Let another process go on at once. Called when the work stops."""
        if self._leased is not None:
            with self._database.write() as tx:
                tx.embeddings.release(self._leased, self._holder)

    def _embed_batch(self, space_id: int, embedder: Embedder, kind: Embedded, patience: float = CALL) -> int:
        """Embed up to BATCH waiting texts outside any transaction, then keep the vectors in one."""
        with self._embedding:
            with self._database.read() as tx:
                batch = _alike(tx.embeddings.waiting(space_id, kind, LOOKED_AT))
            if not batch:
                return 0
            try:
                vectors = iter(
                    embedder.embed_documents([text for waiting in batch for text in waiting.texts])
                )
            except Unreachable as error:
                self._lose(embedder, error.problem)
                raise
            with self._database.write(patience) as tx:
                for waiting in batch:
                    text_vectors = [np.asarray(next(vectors), dtype=np.float32) for _ in waiting.texts]
                    tx.embeddings.insert(space_id, waiting, text_vectors)
            return len(batch)


def _alike(waiting: list[Waiting]) -> list[Waiting]:
    """Return the first of them, and those nearest to it in length, with no more than BATCH parts together."""
    waiting = sorted(waiting, key=lambda queued: abs(queued.size - waiting[0].size))[:BATCH]
    counts = accumulate(len(queued.texts) for queued in waiting)
    return [queued for queued, count in zip(waiting, counts, strict=True) if count <= BATCH] or waiting[:1]


def name(space: Space) -> str:
    """Return a space as people read it."""
    kind = " (lexical)" if space.lexical else ""
    return f"{space.provider}:{space.model}{kind}"
