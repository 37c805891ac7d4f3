"""What every embedder promises."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from itertools import pairwise

import numpy as np
import pytest

from memory_server.domain.embedding import Vector
from memory_server.embedding import Embedder

SAME = 0.99999
"""The least cosine of two vectors of one text."""

TEXTS = [
    "The deploy key lives in the vault.",
    "部署密钥存放在保险库里。",
    "ok",
    "Restart the worker after each change of its settings, or it goes on with the old ones. " * 3,
    "混合 English 和中文 in one line, C++ / naïve café / 100 %",
]
HARD_TEXTS = {
    "empty": "",
    "white space": " \n\t\u3000 ",
    "emoji": "👩‍👩‍👧‍👦 🚀",
    "lone surrogates": "broken \ud83d and \udc00 halves",
    "nul": "a\0b\0",
    "markup of special tokens": "<s> </s> <pad> <unk> [CLS] [MASK]",
    "unassigned": "\ufdd0\uffff\U0010ffff\u0378",
    "right to left": "שלום \u202e مرحبا",
    "one long word": "x" * 5_000,
    "5,000 characters of Chinese": "记忆服务器把会议内容保存下来。" * 333,
    "5,000 characters of English": "The quick brown fox jumps over the lazy dog. " * 111,
}


def cosine(a: Vector, b: Vector) -> float:
    return float(a.astype(np.float64) @ b.astype(np.float64))


def assert_vector(vector: Vector, embedder: Embedder) -> None:
    assert vector.dtype == np.float32
    assert vector.shape == (embedder.space.dimensions,)
    assert np.linalg.norm(vector.astype(np.float64)) == pytest.approx(1.0, abs=1e-5)


def test_every_vector_has_length_one_and_the_dimensions_of_the_space(embedder: Embedder) -> None:
    for vector in [embedder.embed_questions([TEXTS[0]])[0], *embedder.embed_documents(TEXTS)]:
        assert_vector(vector, embedder)


@pytest.mark.parametrize("text", HARD_TEXTS.values(), ids=HARD_TEXTS)
def test_any_text_has_a_vector_as_question_and_as_document(embedder: Embedder, text: str) -> None:
    assert_vector(embedder.embed_questions([text])[0], embedder)
    for vector in embedder.embed_documents([text, "ok"]):
        assert_vector(vector, embedder)


def test_no_documents_have_no_vectors(embedder: Embedder) -> None:
    assert embedder.embed_documents([]) == []


def test_the_same_call_gives_the_same_vector(embedder: Embedder) -> None:
    assert cosine(embedder.embed_questions([TEXTS[1]])[0], embedder.embed_questions([TEXTS[1]])[0]) >= SAME


def test_a_vector_does_not_depend_on_its_batch_mates(embedder: Embedder) -> None:
    texts = [*TEXTS, *(HARD_TEXTS[name] for name in ("empty", "emoji", "5,000 characters of English"))]
    together = embedder.embed_documents(texts)
    alone = [embedder.embed_documents([text])[0] for text in texts]
    assert min(map(cosine, together, alone)) >= SAME


def test_vectors_come_in_the_order_of_the_texts(embedder: Embedder) -> None:
    forwards = embedder.embed_documents(TEXTS)
    backwards = embedder.embed_documents(TEXTS[::-1])[::-1]
    assert min(map(cosine, forwards, backwards)) >= SAME
    assert max(cosine(a, b) for a, b in pairwise(forwards)) < SAME


def test_four_threads_get_the_vectors_that_one_gets(embedder: Embedder) -> None:
    texts = TEXTS * 4
    expected = embedder.embed_documents(texts)
    with ThreadPoolExecutor(4) as pool:
        got = list(pool.map(lambda text: embedder.embed_documents([text, TEXTS[3]])[0], texts))
    assert min(map(cosine, got, expected)) >= SAME


def test_surrogate_pairs_mean_their_character(embedder: Embedder) -> None:
    pair, character = embedder.embed_documents(["rocket \ud83d\ude80", "rocket \U0001f680"])
    assert cosine(pair, character) >= SAME


def test_the_space_is_described_and_has_a_sha256_for_fingerprint(embedder: Embedder) -> None:
    space = embedder.space
    assert all(getattr(space, field.name) is not None for field in fields(space))
    assert space.provider
    assert space.model
    assert int(space.fingerprint, 16) >= 0
    assert len(space.fingerprint) == 64
    assert embedder.space == space


def test_a_text_is_nearer_to_a_text_like_it_than_to_another(embedder: Embedder) -> None:
    query = embedder.embed_questions(["when is the next dentist appointment"])[0]
    like, other = embedder.embed_documents(
        ["The next dentist appointment is on Tuesday.", "The staging database runs in Frankfurt."]
    )
    assert cosine(query, like) > cosine(query, other)
