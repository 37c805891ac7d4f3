"""How common words are in ordinary texts: a small store cannot tell by itself.

`scripts/quality/background.py` counts them in public sets of dialogues, notes and passages, in both languages.
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
    """How much a term tells: the logarithm of its rarity in ordinary texts."""
    return -log(share(term))


def weight(holding: int, texts: int, usual: float) -> float:
    """The inverse document frequency of a term that so many texts of a store hold, smoothed by ordinary language.

    `usual` is the share of ordinary texts that hold it.
    """
    total, held = texts + BACKGROUND, holding + BACKGROUND * usual
    return log(1 + (total - held + 0.5) / (held + 0.5))


@cache
def _shares() -> dict[str, float]:
    text = Path(__file__).with_name("background.json").read_text(encoding="utf-8")
    found: dict[str, float] = json.loads(text)
    return found
