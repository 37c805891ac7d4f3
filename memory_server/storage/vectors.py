"""Spaces of embeddings, vectors, and the queue of what waits for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from memory_server.domain import fact_text, parts
from memory_server.domain.embedding import Embedded, Space, Vector
from memory_server.domain.fact import FactFilter
from memory_server.domain.memory import Filter
from memory_server.domain.short_term import SaidFilter


@dataclass(frozen=True, slots=True)
class Effort:
    """Up to `exact` candidates every vector is compared; beyond, bits choose `chosen`, or `times` as many as wanted.

    To read a vector takes 6 µs, or 12 in a million memories.
    """

    exact: int
    chosen: int
    times: int


SEARCHING = Effort(exact=5_000, chosen=400, times=8)


STORING = Effort(exact=100, chosen=100, times=10)
"""Among 6,000 notes and lines of dialogues a hundred hold the nearest text for 99.8 %, and 98 % of the nearest ten."""


Wanted: TypeAlias = Filter | FactFilter | SaidFilter
"""Which texts of a kind a search wants: each kind has its own filter."""


@dataclass(frozen=True, slots=True)
class KnownSpace:
    """A space as the database knows it; `state` is building, active or retired."""

    id: int
    state: str
    space: Space


@dataclass(frozen=True, slots=True)
class Waiting:
    """What has no embedding yet, with the bytes of the texts that it has now."""

    kind: Embedded
    id: int
    contents: tuple[bytes, ...]

    @property
    def size(self) -> int:
        """Bytes of its texts."""
        return sum(map(len, self.contents))

    @property
    def texts(self) -> list[str]:
        """What is embedded: the parts of a memory, the summary and the message of a turn.

        What is no UTF-8 is replaced by marks: the rest of the text is embedded all the same.
        """
        texts = [content.decode(errors="replace") for content in self.contents]
        match self.kind:
            case Embedded.MEMORIES:
                return parts.split(texts[0])
            case Embedded.FACTS:
                return [fact_text.of_row(texts[0])]
            case _:
                return texts


class Embeddings(Protocol):
    """The spaces, their vectors, the bits that searches scan, and the queue of what is still to embed."""

    def spaces(self) -> list[KnownSpace]:
        """Every space that is in use, the active one first."""
        ...

    def in_use(self, space_id: int) -> bool:
        """Whether a space is there still."""
        ...

    def waiting(self, space_id: int, kind: Embedded, limit: int) -> list[Waiting]:
        """What waits for its embedding, oldest first."""
        ...

    def count_waiting(self, space_id: int, *kinds: Embedded) -> int:
        """How many wait: of these kinds, or of all."""
        ...

    def count_embedded(self, space_id: int, project: str | None = None) -> int:
        """How many memories of a project ('' is none) or of all have an embedding: those that do not wait for it."""
        ...

    def nearest(
        self,
        kind: Embedded,
        space_id: int,
        query: Vector,
        wanted: Wanted,
        limit: int,
        effort: Effort = SEARCHING,
    ) -> dict[int, float]:
        """The texts nearest in meaning, best first, each with its cosine (from -1 to 1); parts of long texts among
        them.

        Of a turn its summary or its message counts, whichever is nearer.
        """
        ...

    def cosines(self, space_id: int, query: Vector, ids: Sequence[int]) -> dict[int, float]:
        """The cosine of each of these memories that has an embedding."""
        ...

    def vector_of(self, space_id: int, id: int) -> Vector | None:
        """The vector of a memory, of shape (dimensions,); None where it has none yet."""
        ...

    def vectors_of(self, space_id: int, ids: Sequence[int]) -> dict[int, Vector]:
        """The same of each of these memories that has one."""
        ...


class WritableEmbeddings(Embeddings, Protocol):
    """The same in a transaction that writes."""

    def open_space(self, space: Space) -> KnownSpace:
        """The space in use with this fingerprint, opened and all memories queued for it where it is not.

        The first space is active at once; a later one is building until `activate`.
        """
        ...

    def activate(self, id: int) -> None:
        """Let searches use this space from now on; the vectors of the one before it go."""
        ...

    def lease(self, id: int, holder: str, until: str) -> bool:
        """Take or renew the right to fill a space; false while another process holds it.

        A lease that ends later than `until` was taken before the clock was set back, and counts as ended.
        """
        ...

    def release(self, id: int, holder: str) -> None:
        """Another process may go on at once."""
        ...

    def abandon(self) -> None:
        """Retire the spaces that are building while nobody fills them: what is left of a change that was broken off."""
        ...

    def insert(self, space_id: int, embedded: Waiting, vectors: Sequence[Vector]) -> bool:
        """Keep the vectors of its texts; false where one was deleted or changed, or the space retired by now."""
        ...

    def keep(
        self, space_id: int, kind: Embedded, id: int, texts: Sequence[str], vectors: Sequence[Vector]
    ) -> None:
        """Keep the vectors of texts that were embedded before they were stored, unless others were stored."""
        ...
