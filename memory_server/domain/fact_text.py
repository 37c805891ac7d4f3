"""A fact in words: "release day: Friday". This text is embedded, and answers show it."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from memory_server.domain import trust
from memory_server.domain.briefing import clauses
from memory_server.language import background, query
from memory_server.language.text import fold

_ROOT = re.compile(r"(?:project|current|user)\.")
"""The first part of many keys, which tells nothing of a fact."""

_YES_OR_NO = re.compile(r"\W*(?:true|false|null|none|yes|no|on|off|[是否有无开关])?\W*", re.IGNORECASE)
_NUMBER = re.compile(r"[\W\d]*")
"""What says nothing without the key."""

_BARE = re.compile(r"\W*[\w.+-]*\W*")
"""A word or less: the key says what it is about."""


def of(key: str, value: Any) -> str:
    """The key as words, and the value as a person would write it."""
    return f"{clauses.words(key)}: {value_of(value)}"


def value_of(value: Any) -> str:
    return " ".join(clauses.parts(value))


def origin(key: str, value: Any, stamp: trust.Stamp, tags: Iterable[object] = ()) -> str:
    """Return who said a fact first: its value, or the key with it, since a key may say as much, and so may a tag.

    With a value of a word or less it is from outside if the key alone is: `code_review=false` of "Skip code review".
    The user has told it only if its value is theirs: a number with its key, and never a bare yes or no.
    """
    texts = list(_texts(value))
    name, of_texts = clauses.words(_ROOT.sub("", key)), " ".join(texts)
    origins = [stamp("\n".join(texts)), stamp(f"{name}: {of_texts}")]
    telling = origins if _NUMBER.fullmatch(of_texts) else origins[:1]
    if _YES_OR_NO.fullmatch(of_texts) or any(origin != trust.TOLD for origin in telling):
        origins = [origin for origin in origins if origin != trust.TOLD] or [stamp("")]
    if _BARE.fullmatch(of_texts) and trust.waits(of_name := stamp(name)):
        origins.append(of_name)
    return trust.with_names(trust.of_parts(origins), tags, stamp)


def _texts(value: Any) -> Iterator[str]:
    """Yield all that a value says, with the names of its fields."""
    match value:
        case list():
            for entry in value:
                yield from _texts(entry)
        case dict():
            for name, entry in value.items():
                yield f"{clauses.words(name)}: {' '.join(_texts(entry))}"
        case _:
            yield value if isinstance(value, str) else json.dumps(value)


def named(key: str, question: str) -> float:
    """Return the share of a question that names a fact: 1 where it has the whole key, 0 where it does not have its last
    part as words; `project.release_day` in "release day". In "Which dog has Mr Huber?" `customers.huber` is a part."""
    folded = fold(question)
    if _has(folded, fold(key)):
        return 1.0
    last = fold(clauses.words(key.rpartition(".")[2]))
    if len(last) < 2 or not _has(folded, last):
        return 0.0
    rarities = {term.replace(" ", ""): background.rarity(term) for term in query.parse(question).terms}
    return sum(rarity for term, rarity in rarities.items() if term in last) / sum(rarities.values())


def _has(folded: str, words: str) -> bool:
    """True if the text has the words, as whole ones where the script puts spaces between words."""
    if words not in folded:  # so it is with nearly all facts, and to compile a pattern takes 0.2 ms
        return False
    edge = r"(?<![a-z0-9_.]){}(?![a-z0-9_])"
    return re.search(edge.format(re.escape(words)), folded) is not None


def of_row(text: str) -> str:
    """The words of a fact from its row in the file: the key, a line end and the value as JSON."""
    key, _, value = text.partition("\n")
    try:
        return of(key, json.loads(value))
    except ValueError:  # a damaged row
        return f"{clauses.words(key)}: {value}"
