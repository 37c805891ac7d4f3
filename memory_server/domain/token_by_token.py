"""Reads texts for a question token by token: the vector of a whole text says what it is about, not each word."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memory_server.domain.embedding import Tokens
from memory_server.domain.ranking import TALK
from memory_server.domain.relevance import Numbers, Places, is_name

OF_TALK = 0.5
"""Weight of the likeness in the score where most candidates are what people say to each other."""

OF_NOTES = 0.05
"""The same of notes: with .1 vague questions found fewer of their many answers."""

OF_CHATS = 0.0
"""The same of chats with an assistant, whose long messages hold something like every token."""

COMMON = 100
"""Texts, the first ones, that tell how many hold a token: what only a date proposes does not make words rarer."""

HOLDS = 0.6
"""Cosine with its likest token from which on a text holds a token of the question."""

LEND = {-2: 0.8, -1: 0.9, 1: 0.9, 2: 0.8}
"""What a text beside it in the same talk lends of the likeness of its tokens, by the distance: what is asked for and
what answers often stand in two turns."""

_LENGTH = 127
"""The length of a token's vector."""


def weight(speakers: Sequence[str]) -> float:
    """Return the weight of the likeness in a search whose candidates begin with these speakers ('' is none)."""
    if np.mean(list(map(is_name, speakers))) > TALK:
        return OF_TALK
    return OF_CHATS if np.mean(list(map(bool, speakers))) > TALK else OF_NOTES


def likeness(question: Tokens, texts: Sequence[Tokens | None], near: Mapping[int, Places]) -> Numbers:
    """Return how well each text holds the tokens of a question, less the mean of the first COMMON: (texts,).

    Each token counts with its likest one in the text or beside it, and more where fewer texts hold it. A text whose
    tokens are not known (None) has 0: it is neither raised nor lowered. `near` has by distance the number of the text
    that stands so far from each text, or -1.
    """
    readable = np.array([tokens is not None and len(tokens) > 0 for tokens in texts], bool)
    totals = np.zeros(len(texts))
    common = readable & (np.arange(len(texts)) < COMMON)
    if not common.any() or not len(question):
        return totals
    best = np.zeros((len(question), len(texts)), np.float32)
    best[:, readable] = _likest(question, [tokens for tokens in texts if tokens is not None and len(tokens)])
    holding = np.count_nonzero(best[:, common] > HOLDS, axis=1)
    rarity = np.log1p((common.sum() - holding + 0.5) / (holding + 0.5))
    lent = best.copy()
    for distance, share in LEND.items():
        places = near[distance]
        np.maximum(lent, share * best[:, places] * (places >= 0), out=lent)
    means = np.einsum("q,qt->t", rarity / rarity.sum(), lent)
    totals[readable] = (means - means[common].mean())[readable]
    return totals


def _likest(question: Tokens, texts: Sequence[Tokens]) -> NDArray[np.float32]:
    """Return the cosine of each token of the question with the likest one of each text: (tokens, texts)."""
    starts = np.cumsum([0, *map(len, texts)])[:-1]
    # Without BLAS, whose threads busy-wait afterwards.
    cosines = np.einsum("qk,tk->qt", _floats(question), _floats(np.concatenate(texts)))
    best: NDArray[np.float32] = np.maximum.reduceat(cosines, starts, axis=1)
    return best


def _floats(tokens: Tokens) -> NDArray[np.float32]:
    return tokens.astype(np.float32) / np.float32(_LENGTH)
