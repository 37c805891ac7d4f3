"""The services in this process, with vectors that are known before: what a call costs besides the embedding."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from unittest import mock

from show.results import INSIDE, SEARCH, STORE, Measured, times

from memory_server import app, embedders
from memory_server.app import Services
from memory_server.domain.embedding import Space, Vector
from memory_server.domain.fact import FactDraft, Scope
from memory_server.domain.memory import Filter, MemoryDraft, MemoryId
from memory_server.embedding import Embedder
from memory_server.importing.formats import recognised
from memory_server.mcp.tools.facts import WORDING
from memory_server.postgres.tx import Trips
from memory_server.services import retrieval
from memory_server.services.recall import RecallWish
from memory_server.settings import Settings
from memory_server.transfer.importing import Source
from memory_server.where import Postgres, Where
from scale import texts
from scale.calls import SMALL_PROJECT
from scale.clients import Spent
from scale.effort import Effort
from scale.files import CALLER, existing_key, temporary
from scale.texts import SMALL

TAKEN = 1000
"""Memories that are imported and then embedded."""

FOUND, TOKENS, BRIEFED = 10, 800, 500
"""What the tools ask for where a model names nothing: hits, tokens of `recall`, tokens of `smart_resume`."""

IMPORT = "import, before embedding"
BACKLOG = "embedding of what waits"
TRIPS = "round trips"
"""How often a call waits for PostgreSQL, in the middle."""

RATE, RATE_OF_CPU = "a second", "a second of CPU"


class Known:
    """An embedder that looks up what it has been told, and embeds the rest."""

    def __init__(self, embedder: Embedder, questions: Sequence[str], documents: Sequence[str]) -> None:
        self._embedder = embedder
        asked = [part for text in questions for part in retrieval.questions(text)]
        self._questions = dict(zip(asked, embedder.embed_questions(asked), strict=True))
        self._documents = dict(zip(documents, embedder.embed_documents(documents), strict=True))

    @property
    def space(self) -> Space:
        return self._embedder.space

    def embed_questions(self, texts: Sequence[str]) -> list[Vector]:
        return [self._one(text, self._questions, self._embedder.embed_questions) for text in texts]

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        return [self._one(text, self._documents, self._embedder.embed_documents) for text in texts]

    @staticmethod
    def _one(text: str, known: dict[str, Vector], embed: Callable[[Sequence[str]], list[Vector]]) -> Vector:
        return known[text] if text in known else embed([text])[0]


def measured(where: Where, size: int, embedder: Embedder, effort: Effort) -> Iterator[Measured]:
    """Calls of each kind on a file, or a database, of this size, which grows by those that write."""
    count = effort.asked
    asked, new = texts.questions(4 * count), texts.first(count, after=size + count)
    known = Known(embedder, asked, [text.content for text in new])
    services = _services(where, known)
    services.memories.segmenter.segment(
        "词典"
    )  # the dictionary is loaded once, not by the first Chinese text
    for what, calls in _kinds(services, size, asked, new).items():
        spent, trips = [], []
        for call in calls:
            before = _trips(services)
            spent.append(_spent(call, time.thread_time))
            trips.append(_trips(services) - before)
        values = times(spent[effort.warm :])
        if isinstance(where, Postgres):
            values[TRIPS] = median(trips[effort.warm :])
        yield Measured(INSIDE, what, size, values)
    services.close()


def found(where: Where, embedder: Embedder, count: int) -> list[list[int]]:
    """The ids that so many questions find, by words and meaning, in their order."""
    asked = texts.questions(count)
    services = _services(where, Known(embedder, asked, []))
    answers = [
        services.search.search(each, Filter(), FOUND, "hybrid", likely=True, caller=CALLER) for each in asked
    ]
    services.close()
    return [[hit.memory.id for hit in answer.hits] for answer in answers]


def taken(count: int, embedder: Embedder) -> Iterator[Measured]:
    """How many memories a second are imported into a new file, and how many are embedded afterwards."""
    with temporary() as folder:
        path = folder / "memories.jsonl"
        lines = (
            json.dumps({"id": f"n{number}", "text": text.content, "project": text.project})
            for number, text in enumerate(texts.first(count))
        )
        path.write_text("\n".join(lines), encoding="utf-8")
        services = _services(folder / "memory.db", embedder)
        form, opened = recognised(path)
        source = Source(form.name, lambda: form.records(opened))
        yield _rate(IMPORT, count, lambda: services.imports.take(source, None, CALLER))
        yield _rate(BACKLOG, count, services.queue.drain)
        services.close()


def _services(db: Where, embedder: Embedder) -> Services:
    """The services of this file, with this embedder, and without background work."""
    with mock.patch.multiple(
        embedders, choose=lambda _settings, _known: embedder, load=lambda _space, _settings: embedder
    ):
        services = app.build(Settings(db=db))
        services.queue.warm_up()
        services.queue.answering()
    return services


def _trips(services: Services) -> int:
    """How often it has waited for PostgreSQL; 0 for a file."""
    trips: Trips | None = getattr(services.database, "trips", None)
    return trips.number if trips is not None else 0


def _kinds(
    services: Services, size: int, asked: Sequence[str], new: Sequence[texts.Text]
) -> dict[str, list[Callable[[], object]]]:
    """The calls of each kind, as the tools make them."""

    def search(question: str, mode: str = "hybrid", project: str | None = None) -> Callable[[], object]:
        wanted = Filter(project=project)
        return lambda: services.search.search(question, wanted, FOUND, mode, likely=True, caller=CALLER)

    def recall(question: str) -> Callable[[], object]:
        return lambda: services.recall.recall(question, [], TOKENS, RecallWish(), CALLER)

    def get(number: int) -> Callable[[], object]:
        return lambda: services.memories.get([MemoryId(1 + 7 * number % size)])

    def read(number: int) -> Callable[[], object]:
        return lambda: services.facts.read(existing_key(number, size), None, (), CALLER)

    def store(text: texts.Text) -> Callable[[], object]:
        draft = MemoryDraft(text.content, text.type, text.project, text.tags, text.importance)
        return lambda: services.memories.store(draft, None, CALLER)

    def write(number: int) -> Callable[[], object]:
        draft = FactDraft(f"current.i{number}", asked[number])
        return lambda: services.facts.write(draft, Scope.PROJECT, CALLER)

    numbers = range(len(new))
    return {
        SEARCH: [search(each) for each in asked[0::4]],
        "memory_search, by words": [search(each, mode="keyword") for each in asked[1::4]],
        SMALL_PROJECT: [search(each, project=SMALL) for each in asked[2::4]],
        "recall": [recall(each) for each in asked[3::4]],
        "memory_get": [get(number) for number in numbers],
        "read_memory, a fact": [read(number) for number in numbers],
        "memory_stats": [lambda: services.memories.statistics(None, CALLER) for _ in numbers],
        "smart_resume": [
            lambda: services.resume.resume(BRIEFED, frozenset(), WORDING, CALLER) for _ in numbers
        ],
        STORE: [store(text) for text in new],
        "write_memory, a fact": [write(number) for number in numbers],
    }


def _spent(call: Callable[[], object], clock: Callable[[], float] = time.process_time) -> Spent:
    """Return what a call takes; the clock of its thread leaves out what the background does meanwhile."""
    cpu, wall = clock(), time.perf_counter()
    call()
    return clock() - cpu, time.perf_counter() - wall


def _rate(what: str, count: int, work: Callable[[], object]) -> Measured:
    cpu, wall = _spent(work)
    return Measured(INSIDE, what, count, {RATE: round(count / wall), RATE_OF_CPU: round(count / cpu)})
