"""Tokens of memories come and go with the embeddings, and a search reads its candidates by them."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from memory_server.domain import fact_text, parts
from memory_server.domain.caller import Caller
from memory_server.domain.embedding import TOKEN_DIMENSIONS, Embedded, Reading, Tokens
from memory_server.domain.fact import FactDraft, Scope
from memory_server.domain.memory import Filter, MemoryDraft, MemoryId, MemoryType
from memory_server.domain.turn import TurnDraft
from memory_server.embedding import Embedder
from memory_server.embedding.hashing import HashingEmbedder
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.facts import FactService
from memory_server.services.filling import BATCH, PARTS
from memory_server.services.memories import MemoryService
from memory_server.services.recall import RecallService, RecallWish
from memory_server.services.search import SearchService
from memory_server.services.turns import TurnService
from memory_server.storage.database import Database
from memory_server.storage.vectors import Waiting
from tests.conftest import Clock

Queue = Callable[[Embedder], EmbeddingQueue]


class ReadingEmbedder(HashingEmbedder):
    """Each word has a direction of its own."""

    def __init__(self, reads_tokens: bool = True) -> None:
        super().__init__()
        self.reads_tokens = reads_tokens
        self.read: list[str] = []

    def read_questions(self, texts: Sequence[str]) -> list[Reading]:
        vectors = self.embed_questions(texts)
        return [Reading(vector, self._tokens(text)) for vector, text in zip(vectors, texts, strict=True)]

    def read_documents(self, texts: Sequence[str]) -> list[Reading]:
        self.read += texts
        vectors = self.embed_documents(texts)
        return [Reading(vector, self._tokens(text)) for vector, text in zip(vectors, texts, strict=True)]

    def _tokens(self, text: str) -> Tokens | None:
        return of_words(text) if self.reads_tokens else None


def of_words(text: str) -> Tokens:
    words = text.lower().strip("?.").split()
    tokens = np.zeros((len(words), TOKEN_DIMENSIONS), np.int8)
    tokens[range(len(words)), [sum(word.encode()) % TOKEN_DIMENSIONS for word in words]] = 127
    return tokens


@pytest.fixture
def queue_of(database: Database, clock: Clock) -> Queue:
    def make(embedder: Embedder) -> EmbeddingQueue:
        queue = EmbeddingQueue(database, lambda _: embedder, lambda _: embedder, clock)
        queue.work()
        return queue

    return make


def services(
    database: Database, queue: EmbeddingQueue, segmenter: JiebaSegmenter
) -> tuple[MemoryService, SearchService]:
    return MemoryService(database, queue, segmenter), SearchService(database, queue)


def stored(database: Database) -> dict[int, Tokens]:
    """The tokens that the database keeps, by the ids of memories and parts."""
    with database.read() as tx:
        ids = [parts.id_of(id, number) for id in range(1, 100) for number in range(9)]
        return tx.token_vectors.select(tx.spaces.select()[0].id, Embedded.MEMORIES, ids)


def stored_of(database: Database, kind: Embedded) -> dict[int, Tokens]:
    with database.read() as tx:
        return tx.token_vectors.select(tx.spaces.select()[0].id, kind, range(1, 100))


def draft(text: str) -> MemoryDraft:
    return MemoryDraft(text, MemoryType.OBSERVATION)


def test_a_store_keeps_the_tokens_of_the_run_that_embeds_the_text(
    database: Database, queue_of: Queue, segmenter: JiebaSegmenter
) -> None:
    embedder = ReadingEmbedder()
    memories, _ = services(database, queue_of(embedder), segmenter)
    id = memories.store(draft("the lamp burns"), None, Caller()).memory.id
    assert embedder.read == ["the lamp burns"]
    assert np.array_equal(stored(database)[id], of_words("the lamp burns"))


def test_tokens_go_with_the_embedding_when_the_text_changes_and_when_it_is_deleted(
    database: Database, queue_of: Queue, segmenter: JiebaSegmenter
) -> None:
    queue = queue_of(ReadingEmbedder())
    memories, _ = services(database, queue, segmenter)
    memory = memories.store(draft("the lamp burns"), None, Caller()).memory
    with database.write() as tx:  # as if by hand
        tx.memories.replace(memory, replace(memory, content="the lamp is out"), "rewritten")
    assert stored(database) == {}
    queue.drain()
    assert np.array_equal(stored(database)[memory.id], of_words("the lamp is out"))
    memories.forget(memory.id, True, Caller())
    assert stored(database) == {}


def test_each_part_of_a_long_memory_has_its_tokens(
    database: Database, queue_of: Queue, segmenter: JiebaSegmenter
) -> None:
    queue = queue_of(ReadingEmbedder())
    memories, _ = services(database, queue, segmenter)
    text = " ".join(f"lamp {number}" for number in range(1_200))
    id = memories.store(draft(text), None, Caller()).memory.id
    queue.drain()
    texts = parts.split(text)
    assert len(texts) > PARTS
    assert set(stored(database)) == {parts.id_of(id, number) for number in range(len(texts))}
    for number, of_part in enumerate(texts):
        assert np.array_equal(stored(database)[parts.id_of(id, number)], of_words(of_part))
    memories.forget(id, False, Caller())
    assert stored(database) == {}


def test_memories_that_were_embedded_without_tokens_get_them_later(
    database: Database, queue_of: Queue, segmenter: JiebaSegmenter
) -> None:
    memories, _ = services(database, queue_of(ReadingEmbedder(reads_tokens=False)), segmenter)
    texts = [f"lamp number {number}" for number in range(BATCH + 1)]
    for text in texts:
        memories.store(draft(text), None, Caller())
    assert stored(database) == {}
    later = ReadingEmbedder()
    queue = queue_of(later)
    assert len(stored(database)) == len(texts)
    queue.drain()
    assert sorted(later.read) == sorted(texts), "each is read once"


def test_where_tokens_are_off_none_are_kept_and_none_are_read(
    database: Database, queue_of: Queue, segmenter: JiebaSegmenter
) -> None:
    queue = queue_of(ReadingEmbedder(reads_tokens=False))
    memories, search = services(database, queue, segmenter)
    memories.store(draft("the lamp burns"), None, Caller())
    queue.drain()
    assert stored(database) == {}
    assert search.search("lamp", Filter(), 5, "hybrid", caller=Caller()).hits


def test_among_equal_candidates_the_one_that_holds_the_rare_token_comes_first(
    database: Database, queue_of: Queue, segmenter: JiebaSegmenter
) -> None:
    """Neither words nor meaning tell them apart: only the tokens do."""
    queue = queue_of(ReadingEmbedder())
    memories, search = services(database, queue, segmenter)
    ids = [memories.store(draft(f"lamp {word}"), None, Caller()).memory.id for word in ("abc", "cab", "bca")]

    def first() -> MemoryId:
        return search.search("lamp", Filter(), 3, "hybrid", caller=Caller()).hits[0].memory.id

    before = first()
    other = next(id for id in ids if id != before)
    with database.write() as tx:
        space = tx.spaces.select()[0].id
        for id in ids:
            read = Waiting(Embedded.MEMORIES, id, (tx.memories.get(id).content.encode(),))
            tx.token_vectors.insert(space, read, [of_words("lamp" if id == other else "night")])
    assert first() == other


def test_a_turn_has_the_tokens_of_its_message_and_of_a_summary_that_says_more(
    database: Database, queue_of: Queue
) -> None:
    queue = queue_of(ReadingEmbedder())
    turns = TurnService(database, queue, FactService(database))
    same = turns.register(TurnDraft("the lamp burns", "the lamp"), {}, Caller())
    more = turns.register(TurnDraft("it burns", "a lamp"), {}, Caller())
    tokens = stored_of(database, Embedded.TURNS)
    assert np.array_equal(tokens[same], of_words("the lamp burns"))
    assert np.array_equal(tokens[more], of_words("a lamp it burns"))
    turns.forget(more, False, Caller())
    assert set(stored_of(database, Embedded.TURNS)) == {same}
    turns.restore(more)
    queue.drain()
    assert np.array_equal(stored_of(database, Embedded.TURNS)[more], of_words("a lamp it burns"))


def test_a_fact_has_tokens_of_the_value_that_it_has_now(database: Database, queue_of: Queue) -> None:
    queue = queue_of(ReadingEmbedder())
    facts = FactService(database)
    for value in ("the lamp burns", "the lamp is out"):
        facts.write(FactDraft("lamp.state", value), Scope.GLOBAL, Caller())
        assert stored_of(database, Embedded.FACTS) == {}
        queue.drain()
        (tokens,) = stored_of(database, Embedded.FACTS).values()
        assert np.array_equal(tokens, of_words(fact_text.of("lamp.state", value)))


def test_turns_and_facts_that_were_embedded_without_tokens_get_them_later(
    database: Database, queue_of: Queue
) -> None:
    before = queue_of(ReadingEmbedder(reads_tokens=False))
    TurnService(database, before, FactService(database)).register(
        TurnDraft("the lamp burns", "lamp"), {"lamp.state": "burns"}, Caller()
    )
    before.drain()
    assert stored_of(database, Embedded.TURNS) == stored_of(database, Embedded.FACTS) == {}
    queue_of(ReadingEmbedder())
    assert len(stored_of(database, Embedded.TURNS)) == len(stored_of(database, Embedded.FACTS)) == 1


def test_recall_reads_turns_and_facts_by_their_tokens(database: Database, queue_of: Queue) -> None:
    """Neither words nor meaning tell them apart: only the tokens do."""
    queue = queue_of(ReadingEmbedder())
    facts = FactService(database)
    turns, recall = TurnService(database, queue, facts), RecallService(database, queue, None)
    ids = [
        turns.register(TurnDraft(f"Ann: lamp {word}", "lamp"), {}, Caller()) for word in ("abc", "cab", "bca")
    ]

    def first() -> str:
        return recall.find("lamp", RecallWish(), Caller()).hits[0].ref

    before = first()
    other = next(id for id in ids if before != f"t{id}")
    with database.write() as tx:
        space = tx.spaces.select()[0].id
        for turn in tx.turns.select(ids):
            texts = (turn.summary.encode(), turn.message.encode())
            read = Waiting(Embedded.TURNS, turn.id, texts)
            tx.token_vectors.insert(space, read, 2 * [of_words("lamp" if turn.id == other else "night")])
    assert first() == f"t{other}"
