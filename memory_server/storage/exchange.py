"""Export and import: what each store does in its own way."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from memory_server.domain.embedding import Embedded
from memory_server.domain.exchange.records import SpaceRecord
from memory_server.storage.record_rows import Vectors

Result = TypeVar("Result")


class WholeRows(Protocol):
    """Writes rows with their ids and their moments. The rules of the tables decide what fits."""


class WritableWholeRows(WholeRows, Protocol):
    """Methods that write; available in `WriteTx`."""

    def attempt(self, take: Callable[[], Result]) -> Result | str:
        """Write one item; where a rule of the database refuses it, write nothing of it and return the rule."""
        ...

    def insert(self, table: str, row: Mapping[str, Any], id: int | None = None) -> int:
        """Insert a row and index its words; return its id: this one, if no row of the table ever had that or a later
        one, else the next."""
        ...

    def update(self, table: str, id: int, row: Mapping[str, Any]) -> None:
        """Give a row these values; index its words anew if all its texts that are indexed are among them."""
        ...


class ExchangedVectors(Protocol):
    """The vectors of items as text: for exports that bring their embeddings along."""

    def of_memories(self, ids: Sequence[int]) -> Vectors: ...

    def of_turns(self, ids: Sequence[int]) -> Vectors: ...

    def of_facts(self, ids: Sequence[int]) -> Vectors: ...

    def of_short_term(self, ids: Sequence[int]) -> Vectors: ...

    def spaces(self) -> Iterator[SpaceRecord]:
        """The models in use, by their fingerprint."""
        ...


class WritableExchangedVectors(ExchangedVectors, Protocol):
    """The same in a transaction that writes."""

    def open_space(self, record: SpaceRecord) -> None:
        """Take a model over where none is in use yet: the server goes on with it, or changes to its own."""
        ...

    def keep(
        self, kind: Embedded, id: int, texts: Sequence[str], vectors: Mapping[str, Sequence[str]]
    ) -> None:
        """Keep what fits the models that this database uses. What does not stays in the queue."""
        ...
