"""Chooses, loads and loses embedders: which one answers, and why none does."""

import logging
import threading
from collections.abc import Callable

from memory_server.call import deadline
from memory_server.domain.embedding import Space
from memory_server.embedding import Embedder
from memory_server.errors import MemoryServerError, Problem, Unreachable
from memory_server.services.meaning import Answering, Unanswered, name
from memory_server.storage.database import Database
from memory_server.storage.vectors import KnownSpace

logger = logging.getLogger(__name__)

PATIENCE = 2.0
"""Seconds that a search waits for the embedder: while the server warms up, which takes the bundled model about 0.5 s,
and for an endpoint that embeds the question. A store waits as long for the endpoint."""

LOADING = Problem("the embedder is still loading")


class Embedders:
    """The embedders that this process has loaded.

    `choose` gives the embedder that this process wants, knowing the file's spaces; `load` gives the
    embedder of a space that the file has, or raises Unavailable where it is not installed.

    An embedder that raises Unreachable is lost: it is not asked again until it is loaded anew, because another process
    may have brought it back, or another model in its place. `on_loss` is called then.
    """

    def __init__(
        self,
        database: Database,
        choose: Callable[[list[Space]], Embedder],
        load: Callable[[Space], Embedder],
        on_loss: Callable[[], None],
    ) -> None:
        self.last: Answering | None = None
        """The space that answered last."""
        self.wanted: Space | None = None
        """The space of the embedder that this process wants, while that is loaded."""
        self.problem = LOADING
        """The reason why that is not loaded."""
        self._database = database
        self._choose = choose
        self._load = load
        self._on_loss = on_loss
        self._loaded: dict[str, Embedder | Problem] = {}
        self._changing = threading.Lock()
        self._give_up = False
        self._failed_a_call = False

    @property
    def are_to_load(self) -> bool:
        """True if the wanted embedder is not loaded, and may be had."""
        return self.wanted is None and not self._give_up

    def load_wanted(self) -> None:
        """Load the embedder and give it its space.

        Raises:
            Unreachable: it does not answer now. One that cannot be loaded stays away, and `problem` says why.
        """
        try:
            spaces = [known_space.space for known_space in self._spaces()]
            self._give_up = True
            embedder = self._choose(spaces)
            self._give_up = False
            self._refuse_slow(embedder)
            if not self._database.read_only:
                self._open(embedder.space, spaces)
            self._loaded = {
                key: loaded for key, loaded in self._loaded.items() if not isinstance(loaded, Problem)
            }
            if spaces and spaces[0] != embedder.space:
                self._embedder_of(spaces[0])
            with self._changing:
                self._loaded[embedder.space.fingerprint] = embedder
                self.wanted = embedder.space
        except Unreachable as error:
            self._give_up = False
            self.problem = error.problem
            raise
        except MemoryServerError as error:
            self.problem = error.problem
            logger.error("no embedder: %s", error)
        except Exception as error:
            self.problem = Problem(f"the embedder cannot be loaded ({type(error).__name__}: {error})")
            raise

    def answering(self) -> Answering | Unanswered:
        """Return the first space in use whose embedder is here, as the file says now."""
        if self.wanted is None:
            return Unanswered(self.problem)
        spaces = self._spaces()
        self.last = None
        problem = Problem("the file has no embeddings yet")
        for known_space in spaces:
            embedder = self._embedder_of(known_space.space)
            if not isinstance(embedder, Problem):
                self.last = Answering(known_space.id, embedder)
                return self.last
            problem = embedder
        return Unanswered(problem)

    def of_spaces(self) -> list[tuple[KnownSpace, Embedder]]:
        """Return the spaces of the file whose embedder is loaded, each with it."""
        pairs = [(space, self._loaded.get(space.space.fingerprint)) for space in self._spaces()]
        return [(space, loaded) for space, loaded in pairs if loaded and not isinstance(loaded, Problem)]

    def lose(self, embedder: Embedder, problem: Problem, *, in_a_call: bool = False) -> None:
        """Stop asking an embedder that does not answer, until it is loaded anew; `in_a_call`: somebody waited."""
        self._failed_a_call |= in_a_call
        with self._changing:
            if self.last is not None and self.last.embedder is embedder:
                self.last = None
            if self._loaded.get(embedder.space.fingerprint) is not embedder:
                return  # it was lost before, and perhaps there is another one now
            self._loaded[embedder.space.fingerprint] = problem
            if embedder.space == self.wanted:
                self.wanted, self.problem = None, problem
        logger.warning("%s is not asked for now: %s", name(embedder.space), problem.text)
        self._on_loss()

    def _spaces(self) -> list[KnownSpace]:
        with self._database.read() as tx:
            return tx.spaces.select()

    def _refuse_slow(self, embedder: Embedder) -> None:
        """After it failed a call, an embedder must show that it is fast enough: else each call would wait in vain."""
        if self._failed_a_call:
            with deadline.within(PATIENCE):
                embedder.embed_questions(["ready"])
            self._failed_a_call = False

    def _open(self, space: Space, spaces: list[Space]) -> None:
        """Give the embedder its space, and abandon a switch of embedders that no process continues."""
        if space not in spaces:
            with self._database.write() as tx:
                tx.spaces.open(space)
        elif len(spaces) > 1 and spaces[0] == space:
            with self._database.write() as tx:
                tx.spaces.abandon()

    def _embedder_of(self, space: Space) -> Embedder | Problem:
        """Return the embedder of a space, loaded once at need; or why it cannot be had here."""
        if space.fingerprint not in self._loaded:
            try:
                self._loaded[space.fingerprint] = self._load(space)
            except MemoryServerError as error:
                text = f"the file's embeddings are of {name(space)}, which cannot be loaded here: {error}"
                logger.error("%s", text)
                self._loaded[space.fingerprint] = Problem(text, error.problem.hints)
        return self._loaded[space.fingerprint]
