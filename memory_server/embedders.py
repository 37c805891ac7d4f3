"""Picks the embedder: the one of the settings, or the one whose vectors a file has. Makes the re-ranker."""

import logging
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from memory_server.domain.embedding import Space
from memory_server.embedding import Embedder
from memory_server.embedding.hashing import HashingEmbedder
from memory_server.embedding.sentence_transformers import SentenceTransformersEmbedder
from memory_server.errors import Hint, Mend, Unavailable
from memory_server.settings import Settings

if TYPE_CHECKING:
    from memory_server.embedding.bundled import BundledEmbedder
    from memory_server.embedding.endpoint import Endpoint
    from memory_server.embedding.reranker import Reranker

logger = logging.getLogger(__name__)

SENTENCE_TRANSFORMERS = "sentence-transformers"

OPENAI = "openai"


def choose(settings: Settings, spaces: Sequence[Space]) -> Embedder:
    """Return the embedder of the settings.

    `auto` stays with a sentence-transformers model that the file already uses: another window may be set to use it,
    and two windows must not move the file to and fro. For the same reason it takes no other embedder where the file
    uses an endpoint; but it does not call the endpoint, because texts leave this machine only where the settings say
    so. Otherwise it takes the bundled model, else hashing.

    Raises:
        Unavailable: it is not installed here, or cannot be loaded.
        Unreachable: the endpoint does not answer now.
    """
    match settings.embedder.partition(":"):
        case ("auto", _, _):
            if spaces and spaces[0].provider in (SENTENCE_TRANSFORMERS, OPENAI):
                return load(spaces[0], settings)
            return _bundled_or_hashing(settings)
        case ("bundled", _, _):
            return _bundled(settings)
        case ("hashing", _, _):
            return HashingEmbedder()
        case ("openai", _, model):
            from memory_server.embedding.openai import connected

            return connected(_endpoint(settings), model, spaces)
        case (_, _, model):
            name, _, revision = model.partition("@")
            return SentenceTransformersEmbedder(name, revision or None)


def load(space: Space, settings: Settings) -> Embedder:
    """Return the embedder of a space that a file has. An endpoint is called only where the settings name one.

    Raises:
        Unavailable: it is not installed here, or is another version.
    """
    match space.provider:
        case "bundled":
            embedder: Embedder = _bundled(settings)
        case "hashing":
            embedder = HashingEmbedder()
        case "openai":
            if not settings.embedder.startswith(f"{OPENAI}:"):
                raise Unavailable(
                    f"{space.model} is behind an endpoint, and no text leaves this machine unless the settings "
                    "name the endpoint.",
                    Hint(Mend.NAME_ENDPOINT_MODEL, {"model": space.model}),
                )
            from memory_server.embedding.openai import OpenAIEmbedder

            embedder = OpenAIEmbedder(_endpoint(settings), space)
        case _:
            # A model that the file knows is looked for on this machine only: a hub out of reach takes a minute to fail.
            try:
                embedder = SentenceTransformersEmbedder(
                    space.model, space.revision or None, local_files_only=True
                )
            except Unavailable as error:
                raise Unavailable(str(error), *error.problem.hints, Mend.USE_SAME_EMBEDDER) from error
    if embedder.space.fingerprint != space.fingerprint:
        raise Unavailable(f"{space.model} is installed here in another version.")
    return embedder


def reranker(settings: Settings) -> "Reranker":
    """Return the re-ranker that the settings name. An endpoint is not asked yet.

    Raises:
        Unavailable: it cannot be loaded, or its key cannot be sent.
    """
    kind, _, model = str(settings.reranker).partition(":")
    if kind == "endpoint":
        from memory_server.embedding.endpoint import RERANKER, Endpoint
        from memory_server.embedding.rerank_endpoint import EndpointReranker

        endpoint = Endpoint(str(settings.reranker_url), settings.reranker_key, role=RERANKER)
        return EndpointReranker(endpoint, model)
    from memory_server.embedding.cross_encoder import CrossEncoderReranker

    name, _, revision = model.partition("@")
    return CrossEncoderReranker(name, revision or None)


def _endpoint(settings: Settings) -> "Endpoint":
    from memory_server.embedding.endpoint import Endpoint

    key = settings.embedder_key
    if key is None and settings.asks_openai:
        raise Unavailable(f"{settings.embedder_url} needs a key, and none is set.", Mend.SET_ENDPOINT_KEY)
    return Endpoint(settings.embedder_url, key)


def _bundled_or_hashing(settings: Settings) -> Embedder:
    try:
        return _bundled(settings)
    except Unavailable as error:
        logger.error("%s Meaning is replaced by spelling.", error)
        return HashingEmbedder()


def _bundled(settings: Settings) -> Embedder:
    return _loaded(bundled_class, not settings.no_token_vectors)


@cache
def _loaded(bundled: "Callable[[], type[BundledEmbedder]]", reads_tokens: bool) -> "BundledEmbedder":
    """Load the model once for all memories of this process."""
    return bundled()(reads_tokens=reads_tokens)


def bundled_class() -> "type[BundledEmbedder]":
    """Imported where it is needed: a command that asks for no meaning does without its 0.2 s.

    Raises:
        Unavailable: a library that it needs is not here.
    """
    try:
        from memory_server.embedding.bundled import BundledEmbedder
    except ImportError as missing:
        raise Unavailable(f"The bundled embedder cannot be imported: {missing}.") from missing
    return BundledEmbedder
