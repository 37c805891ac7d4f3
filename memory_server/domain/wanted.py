"""Tells whether texts have the kind of thing that a question asks for: a phone number, somebody's birthday or daughter.

Who asks for Anna's phone number, where only her work is stored, gets texts about Anna that are near in meaning. They do
not answer.
"""

from collections.abc import Iterator, Sequence

from memory_server.domain import relevance
from memory_server.language import background, kinds, query, sentences
from memory_server.language.text import fold, has_han

LONG = 300
"""Characters. In a longer text the kind must stand in the sentence that has the word of the question, or beside it."""


FIRST = 2
"""Texts, the best, of which one in the other script answers without a word of the question."""


def is_there(question: str, texts: Sequence[str]) -> bool:
    """True if a text has each kind that the question asks for, beside the rarest of its words that the texts have."""
    kinds_asked = list(kinds.asked(question))
    if not kinds_asked:
        return True
    folded = [fold(text) for text in texts]
    passages = [passage for text in texts for passage in _passages(text)]
    # In the other script names are written differently.
    first = {
        passage for text in texts[:FIRST] if has_han(text) != has_han(question) for passage in _passages(text)
    }
    talk = relevance.is_talk(folded)
    for asking, kind in kinds_asked:
        # What people say to each other leans on the lines before it.
        stems = [] if talk else _rarest(question, asking, folded)
        if kind is kinds.FULL_NAME:
            shown = [match[0] for passage in passages for match in kind.shown.finditer(passage)]
        else:
            shown = [passage for passage in passages if kind.shown.search(passage)]
        if not any(passage in first or _has(passage, stems) for passage in shown):
            return False
    return True


def _rarest(question: str, asking: str, folded: Sequence[str]) -> list[str]:
    """Return the stems of the rarest words of the question, besides those that ask, among the words of the texts."""
    asking = fold(asking).replace(" ", "")
    rarities = {
        query.stem(term): background.rarity(term)
        for term in query.parse(question).terms
        if query.stem(term) not in asking and any(query.stem(term) in text for text in folded)
    }
    return [stem for stem, rarity in rarities.items() if rarity == max(rarities.values())]


def _has(passage: str, stems: Sequence[str]) -> bool:
    folded = fold(passage)
    return not stems or any(stem in folded for stem in stems)


def _passages(text: str) -> Iterator[str]:
    """Yield a short text, or each two sentences of a long one that follow each other."""
    pieces = sentences.split(text) if len(text) > LONG else [text]
    for start in range(max(1, len(pieces) - 1)):
        yield " ".join(pieces[start : start + 2])
