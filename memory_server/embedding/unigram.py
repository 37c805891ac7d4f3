"""The tokenizer of the bundled model: from a text to the ids of its pieces.

It reads the `tokenizer.json` of the library `tokenizers` and gives the same ids, which a test compares. They differ in
34 characters, such as ㋿, which are younger than the Unicode tables of that library. With this vocabulary of 65,041
pieces the library takes 30 MB more in every process, and it installs the client of a model hub.
"""

import json
import re
import unicodedata
from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

_SPACE = "▁"
"""The character with which the first piece of a word begins."""

_UNKNOWN = 10.0
"""The logarithm by which an unknown character is less likely than the least likely piece."""

_CODE = re.compile(r"\\x\{([0-9a-f]+)\}")
"""A character in a pattern of the file. Python's patterns write it in another way."""


class Unigram:
    """A vocabulary of pieces with their logarithmic probabilities: a text is split into the likeliest pieces.

    Kudo: "Subword Regularization", 2018, section 3.2; the split is found by the Viterbi algorithm.
    """

    def __init__(self, path: Path) -> None:
        """Read the file, which takes 35 ms.

        Raises:
            ValueError: it asks for a step that is not known here.
        """
        description = json.loads(path.read_bytes())
        pieces: list[tuple[str, float]] = description["model"]["vocab"]
        self._steps = [_step(step) for step in description["normalizer"]["normalizers"]]
        self._unknown: int = description["model"]["unk_id"]
        self._ids = {piece: id for id, (piece, _) in enumerate(pieces)}
        self._scores = array("d", (score for _, score in pieces))
        self._least = min(self._scores) - _UNKNOWN
        self._longest = max(map(len, self._ids))

    def ids(self, text: str) -> list[int]:
        """The ids of the pieces of a text, none for an empty one."""
        for step in self._steps:
            text = step(text)
        words = text.split(" ") if text else []
        return [id for word in words for id in self._likeliest(_SPACE + word)]

    def rarities(self, ids: Sequence[int]) -> list[float]:
        """The rarity of these pieces: minus the logarithm of their probability."""
        return [-self._scores[id] for id in ids]

    def _likeliest(self, word: str) -> Iterator[int]:
        """Return the ids of the pieces of one word; unknown characters beside each other are one piece."""
        ids, scores = self._ids, self._scores
        end = len(word)
        best = [0.0, *[-inf] * end]
        # For each place: the start of the last piece before it, and the id of that piece.
        last_piece: list[tuple[int, int]] = [(0, self._unknown)] * (end + 1)
        for start in range(end):
            so_far = best[start]
            for stop in range(start + 1, min(end, start + self._longest) + 1):
                id = ids.get(word[start:stop])
                if id is not None and so_far + scores[id] > best[stop]:
                    best[stop], last_piece[stop] = so_far + scores[id], (start, id)
            if word[start] not in ids and so_far + self._least > best[start + 1]:
                best[start + 1], last_piece[start + 1] = so_far + self._least, (start, self._unknown)
        piece_ids: list[int] = []
        while end:
            end, id = last_piece[end]
            if id != self._unknown or piece_ids[-1:] != [id]:
                piece_ids.append(id)
        return reversed(piece_ids)


def _step(step: dict[str, Any]) -> Callable[[str], str]:
    """One step that makes a text uniform before it is split."""
    match step:
        case {"type": "NFKC"}:
            return partial(unicodedata.normalize, "NFKC")
        case {"type": "Strip", "strip_left": True, "strip_right": True}:
            return str.strip
        case {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}:
            search = re.compile(_CODE.sub(lambda code: re.escape(chr(int(code[1], 16))), pattern))
            return partial(search.sub, content.replace("\\", r"\\"))
    raise ValueError(f"a step of the tokenizer that is not known: {step}")
