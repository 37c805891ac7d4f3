"""The embedder without a model."""

import zlib

import numpy as np
import pytest

from memory_server.embedding.hashing import DIMENSIONS, HashingEmbedder

EMBEDDER = HashingEmbedder()


def test_it_says_that_it_knows_spelling_only() -> None:
    assert EMBEDDER.space.lexical
    assert EMBEDDER.space.chinese
    assert EMBEDDER.space.dimensions == 512


def test_its_vectors_are_the_same_on_every_machine() -> None:
    code = zlib.crc32("c好".encode())
    expected = np.zeros(DIMENSIONS, np.float32)
    expected[code % DIMENSIONS] = 1.0 if code & DIMENSIONS else -1.0
    np.testing.assert_array_equal(EMBEDDER.embed_questions(["好"])[0], expected)


@pytest.mark.parametrize(
    ("a", "b"),
    [("\uff30\uff39\uff34\uff28\uff2f\uff2e", "python"), ("Backup NOW", "backup now"), ("ﾃﾞｰﾀ", "データ")],
)
def test_width_and_case_do_not_matter(a: str, b: str) -> None:
    np.testing.assert_array_equal(EMBEDDER.embed_questions([a])[0], EMBEDDER.embed_questions([b])[0])


@pytest.mark.parametrize(
    ("query", "near", "far"),
    [
        ("数据库密码", "数据库的密码每月更换", "周末去爬山看日出"),
        ("deployments", "the deployment failed", "a walk in the park"),
        ("AI 芯片", "我喜欢AI技术", "我喜欢喝茶"),
    ],
)
def test_shared_spelling_brings_texts_together(query: str, near: str, far: str) -> None:
    question = EMBEDDER.embed_questions([query])[0]
    likes, differs = EMBEDDER.embed_documents([near, far])
    assert float(question @ likes) > float(question @ differs)
