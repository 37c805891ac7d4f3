"""What the author of a refused trigger may have meant."""

import re

from rapidfuzz import fuzz, process

NAMES = (
    *("match_keys", "match_keys_all", "similar", "messages", "context", "conversation_id", "participants"),
    *("Date", "Math", "JSON", "RegExp", "Object", "Array", "String", "Number"),
)
LIKE_ENOUGH = 60

JSON_EXAMPLE = (
    '{"and": [{"match_keys": ["tea", "茶"], "scope": "user"}, {"===": [{"get": "date.month"}, 7]}]}'
)

_UNKNOWN = re.compile(r"ReferenceError: (\w+) is not defined")
_ENGLISH = re.compile(r"\b(?:and|or|not)\b")
_PROSE = re.compile(r"\s*(?:[^\W\d_]+[ ,.]+){2,}[^\W\d_]+[.!]?\s*")
_CURLY = re.compile("[“”‘’]")


def hinted(message: str, source: str) -> str:
    """A refusal, with what would mend it where that can be guessed."""
    hint = _hint(message, source)
    return f"{message} {hint}" if hint else message


def _hint(message: str, source: str) -> str:
    unknown = _UNKNOWN.search(message)
    if unknown is not None:
        return _meant(unknown[1])
    if "gives a function" in message:
        return (
            "Write only the part after `=>`, without a function around it: "
            "messages.length > 3, not (messages) => messages.length > 3."
        )
    if "takes too long" in message:
        return (
            "It has half a second here and one in a search: leave out loops over more than the messages, "
            "and repetitions in repetitions."
        )
    if "does not compile" not in message:
        return ""
    if re.search(r"\breturn\b", source) and "return" in message:
        return "Leave out `return`: the value of the last expression counts."
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
            "The date is new Date(): new Date().getMonth() is 0 to 11, getDate() 1 to 31, getHours() 0 to 23."
        )
    near = process.extractOne(
        name,
        NAMES,
        scorer=fuzz.ratio,
        score_cutoff=LIKE_ENOUGH,
        processor=lambda each: each.lower().replace("_", ""),
    )
    if near is not None and near[0] != name:
        return f"Did you mean `{near[0]}`?"
    return f"There are: {', '.join(NAMES[:7])}, and JavaScript's own."
