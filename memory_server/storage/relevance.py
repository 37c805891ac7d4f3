"""The SQL of the relevance of short-term memories; `domain/short_term.py` has its constants."""

import json
from typing import Any

from memory_server.domain.short_term import DECAY_PER_MS, MAX_PENALTY, RELEVANCE_DECIMALS, Asking, containing

_AGE_MS = "((julianday(:now) - julianday(m.said_at)) * 86400000.0)"

PENALTY = f"({MAX_PENALTY} * (1 - exp(max(-700, min(0, -{_AGE_MS} * {DECAY_PER_MS!r})))))"
"""15 x (1 - e^(-age_ms x 2e-9)): what a memory has lost to time; none while its moment is still to come.

PostgreSQL refuses an exp() that it would make 0 of: that of -700 is as good.
"""

COUNTED_SCORE = "CASE WHEN score > :share * words THEN :share * words ELSE score END"
"""The part of a score that counts: all of it, or at most a share of the words part."""


def rounded(number: str) -> str:
    """Return the SQL of a relevance, rounded: PostgreSQL rounds no floating point number to decimals."""
    return f"CAST(round(CAST({number} AS numeric), {RELEVANCE_DECIMALS}) AS double precision)"


RELEVANCE = rounded(f"words - penalty + {COUNTED_SCORE}")

ASKED = """
    asked (word, weight, containing) AS MATERIALIZED (
        SELECT value ->> 0, CAST(value ->> 1 AS double precision), value ->> 2 FROM json_each(:asked)
    )
"""

COUNTS = """(
    a.containing = '[]' OR NOT EXISTS (
        SELECT 1
        FROM json_each(a.containing) AS longer
        CROSS JOIN short_term_keywords AS longer_keyword
        WHERE longer_keyword.conversation_id = k.conversation_id
            AND longer_keyword.word = longer.value
            AND longer_keyword.memory_id = k.memory_id
    )
)"""
"""True for a shared word that no other shared word contains."""


def values(asking: Asking) -> dict[str, Any]:
    """Return the values of `asked`, and the share that bounds the score."""
    keywords = zip(asking.keywords, containing(asking.keywords), strict=True)
    rows = [(keyword.word, keyword.weight, longer) for keyword, longer in keywords]
    return {"asked": json.dumps(rows, ensure_ascii=False), "share": asking.score_share}
