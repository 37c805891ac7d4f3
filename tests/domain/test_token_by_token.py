"""A question is read against texts token by token."""

import numpy as np
import pytest

from memory_server.domain import token_by_token
from memory_server.domain.embedding import TOKEN_DIMENSIONS, Tokens

APART = {distance: np.full(3, -1) for distance in token_by_token.LEND}
"""Nobody stands beside anybody."""


def tokens(*directions: int) -> Tokens:
    """Tokens of these directions, each at right angles to the others."""
    rows = np.zeros((len(directions), TOKEN_DIMENSIONS), np.int8)
    rows[range(len(directions)), directions] = 127
    return rows


def test_a_token_that_few_texts_hold_counts_most() -> None:
    texts = [tokens(1, 3), tokens(1, 2), tokens(1)]
    common, rare, neither = token_by_token.likeness(tokens(1, 2), texts, APART)
    assert rare > common == pytest.approx(neither)


def test_a_text_whose_tokens_are_not_known_is_neither_raised_nor_lowered() -> None:
    holding, unknown, lacking = token_by_token.likeness(tokens(1), [tokens(1), None, tokens(2)], APART)
    assert holding > unknown == 0 > lacking
    assert token_by_token.likeness(tokens(1), [None, None, None], APART).tolist() == [0, 0, 0]
    assert token_by_token.likeness(tokens(), [tokens(1)] * 3, APART).tolist() == [0, 0, 0]


def test_what_comes_after_the_common_ones_makes_no_token_rarer() -> None:
    texts = [tokens(1, 3), tokens(1, 2), tokens(1)] * token_by_token.COMMON
    apart = {distance: np.full(len(texts), -1) for distance in token_by_token.LEND}
    first = token_by_token.likeness(
        tokens(1, 2),
        texts[: token_by_token.COMMON],
        {d: a[: token_by_token.COMMON] for d, a in apart.items()},
    )
    texts[token_by_token.COMMON :] = [tokens(2)] * (len(texts) - token_by_token.COMMON)
    assert token_by_token.likeness(tokens(1, 2), texts, apart)[: token_by_token.COMMON] == pytest.approx(
        first
    )


def test_what_stands_beside_a_text_lends_its_tokens_but_not_all_of_their_weight() -> None:
    texts = [tokens(1), tokens(2), tokens(3)]
    near = {**APART, -1: np.array([-1, 0, -1])}
    holding, beside, far = token_by_token.likeness(tokens(1), texts, near)
    assert holding > beside > far


def test_it_counts_most_in_what_people_say_and_nothing_in_chats_with_an_assistant() -> None:
    talk, notes, chat = (
        token_by_token.weight(speakers)
        for speakers in (["ana", "bo"] * 4, [""] * 8, ["user", "assistant"] * 4)
    )
    assert talk > notes > chat == 0
