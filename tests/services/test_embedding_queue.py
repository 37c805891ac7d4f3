"""The embedding queue: embeddings keep up with memories, across spaces, crashes and several processes."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from memory_server.domain import parts
from memory_server.domain.caller import Caller
from memory_server.domain.embedding import Embedded, Space, Vector
from memory_server.domain.memory import Filter, MemoryDraft, MemoryId, MemoryType
from memory_server.embedding import Embedder
from memory_server.embedding.hashing import HashingEmbedder
from memory_server.errors import Unavailable
from memory_server.services.background import Background, Job
from memory_server.services.coverage import coverage_in
from memory_server.services.embedding_queue import AT_ONCE, EmbeddingQueue
from memory_server.services.filling import BATCH, FEW, PARTS
from memory_server.services.meaning import Answering, Meaning, Unanswered
from memory_server.sqlite.database import Database
from memory_server.storage.tx import Tx
from tests.conftest import Clock, until


class OtherEmbedder(HashingEmbedder):
    """Another space; says the same. `before` runs ahead of each batch."""

    def __init__(self, model: str = "other", before: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self._other = replace(super().space, model=model, fingerprint=f"fingerprint of {model}")
        self.before = before
        self.batches: list[int] = []

    @property
    def space(self) -> Space:
        return self._other

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        self.before()
        self.batches.append(len(texts))
        return super().embed_documents(texts)


class Crash(BaseException):
    """As if the process had died."""


@pytest.fixture
def make(database: Database, clock: Clock) -> Callable[..., EmbeddingQueue]:
    """A queue that wants one embedder and can load others, on `database` or another."""

    def make(wanted: Embedder, *loadable: Embedder, on: Database = database) -> EmbeddingQueue:
        known = {each.space.fingerprint: each for each in (wanted, *loadable)}

        def load(space: Space) -> Embedder:
            if space.fingerprint not in known:
                raise Unavailable(f"{space.model} is not installed")
            return known[space.fingerprint]

        return EmbeddingQueue(on, lambda _: wanted, load, clock)

    return make


def put(database: Database, *texts: str) -> None:
    with database.write() as tx:
        for text in texts:
            tx.memories.insert(MemoryDraft(text, MemoryType.ERROR), Caller())


def states(database: Database) -> list[tuple[str, str, int, int]]:
    """Model, state, embedded, waiting of each space that is in use."""
    with database.read() as tx:
        return [
            (
                each.space.model,
                each.state,
                tx.spaces.count_embedded(each.id),
                tx.spaces.count_waiting(each.id),
            )
            for each in tx.spaces.select()
        ]


def numbered(count: int) -> list[str]:
    return [f"text number {n}" for n in range(count)]


def test_what_waits_is_embedded_when_the_queue_is_drained(
    database: Database, make: Callable[..., EmbeddingQueue]
) -> None:
    embedder = OtherEmbedder()
    queue = make(embedder)
    queue.warm_up()
    put(database, *numbered(BATCH * 3 + 1))
    queue.drain()
    assert states(database) == [("other", "active", BATCH * 3 + 1, 0)]
    assert embedder.batches == [BATCH, BATCH, BATCH, 1]


def test_texts_of_like_length_are_embedded_together_the_oldest_first(
    database: Database, make: Callable[..., EmbeddingQueue]
) -> None:
    embedder, seen = OtherEmbedder(), []
    queue = make(embedder)
    queue.warm_up()
    embed = embedder.embed_documents
    embedder.embed_documents = lambda texts: seen.append([len(each) for each in texts]) or embed(texts)  # type: ignore[method-assign, func-returns-value]
    put(database, *(str(number).rjust(9 if number % 2 else 900, "x") for number in range(2 * BATCH)))
    queue.drain()
    assert seen == [[900] * BATCH, [9] * BATCH]
    assert states(database) == [("other", "active", 2 * BATCH, 0)]


def test_memories_written_before_there_was_any_embedder_are_embedded_too(
    database: Database, make: Callable[..., EmbeddingQueue]
) -> None:
    put(database, "early")
    queue = make(OtherEmbedder())
    queue.warm_up()
    queue.drain()
    assert states(database) == [("other", "active", 1, 0)]


def test_a_text_is_embedded_before_it_is_stored_unless_that_takes_long_or_the_embedder_is_not_ready(
    database: Database, make: Callable[..., EmbeddingQueue]
) -> None:
    embedder = OtherEmbedder()
    queue = make(embedder)
    assert queue.embed_now("early") is None
    queue.work()
    fresh = queue.embed_now("text")
    assert fresh is not None
    answering = queue.answering()
    assert isinstance(answering, Answering)
    assert (fresh.space_id, fresh.space, fresh.texts) == (answering.space_id, embedder.space, ("text",))
    np.testing.assert_array_equal(fresh.vectors[0], embedder.embed_questions(["text"])[0])
    assert queue.embed_now("word " * 10 * AT_ONCE) is None
    assert queue.embed_now("word " * AT_ONCE, "word " * AT_ONCE) is None
    assert embedder.batches == [1]


@pytest.mark.parametrize("number", [1, FEW + 1])
def test_a_search_embeds_nothing_of_what_waits(
    database: Database, make: Callable[..., EmbeddingQueue], number: int
) -> None:
    """However few they are: the queue never slows a search."""
    embedder = OtherEmbedder()
    queue = make(embedder)
    queue.work()
    put(database, *numbered(number))

    def waiting(tx: Tx, meaning: Meaning | Unanswered) -> int:
        assert isinstance(meaning, Meaning)
        assert len(meaning.vectors) == 1
        return tx.spaces.count_waiting(meaning.space_id, Embedded.MEMORIES)

    assert queue.read(["text"], waiting) == number
    assert embedder.batches == []
    queue.drain()
    assert queue.read(["text"], waiting) == 0


def test_a_search_begun_in_a_space_that_is_retired_meanwhile_is_asked_again_in_the_new_one(
    database: Database, make: Callable[..., EmbeddingQueue]
) -> None:
    put(database, "x")
    old, new = OtherEmbedder("old"), OtherEmbedder("new")
    first, second = make(old, new), make(new, old)
    first.work()
    second.work()
    assert states(database) == [("new", "active", 1, 0)]

    def model(tx: Tx, meaning: Meaning | Unanswered) -> str:
        assert isinstance(meaning, Meaning)
        return meaning.space.model

    assert first.read("x", model) == "new"


def test_a_clock_that_went_back_does_not_keep_memories_waiting(
    database: Database, make: Callable[..., EmbeddingQueue], clock: Clock
) -> None:
    queue = make(OtherEmbedder())
    queue.warm_up()
    put(database, "x")
    clock.advance(days=-4000)
    queue.drain()
    assert states(database) == [("other", "active", 1, 0)]


def test_a_text_that_changes_while_it_is_embedded_is_embedded_again(
    database: Database, make: Callable[..., EmbeddingQueue]
) -> None:
    def rewrite() -> None:
        embedder.before = lambda: None
        with database.write() as tx:
            tx.execute("UPDATE memories SET content = 'new text' WHERE id = 1")
            tx.execute("DELETE FROM memories WHERE id = 2")

    embedder = OtherEmbedder(before=rewrite)
    queue = make(embedder)
    queue.warm_up()
    put(database, "old text", "deleted meanwhile")
    queue.drain()
    assert states(database) == [("other", "active", 1, 0)]
    with database.read() as tx:
        vector = tx.embeddings.vectors_of(tx.spaces.select()[0].id, [1]).get(1)
    assert vector is not None
    np.testing.assert_array_equal(vector, embedder.embed_questions(["new text"])[0])


# A long text, part by part


def long_text(word: str) -> str:
    return " ".join(f"{word}{number}" for number in range(20_000))[:100_000]


def put_long(database: Database, text: str) -> int:
    """Store a text as an imported one is: without an embedder."""
    with database.write() as tx:
        return tx.memories.insert(MemoryDraft(text, MemoryType.ERROR), Caller()).id


def ending_after(batches: int) -> OtherEmbedder:
    """An embedder whose process ends after so many batches."""

    def end() -> None:
        if len(embedder.batches) == batches:
            raise Crash

    embedder = OtherEmbedder(before=end)
    return embedder


def likeness(database: Database, text: str) -> list[float]:
    """How near the nearest part in the database is to each part of a text, from -1 to 1."""
    with database.read() as tx:
        space_id = tx.spaces.select()[0].id
        vectors = OtherEmbedder().embed_questions(parts.split(text))
        return [
            max(tx.embeddings.nearest(Embedded.MEMORIES, space_id, vector, Filter(), 1).values())
            for vector in vectors
        ]


def end_lease(database: Database) -> None:
    """As if the time of a process that has died were over."""
    with database.write() as tx:
        tx.execute("UPDATE spaces SET lease_until = '2026-01-01T00:00:00.000Z'")


def test_a_long_text_is_embedded_part_by_part_and_goes_on_where_a_process_ended(
    database: Database, make: Callable[..., EmbeddingQueue]
) -> None:
    first = make(ending_after(3))
    first.warm_up()
    text = long_text("word")
    put_long(database, text)
    with pytest.raises(Crash):
        first.drain()
    assert states(database) == [("other", "active", 0, 1)]
    end_lease(database)
    embedder = OtherEmbedder()
    second = make(embedder)
    second.warm_up()
    second.drain()
    assert sum(embedder.batches) == len(parts.split(text)) - 3 * PARTS
    assert states(database) == [("other", "active", 1, 0)]
    assert min(likeness(database, text)) > 0.999


def test_the_parts_of_a_text_that_is_changed_meanwhile_go(
    database: Database, make: Callable[..., EmbeddingQueue]
) -> None:
    old, new = long_text("word"), long_text("another")

    def change() -> None:
        if len(embedder.batches) == 3:
            with database.write() as tx:
                memory = tx.memories.get(MemoryId(id))
                tx.memories.replace(memory, replace(memory, content=new), "rewritten")

    embedder = OtherEmbedder(before=change)
    queue = make(embedder)
    queue.warm_up()
    id = put_long(database, old)
    queue.drain()
    assert sum(embedder.batches) == 4 * PARTS + len(parts.split(new))
    assert states(database) == [("other", "active", 1, 0)]
    assert min(likeness(database, new)) > 0.999
    assert max(likeness(database, old)) < 0.9


def test_one_of_two_queues_embeds_a_long_text(
    database: Database, make: Callable[..., EmbeddingQueue], clock: Clock
) -> None:
    mine, others = OtherEmbedder(before=lambda: other.drain()), OtherEmbedder()
    one, other = make(mine), make(others)
    one.warm_up()
    other.warm_up()
    put_long(database, long_text("word"))
    one.drain()
    assert others.batches == []
    assert states(database) == [("other", "active", 1, 0)]


def test_a_long_text_that_is_queued_again_is_embedded_again_once(
    database: Database, make: Callable[..., EmbeddingQueue]
) -> None:
    embedder = OtherEmbedder()
    queue = make(embedder)
    queue.warm_up()
    id = put_long(database, long_text("word"))
    queue.drain()
    with database.write() as tx:
        tx.execute(f"INSERT INTO embedding_queue (space_id, memory_id) SELECT id, {id} FROM spaces")
    queue.drain()
    assert sum(embedder.batches) == 2 * len(parts.split(long_text("word")))
    assert states(database) == [("other", "active", 1, 0)]


# Two spaces


def test_the_old_space_answers_until_the_new_one_is_whole(
    database: Database, make: Callable[..., EmbeddingQueue]
) -> None:
    old, new = OtherEmbedder("old"), OtherEmbedder("new")
    first = make(old)
    first.warm_up()
    put(database, *numbered(3))
    first.drain()
    second = make(new, old)
    second.warm_up()
    assert states(database) == [("old", "active", 3, 0), ("new", "building", 0, 3)]
    answering = second.answering()
    assert isinstance(answering, Answering)
    assert answering.embedder.space.model == "old"
    second.drain()
    assert states(database) == [("new", "active", 3, 0)]
    answering = second.answering(anew=True)
    assert isinstance(answering, Answering)
    assert answering.embedder.space.model == "new"
    with database.read() as tx:
        assert tx.value("SELECT count(*) FROM embeddings") == 3


def test_a_space_whose_embedder_is_not_installed_is_told_and_does_not_stop_the_new_one(
    database: Database, make: Callable[..., EmbeddingQueue]
) -> None:
    first = make(OtherEmbedder("old"))
    first.warm_up()
    put(database, *numbered(FEW + 1))
    first.drain()
    second = make(OtherEmbedder("new"))
    second.warm_up()
    answering = second.answering()
    assert isinstance(answering, Answering)
    assert answering.embedder.space.model == "new"
    assert second.coverage().waiting == FEW + 1
    second.drain()
    assert states(database) == [("new", "active", FEW + 1, 0)]


def test_re_embedding_goes_on_where_a_crash_ended_it(
    database: Database, make: Callable[..., EmbeddingQueue]
) -> None:
    old = OtherEmbedder("old")
    first = make(old)
    first.warm_up()
    put(database, *numbered(BATCH * 3))
    first.drain()

    def die() -> None:
        if len(new.batches) == 2:
            raise Crash

    new = OtherEmbedder("new", before=die)
    second = make(new, old)
    second.warm_up()
    with pytest.raises(Crash):
        second.drain()
    assert states(database) == [("old", "active", BATCH * 3, 0), ("new", "building", BATCH * 2, BATCH)]
    new = OtherEmbedder("new")
    third = make(new, old)
    third.warm_up()
    with database.write() as tx:
        tx.execute("UPDATE spaces SET lease_until = '2026-01-01T00:00:00.000Z'")  # the dead one's has run out
    third.drain()
    assert new.batches == [BATCH]
    assert states(database) == [("new", "active", BATCH * 3, 0)]


def test_two_queues_do_not_embed_the_same_many_memories(
    database: Database, make: Callable[..., EmbeddingQueue], clock: Clock
) -> None:
    def look_on() -> None:
        if not mine.batches:  # FEW or less may be embedded twice: that costs less than to agree
            other.drain()

    mine, others = OtherEmbedder(before=look_on), OtherEmbedder()
    one, other = make(mine), make(others)
    one.warm_up()
    other.warm_up()
    put(database, *numbered(FEW + BATCH))
    one.drain()
    assert others.batches == []
    assert mine.batches == [BATCH] * 3


def test_a_lease_that_ran_out_is_taken_over(
    database: Database, make: Callable[..., EmbeddingQueue], clock: Clock
) -> None:
    def die() -> None:
        raise Crash

    dead, alive = make(OtherEmbedder(before=die)), make(OtherEmbedder())
    dead.warm_up()
    alive.warm_up()
    put(database, *numbered(FEW + 1))
    with pytest.raises(Crash):
        dead.drain()
    alive.drain()
    assert states(database) == [("other", "active", 0, FEW + 1)]
    clock.advance(seconds=31)
    alive.drain()
    assert states(database) == [("other", "active", FEW + 1, 0)]


def test_a_space_that_another_process_retired_meanwhile_is_not_activated_empty(
    database: Database, make: Callable[..., EmbeddingQueue]
) -> None:
    """Its queue is empty then, which looks as if it were complete."""
    put(database, "x")
    old = OtherEmbedder("old")
    starter = make(old)
    starter.warm_up()
    starter.drain()

    def overtake() -> None:
        slow.before = lambda: None
        fast = make(OtherEmbedder("fast"), old)
        fast.warm_up()
        fast.drain()

    slow = OtherEmbedder("slow", before=overtake)
    queue = make(slow, old)
    queue.warm_up()
    queue.drain()
    assert states(database) == [("fast", "active", 1, 0)]
    with database.read() as tx:
        assert tx.value("SELECT count(*) FROM embeddings") == 1


def test_a_queue_on_a_read_only_file_answers_and_embeds_nothing(
    file_database: Database, make: Callable[..., EmbeddingQueue], monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = OtherEmbedder()
    first = make(embedder, on=file_database)
    first.warm_up()
    put(file_database, "waiting")
    monkeypatch.setattr(Database, "read_only", property(lambda self: True))
    queue = make(embedder, on=file_database)
    queue.warm_up()
    answering = queue.answering()
    assert isinstance(answering, Answering)
    assert queue.coverage().waiting == 1
    queue.drain()
    assert queue.coverage().waiting == 1
    assert embedder.batches == []


def working(queue: EmbeddingQueue, database: Database, every: float) -> Background:
    """The job that keeps the queue empty, as the server runs it."""
    return Background(database, [Job("embed", queue.work, every, wake=queue.filled, last=queue.release)])


def all_embedded(database: Database, number: int) -> bool:
    return states(database) == [("other", "active", number, 0)]


def leave(queue: EmbeddingQueue, background: Background) -> None:
    queue.stop()
    background.stop()
    until(lambda: not any(thread.is_alive() for thread in background._threads), "the job has ended")


def test_the_job_drains_when_it_is_woken(
    tmp_path: Path, make: Callable[..., EmbeddingQueue], clock: Clock
) -> None:
    path = tmp_path / "memory.db"
    ours, theirs = Database(path, clock), Database(path, clock)
    queue = make(OtherEmbedder(), on=ours)
    background = working(queue, ours, 3600)
    background.start()
    until(lambda: all_embedded(theirs, 0), "the embedder has its space")
    put(ours, "written here")
    queue.wake()
    until(lambda: all_embedded(theirs, 1), "our own memory is embedded")
    leave(queue, background)
    ours.close()
    theirs.close()


def test_the_job_notices_what_others_write(
    tmp_path: Path, make: Callable[..., EmbeddingQueue], clock: Clock
) -> None:
    path = tmp_path / "memory.db"
    ours, theirs = Database(path, clock), Database(path, clock)
    queue = make(OtherEmbedder(), on=ours)
    background = working(queue, ours, 0.02)
    background.start()
    for number in (1, 2):
        put(theirs, "written elsewhere")
        until(partial(all_embedded, theirs, number), "the other program's memory is embedded")
    leave(queue, background)
    ours.close()
    theirs.close()


def test_an_embedder_that_fails_once_is_asked_again(
    tmp_path: Path, make: Callable[..., EmbeddingQueue], clock: Clock
) -> None:
    def fail_once() -> None:
        embedder.before = lambda: None
        raise RuntimeError("out of memory")

    database = Database(tmp_path / "memory.db", clock)
    embedder = OtherEmbedder(before=fail_once)
    put(database, "x")
    queue = make(embedder, on=database)
    background = working(queue, database, 0.02)
    background.start()
    until(lambda: all_embedded(database, 1), "the memory is embedded")
    leave(queue, background)
    database.close()


def test_coverage_counts_one_project_or_all(database: Database, make: Callable[..., EmbeddingQueue]) -> None:
    queue = make(OtherEmbedder())
    queue.warm_up()
    with database.write() as tx:
        tx.memories.insert(MemoryDraft("x", MemoryType.ERROR, "p"), Caller())
        tx.memories.insert(MemoryDraft("y", MemoryType.ERROR), Caller())
    queue.drain()
    put(database, "z")
    assert (queue.coverage().embedded, queue.coverage().waiting) == (2, 1)
    with database.read() as tx:
        assert coverage_in(tx, queue.answering(), "p").embedded == 1
