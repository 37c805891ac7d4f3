"""Statements that say what holds instead of what is stored: they deny it, tell a change, or name what is not so."""

from collections.abc import Iterator
from re import Match

from memory_server.language.lazy import closed_list
from memory_server.language.own_words import own_words
from memory_server.language.renewed import renewed, stale
from memory_server.language.told import CORRECTS, content, is_refused, opened
from memory_server.language.without_request import without_request

LONGEST = 400
"""Characters of a message that may tell a change without a denial."""

_CHANGES = closed_list(r"""
    \b(?:switched|moved|migrated|changed)\s(?:\w+\s)?to\b|^(?:since|as\sof|from)\s(?:last\s|this\s)?\w+,?\s(?:it|we|the|our|my|they|she|he)\b
    |^(?!now\b).*\b(?:now|these\sdays)[.!]?$|^(?:no\s)?remember\b.*\bnow\b|^(?:it|that|we|the|our|my)\b[^,]*\b(?:is|are)\snow\b|^(?:it|that)['’]s\snow\b
    |[换改][成为用到]|搬[到去]|^(?:还|你还)?记得.*现在
""")
"""What tells a change, or recalls what holds no more."""

_DENIED_VALUE = closed_list(r"""
    ^not\s(?:on\s|at\s|in\s)?[^,.;]{1,30},\s(?:but\s)?\S|,\s(?:and\s)?not\s[^,.;\s]+(?:\s[^,.;\s]+)?[.!]?$
    |^(?:不是|不叫)[^，,。]{1,12}[，,]\s?\S|[，,]\s?不[是叫][^，,。]{1,8}[。！]?$
""")
"""What says a value and that it is another one."""

_FORMER = closed_list(
    r"^(?P<old>[^\s,.;]+(?:\s[^\s,.;]+)?)\s(?:was|is)\s(?:last\s\w+|before|the\sold\s\w+|old|outdated|long\sago|history)[.,;:]\s*(?P<new>\S.*)$"
)
"""What says of a value that it is of the past, and then the new one."""

_SINCE = closed_list(r"""
    ^(?:since|as\sof|from)\s(?:last\s|this\s)?\w+,?\s|(?:上个?|这个?|今|去)[周月年]|从
    |(?<=\S)(?P<change>\s(?:switched|moved|migrated|changed)\s(?:\w+\s)?to\s\S.*?)\s(?:back\s)?(?:in|since|from|last|this)\s\w+[.!]?$
""")
"""When a change took place: no value of what has changed."""


def corrections(text: str) -> list[str]:
    """Return the statements of a message that correct something; a value alone is one too.

    A name that opens one has the comma of the denial before it, and so is told from a first word.
    """
    if CORRECTS.search(text.lstrip()):
        sentences = [without_request(sentence) for sentence in own_words(text)[:2]]
        return [
            statement[-len(stated) - 2 :] if stated[0].isupper() else stated
            for statement in sentences
            if (stated := opened(statement)) and not is_refused(statement)
        ]
    return list(_changes(text.strip())) if len(text) <= LONGEST else []


def _changes(text: str) -> Iterator[str]:
    """Yield what a message states anew without a denial before it."""
    if former := _FORMER.search(text):
        yield f"not {former['old']}, {former['new']}"
    elif _DENIED_VALUE.search(text) or _CHANGES.search(text):
        sentences = own_words(text)
        no_more = stale(sentences[0]) if sentences else ""
        for sentence in list(renewed(sentences))[:2]:
            statement = without_request(sentence)
            if _DENIED_VALUE.search(statement):
                yield statement
            elif _CHANGES.search(statement) and not is_refused(statement):
                change = _SINCE.sub(_change, content(statement)).strip()
                yield f"{change.rstrip('.。')}, not {no_more}" if no_more else change


def _change(since: Match[str]) -> str:
    return since["change"] or ""
