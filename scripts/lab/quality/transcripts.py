"""Prints how well a session is found again: `python scripts/lab/quality/transcripts.py DATA…`.

The dialogues of a set are written as the transcripts of Claude Code, a file a session, the first speaker as the person,
and taken in. A question is a hit at 1 or 5 if a session with evidence is the first, or among the first five, that the
texts name. Compared with the same utterances as memories. `recall` is what it would answer: nothing, where it thinks
that nothing answers. With `--joined` the dialogues of all sets are in one memory; the CPU is the median of a question.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 3)]

from memory_server import app  # noqa: E402
from memory_server.app import Services  # noqa: E402
from memory_server.domain.caller import Caller  # noqa: E402
from memory_server.domain.embedding import Embedded  # noqa: E402
from memory_server.domain.exchange.records import MemoryRecord  # noqa: E402
from memory_server.domain.memory import Filter, MemoryId  # noqa: E402
from memory_server.domain.moment import timestamp  # noqa: E402
from memory_server.services import retrieval, turns  # noqa: E402
from memory_server.services.gathering import KindSearch  # noqa: E402
from memory_server.services.meaning import Meaning, Unanswered  # noqa: E402
from memory_server.services.recall import RecallWish  # noqa: E402
from memory_server.settings import Settings  # noqa: E402
from memory_server.storage.tx import Tx  # noqa: E402
from memory_server.transfer.importing import Source  # noqa: E402
from quality import data  # noqa: E402
from quality.data import Memory, Store  # noqa: E402

FIRST = 50
"""Texts that are looked at for sessions."""

Find = Callable[[Services, str], list[str | None]]
"""Gives the sessions of the texts that a question finds, best first."""


def as_line(memory: Memory, person: str) -> str:
    """Return an utterance as Claude Code writes it."""
    role = "user" if memory.text.startswith(f"{person}:") else "assistant"
    line = {
        "type": role,
        "message": {"role": role, "content": [{"type": "text", "text": memory.text}]},
        "sessionId": memory.session,
        "timestamp": timestamp(memory.time) if memory.time else "",
        "cwd": "/srv/talk",
    }
    return json.dumps(line) + "\n"


def as_transcripts(services: Services, store: Store, folder: Path) -> None:
    """Take the utterances of a store in as transcripts."""
    root = folder / "projects" / "-srv-talk"
    root.mkdir(parents=True)
    speakers: dict[str, str] = {}
    for memory in store.memories:
        person = speakers.setdefault(str(memory.session), memory.text.partition(":")[0])
        with (root / f"{memory.session}.jsonl").open("a", encoding="utf-8") as file:
            file.write(as_line(memory, person))
    services.imports.take(services.transcripts.source(root), None, Caller())


def as_memories(services: Services, store: Store, _: Path) -> None:
    """Take the utterances of a store in as memories."""
    records = [
        MemoryRecord(
            memory.id,
            memory.text,
            session=memory.session,
            created_at=timestamp(memory.time) if memory.time else "",
        )
        for memory in store.memories
    ]
    services.imports.take(Source("evaluation", lambda: iter(records)), None, Caller())


def of_turns(services: Services, text: str) -> list[str | None]:
    asked = KindSearch(Embedded.TURNS, turns.load, Filter(transcripts=True), FIRST, "hybrid", None)

    def ranked(tx: Tx, meaning: Meaning | Unanswered) -> list[str | None]:
        hits = retrieval.rank_all(tx, text, (asked,), meaning if isinstance(meaning, Meaning) else None)
        return [hit.item.thing.session for hit in hits]

    return services.queue.read(retrieval.questions(text), ranked)


def of_memories(services: Services, text: str) -> list[str | None]:
    hits = services.search.search(text, Filter(), FIRST, "hybrid", caller=Caller()).hits
    return [hit.memory.session for hit in hits]


def of_recall(services: Services, text: str) -> list[str | None]:
    found = services.recall.find(text, RecallWish(), Caller(), transcripts=True)
    ids = [hit.id for hit in found.hits if found.answered]
    with services.database.read() as tx:
        sessions = {turn.id: turn.session for turn in tx.turns.select(ids)}
        sessions |= {memory.id: memory.session for memory in tx.memories.select([MemoryId(id) for id in ids])}
    return [sessions.get(id) for id in ids]


TAKES = {
    "transcripts": (as_transcripts, of_turns),
    "memories": (as_memories, of_memories),
}


def joined(stores: Sequence[Store]) -> Store:
    """Return all stores as one, as a machine has them; ids and sessions are named after their store."""

    def named(store: Store, id: str | None) -> str:
        return f"{store.name}-{id}"

    return Store(
        "joined",
        "joined",
        0,
        tuple(
            replace(memory, id=named(store, memory.id), session=named(store, memory.session))
            for store in stores
            for memory in store.memories
        ),
        tuple(
            replace(
                question,
                gold=tuple(frozenset(named(store, id) for id in piece) for piece in question.gold),
            )
            for store in stores
            for question in store.questions
        ),
    )


def ranks(services: Services, store: Store, find: Find) -> Iterator[tuple[int, float]]:
    """Yield for each question the place of the first session with evidence, from 0 on, FIRST where there is none; and
    the seconds of CPU.
    """
    session_of = {memory.id: memory.session for memory in store.memories}
    for question in store.questions:
        wanted = {session_of[id] for id in question.wanted if id in session_of}
        if question.counts and wanted:
            began = time.process_time()
            sessions = list(dict.fromkeys(find(services, question.text)))
            seconds = time.process_time() - began
            yield next((place for place, session in enumerate(sessions) if session in wanted), FIRST), seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, nargs="+")
    parser.add_argument("--stores", type=int, default=99, help="at most so many of each set")
    parser.add_argument("--joined", action="store_true", help="all in one memory")
    arguments = parser.parse_args()
    stores = [store for path in arguments.data for store in list(data.read(path))[: arguments.stores]]
    if arguments.joined:
        stores = [joined(stores)]
    print(f"{sum(len({memory.session for memory in store.memories}) for store in stores)} sessions")
    answers: dict[str, list[tuple[int, float]]] = {}
    for store in stores:
        for name, (take, find) in TAKES.items():
            with tempfile.TemporaryDirectory() as folder:
                services = app.build(Settings(db=Path(folder) / "memory.db", no_learning=True))
                services.queue.warm_up()
                take(services, store, Path(folder))
                services.queue.work()
                answers.setdefault(name, []).extend(ranks(services, store, find))
                answers.setdefault(f"{name}, recall", []).extend(ranks(services, store, of_recall))
                services.close()
    print(f"{'':<22}questions  hit@1  hit@5  ms of CPU")
    for name, pairs in answers.items():
        at_1, at_5 = (sum(place < most for place, _ in pairs) / len(pairs) for most in (1, 5))
        cpu = 1000 * statistics.median(seconds for _, seconds in pairs)
        print(f"{name:<22}{len(pairs):>9}  {at_1:.3f}  {at_5:.3f}  {cpu:>9.0f}")


if __name__ == "__main__":
    main()
