"""Keeps the embeddings up with the memories, in the background and across several processes."""

import logging
import threading
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from memory_server.domain.embedding import Space
from memory_server.domain.moment import timestamp
from memory_server.embedding import Embedder
from memory_server.errors import MemoryServerError
from memory_server.nlp import Segmenter
from memory_server.sqlite import embeddings
from memory_server.sqlite.database import Database
from memory_server.sqlite.embeddings import Kind, KnownSpace

logger = logging.getLogger(__name__)

BATCH = 32
POLL = 2.0
"""Seconds between two looks for what other programs have written."""

FEW = 2 * BATCH
"""So many waiting memories need no lease: to embed one twice costs less than to agree on who does it."""

LEASE = timedelta(seconds=10)
WARM_UP_DELAY = 0.25
"""Seconds before the thread begins: the client's first questions come first."""

CATCHING_UP = 1.0
"""Seconds that a search waits for another process to be able to keep the embeddings it makes."""

FAREWELL = 0.1
PATIENCE = 2.0
"""Seconds that a search waits for the embedder while the server warms up."""


@dataclass(frozen=True, slots=True)
class Answering:
    """The space that answers searches now and the embedder that belongs to it."""

    space_id: int
    embedder: Embedder


@dataclass(frozen=True, slots=True)
class Coverage:
    """How far the embeddings are; `problem` says why meaning does not (fully) answer."""

    embedder: str
    embedded: int
    waiting: int
    problem: str | None


class Indexer:
    """Owns the background thread: it loads the embedder, then embeds what waits in the queue.

    `choose` gives the embedder that this process wants, knowing the file's spaces; `load` gives the
    embedder of a space that the file has, or raises Unavailable where it is not installed.
    """

    def __init__(
        self,
        database: Database,
        choose: Callable[[list[Space]], Embedder],
        load: Callable[[Space], Embedder],
        segmenter: Segmenter,
        clock: Callable[[], datetime],
        chores: Sequence[Callable[[], None]] = (),
    ) -> None:
        self._database = database
        self._choose = choose
        self._load = load
        self.segmenter = segmenter
        self._clock = clock
        self._chores = chores
        self._holder = uuid.uuid4().hex
        self._ready = threading.Event()
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._embedding = threading.Lock()
        self._embedders: dict[str, Embedder | str] = {}
        self._wanted: Space | None = None
        self._leased: int | None = None
        self._give_up = False
        self._problem = "the embedder is still loading"
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin in the background; returns at once."""
        self._thread = threading.Thread(target=self._run, name="indexer", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ask the thread to end, and give it a moment; it may be inside one batch still."""
        self._stopping.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(FAREWELL)

    def warm_up(self) -> None:
        """Load the embedder and give it its space. Called by the thread, and by programs without one.

        While the database cannot be opened this can be called again; an embedder that cannot be loaded stays away.
        """
        try:
            with self._database.read() as tx:
                known = [each.space for each in embeddings.spaces(tx)]
            self._give_up = True
            embedder = self._choose(known)
            self._give_up = False
            self._embedders[embedder.space.fingerprint] = embedder
            if not self._database.read_only:
                self._open(embedder.space, known)
            if known:
                self._embedder_of(known[0])
            self._wanted = embedder.space
        except MemoryServerError as error:
            self._problem = str(error)
            logger.error("no embedder: %s", error)
        finally:
            self._ready.set()

    def _open(self, wanted: Space, known: list[Space]) -> None:
        """Give the embedder its space, and end a change to another one that nobody goes on with."""
        if wanted not in known:
            with self._database.write() as tx:
                embeddings.open_space(tx, wanted)
        elif len(known) > 1 and known[0] == wanted:
            with self._database.write() as tx:
                embeddings.abandon(tx)

    def wake(self) -> None:
        """There is something new in the queue."""
        self._wake.set()

    def answering(self) -> Answering | str:
        """The space that answers a search now, or why none does. Waits a moment while the server warms up."""
        if not self._ready.wait(PATIENCE):
            return "the embedder is still loading"
        if self._wanted is None:
            return self._problem
        with self._database.read() as tx:
            known = embeddings.spaces(tx)
        problem = "the file has no embeddings yet"
        for each in known:
            found = self._embedder_of(each.space)
            if not isinstance(found, str):
                return Answering(each.id, found)
            problem = found
        return problem

    def catch_up(self, answering: Answering, kind: Kind) -> int:
        """Embed a few texts that wait, so that a search finds what was just written; how many still wait."""
        left = self._count_waiting(answering.space_id, kind)
        if left == 0 or left > BATCH or self._database.read_only:
            return left
        try:
            self._embed_batch(answering.space_id, answering.embedder, kind, CATCHING_UP)
        except MemoryServerError as error:
            logger.warning("embedding waits: %s", error)
        return self._count_waiting(answering.space_id, kind)

    def coverage(self, project: str | None = None) -> Coverage:
        """How far the embeddings of the answering space are."""
        answering = self.answering()
        if isinstance(answering, str):
            return Coverage("none", 0, 0, answering)
        with self._database.read() as tx:
            return Coverage(
                name(answering.embedder.space),
                embeddings.count_embedded(tx, answering.space_id, project),
                embeddings.count_waiting(tx, answering.space_id, embeddings.MEMORIES),
                None,
            )

    def _embedder_of(self, space: Space) -> Embedder | str:
        """The embedder of a space, loaded once at need; or why it cannot be had here."""
        if space.fingerprint not in self._embedders:
            try:
                self._embedders[space.fingerprint] = self._load(space)
            except MemoryServerError as error:
                problem = f"the file's embeddings are of {name(space)}, which cannot be loaded here: {error}"
                logger.error("%s", problem)
                self._embedders[space.fingerprint] = problem
        return self._embedders[space.fingerprint]

    def _run(self) -> None:
        self._stopping.wait(WARM_UP_DELAY)
        while not self._stopping.is_set():
            try:
                if self._wanted is None and not self._give_up:
                    self.warm_up()
                else:
                    # Not in the first round: the dictionary takes a second, and the first search comes first.
                    self.segmenter.load()
                self.drain()
                for chore in self._chores:
                    chore()
            except MemoryServerError as error:
                logger.error("embedding waits: %s", error)
            except Exception as error:
                self._problem = (
                    f"the embedder failed ({type(error).__name__}); the server's standard error says more"
                )
                logger.exception("the background work failed")
            self._wake.wait(POLL)
            self._wake.clear()
        self._release()

    def drain(self) -> None:
        """Embed all that waits in every space whose embedder is here; complete spaces become active."""
        if self._wanted is None or self._database.read_only:
            return
        with self._database.read() as tx:
            known = embeddings.spaces(tx)
        for each in known:
            embedder = self._embedders.get(each.space.fingerprint)
            if embedder is not None and not isinstance(embedder, str):
                self._fill(each, embedder)

    def _fill(self, known: KnownSpace, embedder: Embedder) -> None:
        while not self._stopping.is_set():
            left = self._count_waiting(known.id)
            if left == 0:
                break
            if left > FEW and not self._take_lease(known.id):
                return
            if not any(self._embed_batch(known.id, embedder, kind) for kind in embeddings.KINDS):
                return
        if known.state == "building" and embedder.space == self._wanted and not self._stopping.is_set():
            self._activate(known)

    def _activate(self, known: KnownSpace) -> None:
        """Unless another process has retired the space meanwhile: its queue is empty then, but so are its vectors."""
        with self._database.write() as tx:
            in_use = any(each.id == known.id for each in embeddings.spaces(tx))
            if in_use and embeddings.count_waiting(tx, known.id) == 0:
                embeddings.activate(tx, known.id)
                logger.info("searches now use %s", name(known.space))

    def _count_waiting(self, space_id: int, *kinds: Kind) -> int:
        with self._database.read() as tx:
            return embeddings.count_waiting(tx, space_id, *kinds)

    def _take_lease(self, space_id: int) -> bool:
        with self._database.write() as tx:
            taken = embeddings.lease(tx, space_id, self._holder, timestamp(self._clock() + LEASE))
        self._leased = space_id if taken else None
        return taken

    def _release(self) -> None:
        """Another process may go on at once."""
        if self._leased is not None:
            with self._database.write() as tx:
                embeddings.release(tx, self._leased, self._holder)

    def _embed_batch(
        self, space_id: int, embedder: Embedder, kind: Kind, patience: float | None = None
    ) -> int:
        """Embed up to BATCH waiting texts outside any transaction, then keep the vectors in one."""
        with self._embedding:
            with self._database.read() as tx:
                batch = embeddings.waiting(tx, space_id, kind, BATCH)
            if not batch:
                return 0
            vectors = embedder.embed_documents([each.content for each in batch])
            with self._database.write(patience) as tx:
                for waiting, vector in zip(batch, vectors, strict=True):
                    embeddings.insert(tx, space_id, waiting, np.asarray(vector, dtype=np.float32))
            return len(batch)


def name(space: Space) -> str:
    """A space as people read it."""
    kind = " (lexical)" if space.lexical else ""
    return f"{space.provider}:{space.model}{kind}"
