"""Embeds what waits in the queue, in the background and across several processes."""

import logging
import sys
import threading
import uuid
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import accumulate, compress

import numpy as np

from memory_server.call.deadline import CALL
from memory_server.domain.embedding import Embedded, Reading
from memory_server.domain.moment import timestamp
from memory_server.embedding import Embedder, read_documents, reads_tokens
from memory_server.errors import Unavailable, Unreachable
from memory_server.services.answering import Embedders
from memory_server.services.meaning import Fresh, name, tokens_of
from memory_server.storage.database import Database
from memory_server.storage.tables import token_vectors
from memory_server.storage.vectors import KnownSpace, Waiting

logger = logging.getLogger(__name__)

BATCH = 32
"""Texts that are embedded together and kept in one transaction: about 0.3 s of work, so that a write waits little."""

LOOKED_AT = 8 * BATCH
"""Waiting texts among which those of like length are chosen: where lengths are mixed, padding falls from 12 to 5 % of
what the model has to read."""

PARTS = 4
"""Parts of a long memory that are embedded together and kept: a process that ends loses no more. About half a second
of work, in Chinese a second and a half."""

MUCH = 30_000
"""Characters that are embedded together at most: some two seconds of work."""

FEW = 2 * BATCH
"""So many waiting texts, of MUCH bytes at most, need no lease: to embed them twice costs less than to agree on who does
it."""

LEASE = timedelta(seconds=10)
"""How long a process that has died keeps others from going on with its work; a batch takes a tenth of it."""

MOMENT = 1.0
"""Seconds that the first batch waits for other writes: the first search waits behind it, PATIENCE at most in all."""


LATE = 100
"""Texts embedded last that are remembered until they are compared: each takes some 10 ms."""


class QueueFilling:
    """Embeds the texts that wait, in each space whose embedder is loaded."""

    def __init__(self, database: Database, embedders: Embedders, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._embedders = embedders
        self._clock = clock
        self._holder = uuid.uuid4().hex
        self._leased: int | None = None
        self._without_tokens: dict[tuple[int, Embedded], int] = {}
        """For each space and kind the id below which rows may still lack tokens; 0 when all have them."""
        self._stopping = threading.Event()
        self._embedding = threading.Lock()
        self.embedded: deque[tuple[Embedded, int, Fresh]] = deque(maxlen=LATE)
        """The texts that got their vectors last."""

    def stop(self) -> None:
        """End `drain` after the batch that it is at."""
        self._stopping.set()

    def release(self) -> None:
        """Let another process go on at once. Called when the work stops."""
        if self._leased is not None:
            with self._database.write() as tx:
                tx.spaces.release(self._leased, self._holder)

    def embed_first(self) -> None:
        """Embed what was stored before the embedder was ready, if that is little: the first search waits for it."""
        with suppress(Unavailable):  # then it waits for `drain`, and searches do not wait for it
            if self._embedders.wanted is None or self._database.read_only:
                return
            for known_space, embedder in self._embedders.of_spaces():
                if self._count_waiting(known_space.id) <= BATCH:
                    for kind in Embedded:
                        self._embed_batch(known_space.id, embedder, kind, MOMENT)

    def drain(self) -> None:
        """Embed all that waits in every space whose embedder is here; complete spaces become active."""
        for known_space, embedder in self._embedders.of_spaces():
            self._fill(known_space, embedder)
            self.prepare(known_space)
            for kind in token_vectors.KINDS:
                self._fill_tokens(known_space, embedder, kind)

    def _fill(self, known_space: KnownSpace, embedder: Embedder) -> None:
        while not self._stopping.is_set():
            left = self._count_waiting(known_space.id)
            if left == 0:
                break
            if left > FEW and not self._take_lease(known_space.id):
                return
            if not any(self._embed_batch(known_space.id, embedder, kind) for kind in Embedded):
                return
        is_wanted = embedder.space == self._embedders.wanted
        if known_space.state == "building" and is_wanted and not self._stopping.is_set():
            self._activate(known_space)

    def prepare(self, known_space: KnownSpace) -> None:
        """Read what searches need, before the first one: among a million memories it would take ten of them.

        Others write between two pieces.
        """
        is_more = known_space.state == "active"
        while is_more and not self._stopping.is_set():
            with self._database.read() as tx:
                is_more = tx.embeddings.prepare(known_space)

    def _activate(self, known_space: KnownSpace) -> None:
        """Activate a space, unless another process has retired it: its queue is empty then, but so are its vectors."""
        with self._database.write() as tx:
            in_use = any(space.id == known_space.id for space in tx.spaces.select())
            if in_use and tx.spaces.count_waiting(known_space.id) == 0:
                tx.spaces.activate(known_space.id)
                logger.info("searches now use %s", name(known_space.space))

    def _count_waiting(self, space_id: int) -> int:
        with self._database.read() as tx:
            return tx.spaces.count_waiting(space_id)

    def _take_lease(self, space_id: int) -> bool:
        with self._database.write() as tx:
            is_leased = tx.spaces.lease(space_id, self._holder, timestamp(self._clock() + LEASE))
        self._leased = space_id if is_leased else None
        return is_leased

    def _embed_batch(self, space_id: int, embedder: Embedder, kind: Embedded, patience: float = CALL) -> int:
        """Embed up to BATCH waiting texts outside any transaction, then keep the vectors in one."""
        with self._embedding:
            with self._database.read() as tx:
                waits = tx.spaces.waiting(space_id, kind, LOOKED_AT)
            batch = _alike(waits)
            if not batch:
                return 0
            if sum(waiting.size for waiting in waits) > MUCH and not self._take_lease(space_id):
                return 0
            try:
                read = _read(embedder, list(map(_next, batch)))
            except Unreachable as error:
                self._embedders.lose(embedder, error.problem)
                raise
            with self._database.write(patience) as tx:
                for waiting, readings in zip(batch, read, strict=True):
                    vectors = [np.asarray(reading.vector, dtype=np.float32) for reading in readings]
                    if tx.embeddings.insert(space_id, waiting, vectors):
                        tx.token_vectors.insert(space_id, waiting, tokens_of(readings))
                        if waiting.start == 0:
                            fresh = Fresh(space_id, embedder.space, tuple(waiting.texts), tuple(vectors))
                            self.embedded.append((kind, waiting.id, fresh))
            return len(batch)

    def _fill_tokens(self, known_space: KnownSpace, embedder: Embedder, kind: Embedded) -> None:
        """Read the tokens of what was embedded without them, the newest first; once while this process runs.

        What is stored meanwhile is embedded before the next batch.
        """
        while reads_tokens(embedder) and not self._stopping.is_set():
            below = self._without_tokens.get((known_space.id, kind), sys.maxsize)
            with self._database.read() as tx:
                batch = tx.token_vectors.waiting(known_space.id, kind, below, BATCH) if below else []
            if batch and not self._take_lease(known_space.id):
                break
            read = _read(embedder, [waiting.texts for waiting in batch])
            self._without_tokens[known_space.id, kind] = batch[-1].id if batch else 0
            if not batch:
                break
            with self._database.write() as tx:
                for waiting, readings in zip(batch, read, strict=True):
                    tx.token_vectors.insert(known_space.id, waiting, tokens_of(readings))
            self._fill(known_space, embedder)


def _read(embedder: Embedder, texts_of_rows: list[list[str]]) -> list[list[Reading]]:
    """Return the readings of the texts of each row."""
    readings = iter(read_documents(embedder, [text for texts in texts_of_rows for text in texts]))
    return [[next(readings) for _ in texts] for texts in texts_of_rows]


def _next(waiting: Waiting) -> list[str]:
    """Return the texts of a row that are embedded next."""
    return waiting.texts[waiting.start : waiting.start + PARTS]


def _alike(waiting: list[Waiting]) -> list[Waiting]:
    """Return the first of them, and those nearest to it in length: at most BATCH texts, of MUCH characters together."""
    waiting = sorted(waiting, key=lambda queued: abs(queued.size - waiting[0].size))[:BATCH]
    texts_of_rows = list(map(_next, waiting))
    counts = accumulate(map(len, texts_of_rows))
    sizes = accumulate(sum(map(len, texts)) for texts in texts_of_rows)
    small = [count <= BATCH and size <= MUCH for count, size in zip(counts, sizes, strict=True)]
    return list(compress(waiting, small)) or waiting[:1]
