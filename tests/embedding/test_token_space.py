"""The vectors of tokens that the bundled embedder gives beside its embeddings."""

import hashlib

import numpy as np

from memory_server.domain.embedding import TOKEN_DIMENSIONS, Tokens
from memory_server.embedding import bundled as bundled_module
from memory_server.embedding import token_space
from memory_server.embedding.bundled import BundledEmbedder

TEXT = "Caroline went to the pottery class on Sunday."


def cosines(a: Tokens, b: Tokens) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return a.astype(np.float64) @ b.T.astype(np.float64) / 127**2


def test_the_embedding_of_a_text_is_the_same_with_and_without_its_tokens(bundled: BundledEmbedder) -> None:
    plain = BundledEmbedder(reads_tokens=False)
    (with_tokens,), (without,) = bundled.read_documents([TEXT]), plain.read_documents([TEXT])
    assert without.tokens is None
    assert with_tokens.tokens is not None
    assert np.array_equal(with_tokens.vector, without.vector)
    assert bundled.space == plain.space


def test_each_token_has_a_vector_that_does_not_depend_on_the_other_texts(bundled: BundledEmbedder) -> None:
    (alone,) = bundled.read_documents([TEXT])
    beside, _ = bundled.read_documents([TEXT, "A longer text, so that the first one is padded. " * 3])
    assert alone.tokens is not None
    assert beside.tokens is not None
    assert alone.tokens.dtype == np.int8
    assert alone.tokens.shape == (len(bundled._tokenizer.ids(TEXT)), TOKEN_DIMENSIONS)
    assert np.abs(alone.tokens.astype(int) - beside.tokens).max() <= 1


def test_a_word_is_likest_to_itself_and_then_to_what_means_the_like(bundled: BundledEmbedder) -> None:
    (question,) = bundled.read_questions(["pottery"])
    texts = ["She likes pottery.", "She likes ceramics.", "She likes the tax office."]
    readings = bundled.read_documents(texts)
    likest = []
    for reading in readings:
        assert question.tokens is not None
        assert reading.tokens is not None
        likest.append(cosines(question.tokens, reading.tokens).max(axis=1).mean())
    assert likest == sorted(likest, reverse=True)


def test_of_a_long_text_the_rarest_tokens_are_kept(bundled: BundledEmbedder) -> None:
    (reading,) = bundled.read_documents(["the " * 600 + "pottery"])
    (question,) = bundled.read_questions(["pottery"])
    assert reading.tokens is not None
    assert question.tokens is not None
    assert len(reading.tokens) == token_space.MOST
    assert cosines(question.tokens, reading.tokens).max() > 0.6


def test_the_numbers_are_those_by_which_stored_tokens_were_made() -> None:
    """Who changes them must empty the table `token_vectors` in a migration."""
    content = (bundled_module._FOLDER / token_space.FILE).read_bytes()
    assert (
        hashlib.sha256(content).hexdigest()
        == "a1eed3341766e22921f660364534fb7f29b1095d5d507572e32a7c5852675b8b"
    )
