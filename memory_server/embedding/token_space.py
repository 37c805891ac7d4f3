"""The vectors of tokens: a second output of the bundled network, small enough to be kept for every token of a memory.

They come from the run that embeds the text. Of the states of the last layer but one, the mean of ordinary tokens of the
language is subtracted, and 32 directions in which tokens differ most are kept, 8 bits each. The last layer itself found
less: it says what the whole text is about. `scripts/lab/model/tokens.py` makes the numbers in tokens.npy.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory_server.domain.embedding import Tokens

FILE = "tokens.npy"
"""The means and the directions, float16: four rows of means, then the directions; shape (36, dimensions)."""

OUTPUT = "l10.oln.out"
"""The value of the network that is its second output: the states after the eleventh of twelve layers."""

JUDGED = ("l4.oln.out", "l7.oln.out", OUTPUT)
"""The values that tell what kind of sentence a text is: the states after the fifth, eighth and eleventh layer."""

MEANS = 4
"""Rows of means: of questions and of stored texts, each without Chinese characters and with them."""

MOST = 128
"""Tokens of a text that are kept, the rarest: 4 KB at most."""

_GRAPH, _OUTPUT, _NAME, _TYPE, _TENSOR, _ELEMENT, _FLOAT = 7, 12, 1, 2, 1, 1, 1
"""Numbers of fields, and of the type, in the format of ONNX (onnx.proto)."""

_DELIMITED = 2


def with_outputs(model: bytes) -> bytes:
    """Return an ONNX model with the states of some layers as further outputs.

    Protocol buffers read a message that comes again as more of the same message: so what is appended are more outputs
    of the graph. The file and its sha256 stay, and with them the space of all vectors that are stored.
    """
    tensor = _field(_TENSOR, bytes([_ELEMENT << 3, _FLOAT]))
    outputs = (_field(_OUTPUT, _field(_NAME, name.encode()) + _field(_TYPE, tensor)) for name in JUDGED)
    return model + b"".join(_field(_GRAPH, output) for output in outputs)


def _field(number: int, content: bytes) -> bytes:
    """Return a field of a message. Its content is shorter than 128 bytes: then one byte is its length."""
    return bytes([number << 3 | _DELIMITED, len(content)]) + content


@dataclass(frozen=True, slots=True)
class TokenSpace:
    """`means` is float32 of the shape (MEANS, dimensions), `directions` (dimensions, TOKEN_DIMENSIONS)."""

    means: NDArray[np.float32]
    directions: NDArray[np.float32]

    def mean(self, question: bool, chinese: bool) -> NDArray[np.float32]:
        """Return the mean token of questions or of stored texts, without or with Chinese characters."""
        mean: NDArray[np.float32] = self.means[2 * question + chinese]
        return mean

    def pack(self, states: NDArray[np.float32], mean: NDArray[np.float32]) -> Tokens:
        """Return the vectors of tokens, from their states: (tokens, dimensions)."""
        # Without BLAS, whose threads busy-wait afterwards.
        rows = np.einsum("td,dk->tk", states - mean, self.directions)
        lengths = np.sqrt(np.einsum("tk,tk->t", rows, rows))[:, None]
        packed: Tokens = np.rint(rows * (127 / np.maximum(lengths, np.float32(1e-9)))).astype(np.int8)
        return packed


def load(folder: Path) -> TokenSpace:
    rows = np.load(folder / FILE).astype(np.float32)
    return TokenSpace(rows[:MEANS], np.ascontiguousarray(rows[MEANS:].T))


def kept(windows: Sequence[Tokens], rarities: Sequence[float]) -> Tokens | None:
    """Return the tokens of a text, of a long one the MOST rarest; None where none were read.

    `windows` are the tokens of its windows, `rarities` those of all these tokens.
    """
    if not windows:
        return None
    tokens = np.concatenate(windows)
    rarest = np.argsort(-np.array(rarities, np.float64), kind="stable")[:MOST]
    chosen: Tokens = tokens[np.sort(rarest)]
    return chosen
