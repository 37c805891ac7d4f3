"""Database files of any number of memories, made once and kept in the user's cache folder.

They are written by the product itself, text by text, but the vectors: those lie around the vector of their topic, which
the embedder makes, and the vectors of tokens are those of the topic. So a million memories need 400 embeddings and a
quarter of an hour, and nothing waits in the background when a server opens the file.
"""

import functools
import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray
from server import note

from memory_server.domain.caller import Caller
from memory_server.domain.embedding import Embedded, Reading, Tokens
from memory_server.domain.fact import FactDraft, Scope
from memory_server.domain.memory import MemoryDraft
from memory_server.embedding import Embedder, read_documents
from memory_server.front import running
from memory_server.project import Project
from memory_server.services.facts import FactService
from memory_server.settings import Settings
from memory_server.sqlite.database import Database
from memory_server.sqlite.transaction import Transaction
from memory_server.storage.vectors import Waiting
from scale import texts
from scale.texts import BATCH, LARGE, Text

SPREAD = 0.5
"""Length of what is added to the vector of a topic: the cosine of two memories of a topic is about 0.8."""

A_TOKEN = 4
"""Characters of a text for each of its tokens."""

FACT_EACH = 50
"""One memory of so many is a fact too."""

NEWEST = datetime(2026, 6, 1, tzinfo=UTC)
OLDEST = timedelta(days=900)
"""The memories are spread over so many days before NEWEST, a thousand at each moment."""

CALLER = Caller("bench", "bench", Project(LARGE, LARGE))


def cache() -> Path:
    return Settings().cache / "bench"


@functools.cache
def fingerprint() -> str:
    """Equal ones mean equal memories and questions: results of others cannot be compared."""
    said = (texts.batch(0), texts.questions(100), SPREAD, FACT_EACH, A_TOKEN)
    return hashlib.sha256(repr(said).encode()).hexdigest()[:12]


@contextmanager
def temporary() -> Iterator[Path]:
    """A folder on the disk of the cache that goes with the block: the folder of the system may lie in memory."""
    cache().mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="temporary-", dir=cache()) as folder:
        yield Path(folder)
        for db in Path(folder).glob("*.db"):
            stop_engines(db)


def stop_engines(db: Path) -> None:
    """So that none computes beside what is measured next, or rescues a file that is deleted."""
    for engine in running.of(db):
        running.stop(engine)


@contextmanager
def copied(size: int, embedder: Embedder) -> Iterator[Path]:
    """A copy of the file of this size, which is made now where it is missing; the copy goes with the block."""
    file = _made(size, embedder)
    with temporary() as folder:
        copy = folder / "memory.db"
        shutil.copyfile(file, copy)
        _read_through(copy)
        yield copy


def _read_through(path: Path) -> None:
    """So that the system has the file in memory: a copy of 3 GB was not, and what is read from a disk takes 9 times the
    CPU.
    """
    with path.open("rb") as file:
        while file.read(1 << 24):
            pass


def _made(size: int, embedder: Embedder) -> Path:
    """The file, whose name tells size, texts, schema and embedder."""
    schema = Database(None, _now).migrations[-1].version
    file = cache() / f"{size}-{fingerprint()}-{schema}-{embedder.space.fingerprint[:12]}.db"
    if not file.exists():
        with temporary() as folder:
            part = folder / "memory.db"
            fill(part, size, embedder)
            part.replace(file)
    return file


def fill(path: Path, size: int, embedder: Embedder) -> None:
    """Write a new file with so many memories, all embedded, and a fact for one of FACT_EACH."""
    moment = [NEWEST - OLDEST]
    database = Database(path, lambda: moment[0])
    facts = FactService(database)
    with database.write() as tx:
        space = tx.spaces.open(embedder.space).id
    readings = read_documents(embedder, texts.of_topics())
    topics = np.array([reading.vector for reading in readings], dtype=np.float32)
    batches = range(0, size, BATCH)
    for start in batches:
        added = texts.first(min(BATCH, size - start), after=start)
        with database.write() as tx:
            vectors = _vectors(start, [text.topic for text in added], topics)
            _insert(tx, space, added, vectors, readings)
            for number in range(start, start + len(added), FACT_EACH):
                draft = FactDraft(_key(number // FACT_EACH), added[number - start].content)
                facts.write_in(tx, draft, Scope.PROJECT, CALLER)
            for fact, text, vector in zip(
                tx.spaces.waiting(space, Embedded.FACTS, BATCH),
                added[::FACT_EACH],
                vectors[::FACT_EACH],
                strict=True,
            ):
                tx.embeddings.insert(space, fact, [vector])
                tx.token_vectors.insert(space, fact, _tokens(text, readings))
        moment[0] += OLDEST / len(batches)
        if start and start % 50_000 == 0:
            note(f"{start:,} of {size:,} memories are made")
    database.close()


def existing_key(number: int, size: int) -> str:
    """The key of one of the facts of a file of this size."""
    return _key(number % -(-size // FACT_EACH))


def _key(number: int) -> str:
    return f"{('notes', 'project.decision', 'current', 'discovered')[number % 4]}.k{number}"


def _insert(
    tx: Transaction, space: int, added: list[Text], vectors: NDArray[np.float32], topics: list[Reading]
) -> None:
    for text, vector in zip(added, vectors, strict=True):
        draft = MemoryDraft(text.content, text.type, text.project, text.tags, text.importance)
        memory = Waiting(Embedded.MEMORIES, tx.memories.insert(draft, CALLER).id, (text.content.encode(),))
        tx.embeddings.insert(space, memory, [vector])
        tx.token_vectors.insert(space, memory, _tokens(text, topics))


def _tokens(text: Text, topics: list[Reading]) -> list[Tokens]:
    """Tokens of the topic, as many as the text may have; none where the embedder has none."""
    tokens = topics[text.topic].tokens
    return [] if tokens is None else [tokens[: len(text.content) // A_TOKEN]]


def _vectors(start: int, numbers: list[int], topics: NDArray[np.float32]) -> NDArray[np.float32]:
    """Unit vectors of shape (len(numbers), dimensions), each near the vector of its topic."""
    chance = np.random.default_rng((5, start))
    length = SPREAD / np.sqrt(topics.shape[1])
    found = topics[numbers] + length * chance.standard_normal(
        (len(numbers), topics.shape[1]), dtype=np.float32
    )
    unit: NDArray[np.float32] = (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)
    return unit


def _now() -> datetime:
    return datetime.now(UTC)
