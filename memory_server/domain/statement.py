"""A statement of the user as salted hashes, and whether a text says the same in other words: with the same numbers,
denials and limits, and with names in the same order."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, NamedTuple

from memory_server.domain import telling_words
from memory_server.language.lazy import lazy

ENOUGH: Final = 0.6
"""Share of a text's words that stand in a statement from which on the user has said it."""

_CLAUSE_END = lazy(
    r"[,;:!?()\n，；：。！？（）]|\.(?=\s|$)|(?=\b(?:instead\sof|rather\sthan|without|except|unless)\b)"
    r"|\b(?:but|because|aber|sondern)\b|(?=而不|但)"
    r"|(?=\b(?:and\s(?:i|we|you|he|she|they)|so\s(?:please|pls|no|i|we|you))\b)"
)
_DENIAL = lazy(
    r"\b(?:not|no|never|nor|none|neither|nobody|nothing|cannot|without|avoids?|forbid\w*|forbidden|dislikes?|hates?|stop|except|unless"
    r"|instead\sof|rather\sthan|nicht|kein\w*|nie|niemals|ohne)\b|n['’]t\b"
    r"|\b(?:do|does|did|is|are|was|were|has|have|wo|ca|could|should|would)nt\b|[不没勿未]|禁止|(?<![特区级类性分差])别"
)
_NO_DENIAL = lazy(r"\b(?:don['’]?t|do\snot|never)\sforget\b|\bnot\sonly\b|别忘了?|不要忘了?")
_SAME = (
    (lazy(r"\b(?:above|more\sthan)\b"), "over"),
    (lazy(r"\b(?:below|less\sthan)\b"), "under"),
)
_NAME = re.compile(r"\b[A-Z][\w'’-]*")

_LIMITS: Final = frozenset(
    "true false null none most least until first last only before after 前 后 只 才 多 少".split()
)
"""Words without which a statement says another thing: they stand there, as numbers do."""


class WordKind(Enum):
    """`LIMIT` and `NUMBER` stand in the statement too. Those of `NAME` and of `NUMBER` keep their order."""

    PLAIN = auto()
    NAME = auto()
    NUMBER = auto()
    LIMIT = auto()


_NEEDED: Final = (WordKind.NUMBER, WordKind.LIMIT)
_IN_ORDER: Final = (WordKind.NAME, WordKind.NUMBER)


class StatedWord(NamedTuple):
    """The hash of a stem, and of it with its denial and its sign."""

    stem: int
    turned: int
    kind: WordKind


@dataclass(frozen=True, slots=True)
class UserStatement:
    words: Sequence[StatedWord]

    @classmethod
    def of(cls, text: str, salt: int) -> "UserStatement":
        return cls(tuple(_words(text, salt)))

    def says(self, text: "UserStatement") -> bool:
        """True if a text says no more than this statement."""
        stems, turned = {word.stem for word in self.words}, {word.turned for word in self.words}
        common = [word for word in text.words if word.stem in stems]
        least = ENOUGH if len(text.words) > 1 else 1.0
        if not common or len(common) < least * len(text.words):
            return False
        if any(word.kind in _NEEDED and word.stem not in stems for word in text.words):
            return False
        return all(word.turned in turned for word in common) and not _is_swapped(text.words, self.words)


def _words(text: str, salt: int) -> Iterator[StatedWord]:
    names = {stem for name in _NAME.findall(text) for stem, _, _ in telling_words.words(name)}
    text = _NO_DENIAL.sub(" ", text.casefold())
    for same, word in _SAME:
        text = same.sub(word, text)
    for clause in _CLAUSE_END.split(text):
        is_denied = len(_DENIAL.findall(clause)) % 2 == 1
        for limit in _LIMITS.intersection(re.findall(r"[a-z]+|[前后只才多少]", clause)):
            hashed = hash((salt, "limit", limit))
            yield StatedWord(hashed, hashed, WordKind.LIMIT)
        for stem, _, sign in telling_words.words(clause):
            if not _DENIAL.fullmatch(stem):
                kind = (
                    WordKind.NUMBER
                    if any(map(str.isdigit, stem))
                    else WordKind.NAME
                    if stem in names
                    else WordKind.PLAIN
                )
                turn = (is_denied, "" if sign == "not" else sign)
                yield StatedWord(hash((salt, stem)), hash((salt, stem, turn)), kind)


def _is_swapped(text: Sequence[StatedWord], statement: Sequence[StatedWord]) -> bool:
    """True if two words of a text have changed their places, or its names or numbers stand in another order."""
    first, second = _common(text, statement, [WordKind.PLAIN, *_IN_ORDER])
    changed = [place for place, (left, right) in enumerate(zip(first, second, strict=True)) if left != right]
    if len(changed) == 2 and changed[1] - changed[0] > 1:
        return True
    return any(order != users for order, users in (_common(text, statement, [kind]) for kind in _IN_ORDER))


def _common(
    text: Sequence[StatedWord], statement: Sequence[StatedWord], kinds: Sequence[WordKind]
) -> tuple[list[int], list[int]]:
    """Return the words that both have, each time in the order of one of them."""
    first, second = (
        dict.fromkeys(word.stem for word in words if word.kind in kinds) for words in (text, statement)
    )
    return [stem for stem in first if stem in second], [stem for stem in second if stem in first]
