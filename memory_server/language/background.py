"""The share of ordinary texts that hold a word: a small store cannot tell by itself.

`scripts/lab/quality/background.py` counts them in public sets of dialogues, notes and passages, in both languages.
"""

import json
from functools import cache
from math import log
from pathlib import Path

BACKGROUND = 60
"""So many texts of ordinary language are added to the counts of a store. In a small store two of five texts may hold a
word that is rare in general: it must still count."""

UNSEEN = 0.0004
"""Share of ordinary texts that hold a word which is not listed."""


def share(term: str) -> float:
    """The share of ordinary texts that hold a term of a query (a word, or characters with spaces between them)."""
    return _shares().get(term, UNSEEN)


def rarity(term: str) -> float:
    """The information in a term, in nats: minus the logarithm of its share of ordinary texts."""
    return -log(share(term))


def weight(holding: int, texts: int, usual: float) -> float:
    """The inverse document frequency of a term in a store, smoothed by ordinary language.

    `holding` of the `texts` of the store hold it; `usual` is the share of ordinary texts that hold it.
    """
    total, with_term = texts + BACKGROUND, holding + BACKGROUND * usual
    return log(1 + (total - with_term + 0.5) / (with_term + 0.5))


@cache
def _shares() -> dict[str, float]:
    text = Path(__file__).with_name("background.json").read_text(encoding="utf-8")
    shares: dict[str, float] = json.loads(text)
    return shares
