"""The probability that a text is an update of an older one: a logistic model over what the two say.

`scripts/lab/quality/restated.py --fit` fits the coefficients on labelled pairs and writes them beside this module.
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

from memory_server.domain.changing import changed
from memory_server.domain.embedding import Vector
from memory_server.domain.wording import TextWording, is_key, kept, names_another
from memory_server.language.changes import clauses
from memory_server.language.function_words import negates

LIKELY = 0.5
"""Probability from which on an update is reported."""

LIKELY_ACROSS = 0.1
"""The same for two languages: there the model was fitted on few pairs, and is seldom sure. Of 51 changes by three
authors whom it does not know 22 are reported so, with .3 10; of 58 other pairs 4 and 3."""

FRAME = 0.5
"""Share of words in the same order from which on two texts are one sentence with other words in some places."""

SHORT = 3
"""Words of the longest place in which a value is replaced: a longer one says something else."""

CLOSE = 0.75
"""Cosine beyond which two texts say the same, unless a number or one place differs."""

SAME_THING = 0.8
"""Share of the first key that the other text must have to speak of the same thing."""

CONTRADICTED = 0.7
"""Share of words from which on two texts of which one denies what the other says are about the same."""

LEAD = 0.3
"""Upper bound of the feature `lead` (similarity margin over the runner-up)."""


_OPPOSED = (
    "before after, with without, alway never, lov hat, lov dislik, like hat, lock unlock, open clos, allow forbid"
    ", vor nach, mit ohne, immer nie, offen zu, 饭前 饭后, 要 别, 前 后, 可以 不能, 可以 不许, 能 不能, 喜欢 讨厌"
)
_OPPOSITES = {
    word: opposite
    for pair in (pair.split() for pair in _OPPOSED.split(", "))
    for word, opposite in (pair, reversed(pair))
}
"""Stems of which one contradicts the other; some are no keys."""


@dataclass(frozen=True, slots=True)
class WordPlace:
    """A difference of two texts: the old one's words from `start` to `end`, the new one's from `first` to `last`."""

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
        """True if both sides tell something: words, or numbers."""
        return self.words_differ or (_number(self.old) and _number(self.new))


@dataclass(frozen=True, slots=True)
class Aligned:
    """The places where two texts differ in what they tell, and the share of words that they have in the same order."""

    places: tuple[WordPlace, ...]
    ratio: float

    @property
    def framed(self) -> bool:
        """True if they are one sentence with other words in some places."""
        return self.ratio >= FRAME


UNLIKE = Aligned((), 0.0)
"""The alignment of two languages."""


@dataclass(frozen=True, slots=True)
class TextPair:
    """An old text and a new one; `lead` is their similarity less that of the new text and its next best match.

    `vectors` are those of the old and the new text, each (dimensions,); None: words alone decide.
    """

    old: TextWording
    new: TextWording
    cosine: float | None
    lead: float
    aligned: Aligned
    vectors: tuple[Vector, Vector] | None = None
    across: bool = False
    """True if they are in different languages."""

    @property
    def model(self) -> str:
        """The name of the model that judges it."""
        if self.cosine is None or self.vectors is None:
            return "words"
        return "across" if self.across else "hybrid"

    @property
    def least(self) -> float:
        """The probability from which on it is reported."""
        return LIKELY_ACROSS if self.model == "across" else LIKELY


def aligned(old: TextWording, new: TextWording) -> Aligned:
    matcher = SequenceMatcher(None, old.stems, new.stems, autojunk=False)
    places = [
        WordPlace(start, end, first, last, old.stems[start:end], new.stems[first:last])
        for kind, start, end, first, last in matcher.get_opcodes()
        if kind != "equal"
    ]
    return Aligned(
        tuple(place for place in places if _tells(place.old) or _tells(place.new)), matcher.ratio()
    )


def inputs(pair: TextPair) -> dict[str, float]:
    """The inputs of the model by their names. Without a cosine those that need it are left out."""
    old, new, cosine = pair.old, pair.new, pair.cosine
    differ, framed = pair.aligned.places, pair.aligned.framed
    only_place = differ[0] if framed and len(differ) == 1 else None
    replaced = [place for place in differ if place.words_differ]
    head = kept(old.keys[:1], new)
    conflict = bool(old.numbers - new.numbers and new.numbers - old.numbers)
    before, after = old.cues, new.cues
    changed = after.change > before.change
    negated = (before.negation > 0) != (after.negation > 0)
    opposed = any(_opposed(place) for place in differ)
    features = {
        "lead": max(-LEAD, min(LEAD, pair.lead)),
        "longer": log((len(new.keys) + 1) / (len(old.keys) + 1)),
        "kept": kept(old.keys, new),
        "changed": float(changed),
        "mended": float(after.mended > before.mended and before.trouble > 0),
        "came true": float(before.pending > after.pending),
        "negated": float(negated),
        "contradicted": kept(old.keys, new) * kept(new.keys, old) if negated or opposed else 0.0,
        "other number": conflict * head,
        "same numbers": float(bool(old.numbers) and old.numbers == new.numbers),
        "only numbers": float(framed and conflict and not replaced),
        "one place": float(
            only_place is not None and only_place.replaces and _short(only_place) and head >= SAME_THING
        ),
        "one more": float(only_place is not None and not only_place.replaces),
        "several places": float(framed and len(replaced) > 1),
        "another head": float(framed and bool(replaced) and len(differ) > 1 and head < SAME_THING),
        "first word known": kept(new.keys[:1], old),
    }
    if cosine is None:
        return features
    calm = not conflict and not (only_place is not None and only_place.replaces)
    return features | {
        "cosine": cosine,
        "close and calm": max(0.0, cosine - CLOSE) * calm,
        "changed and near": cosine * changed,
        "negated and near": cosine * negated,
    }


def probability(pair: TextPair) -> float:
    """The probability that the new text replaces the old one.

    A text about node 3 is never an update of a text about node 5, nor one about Mira's cello of one about Leo's flute.
    """
    ends = _ends_a_value(pair)
    if not ends and (names_another(pair.old, pair.new) or _begins_otherwise(pair)):
        return 0.0
    coefficients, features = _fit()[pair.model], inputs(pair)
    weights = coefficients["inputs"]
    total = weights[""] + sum(weights.get(name, 0.0) * value for name, value in features.items())
    if pair.model != "words" and pair.vectors is not None:
        old, new = pair.vectors
        total += float(np.dot(_weights(pair.model, "old"), old) + np.dot(_weights(pair.model, "new"), new))
    contradicts = features["contradicted"] >= CONTRADICTED or _names_both_values(pair)
    likely = LIKELY if ends or contradicts else 0.0
    return max(1 / (1 + exp(-total)), likely)


def _names_both_values(pair: TextPair) -> bool:
    """True if a text tells of a change, and names the numbers of one in another language and a new one: 30, no longer
    14."""
    old, new = pair.old.numbers, pair.new.numbers
    return pair.across and bool(old) and old < new and pair.new.cues.change > pair.old.cues.change


def _ends_a_value(pair: TextPair) -> bool:
    """True if the new text says that a thing of the old one, which denies nothing, is no more: "gpu-07 is gone"."""
    new, old = pair.new.plain, pair.old.plain
    if pair.old.cues.change or pair.old.cues.negation:
        return False
    changes = (changed(clause, new, old) for clause in clauses(new))
    ended = [value for change in changes if change and change.is_sure for value in change.values]
    return any(value in new.casefold() and not value.isdigit() for value in ended)


def _begins_otherwise(pair: TextPair) -> bool:
    """True if one sentence speaks of another thing, and says something else of it; no word says that it changed."""
    first, *later = pair.aligned.places or [None]
    at_start = first is not None and first.words_differ and max(first.start, first.first) <= 1
    return at_start and bool(later) and pair.aligned.framed and pair.new.cues.change <= pair.old.cues.change


def _tells(words: tuple[str, ...]) -> bool:
    return _number(words) or any(is_key(word) or negates(word) or word in _OPPOSITES for word in words)


def _opposed(place: WordPlace) -> bool:
    return any(_OPPOSITES.get(word) in place.new for word in place.old if word in _OPPOSITES)


def _number(words: tuple[str, ...]) -> bool:
    return any(word[0].isdigit() for word in words)


def _short(place: WordPlace) -> bool:
    return max(len(place.old), len(place.new)) <= SHORT


@cache
def _fit() -> Mapping[str, Any]:
    text = files("memory_server.domain").joinpath("updates.json").read_text(encoding="utf-8")
    fit: dict[str, Any] = json.loads(text)
    return fit


@cache
def _weights(model: str, text: str) -> Vector:
    """The weights (dimensions,) of the vector of the `old` or the `new` text."""
    return np.array(_fit()[model][text], np.float32)
