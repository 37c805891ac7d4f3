"""The embedder for a model that the user names, run by sentence-transformers (an extra of this package)."""

import hashlib
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from memory_server import installation
from memory_server.domain.embedding import Space, Vector
from memory_server.embedding.chinese import understands_chinese
from memory_server.embedding.compat import hub_commit
from memory_server.embedding.fingerprint import digest_of_files, fingerprinted
from memory_server.embedding.prompts import ModelPrompts, by_name
from memory_server.embedding.unicode import well_formed
from memory_server.errors import Mend, Unavailable

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_MODEL_FILES = {".safetensors", ".bin", ".json", ".txt", ".model"}
"""Suffixes of weights, settings and vocabularies: the files that decide a model's vectors, and so its fingerprint."""


class PromptUse(NamedTuple):
    """The use of a model: the class of sentence-transformers, and the words for a failure."""

    library_class: str
    role: str
    mend: Mend


_EMBEDDING = PromptUse("SentenceTransformer", "embedding model", Mend.USE_ANOTHER_EMBEDDER)


class SentenceTransformersEmbedder:
    """Any sentence-transformers model, on the CPU. It does not read what exceeds the model's own limit."""

    def __init__(
        self, name_or_path: str, revision: str | None = None, *, local_files_only: bool = False
    ) -> None:
        """Import and load, which takes 6 to 10 s."""
        self._lock = Lock()
        self._model: SentenceTransformer = load(name_or_path, revision, local_files_only)
        self._prompts = _prompts(self._model, name_or_path)
        self._space = self._describe(name_or_path, revision)

    @property
    def space(self) -> Space:
        return self._space

    def embed_questions(self, texts: Sequence[str]) -> list[Vector]:
        return self._embed(self._prompts.query, texts)

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        return self._embed(self._prompts.document, texts)

    def _embed(self, prompt: str, texts: Sequence[str]) -> list[Vector]:
        if not texts:
            return []
        # The tokenizers of transformers raise an error if two threads use them at once.
        with self._lock:
            vectors = self._model.encode(
                [well_formed(text) for text in texts],
                prompt=prompt,
                show_progress_bar=False,
                convert_to_numpy=True,
                normalize_embeddings=True,
            )
        return list(np.asarray(vectors, np.float32))

    def _describe(self, name_or_path: str, revision: str | None) -> Space:
        folder = Path(name_or_path)
        commit = None if folder.is_dir() else hub_commit(self._model)
        space = Space(
            provider="sentence-transformers",
            model=folder.resolve().name if folder.is_dir() else name_or_path,
            revision=commit or revision or "",
            dimensions=len(self.embed_questions([""])[0]),
            query_prompt=self._prompts.query,
            document_prompt=self._prompts.document,
            transform=f"first {self._model.max_seq_length} tokens",
            chinese=understands_chinese(self.embed_documents),
            lexical=False,
            fingerprint="",
        )
        if folder.is_dir():
            files = [file for file in folder.rglob("*") if file.suffix in _MODEL_FILES and file.is_file()]
            return fingerprinted(space, digest_of_files(folder, files))
        return fingerprinted(space, commit or _digest_of_weights(self._model))


def load(name_or_path: str, revision: str | None, local_files_only: bool, use: PromptUse = _EMBEDDING) -> Any:
    """Load the model from a folder or the hub's cache; if it is in neither, and if that is allowed, from the hub.

    The cache comes first because a request to the hub without a network fails only after more than a minute.

    Raises:
        Unavailable: the library or the model is not here.
    """
    load_model = getattr(_library(name_or_path, use.role), use.library_class)
    no_hub = local_files_only or Path(name_or_path).is_dir()
    failure: Exception
    for only_local in (True,) if no_hub else (True, False):
        try:
            return load_model(
                name_or_path,
                revision=revision,
                device="cpu",
                local_files_only=only_local,
                trust_remote_code=False,
            )
        except (OSError, ValueError) as error:
            failure = error
    raise Unavailable(
        f"The {use.role} {name_or_path!r} cannot be loaded ({str(failure).partition(chr(10))[0]}).",
        use.mend,
    ) from failure


def _library(name_or_path: str, role: str) -> ModuleType:
    """Import sentence-transformers, which also imports torch: some seconds, and 400 MB of memory."""
    try:
        library = import_module("sentence_transformers")
        import_module("transformers").utils.logging.disable_progress_bar()
    except ImportError as error:
        raise Unavailable(
            f"The {role} {name_or_path!r} needs sentence-transformers, which cannot be imported ({error}).",
            installation.mend("sentence-transformers"),
        ) from error
    return library


def _prompts(model: "SentenceTransformer", name_or_path: str) -> ModelPrompts:
    """The prompts in the model's settings, else those known for its name, else none."""
    model_prompts = model.prompts
    document = model_prompts.get("document") or model_prompts.get("passage") or ""
    if model_prompts.get("query") or document:
        return ModelPrompts(model_prompts.get("query") or "", document)
    return by_name(name_or_path)


def _digest_of_weights(model: "SentenceTransformer") -> str:
    """The sha256 of all weights in memory, for a model from the hub whose commit is unknown."""
    whole = hashlib.sha256()
    for name, weights in sorted(model.state_dict().items()):
        whole.update(f"{name} {tuple(weights.shape)}\n".encode())
        whole.update(weights.contiguous().view(-1).float().numpy().tobytes())
    return whole.hexdigest()
