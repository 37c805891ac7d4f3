"""Hints for the author of a rejected trigger: what is probably wrong, and how to write it."""

import re

from memory_server.language.nearest import meant

NAMES = (
    *("match_keys", "match_keys_all", "similar", "messages", "context", "conversation_id", "participants"),
    *("Date", "Math", "JSON", "RegExp", "Object", "Array", "String", "Number"),
)
"""What a trigger can use, most useful first; a misspelt name is compared with these."""

LISTED = 7
"""How many of NAMES an unknown name is answered with: those that are not JavaScript's own."""

_JSON = re.compile(r"""\s*\{\s*["']""")
"""How a condition in JSON begins."""

_UNKNOWN = re.compile(r"ReferenceError: (\w+) is not defined")
_ENGLISH = re.compile(r"\b(?:and|or|not)\b")
"""Operators written in English."""

_PROSE = re.compile(r"\s*(?:[^\W\d_]+[ ,.]+){2,}[^\W\d_]+[.!]?\s*")
"""A source of at least three plain words: a sentence instead of a condition."""

_CURLY = re.compile("[“”‘’]")
"""Typographic quotation marks, which JavaScript does not accept."""


def hinted(message: str, source: str) -> str:
    """The error message, followed by a hint if the mistake is a known one."""
    hint = _hint(message, source)
    return f"{message} {hint}" if hint else message


def _hint(message: str, source: str) -> str:
    unknown = _UNKNOWN.search(message)
    if unknown is not None:
        return _meant(unknown[1])
    if "returns a function" in message:
        return (
            "Write only the part after `=>`, without a function around it: "
            "messages.length > 3, not (messages) => messages.length > 3."
        )
    if "takes too long" in message:
        return (
            "It may take half a second in this check and one second in a search: avoid loops over anything but the "
            "messages, and nested repetitions in regular expressions."
        )
    if "does not compile" not in message:
        return ""
    if _JSON.match(source):
        return (
            "A trigger is JavaScript, not JSON: match_keys(messages, ['tea'], 'user') && new Date().getMonth() === 6."
        )
    if re.search(r"\breturn\b", source) and "return" in message:
        return "Remove `return`: the trigger's value is that of its last expression."
    if _CURLY.search(source):
        return "Use straight quotes, ' or \"."
    if _PROSE.fullmatch(source):
        return "A trigger is a condition in JavaScript, such as match_keys(messages, ['birthday'])."
    if _ENGLISH.search(source):
        return "JavaScript writes && for and, || for or, ! for not."
    return ""


def _meant(name: str) -> str:
    if name.lower() in ("date", "now", "today", "time"):
        return (
            "For the date use new Date(): getMonth() returns 0 to 11, getDate() 1 to 31, getHours() 0 to 23."
        )
    near = meant(name, NAMES)
    if near is not None and near != name:
        return f"Did you mean `{near}`?"
    return f"There are: {', '.join(NAMES[:LISTED])}, and the names of JavaScript itself."
