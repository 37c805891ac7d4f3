"""Tells in few words how two texts differ: `5 → 12; Jenkins → GitHub Actions`."""

import re
from collections.abc import Iterable, Iterator, Sequence

from memory_server.domain.consolidation import Text
from memory_server.domain.updates import SAME_THING, Aligned, aligned
from memory_server.domain.wording import TextWording, kept, rarest
from memory_server.language.text import has_han

LONGEST = 80
"""Characters of the text that tells the differences."""

SPOKEN = 0.5
"""Share of the words of a clause from which on a text that has them speaks of what the clause says."""

FEW = 3
"""Words of each text that are shown where the two are not one sentence with other words in some places."""


_NAME_WITH_NUMBER = re.compile(r"[A-Za-z_]+[-_.]?\d[\w.-]*", re.ASCII)
_DIGITS = re.compile(r"(?<=[^\d])0*(\d+)")

_CLAUSE = re.compile(r"[，、；]|[,;]\s+|(?<=。)|(?<=[.!?])\s+|\s(?:and|but|und)\s")


def part(old: Text, new: Text) -> str:
    """The clauses of the old text that the new one may replace, where others state the like of another thing.

    Empty where it may replace the whole: what only explains a clause goes with it.
    """
    clauses = [
        Text(clause.strip(" .;。"), old.segment) for clause in _CLAUSE.split(old.content) if clause.strip()
    ]
    spoken = [clause for clause in clauses if _is_spoken_of(clause.wording, new.wording)]
    untouched = [
        clause for clause in clauses if clause.wording.keys and not kept(clause.wording.keys[:1], new.wording)
    ]
    if any(
        _is_like(clause.wording, counterpart.wording, new.wording)
        for clause in spoken
        for counterpart in untouched
    ):
        return ", ".join(clause.content for clause in spoken)
    return ""


def _is_spoken_of(clause: TextWording, new: TextWording) -> bool:
    keys = clause.keys
    return bool(keys) and kept(keys, new) >= SPOKEN and kept(keys[:1], new) >= SAME_THING


def _is_like(clause: TextWording, counterpart: TextWording, new: TextWording) -> bool:
    """True if both clauses are one sentence with other words, or have numbers, of which the new text has another."""
    numbers = (
        clause.numbers
        and counterpart.numbers
        and clause.numbers - new.numbers
        and new.numbers - clause.numbers
    )
    return bool(numbers) or aligned(clause, counterpart).framed


def told(old: Text, new: Text, alignment: Aligned) -> str:
    """The words of the old text and those that replace them in the new one. Empty where only small words differ."""
    if not alignment.framed:
        return _joined(_worded_otherwise(old, new))
    return _joined(
        _told(
            _written(old, [old.in_order[place.start : place.end]]),
            _written(new, [new.in_order[place.first : place.last]]),
        )
        for place in alignment.places
    )


def _worded_otherwise(old: Text, new: Text) -> Iterator[str]:
    """The numbers that only one text has, and the rarest words that only one text has."""
    old_wording, new_wording = old.wording, new.wording
    if old_wording.numbers != new_wording.numbers:
        yield _told(
            _numbers_alone(old, old_wording.numbers - new_wording.numbers),
            _numbers_alone(new, new_wording.numbers - old_wording.numbers),
        )
    yield _told(_written(old, _own(old_wording, new_wording)), _written(new, _own(new_wording, old_wording)))


def _numbers_alone(text: Text, numbers: Iterable[str]) -> str:
    """Return the numbers that are no piece of a name, as 100 is of A100: names are told as words."""
    pieces = {piece for name in _NAME_WITH_NUMBER.findall(text.plain) for piece in _DIGITS.findall(name)}
    return ", ".join(sorted(number for number in numbers if number not in pieces))


def _own(wording: TextWording, compared: TextWording) -> list[tuple[str, ...]]:
    """The rarest words of `wording` that `compared` lacks, each as a phrase of one word."""
    unshared = [key for key in wording.keys if key not in compared.keys and not set(key) <= set(compared.han)]
    chosen = set(rarest(unshared, FEW))
    words = zip(wording.words, wording.stems, strict=False)
    phrases: list[tuple[str, ...]] = [
        (word,) for word in dict.fromkeys(word for word, stem in words if stem in chosen)
    ]
    return phrases[:FEW]


def _written(text: Text, phrases: Iterable[Sequence[str]]) -> str:
    """Phrases in the spelling of the text, since its words are folded."""
    return ", ".join(_as_it_stands(text.plain, phrase) for phrase in phrases if phrase)


def _as_it_stands(plain: str, words: Sequence[str]) -> str:
    phrase = ("" if has_han(words[0]) else " ").join(words)
    place = plain.lower().find(phrase)
    return plain[place : place + len(phrase)] if place >= 0 else phrase


def _told(before: str, after: str) -> str:
    if before and after:
        return f"{before} → {after}"
    return f"- {before}" if before else f"+ {after}" if after else ""


def _joined(differences: Iterable[str]) -> str:
    """The first differences that fit into LONGEST, the very first at least in part."""
    text = ""
    for difference in filter(None, differences):
        longer = f"{text}; {difference}" if text else difference
        if len(longer) > LONGEST:
            return text or f"{difference[: LONGEST - 1]}…"
        text = longer
    return text
