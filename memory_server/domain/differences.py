"""Tells in few words how two texts differ: `5 → 12; Jenkins → GitHub Actions`."""

from collections.abc import Iterable, Iterator, Sequence

from memory_server.domain.consolidation import Text
from memory_server.domain.updates import Aligned
from memory_server.domain.wording import Wording, rarest
from memory_server.language.text import has_han

LONGEST = 80
"""Characters of what is told."""

FEW = 3
"""Words of each text that are told where the two are worded in other ways."""


def told(old: Text, new: Text, aligned: Aligned) -> str:
    """What the old text says, and what the new one says in its place. Empty where only small words differ."""
    if not aligned.framed:
        return _joined(_worded_otherwise(old, new))
    return _joined(
        _told(
            _written(old, [old.in_order[each.start : each.end]]),
            _written(new, [new.in_order[each.first : each.last]]),
        )
        for each in aligned.places
    )


def _worded_otherwise(old: Text, new: Text) -> Iterator[str]:
    """The numbers that only one has, and the words of each that tell most."""
    one, other = old.wording, new.wording
    if one.numbers != other.numbers:
        yield _told(
            ", ".join(sorted(one.numbers - other.numbers)), ", ".join(sorted(other.numbers - one.numbers))
        )
    yield _told(_written(old, _own(one, other)), _written(new, _own(other, one)))


def _own(one: Wording, other: Wording) -> list[tuple[str, ...]]:
    """The words that only one text has, those that tell most."""
    own = [key for key in one.keys if key not in other.keys and not set(key) <= set(other.han)]
    chosen = set(rarest(own, FEW))
    words = zip(one.words, one.stems, strict=False)
    found: list[tuple[str, ...]] = [
        (word,) for word in dict.fromkeys(word for word, stem in words if stem in chosen)
    ]
    return found[:FEW]


def _written(text: Text, phrases: Iterable[Sequence[str]]) -> str:
    """Phrases of a text as they stand in it: its words are folded."""
    return ", ".join(_as_it_stands(text.plain, phrase) for phrase in phrases if phrase)


def _as_it_stands(plain: str, words: Sequence[str]) -> str:
    phrase = ("" if has_han(words[0]) else " ").join(words)
    place = plain.lower().find(phrase)
    return plain[place : place + len(phrase)] if place >= 0 else phrase


def _told(before: str, after: str) -> str:
    if before and after:
        return f"{before} → {after}"
    return f"- {before}" if before else f"+ {after}" if after else ""


def _joined(found: Iterable[str]) -> str:
    """As many of them as fit, the first one at least in part."""
    text = ""
    for each in filter(None, found):
        longer = f"{text}; {each}" if text else each
        if len(longer) > LONGEST:
            return text or f"{each[: LONGEST - 1]}…"
        text = longer
    return text
