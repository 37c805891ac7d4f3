"""How likely it is that a text is an update of an older one: a logistic model over what the two say.

`scripts/quality/restated.py --fit` fits the coefficients on labelled pairs and writes them beside this module.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from importlib.resources import files
from math import exp, log
from typing import Any

import numpy as np

from memory_server.domain.embedding import Vector
from memory_server.domain.wording import Wording, is_key, kept, names_another, negates

LIKELY = 0.5
"""Probability from which on an update is named."""

FRAME = 0.5
"""Share of words in the same order from which on two texts are one sentence with other words in some places."""

SHORT = 3
"""Words of the longest place in which a value is replaced: a longer one says something else."""

CLOSE = 0.75
"""Cosine beyond which two texts say the same, unless a number or one place differs."""

SAME_THING = 0.8
"""Share of the first key that the other text must have to speak of the same thing."""

LEAD = 0.3
"""Most that counts of how much more alike one text is than the next."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where two texts differ: the old one's words from `start` to `end`, the new one's from `first` to `last`."""

    start: int
    end: int
    first: int
    last: int
    old: tuple[str, ...]
    new: tuple[str, ...]

    @property
    def words_differ(self) -> bool:
        return any(map(is_key, self.old)) and any(map(is_key, self.new))

    @property
    def replaces(self) -> bool:
        """Whether both sides tell something: words, or numbers."""
        return self.words_differ or (_number(self.old) and _number(self.new))


@dataclass(frozen=True, slots=True)
class Aligned:
    """Where two texts differ in what they tell, and the share of words that they have in the same order."""

    places: tuple[Place, ...]
    ratio: float

    @property
    def framed(self) -> bool:
        """Whether they are one sentence with other words in some places."""
        return self.ratio >= FRAME


@dataclass(frozen=True, slots=True)
class Pair:
    """An old text and a new one; `lead` is how much more alike they are than the new one and any other.

    `vectors` are those of the old one and the new one; where they are not known, words alone tell.
    """

    old: Wording
    new: Wording
    cosine: float | None
    lead: float
    aligned: Aligned
    vectors: tuple[Vector, Vector] | None = None


def aligned(old: Wording, new: Wording) -> Aligned:
    matcher = SequenceMatcher(None, old.stems, new.stems, autojunk=False)
    found = [
        Place(start, end, first, last, old.stems[start:end], new.stems[first:last])
        for kind, start, end, first, last in matcher.get_opcodes()
        if kind != "equal"
    ]
    return Aligned(tuple(each for each in found if _tells(each.old) or _tells(each.new)), matcher.ratio())


def inputs(pair: Pair) -> dict[str, float]:
    """The inputs of the model by their names. Without a cosine those that need it are left out."""
    old, new, cosine = pair.old, pair.new, pair.cosine
    differ, framed = pair.aligned.places, pair.aligned.framed
    one = differ[0] if framed and len(differ) == 1 else None
    replaced = [each for each in differ if each.words_differ]
    head = kept(old.keys[:1], new)
    conflict = bool(old.numbers - new.numbers and new.numbers - old.numbers)
    before, after = old.cues, new.cues
    changed = after.change > before.change
    found = {
        "lead": max(-LEAD, min(LEAD, pair.lead)),
        "longer": log((len(new.keys) + 1) / (len(old.keys) + 1)),
        "kept": kept(old.keys, new),
        "changed": float(changed),
        "mended": float(after.mended > before.mended and before.trouble > 0),
        "came true": float(before.pending > after.pending),
        "negated": float((before.negation > 0) != (after.negation > 0)),
        "other number": conflict * head,
        "same numbers": float(bool(old.numbers) and old.numbers == new.numbers),
        "only numbers": float(framed and conflict and not replaced),
        "one place": float(one is not None and one.replaces and _short(one) and head >= SAME_THING),
        "one more": float(one is not None and not one.replaces),
        "several places": float(framed and len(replaced) > 1),
        "another head": float(framed and bool(replaced) and len(differ) > 1 and head < SAME_THING),
        "first word known": kept(new.keys[:1], old),
    }
    if cosine is None:
        return found
    calm = not conflict and not (one is not None and one.replaces)
    return found | {
        "cosine": cosine,
        "close and calm": max(0.0, cosine - CLOSE) * calm,
        "changed and near": cosine * changed,
    }


def probability(pair: Pair) -> float:
    """How likely it is that the new text replaces the old one.

    What is said of node 3 is never an update of what is said of node 5.
    """
    if names_another(pair.old, pair.new):
        return 0.0
    vectors = None if pair.cosine is None else pair.vectors
    model, given = _coefficients()["words" if vectors is None else "hybrid"], inputs(pair)
    total = model[""] + sum(model.get(name, 0.0) * value for name, value in given.items())
    if vectors is not None:
        total += float(np.dot(_weights("old"), vectors[0]) + np.dot(_weights("new"), vectors[1]))
    return 1 / (1 + exp(-total))


def _tells(words: tuple[str, ...]) -> bool:
    return _number(words) or any(is_key(word) or negates(word) for word in words)


def _number(words: tuple[str, ...]) -> bool:
    return any(word[0].isdigit() for word in words)


def _short(place: Place) -> bool:
    return max(len(place.old), len(place.new)) <= SHORT


@cache
def _fit() -> Mapping[str, Any]:
    text = files("memory_server.domain").joinpath("updates.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def _coefficients() -> Mapping[str, Mapping[str, float]]:
    """Those of each input by its name, and the intercept under no name."""
    found: Mapping[str, Mapping[str, float]] = _fit()["inputs"]
    return found


@cache
def _weights(which: str) -> Vector:
    """What each dimension of the vector of the `old` or the `new` text counts."""
    return np.array(_fit()[which], np.float32)
