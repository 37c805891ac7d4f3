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

_NO_PROSE = "A trigger is a condition in JavaScript, such as match_keys(messages, ['birthday', '生日'])."

_HAN = re.compile("[\u3400-\u9fff]")
_WIDE = re.compile("[（），。；：【】［］｛｝！＝＞＜＆｜]")
"""Signs of Chinese typography, which JavaScript does not accept."""

_TEXTS = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|`[^`]*`|//[^\n]*|/\*.*?\*/")
"""Literals and comments, where any sign may stand."""

_ELSEWHERE = frozenset(
    """fetch require process window document console XMLHttpRequest setTimeout setInterval moment dayjs axios global
    module""".split()
)
"""Names of browsers, Node and libraries."""

_OF_PYTHON = {
    "True": "true",
    "False": "false",
    "None": "null",
    "len": "messages.length",
    "any": "messages.some(m => …)",
    "all": "messages.every(m => …)",
}
"""Names of Python, and what JavaScript has instead."""

_SAID = frozenset(
    "input content text userMessage user_message lastMessage last_message prompt query msg m role".split()
)
"""Names that are tried for what was said."""

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
    if "TypeError" in message:
        return _of_type(message)
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
    if _CURLY.search(_TEXTS.sub("''", source)):
        return "Use straight quotes, ' or \"."
    if _WIDE.search(_TEXTS.sub("''", source)):
        return "Use the signs of ASCII: ( ) [ ] , ; ' \" instead of （ ） 【 】 ， ；."
    if _JSON.match(source):
        return "A trigger is JavaScript, not JSON: match_keys(messages, ['tea'], 'user') || new Date().getDay() === 5."
    if re.search(r"\breturn\b", source) and "return" in message:
        return "Remove `return`: the trigger's value is that of its last expression."
    if _PROSE.fullmatch(source) or _HAN.search(_TEXTS.sub("''", source)):
        return _NO_PROSE
    if _ENGLISH.search(source):
        return "JavaScript writes && for and, || for or, ! for not."
    return ""


def _of_type(message: str) -> str:
    if re.search("read-only|not extensible|no setter|could not (?:delete|set)", message):
        return (
            "A trigger cannot change what it sees: compare with ===, and write messages.slice().reverse(), "
            "messages.toSorted(…) or messages.at(-1)."
        )
    if "of similar" in message:
        return "It is called as similar(messages, 'I am lost', 0.4)."
    if "of match_keys" in message or "scope must be" in message:
        return "It is called as match_keys(messages, ['tea', /茶+/], 'user', 4)."
    return (
        "`messages` is a list: messages.some(m => m.content.includes('…')), messages.at(-1)?.content. A message has "
        "role, content, name and timestamp."
    )


def _meant(name: str) -> str:
    if name in _ELSEWHERE:
        return (
            "A trigger has no files, no network and no libraries: it sees messages, participants, conversation_id and "
            "new Date()."
        )
    if name in _OF_PYTHON:
        return f"In JavaScript write {_OF_PYTHON[name]}."
    if name in _SAID:
        return (
            "What was said is in `messages`: messages.at(-1)?.content is the last one, messages.some(m => …) looks at "
            "each."
        )
    if _HAN.search(name):
        return _NO_PROSE
    if name.lower() in ("date", "now", "today", "time"):
        return (
            "For the date use new Date(): getMonth() returns 0 to 11, getDate() 1 to 31, getHours() 0 to 23."
        )
    near = meant(name, NAMES)
    if near is not None and near != name:
        return f"Did you mean `{near}`?"
    return f"There are: {', '.join(NAMES[:LISTED])}, and the names of JavaScript itself."
