"""Prints what learning across sessions does to a search: `python scripts/lab/quality/learning.py [SESSIONS]`.

Each store of `own.jsonl` is asked in so many sessions (5 unless told otherwise): every second question, of which the
answer repeats the text of the memories that answer it, as an assistant would. A real search shows them, and the real
rule of the Stop hook judges what was used. Then all questions are asked, with what was learnt and without it: those
that sessions asked, and the others, for which what was learnt of other questions can only be luck or harm.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import mean

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 3)]

from memory_server import app  # noqa: E402
from memory_server.domain.caller import Caller  # noqa: E402
from memory_server.domain.memory import Filter  # noqa: E402
from memory_server.domain.message import Message  # noqa: E402
from memory_server.embedding.bundled import BundledEmbedder  # noqa: E402
from memory_server.services.learning import OFF  # noqa: E402
from memory_server.services.search import SearchService  # noqa: E402
from quality import own  # noqa: E402
from quality.data import Question, Store  # noqa: E402
from quality.doors import LONGEST_QUESTION, ServicesDoor, built, names_of  # noqa: E402
from quality.measures import rank  # noqa: E402

SHOWN = 10
"""Hits of a search."""

SESSIONS = 5


def lived(services: app.Services, store: Store, questions: list[Question], sessions: int) -> None:
    """Sessions that ask these questions, each in a turn of its own whose answer has the words of what answers it."""
    texts = {memory.id: memory.text for memory in store.memories}
    for number in range(sessions):
        for place, question in enumerate(questions):
            caller = Caller("Claude", f"session {number}-{place}")
            text = question.text[:LONGEST_QUESTION]
            services.search.search(text, Filter(), SHOWN, "hybrid", likely=True, caller=caller)
            answer = "\n".join(texts[id] for id in sorted(question.wanted))
            services.learning.judge([Message("user", text), Message("assistant", answer)], caller)


def ranks(search: SearchService, question: Question, names: dict[int, tuple[str, ...]]) -> Iterator[float]:
    """The reciprocal rank of each piece of evidence; 0 where it is not among the hits."""
    found = search.search(question.text[:LONGEST_QUESTION], Filter(), SHOWN, "hybrid", caller=Caller()).hits
    shown = [names[hit.memory.id] for hit in found]
    for piece in question.gold:
        place = rank(shown, piece)
        yield 1 / place if place else 0.0


def main(sessions: int) -> None:
    embedder = BundledEmbedder()
    figures: dict[tuple[str, str], list[float]] = defaultdict(list)
    for store in own.stores(held=False):
        with built(embedder) as (services, set_clock):
            names = names_of(store, ServicesDoor(services, set_clock).store(store.memories))
            asked = [question for question in store.questions[::2] if question.gold]
            lived(services, store, asked, sessions)
            learnt = replace(services.search, count_access=False)
            for name, search in (("without", replace(learnt, learning=OFF)), ("with", learnt)):
                for question in store.questions:
                    kind = "asked before" if question in asked else "never asked"
                    figures[kind, name] += ranks(search, question, names)
    for (kind, name), values in sorted(figures.items()):
        first = mean(value == 1 for value in values)
        print(f"{kind:<13} {name:<8} n={len(values):<4} MRR {mean(values):.3f}  first {first:.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SESSIONS)
