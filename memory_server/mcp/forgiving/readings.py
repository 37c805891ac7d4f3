"""Values in words or in another shape that mean one value of a parameter, which a keyword of its schema names."""

import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import from_json

from memory_server.domain.change import Kind
from memory_server.domain.handles import read as read_handle
from memory_server.language.counts import whole
from memory_server.language.text import by_word
from memory_server.mcp.forgiving.conversation import UnclearError
from memory_server.mcp.forgiving.names import fold
from memory_server.mcp.forgiving.words import VALUES as FOREIGN

GRADES: Mapping[str, int] = by_word(
    {
        2: "minor trivial verylow 很低",
        3: "low unimportant 低 不重要",
        5: "medium normal moderate average default 中 中等 一般 普通",
        8: "high important 高 重要",
        10: "critical veryhigh highest max maximum urgent essential 很高 最高 关键 非常重要 紧急",
    }
)
"""Words for an importance of 1 to 10."""

USER, ALL = "the user's, for all projects", "all projects"

PROJECT_WORDS: Mapping[str, str] = by_word(
    {
        USER: "user me global personal 用户 全局 个人",
        ALL: "all any every everywhere allprojects 全部 所有 所有项目",
    }
)
"""Words in the place of a project that name none."""

_SHARE = re.compile(r"(\d{1,3}(?:\.\d{1,6})?)\s*(%|(?:/|out of|of|von|sur)\s*10)?", re.IGNORECASE)
NOTHING = frozenset({"null", "none", "undefined", "nil", "n/a", "nan"})
"""What programs write where there is no value."""

_KEY = re.compile(r"[^\W\d_][\w-]*(?:\.[\w-]+)+")
"""A dotted key of a fact."""

_ENDS = ("?", "？", ".", "。", "!", "！")


def importance(name: str, value: Any, notes: list[str], _: bool) -> Any:
    """Read `high`, 0.8, 7.5 and `80 %` as a whole number; any other value stays as it is."""
    if isinstance(value, int) and not isinstance(value, bool) and name == "importance" and 10 < value < 20:
        notes.append(f"{name}: {value} is above the maximum, 10 was used.")
        return 10
    if isinstance(value, bool) or not isinstance(value, str | float):
        return value
    text = unicodedata.normalize("NFKC", str(value)).strip().removeprefix(">=").removeprefix("≥").strip()
    if text.isdigit():
        return value
    word = FOREIGN.get(fold(text), text)
    grade = GRADES.get(fold(word)) or whole(text)
    if grade is None:
        match = _SHARE.fullmatch(text)
        if match is None or (match[2] is None and "." not in text):
            return value
        number = float(match[1]) / (10 if match[2] == "%" else 1)
        number = 10 * number if match[2] is None and 0 < number < 1 else number
        if match[2] is None and number.is_integer() and number == float(match[1]):
            return value
        grade = int(number + 0.5)
    if not 1 <= grade <= 10:
        return value
    notes.append(f"{name}: `{value}` was read as {grade}.")
    return grade


def question(name: str, value: Any, notes: list[str], _: bool) -> Any:
    """Read a list of texts as one query that asks all of them."""
    texts = _listed(value)
    if texts is None:
        return value
    notes.append(f"{name}: the list was read as {len(texts)} questions.")
    return " ".join(text if text.endswith(_ENDS) else f"{text}?" for text in texts)


def newest(name: str, value: Any, notes: list[str], reads: bool) -> Any:
    """Read `*` as the empty query, which lists the newest."""
    if isinstance(value, str) and value.strip() in ("*", "**", "%"):
        notes.append(f"{name}: `{value.strip()}` lists the newest.")
        return ""
    return question(name, value, notes, reads)


def project(name: str, value: Any, notes: list[str], reads: bool) -> Any:
    """Read `user`, `global` and `all` as what they say: they name no project."""
    folded = fold(value) if isinstance(value, str) else ""
    meaning = PROJECT_WORDS.get(FOREIGN.get(folded, folded))
    if meaning is None:
        return value
    everywhere = meaning is ALL and reads
    notes.append(f"{name}: `{value.strip()}` was read as {ALL if everywhere else USER}.")
    return "*" if everywhere else ""


def content(name: str, value: Any, notes: list[str], _: bool) -> Any:
    """Read an object as the text that it has, or as its JSON.

    Raises:
        UnclearError: it is a word for nothing.
    """
    if isinstance(value, str) and value.strip().casefold() in NOTHING:
        raise UnclearError("is a word for nothing: write what shall be kept")
    if not isinstance(value, dict) or not value:
        return value
    named = {fold(key): item for key, item in value.items()}
    texts = [named[key] for key in ("content", "text") if isinstance(named.get(key), str)]
    if texts and set(named) <= {"role", "content", "type", "text"}:
        notes.append(f"{name}: the text was taken out of the object.")
        return texts[0]
    notes.append(f"{name}: the object was read as its JSON.")
    return json.dumps(value, ensure_ascii=False)


def entries(name: str, value: Any, notes: list[str], reads: bool) -> Any:
    """Read a list as several contents, one each; an object as its text."""
    if not isinstance(value, list):
        return content(name, value, notes, reads)
    if not value or not all(isinstance(item, str | dict) and item for item in value):
        return value
    texts = [content(name, item, [], reads) for item in value]
    notes.append(f"{name}: each of {len(texts)} entries was stored.")
    return texts


def trigger(name: str, value: Any, notes: list[str], _: bool) -> Any:
    """Read a list of words as a trigger that is true where a message has one of them."""
    if not isinstance(value, list) or not value or not all(isinstance(key, str) and key for key in value):
        return value
    if len(value) == 1 and "(" in value[0]:
        return value[0]
    source = f"match_keys(messages, {json.dumps(value, ensure_ascii=False)})"
    notes.append(f"{name}: the list was read as {source}.")
    return source


def replaced(name: str, value: Any, notes: list[str], _: bool) -> Any:
    """Read a dotted key such as `user.phone` as the handle of its fact.

    Raises:
        UnclearError: a text that is neither.
    """
    if not isinstance(value, str):
        return value
    text = value.strip()
    if _KEY.fullmatch(text):
        notes.append(f"{name}: `{text}` was read as the fact `f {text}`.")
        return f"f {text}"
    handle = read_handle(text)
    if handle is None or handle.kind not in (Kind.MEMORY, Kind.FACT, Kind.TURN):
        raise UnclearError("names no memory, fact or turn: write an id, `f KEY` or `t12`")
    return value


READINGS: Mapping[str, Callable[[str, Any, list[str], bool], Any]] = {
    reading.__name__: reading
    for reading in (importance, question, newest, project, content, entries, trigger, replaced)
}
"""How a value is read, by the keyword `x-read` of its parameter. The flag says whether the tool only reads."""


def _listed(value: Any) -> list[str] | None:
    """Return the texts of a list, which may be written as JSON; None where it is none."""
    if isinstance(value, str) and value.strip().startswith('["'):
        try:
            value = from_json(value)
        except ValueError:
            return None
    if not isinstance(value, list) or len(value) < 2:
        return None
    texts = [item.strip() for item in value if isinstance(item, str) and item.strip()]
    return texts if len(texts) == len(value) else None
