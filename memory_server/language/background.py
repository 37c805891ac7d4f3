"""How common words are in ordinary texts: a small store cannot tell by itself.

`scripts/quality/background.py` counts them in public sets of dialogues, notes and passages, in both languages.
"""

import json
from functools import cache
from importlib.resources import files

UNSEEN = 0.0004
"""Share of ordinary texts that hold a word which is not listed."""


def share(term: str) -> float:
    """The share of ordinary texts that hold a term of a query (a word, or characters with spaces between them)."""
    return _shares().get(term, UNSEEN)


@cache
def _shares() -> dict[str, float]:
    text = files("memory_server.language").joinpath("background.json").read_text(encoding="utf-8")
    found: dict[str, float] = json.loads(text)
    return found
