"""The probability that a sentence tells something that should outlast its conversation.

A logistic model over the words of a sentence, over its frame, in which rare words are left open: "our _ is now Aa", and
over the words around it, which tell a story, a letter or a translation from what the person says.
`scripts/lab/quality/lasting.py --fit` fits it on labelled prompts and writes the weights beside this module.
"""

import json
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import exp

from memory_server.language.lazy import lazy
from memory_server.language.text import HAN

SCALE = 100
"""A weight of the file is a hundred times that of the model: whole numbers are shorter."""

CAUTION = 0.86
"""Subtracted from the logit where words alone decide: they must be surer."""

_TOKEN = lazy(
    rf"(?P<code>https?://\S+|[\w.~-]*/[\w./-]+|\w+\(\)|\w+_\w+|[a-z]+[A-Z]\w*|[\w-]+\.(?!\d)\w+|[\w.]+@[\w.]+)"
    r"|(?P<number>\d+(?:[.,:]\d+)*)"
    rf"|(?P<han>[{HAN}])"
    rf"|(?P<word>[^\W\d_{HAN}]+(?:['’][^\W\d_{HAN}]+)*)"
    r"|(?P<mark>[^\w\s])"
)

_SAME_MARKS = str.maketrans("，。？！：；（）“”’", ',.?!:;()""\'')

_LENGTHS = (3, 6, 10, 16, 30)
"""Tokens: a sentence is put into one of six groups by its length."""

_ROOMS = (0, 5, 15, 30, 60, 100)
"""The same of what stands around it."""

_NEAR = 60
"""Tokens on each side of a sentence that are read."""

_NEAR_LETTERS = 500


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of a message, with what stands before and behind it."""

    text: str
    before: str = ""
    behind: str = ""


@dataclass(frozen=True, slots=True)
class Model:
    """`common` are the words that a frame names, `words` the weights of features."""

    bias: float
    common: Set[str]
    words: dict[str, float]

    def logit(self, statement: Statement) -> float:
        present = set(features(statement, self.common))
        return self.bias + sum(self.words.get(feature, 0.0) for feature in present)

    def by_words(self, statement: Statement) -> float:
        return probability(self.logit(statement) - CAUTION)


def probability(logit: float) -> float:
    return 1 / (1 + exp(-max(-50.0, min(50.0, logit))))


def features(statement: Statement, common: Set[str]) -> Iterator[str]:
    """The names of what a sentence has: words, runs of its frame with its begin and its end, and words around it."""
    words, frame = _read(statement.text, common)
    yield from words
    for size in (2, 3, 4):
        for start in range(len(frame) - size + 1):
            run = frame[start : start + size]
            if size < 4 or "^" in run:
                yield " ".join(run)
    yield f"length {_group(len(words), _LENGTHS)}"
    before, _ = _read(statement.before[-_NEAR_LETTERS:], common)
    behind, _ = _read(statement.behind[:_NEAR_LETTERS], common)
    around = [*before[-_NEAR:], *behind[:_NEAR]]
    yield from (f"near:{word}" for word in around)
    yield f"place {bool(before):d}{bool(behind):d}"
    yield f"room {_group(len(around), _ROOMS)}"


def _group(number: int, limits: Sequence[int]) -> int:
    return sum(number > limit for limit in limits)


def _read(sentence: str, common: Set[str]) -> tuple[list[str], list[str]]:
    """The words of a sentence in small letters, and its frame."""
    words, frame = [], ["^"]
    for token in _TOKEN.finditer(sentence.translate(_SAME_MARKS).replace("’", "'")):
        kind, text = token.lastgroup, token[0]
        match kind:
            case "word":
                small = text.casefold()
                words.append(small)
                place = small if small in common else "Aa" if text[0].isupper() and len(frame) > 1 else "_"
            case "code" | "number":
                place = f"<{kind}>"
                words.append(place)
            case _:
                place = text
                words.append(place)
        if place != frame[-1] or place not in ("_", "Aa"):
            frame.append(place)
    return words, [*frame, "$"]


def by_words(statements: Sequence[Statement]) -> list[float]:
    """The probability of each statement that it tells something lasting, by words alone."""
    return [model().by_words(statement) for statement in statements]


@cache
def model() -> Model:
    """The model of the package."""
    text = files("memory_server.language").joinpath("lasting.json").read_text(encoding="utf-8")
    read = json.loads(text)
    words = {feature: weight / SCALE for feature, weight in read["words"].items()}
    return Model(read["bias"], frozenset(read["common"].split()), words)
