"""An embedder that embeds each text of a memory once, in one run or in many."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np

from memory_server.domain.embedding import Vector
from memory_server.embedding import Embedder


class RememberedEmbedder:
    """Remembers the vectors of memories, in a file where one is given. Questions are embedded each time."""

    def __init__(self, embedder: Embedder, file: Path | None = None) -> None:
        self._embedder = embedder
        self._file = file
        self._vectors: dict[str, Vector] = {}
        if file is not None and file.exists():
            with np.load(file) as kept:
                self._vectors = dict(zip(kept["keys"].tolist(), kept["vectors"], strict=True))
        self._kept = len(self._vectors)
        self.space = embedder.space
        self.embed_questions = embedder.embed_questions

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        keys = [self._key(text) for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._vectors}
        if new:
            embedded = self._embedder.embed_documents(list(new.values()))
            self._vectors.update(zip(new, embedded, strict=True))
        return [self._vectors[key] for key in keys]

    def save(self) -> None:
        """Write the file, if there is one and something is new."""
        if self._file is None or len(self._vectors) == self._kept:
            return
        with self._file.open("wb") as file:
            np.savez(file, keys=list(self._vectors), vectors=np.array(list(self._vectors.values())))
        self._kept = len(self._vectors)

    def _key(self, text: str) -> str:
        return sha256(f"{self.space.fingerprint}\0{text}".encode()).hexdigest()
