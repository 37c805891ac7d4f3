"""The terms of a text, the same to the letter as those of SQLite's word index: both come from its tokenizer."""

import hashlib
import json
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise
from typing import Any

import apsw

from memory_server.language.lazy import lazy
from memory_server.language.text import SPACELESS, fold

LONGEST = 200
"""Bytes of the longest term that stays as it is; a lexeme has at most 2,046. The end of a longer one becomes a
digest."""

ROOM = 1_000_000
"""Bytes of the lexemes of a text; a tsvector has room for 1,048,576. Of a text that needs more, about a million
characters, the index leaves out the last pairs, so that phrases in them are not found."""

MOST = 32_768
"""Bytes of a token that count, as in SQLite (FTS5_MAX_TOKEN_SIZE): tokens that differ after them are the same."""

_ALONE = lazy(f"([{SPACELESS}])")


class _Forms(dict[int, str]):
    """The form of each character in the index, computed at its first use: the table `character_forms` of SQLite."""

    def __missing__(self, code: int) -> str:
        form = self[code] = _ALONE.sub(r" \1 ", fold(chr(code)))
        return form


_forms = _Forms()

_free: deque[apsw.FTS5Tokenizer] = deque()
"""Tokenizers that no thread is using."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The content of the index for a text.

    `lexemes` are its tokens and pairs of neighbours; `repeated` has the number of those that occur more than once.
    `tokens` are all tokens in their order, a space before and behind each; `length` is their number.
    """

    lexemes: list[str]
    repeated: dict[str, int]
    tokens: str
    length: int


def tokens(text: str) -> list[str]:
    """Return the tokens of a text: folded, without accents, stemmed; each character of a spaceless script alone."""
    folded = text if text.isascii() else text.translate(_forms)
    try:
        tokenizer = _free.pop()
    except IndexError:
        tokenizer = _connection().fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "2"])
    groups = tokenizer(folded.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False)
    _free.append(tokenizer)
    return [_short(str(token)) for group in groups for token in group]


def terms(tenant: int, *texts: str) -> Terms:
    """Return the content of the index for a row that has these texts: no term reaches from one into the next."""
    lists = [tokens(text) for text in texts]
    counts = Counter(token for text_tokens in lists for token in text_tokens)
    counts.update(f"{a} {b}" for text_tokens in lists for a, b in pairwise(text_tokens))
    return Terms(
        _in_room([f"{tenant}:{term}" for term in counts]),
        {term: number for term, number in counts.items() if number > 1},
        "".join(f" {' '.join(text_tokens)} \n" for text_tokens in lists if text_tokens),
        sum(map(len, lists)),
    )


@dataclass(frozen=True, slots=True)
class Lookup:
    """A query of the index for the texts that hold some phrases.

    `query` is a tsquery; `phrases` are those of more than two tokens, as they stand in `Terms.tokens`, a line each.
    `term` is what counts a single phrase in `Terms.repeated`; None for one of more than two tokens.
    """

    query: str
    phrases: str
    term: str | None


def lookup(tenant: int, *phrases: str) -> Lookup | None:
    """Return the query for the texts that hold all of some phrases; None where one has no token: no text holds it."""
    split = [tokens(phrase) for phrase in phrases]
    if not all(split):
        return None
    needed_terms = dict.fromkeys(term for phrase in split for term in _pairs(phrase))
    term = " ".join(split[0]) if len(split) == 1 and len(split[0]) <= 2 else None
    long = [f" {' '.join(phrase)} " for phrase in split if len(phrase) > 2]
    query = " & ".join(_quoted(f"{tenant}:{term}") for term in needed_terms)
    return Lookup(query, "\n".join(long), term)


def lookups(tenant: int, groups: Iterable[Sequence[str]]) -> list[tuple[int, Lookup]]:
    """Return the query for each group of phrases beside its place; groups that no text can hold are left out."""
    numbered = ((place, lookup(tenant, *group)) for place, group in enumerate(groups))
    return [(place, query) for place, query in numbered if query is not None]


def any_of(tenant: int, phrases: Sequence[str]) -> str:
    """Return the tsquery for the texts that hold any of some phrases of one token or two."""
    return " | ".join(_quoted(f"{tenant}:{' '.join(tokens(phrase))}") for phrase in phrases)


def _pairs(phrase: Sequence[str]) -> list[str]:
    """Return the terms that a text must have to hold a phrase."""
    return [f"{a} {b}" for a, b in pairwise(phrase)] or list(phrase)


def _in_room(lexemes: list[str]) -> list[str]:
    """Return as many of the first lexemes, tokens before pairs, as a tsvector takes."""
    if sum(map(len, lexemes)) * 4 <= ROOM:
        return lexemes
    ends = accumulate(len(lexeme.encode()) for lexeme in lexemes)
    return [lexeme for lexeme, end in zip(lexemes, ends, strict=True) if end <= ROOM]


def _quoted(lexeme: str) -> str:
    """Quote a lexeme for a tsquery."""
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'"


def fact_text(value: str) -> str:
    """Return the words of a fact's value, which is JSON: the names and the values in it, in their order."""
    return " ".join(_atoms(json.loads(value)))


def _atoms(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for name, inner in value.items():
                yield name
                yield from _atoms(inner)
        case list():
            for inner in value:
                yield from _atoms(inner)
        case str():
            yield value
        case None:
            return
        case int() if value.bit_length() < 64:
            yield str(int(value))
        case _:
            yield _number(json.dumps(value))


def _number(value: str) -> str:
    """Write a number as SQLite does, to which an integer of more than 64 bits is a fraction."""
    ((text,),) = _connection().execute("SELECT CAST(atom AS TEXT) FROM json_tree(?)", (value,))
    return str(text)


@cache
def _connection() -> apsw.Connection:
    """Return the connection that the tokenizers need."""
    return apsw.Connection(":memory:")


def _short(token: str) -> str:
    if len(token.encode()) <= LONGEST:
        return token
    token_bytes = token.encode()[:MOST]
    return token[: LONGEST // 8] + hashlib.sha256(token_bytes).hexdigest()
