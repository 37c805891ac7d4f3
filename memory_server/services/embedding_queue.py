"""Answers calls with the vectors of their texts, in time; what is not embedded at once waits for the background."""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TypeVar

import numpy as np

from memory_server.call import deadline
from memory_server.domain.embedding import Reading, Space
from memory_server.embedding import Embedder, read_documents, read_questions
from memory_server.errors import Problem, Unreachable
from memory_server.language.tokens import estimate
from memory_server.services.answering import LOADING, PATIENCE, Embedders
from memory_server.services.coverage import Coverage, coverage_in
from memory_server.services.filling import QueueFilling
from memory_server.services.meaning import Answering, Fresh, Meaning, Unanswered, tokens_of
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx

Answer = TypeVar("Answer")

AT_ONCE = 200
"""Tokens of what is embedded before it is stored: about 40 ms on two quiet cores. Longer texts are queued."""

FAIR = 0.5
"""Seconds that an endpoint must have had before its silence counts as a failure."""

WITHOUT = Problem("meaning was not asked for")
"""Why no embedder answers where a caller wants words alone."""


class EmbeddingQueue:
    """Embeds the texts of calls where that is quick, and knows which embedder answers.

    `choose` and `load` are those of `Embedders`. `filled` is set when there is something new in the queue. An embedder
    that does not answer is not asked again by searches and stores, which say why and go on without it, until `work` has
    loaded it anew.
    """

    def __init__(
        self,
        database: Database,
        choose: Callable[[list[Space]], Embedder],
        load: Callable[[Space], Embedder],
        clock: Callable[[], datetime],
    ) -> None:
        self.filled = threading.Event()
        self.database = database
        self._embedders = Embedders(database, choose, load, self.filled.set)
        self._filling = QueueFilling(database, self._embedders, clock)
        self.stop, self.release = self._filling.stop, self._filling.release
        self.embedded = self._filling.embedded
        self._ready = threading.Event()
        self._waited = False

    def work(self) -> None:
        """Load the embedder, once and after it was lost, and embed what waits.

        Raises:
            Unreachable: it does not answer now.
        """
        if self._embedders.are_to_load:
            try:
                self._embedders.load_wanted()
                self._embedders.answering()  # from now on stores embed their own text
                self._filling.embed_first()
            finally:
                self._ready.set()
        self.drain()

    def follow(self) -> None:
        """Load the embedder, once and after it was lost, and read what searches need: another process embeds.

        Raises:
            Unreachable: it does not answer now.
        """
        try:
            if self._embedders.are_to_load:
                self._embedders.load_wanted()
            self._embedders.answering()
            for known_space, _ in self._embedders.of_spaces():
                self._filling.prepare(known_space)
        finally:
            self._ready.set()

    def drain(self) -> None:
        """Embed all that waits in every space whose embedder is here; complete spaces become active."""
        if self._embedders.wanted is not None and not self.database.read_only:
            self.answering(anew=True)
            self._filling.drain()

    def warm_up(self) -> None:
        """Load the embedder and give it its space, for programs without background work.

        While the database cannot be opened this can be called again; an embedder that cannot be loaded stays away.
        """
        try:
            with suppress(Unreachable):
                self._embedders.load_wanted()
        finally:
            self._ready.set()

    def go_without(self) -> None:
        """Load no embedder: words alone answer, at once."""
        self._embedders.problem = WITHOUT
        self._ready.set()

    def wake(self) -> None:
        """Signal that the queue has new texts."""
        self.filled.set()

    @property
    def knows_meaning(self) -> bool:
        """True if an embedder that knows meaning, not spelling alone, answers already: then no call waits for it."""
        last = self._embedders.last
        return last is not None and not last.embedder.space.lexical

    def answering(self, *, anew: bool = False) -> Answering | Unanswered:
        """Return the space that answers a search now, or why none does. Waits a moment while the server warms up.

        It is the space that answered last; with `anew`, the one that the file names now. The last one is enough:
        a transaction checks that the space is in use still, and `work` looks often.
        """
        self._wait()
        if self._embedders.last is not None and not anew:
            return self._embedders.last
        if not self._ready.is_set():
            return Unanswered(LOADING)
        return self._embedders.answering()

    def coverage(self) -> Coverage:
        """Return the progress of the embeddings of the answering space."""
        answering = self.answering(anew=True)
        with self.database.read() as tx:
            return coverage_in(tx, answering)

    def read(self, texts: Sequence[str], ask: Callable[[Tx, Meaning | Unanswered], Answer]) -> Answer:
        """Read the file once: `ask` gets the transaction and the vectors of the questions, or why there are none.

        The questions are embedded before the transaction, and once more where their space has been retired meanwhile.
        """
        ends = time.monotonic() + PATIENCE
        for anew in (False, True):
            meaning = self.meaning(texts, anew, max(FAIR, ends - time.monotonic()))
            with self.database.read() as tx:
                if anew or isinstance(meaning, Unanswered) or tx.spaces.in_use(meaning.space_id):
                    return ask(tx, meaning)
        raise AssertionError("the second try always answers")

    def meaning(self, texts: Sequence[str], anew: bool, seconds: float) -> Meaning | Unanswered:
        """Return the vectors of questions in the space that answers, in so many seconds; `anew` as for `answering`."""
        waited = self._wait()
        answering = self.answering(anew=anew)
        if isinstance(answering, Unanswered):
            return answering
        embedder = answering.embedder
        readings: list[Reading] | Problem = []
        if texts:
            readings = self.embed_in_time(embedder, lambda: read_questions(embedder, texts), seconds - waited)
        if isinstance(readings, Problem):
            return Unanswered(readings)
        vectors = tuple(reading.vector for reading in readings)
        return Meaning(answering.space_id, embedder.space, vectors, tokens_of(readings))

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
                self._embedders.lose(embedder, error.problem, in_a_call=True)
            return error.problem

    def embed_now(self, *texts: str) -> Fresh | None:
        """Return the vectors of texts about to be stored. None where that would take long or the embedder is not ready.

        They are of the space that answered last. A space that has been retired since takes no vector.
        """
        answering = self._embedders.last
        if answering is None or sum(map(estimate, texts)) > AT_ONCE:
            return None
        embedder = answering.embedder
        readings = self.embed_in_time(embedder, lambda: read_documents(embedder, texts))
        if isinstance(readings, Problem):
            return None
        arrays = tuple(np.asarray(reading.vector, dtype=np.float32) for reading in readings)
        return Fresh(answering.space_id, embedder.space, texts, arrays, tokens_of(readings))

    def _wait(self) -> float:
        """Wait a moment while the server warms up; return the seconds that it took."""
        began = time.monotonic()
        # Once is enough where it is in vain: an endpoint may take a minute.
        seconds = 0.0 if self._waited else deadline.left(PATIENCE)
        if not self._ready.wait(seconds) and seconds == PATIENCE:
            self._waited = True
        return time.monotonic() - began
