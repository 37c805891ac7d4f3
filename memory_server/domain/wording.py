"""The words of a text that tell what it is about, and how much of them two texts share."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain

from memory_server.language import background, cues, numbers
from memory_server.language.cues import Cues
from memory_server.language.lazy import lazy
from memory_server.language.query import (
    CHINESE_STOP_WORDS,
    ENGLISH_STOP_WORDS,
    GERMAN_STOP_WORDS,
    STOP_CHARACTERS,
)
from memory_server.language.text import fold, has_han

MOST_WORDS = 300
"""Words of a text that are compared: the time grows with their square, and 300 against 300 take 3 ms."""

CUT_OTHERWISE = 0.8
"""What a Chinese word counts whose characters are all in the other text, where the segmenter cut another word."""

_SILENT = (
    ENGLISH_STOP_WORDS
    | GERMAN_STOP_WORDS
    | frozenset("am bis da dem den des die du er es hat im man mit ob sie um von zu nutzer".split())
    | STOP_CHARACTERS
    | frozenset(CHINESE_STOP_WORDS)
    | frozenset(
        "user users 用户 把 被 从 到 对 里 上 下 中 要 会 能 一 个 有 为 以 等 已 将 于 由 用 给 来 后 前".split()
    )
    | frozenset("时 不 没 没有 还 又 再 只 很 说".split())
)
"""Words that do not tell what a text is about: notes of an assistant are about its user anyway."""

_ENDING = re.compile(r"(?<=[a-zäöüß]{3})(?:ing|ied|ies|ed|es|s|ly|er|en|em)$")

_LABEL = lazy(
    r"\b(?P<noun>[A-Za-z]+) ?#?(?P<name>\d+(?:\.\d+)*|[A-Z])\b"
    r"|第(?P<ordinal>\d+)|(?P<stage>\d+)期(?![间限末望待])|(?P<stem>[甲乙丙丁])|(?P<letter>[A-Z])(?=[座区栋组型轮班])"
)
_LABELLED = frozenset(
    """
    apartment batch build case chapter class client course customer day figure flight floor gate grade group h
    host house interview invoice issue lab level line model module node option order page part phase plan
    platform pr project q quarter rack room round run season seat section server slot sprint stage step study
    table team ticket unit week
    """.split()
)
"""Nouns whose number or letter is a name: node 3 is another thing than node 5. A list by hand."""

_YEAR = lazy(
    r"^(?:in |im )(?:the |year |jahr )*((?:19|20)\d\d)(?= |,)|^((?:19|20)\d\d)(?=年[^\d底前末])"
    r"|(?<![\d.,])((?:19|20)\d\d)(?=(?:年的?[^\d底前末到生]| (?:was|were|is|war|betrug)\b|:\s)[^.。]*\d)"
)
"""A year of which a text tells something. One at the end (it expires in 2026) is what the text tells."""

_IDENTIFIER = re.compile(r"[a-z]+[-_./]?\d[\w.-]*|\w+[_/]\w+|[a-z]+\.[a-z]+")
"""A folded word that is a name by its form: pve-01, cleanup_tmp, api.example."""

FRONT = 4
"""So many words at the start of a text tell, where one is an identifier, of which thing it speaks."""


@dataclass(frozen=True)
class TextWording:
    """The words of a text, folded and in order. It has no slots, so that each form is computed when it is needed."""

    plain: str
    """The text with its numbers in digits."""
    words: tuple[str, ...]

    @cached_property
    def stems(self) -> tuple[str, ...]:
        """The words without their endings."""
        return tuple(map(_stem, self.words[:MOST_WORDS]))

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The stems of the words that tell what the text is about. Numbers are none."""
        return tuple(stem for word, stem in zip(self.words, self.stems, strict=False) if is_key(word))

    @cached_property
    def different_keys(self) -> frozenset[str]:
        return frozenset(self.keys)

    @cached_property
    def weight(self) -> float:
        """The weight of its keys, each counted once."""
        return _weights(self.different_keys)

    @cached_property
    def han(self) -> str:
        """The characters of the Chinese keys."""
        return "".join(key for key in self.keys if has_han(key))

    @cached_property
    def labels(self) -> frozenset[tuple[str, str]]:
        """The numbers and letters that name a thing, each with what it names: node 3, 第一季度."""
        labels = set()
        for match in _LABEL.finditer(self.plain):
            kind = str(match.lastgroup)
            noun = match["noun"].lower() if match["noun"] else kind
            if kind != "name" or noun in _LABELLED:
                labels.add((noun, match[kind]))
        return frozenset(labels)

    @cached_property
    def years(self) -> frozenset[str]:
        """The years of which it tells something."""
        return frozenset(filter(None, chain.from_iterable(_YEAR.findall(self.plain.lower()))))

    @cached_property
    def identifiers(self) -> frozenset[str]:
        """The identifiers among the first FRONT words."""
        return frozenset(filter(_IDENTIFIER.fullmatch, self.words[:FRONT]))

    @cached_property
    def numbers(self) -> frozenset[str]:
        return numbers.named(self.plain)

    @cached_property
    def cues(self) -> Cues:
        return cues.read(fold(self.plain))


def is_key(word: str) -> bool:
    """True if a folded word tells what a text is about."""
    return word not in _SILENT and not word[0].isdigit()


def names_another(left: TextWording, right: TextWording) -> bool:
    """True if both name things of one kind, but different ones: node 3 and node 5, pve-01 and pve-02, 2023 and 2024."""
    if {noun for noun, _ in left.labels} & {
        noun for noun, _ in right.labels
    } and not left.labels & right.labels:
        return True
    return any(
        names and compared and not names & compared
        for names, compared in ((left.identifiers, right.identifiers), (left.years, right.years))
    )


def kept(keys: Sequence[str], wording: TextWording) -> float:
    """The share, by weight, of `keys` that another text has; 1 without any key."""
    total = shared = 0.0
    wording_keys = wording.different_keys
    for key in dict.fromkeys(keys):
        weight = _weight(key)
        total += weight
        if key in wording_keys:
            shared += weight
        elif has_han(key):
            shared += weight * CUT_OTHERWISE * sum(character in wording.han for character in key) / len(key)
    return shared / total if total else 1.0


def overlap(left: TextWording, right: TextWording) -> float:
    """The share, by weight, of keys that both texts have (Dice): from 0 to 1."""
    both = left.weight + right.weight
    return 2 * _weights(left.different_keys & right.different_keys) / both if both else 0.0


def rarest(keys: Collection[str], number: int) -> list[str]:
    """The keys that tell most, in the order given."""
    chosen = set(sorted(dict.fromkeys(keys), key=_weight)[-number:])
    return [key for key in dict.fromkeys(keys) if key in chosen]


def _weights(keys: Collection[str]) -> float:
    return sum(map(_weight, keys))


@lru_cache(maxsize=10_000)
def _weight(key: str) -> float:
    return background.rarity(" ".join(key) if has_han(key) else key)


@lru_cache(maxsize=10_000)
def _stem(word: str) -> str:
    """A word without its ending, so that raised and raises are one word. It is never shown."""
    if not word.isalpha() or has_han(word):
        return word.removesuffix("'s")
    stem = _ENDING.sub("", word)
    stem = stem.removesuffix("e") if len(stem) > 4 else stem
    return stem[:-1] if len(stem) > 4 and stem[-1] == stem[-2] else stem
