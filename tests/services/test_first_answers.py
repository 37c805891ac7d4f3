"""The first answers of a session are as good as later ones: texts embed themselves, turns are found without a model."""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mcp import Client

from memory_server.domain.caller import Caller
from memory_server.domain.embedding import Space
from memory_server.domain.fact import FactDraft, Scope
from memory_server.domain.memory import Filter, MemoryChange, MemoryDraft, MemoryType, Stored
from memory_server.domain.message import Message
from memory_server.domain.short_term import Keyword
from memory_server.domain.turn import TurnDraft
from memory_server.embedding import Embedder
from memory_server.embedding.hashing import HashingEmbedder
from memory_server.errors import Unavailable
from memory_server.jobs import load_dictionary
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.nlp.keywords import JiebaKeywords
from memory_server.services import embedding_queue, filling, meaning
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.services.facts import FactService
from memory_server.services.memories import MemoryService
from memory_server.services.recall import NOT_FOUND, NOTHING, RecallService, RecallWish
from memory_server.services.search import SearchService
from memory_server.services.short_term import ShortTermService
from memory_server.services.turns import TurnService
from memory_server.sqlite.database import Database
from tests.conftest import PATIENCE, ROOT, Clock, Holder, Servers, Sqlite, call, eventually

CLAUDE = Caller("Claude", "s1")
SHORT = "The harbour opens at noon"
LONG = "The lighthouse keeper writes a very long letter about the weather. " * 60
"""More tokens than are embedded before a store."""


@pytest.fixture
def warm(queue: EmbeddingQueue) -> EmbeddingQueue:
    """As after the first round of the background work."""
    queue.work()
    return queue


@pytest.fixture
def memories(database: Database, warm: EmbeddingQueue, segmenter: JiebaSegmenter) -> MemoryService:
    return MemoryService(database, warm, segmenter)


@pytest.fixture
def search(database: Database, warm: EmbeddingQueue) -> SearchService:
    return SearchService(database, warm)


def store(memories: MemoryService, content: str) -> Stored:
    return memories.store(MemoryDraft(content, MemoryType.LEARNING), None, CLAUDE)


def waiting(database: Database) -> dict[str, list[int]]:
    """What waits for its embedding, by table."""
    with database.read() as tx:
        return {
            table: [id for (id,) in tx.rows(f"SELECT {id} FROM {table} ORDER BY 1")]
            for table, id in (("embedding_queue", "memory_id"), ("turn_embedding_queue", "turn_id"))
        }


def found(search: SearchService, text: str, mode: str) -> list[int]:
    return [hit.memory.id for hit in search.search(text, Filter(), 10, mode, caller=Caller()).hits]


# Embedded at once


def test_a_store_embeds_its_own_text(
    memories: MemoryService, search: SearchService, database: Database
) -> None:
    stored = store(memories, SHORT)
    assert not stored.embedding_queued
    assert waiting(database)["embedding_queue"] == []
    assert found(search, "harbours opening", "semantic") == [stored.memory.id]
    assert search.search("harbour", Filter(), 10, "hybrid", caller=Caller()).degraded == ()


def test_a_long_text_waits_in_the_queue_and_is_found_by_words_at_once_with_a_note(
    memories: MemoryService, search: SearchService, database: Database, warm: EmbeddingQueue
) -> None:
    warm.filled.clear()
    stored = store(memories, LONG)
    assert stored.embedding_queued
    assert warm.filled.is_set()
    assert waiting(database)["embedding_queue"] == [stored.memory.id]
    answer = search.search("lighthouse", Filter(), 10, "hybrid", caller=Caller())
    assert [hit.memory.id for hit in answer.hits] == [stored.memory.id]
    assert [problem.text for problem in answer.degraded] == [
        "1 of the memories is not embedded yet and was found by words only"
    ]
    recall = RecallService(database, warm, None)

    def note() -> str | None:
        return recall.recall("who repairs bicycles?", (), 400, RecallWish(), Caller()).note

    assert note() == NOT_FOUND
    warm.work()
    assert note() == NOTHING
    answer = search.search("lighthouse", Filter(), 10, "semantic", caller=Caller())
    assert ([hit.memory.id for hit in answer.hits], answer.degraded) == ([stored.memory.id], ())


def test_a_store_before_the_model_is_ready_waits_in_the_queue(
    database: Database, embedder: Embedder, segmenter: JiebaSegmenter, clock: Clock
) -> None:
    queue = EmbeddingQueue(database, lambda known: embedder, lambda space: embedder, clock)
    stored = store(MemoryService(database, queue, segmenter), SHORT)
    assert stored.embedding_queued
    queue.work()
    assert found(SearchService(database, queue), "harbours opening", "semantic") == [stored.memory.id]


def test_the_first_search_finds_by_meaning_what_was_stored_before_the_model_was_ready(
    tmp_path: Path, embedder: Embedder, segmenter: JiebaSegmenter, clock: Clock
) -> None:
    """It waits for the model, and for the few texts that are embedded first."""
    database = Database(tmp_path / "memory.db", clock)
    loaded = threading.Event()

    def choose(_: list[Space]) -> Embedder:
        loaded.wait(PATIENCE)
        return embedder

    queue = EmbeddingQueue(database, choose, lambda space: embedder, clock)
    memories, search = MemoryService(database, queue, segmenter), SearchService(database, queue)
    work = threading.Thread(target=queue.work)
    work.start()
    for number in range(filling.BATCH):
        stored = store(memories, f"{SHORT} {number * 7919}")
        assert stored.embedding_queued
    threading.Timer(0.1, loaded.set).start()
    answer = search.search("harbours opening", Filter(), 50, "semantic", caller=Caller())
    work.join()
    assert (len(answer.hits), answer.degraded) == (filling.BATCH, ())
    database.close()


def test_the_first_search_does_not_wait_for_what_waits_while_another_program_writes(
    tmp_path: Path, embedder: Embedder, segmenter: JiebaSegmenter, clock: Clock
) -> None:
    database = Database(tmp_path / "memory.db", clock)
    EmbeddingQueue(database, lambda known: embedder, lambda space: embedder, clock).warm_up()
    queue = EmbeddingQueue(database, lambda known: embedder, lambda space: embedder, clock)
    store(MemoryService(database, queue, segmenter), SHORT)
    with Holder(tmp_path / "memory.db", "UPDATE memories SET importance = 3"):
        work = threading.Thread(target=queue.work)
        work.start()
        answer = SearchService(database, queue, count_access=False).search(
            "harbour", Filter(), 10, "hybrid", caller=Caller()
        )
    work.join()
    assert [hit.memory.content for hit in answer.hits] == [SHORT]
    assert [problem.text for problem in answer.degraded] == [
        "1 of the memories is not embedded yet and was found by words only"
    ]
    assert waiting(database)["embedding_queue"] == []
    database.close()


def test_a_store_embeds_its_own_text_while_the_first_batch_is_being_embedded(
    tmp_path: Path,
    embedder: Embedder,
    segmenter: JiebaSegmenter,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    database = Database(tmp_path / "memory.db", clock)
    EmbeddingQueue(database, lambda known: embedder, lambda space: embedder, clock).warm_up()
    queue = EmbeddingQueue(database, lambda known: embedder, lambda space: embedder, clock)
    memories = MemoryService(database, queue, segmenter)
    assert store(memories, SHORT).embedding_queued
    embedding, stored = threading.Event(), threading.Event()
    embed = embedder.embed_documents

    def slowly(texts: list[str]) -> object:
        if texts == [SHORT]:
            embedding.set()
            stored.wait(PATIENCE)
        return embed(texts)

    monkeypatch.setattr(embedder, "embed_documents", slowly)
    work = threading.Thread(target=queue.work)
    work.start()
    embedding.wait(PATIENCE)
    queued = store(memories, "Orchids need little water").embedding_queued
    stored.set()
    work.join()
    assert not queued
    assert waiting(database)["embedding_queue"] == []
    database.close()


def test_an_update_embeds_its_own_text_and_keeps_the_vector_of_an_unchanged_one(
    memories: MemoryService, search: SearchService, database: Database
) -> None:
    id = store(memories, SHORT).memory.id
    memories.update(id, MemoryChange(content="Orchids need little water"), caller=Caller())
    assert waiting(database)["embedding_queue"] == []
    assert found(search, "orchid watering", "semantic") == [id]
    with database.read() as tx:
        before = tx.rows("SELECT vector FROM embeddings")
    memories.update(id, MemoryChange(importance=9, tags=("plants",)), caller=Caller())
    assert waiting(database)["embedding_queue"] == []
    with database.read() as tx:
        assert tx.rows("SELECT vector FROM embeddings") == before
    memories.update(id, MemoryChange(content=LONG), caller=Caller())
    assert waiting(database)["embedding_queue"] == [id]


def test_a_merged_text_is_never_found_by_the_vector_of_another(
    memories: MemoryService, database: Database, warm: EmbeddingQueue
) -> None:
    """A twin keeps the longer content, whichever was embedded."""
    store(memories, "We deploy the billing service on Fridays, after the lunch.")
    again = store(memories, "We deploy the billing service on Fridays after lunch")
    assert again.consolidated
    warm.work()
    with database.read() as tx:
        (space,) = tx.spaces.select()
        vector = tx.embeddings.vectors_of(space.id, [again.memory.id]).get(again.memory.id)
    (expected,) = HashingEmbedder().embed_documents([again.memory.content])
    assert vector is not None
    assert np.array_equal(vector, expected)


def test_a_store_says_that_it_waits_where_another_process_has_changed_the_embedder(
    memories: MemoryService, database: Database, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the embedding and the transaction."""
    now = memories.queue.embed_now

    def changed(queue: EmbeddingQueue, text: str) -> object:
        fresh = now(text)
        with database.write() as tx:
            other = Space(**{**vars_of(embedder.space), "model": "another", "fingerprint": "another"})
            tx.spaces.activate(tx.spaces.open(other).id)
        return fresh

    monkeypatch.setattr(EmbeddingQueue, "embed_now", changed)
    stored = store(memories, SHORT)
    assert waiting(database)["embedding_queue"] == [stored.memory.id]
    assert stored.embedding_queued


def vars_of(space: Space) -> dict[str, Any]:
    return {name: getattr(space, name) for name in space.__dataclass_fields__}


def test_a_turn_embeds_its_own_text_and_a_long_one_waits(database: Database, warm: EmbeddingQueue) -> None:
    turns = TurnService(database, warm, FactService(database))
    turns.register(TurnDraft("We spoke about orchids", "On orchids"), {}, CLAUDE)
    assert waiting(database)["turn_embedding_queue"] == []
    assert turns.retrieve("orchid", 5, CLAUDE).degraded == ()
    long = turns.register(TurnDraft(LONG, "On the weather"), {}, CLAUDE)
    assert waiting(database)["turn_embedding_queue"] == [long]
    recalled = turns.retrieve("lighthouse keeper", 5, CLAUDE)
    assert recalled.turns[0][0].id == long
    assert [problem.text for problem in recalled.degraded] == [
        "1 of the turns is not embedded yet and was found by words only"
    ]


# While the model loads, and without one


def test_a_search_waits_for_a_model_that_is_loading(
    database: Database,
    embedder: Embedder,
    segmenter: JiebaSegmenter,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(embedding_queue, "PATIENCE", PATIENCE)
    loading, loaded = threading.Event(), threading.Event()

    def choose(known: list[Space]) -> Embedder:
        loading.set()
        loaded.wait(PATIENCE)
        return embedder

    queue = EmbeddingQueue(database, choose, lambda space: embedder, clock)
    store(MemoryService(database, queue, segmenter), SHORT)
    work = threading.Thread(target=queue.work)
    work.start()
    loading.wait(PATIENCE)
    answers: list[str] = []
    search = SearchService(database, queue)
    asking = threading.Thread(
        target=lambda: answers.append(
            search.search("harbour", Filter(), 10, "hybrid", caller=Caller()).embedder
        )
    )
    asking.start()
    loaded.set()
    asking.join()
    work.join()
    assert answers == [meaning.name(embedder.space)]


def test_words_answer_where_the_model_takes_too_long_to_load(
    database: Database,
    embedder: Embedder,
    segmenter: JiebaSegmenter,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(embedding_queue, "PATIENCE", 0.01)
    queue = EmbeddingQueue(database, lambda known: embedder, lambda space: embedder, clock)
    facts = FactService(database)
    turns = TurnService(database, queue, facts)
    id = store(MemoryService(database, queue, segmenter), SHORT).memory.id
    turn = turns.register(TurnDraft("We spoke about the harbour", "On harbours"), {"harbour": "noon"}, CLAUDE)
    answer = SearchService(database, queue).search("harbour", Filter(), 10, "hybrid", caller=Caller())
    assert [hit.memory.id for hit in answer.hits] == [id]
    assert [problem.text for problem in answer.degraded] == [
        "found by words only: the embedder is still loading"
    ]
    recalled = turns.retrieve("harbour", 5, CLAUDE)
    assert [each.id for each, _ in recalled.turns] == [turn]
    assert recalled.turns[0][1] > 0
    assert [fact.key for fact in recalled.facts] == ["harbour"]
    assert [problem.text for problem in recalled.degraded] == [
        "found by words only: the embedder is still loading"
    ]


def test_turns_are_found_by_words_in_both_languages_without_any_model(
    database: Database, clock: Clock
) -> None:
    def none(known: object) -> Embedder:
        raise Unavailable("No model is installed here.")

    queue = EmbeddingQueue(database, none, none, clock)
    queue.work()
    turns = TurnService(database, queue, FactService(database))
    english = turns.register(TurnDraft("We talked", "Releases happen on Tuesdays"), {}, CLAUDE)
    chinese = turns.register(TurnDraft("兰花需要很少的水", "关于兰花", session="s2"), {}, CLAUDE)
    for query, expected in (("release tuesday", english), ("兰花", chinese), ("蘭花", chinese)):
        recalled = turns.retrieve(query, 5, CLAUDE)
        assert [turn.id for turn, _ in recalled.turns] == [expected]
        assert [problem.text for problem in recalled.degraded] == [
            "found by words only: No model is installed here."
        ]
    assert turns.retrieve("nothing alike", 5, CLAUDE).turns == []


@pytest.mark.anyio
async def test_the_real_server_finds_turns_and_memories_without_its_model(
    server: Servers, tmp_path: Path
) -> None:
    async def ready(client: Client) -> bool:
        found = await call(client, "memory_search", query="harbour")
        return "still loading" not in found.get("degraded", "")

    # As where the extra is not installed: to import it where it is takes half a minute.
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "sentence_transformers.py").write_text("raise ImportError('not installed here')")
    server.env.update(PYTHONPATH=f"{tmp_path / 'hidden'}{os.pathsep}{ROOT}")
    async with server("--embedder", "sentence-transformers:nowhere/at-all") as client:
        stored = await call(client, "memory_store", content=SHORT, type="learning")
        assert stored["embeddingQueued"]
        await call(client, "register_memory", message="We spoke", summary="On harbours that open")
        await eventually(lambda: ready(client), "the server has tried to load its model")
        found = await call(client, "memory_search", query="harbour")
        assert [memory["id"] for memory in found["results"]] == [stored["id"]]
        assert found["degraded"].startswith("found by words only: ")
        recalled = await call(client, "retrieve_memories", query="harbour")
        assert [turn["summary"] for turn in recalled["memories"]] == ["On harbours that open"]
        assert recalled["degraded"].startswith("found by words only: ")


def test_hand_edited_turns_index_themselves(tmp_path: Path, clock: Clock, sqlite: Sqlite) -> None:
    path = tmp_path / "memory.db"
    database = Database(path, clock)
    queue = EmbeddingQueue(database, lambda known: HashingEmbedder(), lambda space: HashingEmbedder(), clock)
    queue.work()
    turns = TurnService(database, queue, FactService(database))
    turns.register(TurnDraft("We spoke about orchids", "On plants"), {}, CLAUDE)
    sqlite(
        path,
        "UPDATE turns SET message = 'We spoke about lighthouses' WHERE id = 1",
        "INSERT INTO turns (message, summary) VALUES ('说到兰花', 'Another summary')",
        "INSERT INTO turns (message, summary) VALUES ('gone soon', 'gone')",
        "DELETE FROM turns WHERE id = 3",
        "INSERT OR REPLACE INTO turns (id, message, summary) VALUES (4, 'first words', 'x')",
        "INSERT OR REPLACE INTO turns (id, message, summary) VALUES (4, 'second words', 'x')",
    )

    def by_words(query: str) -> list[int]:
        with database.read() as tx:
            return sorted(
                id for (id,) in tx.rows("SELECT rowid FROM turn_words WHERE turn_words MATCH ?", (query,))
            )

    assert [by_words(word) for word in ("orchids", "lighthouse", "plants", "兰", "gone", "first", "second")] == [
        [], [1], [1], [2], [], [], [4],
    ]  # fmt: skip
    assert [turn.id for turn, _ in turns.retrieve("兰花", 1, CLAUDE).turns] == [2]
    assert waiting(database)["turn_embedding_queue"] == [1, 2, 4]
    queue.work()
    assert waiting(database)["turn_embedding_queue"] == []
    database.close()


# The Chinese dictionary


def is_loaded(segmenter: JiebaSegmenter) -> bool:
    return segmenter._tokenizer is not None


def chinese_memory(database: Database) -> None:
    with database.write() as tx:
        tx.memories.insert(MemoryDraft("我们在星期五发布", MemoryType.ERROR), CLAUDE)


def chinese_fact(database: Database) -> None:
    FactService(database).write(FactDraft("a.key", "我们在星期五发布"), Scope.GLOBAL, CLAUDE)


def chinese_turn(database: Database) -> None:
    with database.write() as tx:
        tx.turns.insert(TurnDraft("Friday", "我们在星期五发布"), CLAUDE)


def chinese_talk(database: Database) -> None:
    with database.write() as tx:
        tx.conversations.find_or_insert("talk")
        other = tx.conversations.find_or_insert("other")
        tx.short_term.insert(other, "user: 星期五", tx.now, [Keyword("星期五", 1, "星期五")], CLAUDE)


@pytest.mark.parametrize("write", [chinese_memory, chinese_fact, chinese_turn, chinese_talk])
def test_the_dictionary_is_loaded_where_the_file_holds_chinese(
    database: Database, tmp_path: Path, write: Callable[[Database], None]
) -> None:
    segmenter = JiebaSegmenter(tmp_path)
    load_dictionary(database, segmenter)
    assert not is_loaded(segmenter)
    write(database)
    load_dictionary(database, segmenter)
    assert is_loaded(segmenter)


def test_the_dictionary_is_not_loaded_for_any_other_script(database: Database, tmp_path: Path) -> None:
    segmenter = JiebaSegmenter(tmp_path)
    memories = MemoryService(
        database,
        EmbeddingQueue(
            database, lambda known: HashingEmbedder(), lambda space: HashingEmbedder(), lambda: Clock().now
        ),
        segmenter,
    )
    for text in (
        "Plain English",
        "Größe und Übung",
        "Привет мир",
        "안녕하세요 세계",
        "ひらがな",
        "مرحبا",
        "😀👍",
    ):
        store(memories, text)
    talk = ShortTermService(database, JiebaKeywords(segmenter), lambda: 0.5)
    talk.add([Message("user", "Hello harbour, 안녕하세요 ひらがな")], "talk", {}, CLAUDE)
    load_dictionary(database, segmenter)
    assert not is_loaded(segmenter)
