"""An embedder that embeds each text of a memory once, in one run or in many."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np

from memory_server.domain.embedding import TOKEN_DIMENSIONS, Reading, Vector
from memory_server.embedding import Embedder, read_documents, read_questions, reads_tokens


class RememberedEmbedder:
    """Remembers what was read of memories, in a file where one is given. Questions are read each time."""

    def __init__(self, embedder: Embedder, file: Path | None = None) -> None:
        self._embedder = embedder
        self._file = file
        self._readings: dict[str, Reading] = {}
        if file is not None and file.exists():
            self._readings = _load(file)
        self._kept = len(self._readings)
        self.space = embedder.space
        self.embed_questions = embedder.embed_questions

    @property
    def reads_tokens(self) -> bool:
        return reads_tokens(self._embedder)

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        return [reading.vector for reading in self.read_documents(texts)]

    def read_questions(self, texts: Sequence[str]) -> list[Reading]:
        return read_questions(self._embedder, texts)

    def read_documents(self, texts: Sequence[str]) -> list[Reading]:
        keys = [self._key(text) for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._readings}
        if new:
            readings = read_documents(self._embedder, list(new.values()))
            self._readings.update(zip(new, readings, strict=True))
        return [self._readings[key] for key in keys]

    def save(self) -> None:
        """Write the file, if there is one and something is new."""
        if self._file is None or len(self._readings) == self._kept:
            return
        empty = np.zeros((0, TOKEN_DIMENSIONS), np.int8)
        tokens = [empty if reading.tokens is None else reading.tokens for reading in self._readings.values()]
        with self._file.open("wb") as file:
            np.savez(
                file,
                keys=list(self._readings),
                vectors=np.array([reading.vector for reading in self._readings.values()]),
                tokens=np.concatenate(tokens),
                ends=np.cumsum([len(of_text) for of_text in tokens]),
            )
        self._kept = len(self._readings)

    def _key(self, text: str) -> str:
        return sha256(f"{self.space.fingerprint}\0{self.reads_tokens}\0{text}".encode()).hexdigest()


def _load(file: Path) -> dict[str, Reading]:
    with np.load(file) as kept:
        of_texts = np.split(kept["tokens"], kept["ends"][:-1])
        readings = [
            Reading(vector, tokens if len(tokens) else None)
            for vector, tokens in zip(kept["vectors"], of_texts, strict=True)
        ]
        return dict(zip(kept["keys"].tolist(), readings, strict=True))
