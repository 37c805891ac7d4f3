"""How common words are in ordinary texts: a small store cannot tell by itself."""

from functools import cache

UNSEEN = 0.0004
"""Share of ordinary texts that hold a word which is not listed."""


def share(term: str) -> float:
    """The share of ordinary texts that hold a term of a query (a word, or characters with spaces between them)."""
    return _shares().get(term, UNSEEN)


@cache
def _shares() -> dict[str, float]:
    return {}
