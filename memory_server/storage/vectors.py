"""The vectors of texts, and the queue of what waits for them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from memory_server.domain import fact_text, parts
from memory_server.domain.embedding import Embedded, Space, Vector
from memory_server.domain.fact import FactFilter
from memory_server.domain.memory import Filter
from memory_server.domain.short_term import SaidFilter


@dataclass(frozen=True, slots=True)
class Effort:
    """The work of a search by meaning: up to `exact` candidates every vector is compared; beyond, their signs choose
    `chosen` of them, or `times` the limit of the search where that is more.

    A file chooses in two steps: `signed` times as many by the number of signs that differ, of these by the product of
    the signs with the numbers of the question. To read a vector takes 6 µs, or 12 in a million memories; to look at the
    signs of one 0.3 µs. `newest`: of facts, turns and short-term memories only so many of the newest are compared.
    """

    exact: int
    chosen: int
    times: int
    signed: int = 6
    newest: int | None = None

    def by_product(self, limit: int) -> int:
        """Return how many vectors are read for a search of `limit` texts."""
        return max(self.chosen, self.times * limit)

    def by_signs(self, limit: int) -> int:
        """Return how many of the nearest by different signs are looked at more closely."""
        return self.signed * self.by_product(limit)


SEARCHING = Effort(exact=5_000, chosen=400, times=8)


STORING = Effort(exact=100, chosen=100, times=10, newest=100)
"""Among 6,000 notes and lines of dialogues a hundred hold the nearest text for 99.8 %, and 98 % of the nearest ten."""


MOST_OF_A_PERIOD = 1_000
"""Memories of a period that are compared: 6 ms."""


def best_cosines(cosines: Iterable[tuple[int, float | None]], limit: int) -> dict[int, float]:
    """Keep the greatest cosine of each text, best first, of equal ones the newer text first; at most `limit` texts.

    A cosine is None where a vector has no length or is damaged; such a text is left out.
    """
    best: dict[int, float] = {}
    for id, cosine in cosines:
        if cosine is not None:
            best[id] = max(cosine, best.get(id, cosine))
    return dict(sorted(best.items(), key=lambda pair: (-pair[1], -pair[0]))[:limit])


TextFilter: TypeAlias = Filter | FactFilter | SaidFilter
"""The filter of a search: memories and turns, facts, and short-term memories each have their own."""


@dataclass(frozen=True, slots=True)
class VectorSource:
    """A table of vectors; `joined` is its rows AS e with those of their texts AS m, and `id` the id of a text in it."""

    table: str
    joined: str
    id: str


@dataclass(frozen=True, slots=True)
class TextTables:
    """The table of a kind of texts, and the tables of their words, their vectors and their queue.

    `text` and `moment`, when the text was said, are expressions on the table AS m; `id` is the column of the text's id
    in the other tables. `embedded` has the expressions that are embedded, each with the table of its vectors; they are
    made of `columns`.
    """

    source: str
    words: str
    text: str
    id: str
    embedded: Mapping[str, str]
    queue: str
    moment: str
    columns: tuple[str, ...]

    @property
    def first(self) -> str:
        """The table of the vectors of the first text."""
        return next(iter(self.embedded.values()))

    @property
    def vectors(self) -> list[VectorSource]:
        return [
            VectorSource(table, f"{table} AS e JOIN {self.source} AS m ON m.id = e.{self.id}", f"e.{self.id}")
            for table in self.embedded.values()
        ]


_SAID = "coalesce(m.occurred_at, m.created_at)"
_TURN = "m.summary || '\n' || m.message"
_FACT = "m.key || '\n' || m.value"

TABLES: Final = {
    Embedded.MEMORIES: TextTables(
        "memories",
        "memory_words",
        "m.content",
        "memory_id",
        {"m.content": "embeddings"},
        "embedding_queue",
        _SAID,
        ("content",),
    ),
    Embedded.TURNS: TextTables(
        "turns",
        "turn_words",
        _TURN,
        "turn_id",
        {"m.summary": "turn_embeddings", "m.message": "turn_message_embeddings"},
        "turn_embedding_queue",
        _SAID,
        ("summary", "message"),
    ),
    Embedded.FACTS: TextTables(
        "facts",
        "fact_words",
        _FACT,
        "fact_id",
        {_FACT: "fact_embeddings"},
        "fact_embedding_queue",
        "m.updated_at",
        ("key", "value"),
    ),
    Embedded.SHORT_TERM: TextTables(
        "short_term_memories",
        "short_term_words",
        "m.text",
        "memory_id",
        {"m.text": "short_term_embeddings"},
        "short_term_embedding_queue",
        "m.said_at",
        ("text",),
    ),
}

PARTS: Final = VectorSource(
    "part_embeddings",
    "part_embeddings AS e JOIN memory_parts AS p ON p.id = e.part_id JOIN memories AS m ON m.id = p.memory_id",
    "e.part_id",
)
"""The vectors of the parts of long memories, after the first."""

BY_SPACE: Final = [
    PARTS.table,
    *(table for tables in TABLES.values() for table in (*tables.embedded.values(), tables.queue)),
]
"""The tables with the vectors and the queues of a space."""


@dataclass(frozen=True, slots=True)
class KnownSpace:
    """A space as the database knows it; `state` is building, active or retired."""

    id: int
    state: str
    space: Space


@dataclass(frozen=True, slots=True)
class Waiting:
    """A row whose embedding is not complete, with the bytes of the texts that it has now.

    `start` is the number of the first text that has no vector: a process may have kept some parts of a long memory.
    """

    kind: Embedded
    id: int
    contents: tuple[bytes, ...]
    start: int = 0

    @classmethod
    def of_row(cls, kind: Embedded, id: int, texts: Sequence[bytes], start: int = 0) -> "Waiting":
        """Read the texts of the columns of a row: the key and the value of a fact are embedded as one text."""
        contents = tuple(map(bytes, texts))
        return cls(kind, id, (b"\n".join(contents),) if kind is Embedded.FACTS else contents, start)

    @property
    def size(self) -> int:
        """Bytes of its texts."""
        return sum(map(len, self.contents))

    @property
    def texts(self) -> list[str]:
        """Return the texts to embed: the parts of a memory, the summary and the message of a turn.

        Bytes that are not UTF-8 are replaced by marks, and the text around them is embedded.
        """
        texts = [content.decode(errors="replace") for content in self.contents]
        match self.kind:
            case Embedded.MEMORIES:
                return parts.split(texts[0])
            case Embedded.FACTS:
                return [fact_text.of_row(texts[0])]
            case _:
                return texts


def first_missing(kind: Embedded, space_id: str) -> str:
    """Return the SQL of `Waiting.start` of a row AS m: 0 where all texts have vectors, for those are older then."""
    if kind is not Embedded.MEMORIES:
        return "0"
    return f"""
        coalesce((
            SELECT min(p.id) >> {parts.NUMBERED}
            FROM embeddings AS e
            JOIN memory_parts AS p ON p.memory_id = e.memory_id
            WHERE e.space_id = {space_id} AND e.memory_id = m.id AND NOT EXISTS (
                SELECT 1 FROM part_embeddings AS v WHERE v.space_id = e.space_id AND v.part_id = p.id
            )
        ), 0)
    """


class Embeddings(Protocol):
    """The vectors of texts, the bits that searches scan, and the queue of what is still to embed."""

    def nearest(
        self,
        kind: Embedded,
        space_id: int,
        query: Vector,
        filter: TextFilter,
        limit: int,
        effort: Effort = SEARCHING,
    ) -> dict[int, float]:
        """Return the texts nearest in meaning, best first, as cosines (from -1 to 1) by id; parts of long texts too.

        `query` has the shape (dimensions,). A turn has the cosine of its summary or of its message, whichever is
        nearer.
        """
        ...

    def prepare(self, space: KnownSpace) -> bool:
        """Read a piece of what makes later searches in a space quicker; true while there is more to read."""
        ...

    def nearest_within(
        self, space_id: int, query: Vector, filter: Filter, since: str, until: str, limit: int
    ) -> dict[int, float]:
        """Return the memories nearest in meaning, as `nearest`, of the newest MOST_OF_A_PERIOD that occurred at or
        after `since` and before `until`. An index finds them: moments that no server wrote are not seen.
        """
        ...

    def cosines(self, space_id: int, query: Vector, ids: Sequence[int]) -> dict[int, float]:
        """Return the cosine of each of these memories that has an embedding, by id."""
        ...

    def vectors_of(
        self, space_id: int, ids: Sequence[int], kind: Embedded = Embedded.MEMORIES
    ) -> dict[int, Vector]:
        """Return the vector of each of these texts that has one, of shape (dimensions,), by id; of a turn that of its
        summary.
        """
        ...


class WritableEmbeddings(Embeddings, Protocol):
    def make_index(self, dimensions: int) -> None:
        """Make the index of vectors with so many dimensions, where the store has one."""
        ...

    def delete_all(self, space_id: int) -> None:
        """Delete the vectors of a space that is to be retired, and its queue."""
        ...

    def insert(self, space_id: int, embedded: Waiting, vectors: Sequence[Vector]) -> bool:
        """Store the vectors of a row's texts from `embedded.start` on; the row waits on while later texts have none.

        False where a text was deleted or changed by now, the space retired, or the first missing vector is another.
        """
        ...

    def keep(
        self, space_id: int, kind: Embedded, id: int, texts: Sequence[str], vectors: Sequence[Vector]
    ) -> None:
        """Store the vectors of texts that were embedded before their row was stored, unless its texts differ by now."""
        ...
