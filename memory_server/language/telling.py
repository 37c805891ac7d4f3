"""The part of a long question that tells most of what is asked."""

from collections.abc import Iterator

from memory_server.language import background, query, sentences

_LOOKED_AT = 20_000
"""Characters of a text that are read: what is asked stands at the end of a longer one."""

_EVEN = 20
"""Characters that are added to the length of a sentence, so that a short one with a rare word does not always win."""


def telling(text: str, most: int) -> str:
    """The sentences of a text that ask, else those with the rarest words, in their order and in so many characters."""
    pieces = list(dict.fromkeys(_pieces(text[-_LOOKED_AT:].strip(), most)))
    asking = [piece for piece in pieces if piece.endswith(("?", "？"))] or pieces
    chosen: set[str] = set()
    room = most
    for piece in sorted(asking, key=_weight, reverse=True):
        if len(piece) <= room:
            chosen.add(piece)
            room -= len(piece) + 1
    return " ".join(piece for piece in pieces if piece in chosen)


def _pieces(text: str, most: int) -> Iterator[str]:
    """The sentences, each with at most so many characters."""
    for sentence in sentences.split(text):
        yield from (sentence[start : start + most].strip() for start in range(0, len(sentence), most))


def _weight(piece: str) -> float:
    """The information of a sentence for its length: the rarity of its words in ordinary texts, over its characters."""
    terms = (term for term in query.parse(piece).terms if term not in query.ENGLISH_STOP_WORDS)
    return sum(map(background.rarity, terms)) / (len(piece) + _EVEN)
