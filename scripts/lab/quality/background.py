"""Counts how common words are in ordinary texts: `python scripts/lab/quality/background.py DATA ... [--write]`.

Writes memory_server/language/background.json: of each term, the share of the texts of its language that hold it. A
term is kept where at least three stores hold it, and never a speaker's name.
"""

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 3)]

from memory_server.domain.relevance import speaker_of  # noqa: E402
from memory_server.language import query  # noqa: E402
from memory_server.language.text import fold, has_han  # noqa: E402
from quality import data, own  # noqa: E402
from quality.data import Store  # noqa: E402

SHARES = Path(__file__).resolve().parents[3] / "memory_server/language/background.json"

LENGTH = 400
"""Characters of each text that are counted: most memories are no longer."""

STORES = 3
"""Stores that must hold a term: a term of fewer is a word of their matter."""

LEAST = 0.0015
"""Share of the texts below which a term is not listed."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    found = shares([*(store for path in given.data for store in data.read(path)), *own.stores(held=False)])
    print(f"{len(found)} terms")
    if given.write:
        lines = (f"{json.dumps(term, ensure_ascii=False)}: {share}" for term, share in found.items())
        SHARES.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def shares(every: Iterable[Store]) -> dict[str, float]:
    """Of each term, the share of the texts of its language that hold it."""
    texts: Counter[bool] = Counter()
    holding: Counter[str] = Counter()
    stores: dict[str, set[str]] = defaultdict(set)
    names: set[str] = set()
    for store in every:
        for memory in store.memories:
            speaker = speaker_of(fold(memory.text))
            names.update(speaker.split())
            said = memory.text[len(speaker) + 1 :] if speaker else memory.text
            texts[has_han(said)] += 1
            for term in set(query.parse(said[:LENGTH]).terms):
                holding[term] += 1
                stores[term].add(store.name)
    return {
        term: round(count / texts[has_han(term)], 4)
        for term, count in sorted(holding.items())
        if len(stores[term]) >= STORES and count / texts[has_han(term)] >= LEAST and term not in names
    }


if __name__ == "__main__":
    main()
