"""Measures short-term memories over stdio at 10,000 and 100,000 in one conversation, against the original algorithm.

    python scripts/lab/bench/short_term.py [--write]

The original (memory-mcp-server, JavaScript) keeps all memories in a list and looks at each of them in a search;
here it runs in Python, in this process, on the same keywords, without its file, which it writes whole at each add.
Prints markdown.
"""

import itertools
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

from report import Report
from server import Server, ours

from memory_server.domain.caller import Caller
from memory_server.domain.message import Message
from memory_server.domain.moment import timestamp
from memory_server.domain.short_term import keywords, snapshot
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.nlp.keywords import JiebaKeywords
from memory_server.sqlite.database import Database

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 3)]

from quality.seed import Original, Remembered  # noqa: E402

SIZES = (10_000, 100_000)
TIMES = 40
BATCH = 100
CONVERSATION = "benchmark"
NOW = datetime.now(UTC)
HISTORY = timedelta(days=300)
VOCABULARY = 20_000
"""Invented English words, used as often as Zipf's law says. The Chinese ones are those of jieba's dictionary."""


def main() -> None:
    report = Report(__file__)
    extract = JiebaKeywords(JiebaSegmenter(Path(tempfile.gettempdir()) / "benchmark-jieba")).extract
    talk = _talk(random.Random(3))
    original = Original()
    with tempfile.TemporaryDirectory(prefix="memory-server-benchmark-") as folder:
        db = Path(folder) / "memory.db"
        rows: list[list[str]] = []
        for size in SIZES:
            _fill(db, original, list(itertools.islice(talk, size - len(original.memories))), extract)
            rows.append(_measured(db, original, size, talk, extract))
    report.publish(
        ("memories", "add p50", "search p50", "slowest", "original's search p50", "times as fast", "file"),
        rows,
    )


def _fill(db: Path, original: Original, said: list[Message], extract: Callable[[str], Any]) -> None:
    database = Database(db, lambda: NOW)
    step = HISTORY / SIZES[-1]
    for start in range(0, len(said), BATCH):
        found = [(message, keywords([message], extract, {})) for message in said[start : start + BATCH]]
        with database.write() as tx:
            place = tx.conversations.find_or_insert(CONVERSATION)
            for message, its in found:
                at = NOW - HISTORY + step * len(original.memories)
                tx.short_term.insert(place, snapshot([message]), timestamp(at), its, Caller())
                original.memories.append(
                    Remembered([(each.word, each.weight) for each in its], at.timestamp() * 1000, 0)
                )
    database.close()
    print(f"{len(original.memories):,} memories", file=sys.stderr, flush=True)


def _measured(
    db: Path, original: Original, size: int, talk: Iterator[Message], extract: Callable[[str], Any]
) -> list[str]:
    server = Server(ours(db))
    try:
        said = [{"role": each.role, "content": each.content} for each in itertools.islice(talk, 2 * TIMES)]
        place = {"conversation_id": CONVERSATION}
        server.call("search_short_term_memories", {"recentMessages": said[:1], **place})  # loads jieba
        adds = [
            _took(server, "add_short_term_memory", {"messages": [each], **place}) for each in said[:TIMES]
        ]
        searches = [
            _took(server, "search_short_term_memories", {"recentMessages": [each], **place})
            for each in said[TIMES:]
        ]
    finally:
        server.close()
    chance = random.Random(5)
    before = []
    for each in said[TIMES : TIMES + 10]:
        found = keywords([Message(each["role"], each["content"])], extract, {})
        began = time.perf_counter()
        original.search([(word.word, word.weight) for word in found], NOW.timestamp() * 1000, chance)
        before.append(1000 * (time.perf_counter() - began))
    return [
        f"{size:,}",
        f"{median(adds):.0f} ms",
        f"{median(searches):.0f} ms",
        f"{max(searches):.0f} ms",
        f"{median(before):.0f} ms",
        f"{median(before) / median(searches):.0f} x",
        f"{db.stat().st_size / 1e6:.0f} MB",
    ]


def _took(server: Server, tool: str, arguments: dict[str, Any]) -> float:
    began = time.perf_counter()
    server.call(tool, arguments)
    return 1000 * (time.perf_counter() - began)


def _talk(chance: random.Random) -> Iterator[Message]:
    """Messages of 20 to 40 words, a third of them Chinese."""
    english = ["".join(chance.choices("bcdfghklmnprst", k=2)) + f"a{number}" for number in range(VOCABULARY)]
    chinese, counts = _chinese()
    ranks = list(itertools.accumulate(1 / (rank + 10) for rank in range(VOCABULARY)))
    counts = list(itertools.accumulate(counts))
    while True:
        length = chance.randint(20, 40)
        role = chance.choice(["user", "assistant"])
        if chance.random() < 1 / 3:
            yield Message(role, "，".join(chance.choices(chinese, cum_weights=counts, k=length)))
        else:
            yield Message(role, " ".join(chance.choices(english, cum_weights=ranks, k=length)))


def _chinese() -> tuple[list[str], list[float]]:
    import jieba

    with jieba.get_dict_file() as file:
        lines = [line.decode().split() for line in file.readlines()]
    return [line[0] for line in lines], [float(line[1]) for line in lines]


if __name__ == "__main__":
    main()
