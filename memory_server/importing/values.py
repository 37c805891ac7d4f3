"""Values as other programs write them, as ours: moments, types, lists, relations."""

import hashlib
import json
import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from memory_server.domain.edge import Relation
from memory_server.domain.fact import is_plain
from memory_server.domain.memory import MemoryType
from memory_server.domain.moment import read
from memory_server.language.text import by_word, listed

_TYPES = {
    MemoryType.DECISION: "decision decided choice architecture adr 决定 决策",
    MemoryType.LEARNING: "learning learned lesson lessons discovery insight knowledge reference note fact feature "
    "change tip tips howto how-to 学习 经验 知识 发现",
    MemoryType.ERROR: "error errors bug bugs bugfix fix issue issues problem problems pitfall pitfalls gotcha gotchas "
    "warning 错误 问题 陷阱",
    MemoryType.PATTERN: "pattern patterns convention conventions rule rules standard standards workflow refactor "
    "technique method style 模式 规范 约定 规则 风格",
    MemoryType.PREFERENCE: "preference preferences preferred prefers user like likes 偏好 喜好",
}
"""Words of other programs for each type."""

_BY_WORD = by_word(_TYPES)

_RELATIONS = {
    Relation.CAUSES: "causes caused leads_to triggers results_in",
    Relation.SOLVES: "solves fixes fixed resolves implements answers",
    Relation.DEPENDS_ON: "depends_on requires needs uses blocked_by builds_on",
    Relation.CONTRADICTS: "contradicts conflicts_with opposes",
    Relation.EXTENDS: "extends refines follows part_of expands",
    Relation.EXAMPLE_OF: "example_of instance_of is_a",
    Relation.SUPERSEDES: "supersedes replaces",
}

_RELATION_BY_NAME = by_word(_RELATIONS)


_DAY_FIRST = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})(?:[ ,T]+(\d{1,2}:\d{2}(?::\d{2})?))?\Z")
"""A date as 14.03.2025 or 14.3.2025 09:30."""


def moment(*values: object) -> str:
    """Return the first of some values that is a moment, as the file keeps it; empty where none can be read."""
    return next(filter(None, map(_moment, values)), "")


def _moment(value: object) -> str:
    if value is None or value == "":
        return ""
    if isinstance(value, str) and (day_first := _DAY_FIRST.match(value.strip())):
        day, month, year, time = day_first.groups()
        value = f"{year}-{month:0>2}-{day:0>2}" + (f"T{time:0>5}" if time else "")
    try:
        if isinstance(value, float | int) and not isinstance(value, bool):
            return read(round(value * 1000) if value < 1e10 else value)
        return read(str(value).replace(" UTC", "+00:00") if isinstance(value, str) else value)
    except ValueError:
        return ""


def file_moment(seconds: float) -> str:
    """Return the moment at which a file was changed last."""
    return moment(datetime.fromtimestamp(seconds, UTC).isoformat())


@lru_cache(maxsize=256)
def memory_type(value: object, otherwise: MemoryType = MemoryType.OBSERVATION) -> str:
    """The type whose name, or a word for it, is among the words of a text."""
    words = str(value or "").lower().replace("_", " ").replace("/", " ").replace("-", " ").split()
    for word in words:
        if word in set(MemoryType):
            return word
    for word in words:
        if word in _BY_WORD:
            return _BY_WORD[word].value
    for word, type in _BY_WORD.items():
        if not word.isascii() and word in str(value or ""):
            return type.value
    return otherwise.value


def relation(name: object) -> str:
    """The relation that a name means; related_to where it means none of ours."""
    text = str(name or "").strip().lower().replace(" ", "_").replace("-", "_")
    if text in set(Relation) and text != Relation.SUMMARIZES:
        return text
    return _RELATION_BY_NAME.get(text, Relation.RELATED_TO).value


def texts(value: object) -> list[str]:
    """A list of texts: of a list, of JSON of one, or of a text with commas."""
    if isinstance(value, str):
        parsed = parsed_json(value)
        value = parsed if isinstance(parsed, list) else listed(value)
    items = value if isinstance(value, list | tuple) else []
    return [text for item in items if (text := str(item).strip())]


def objects(value: object) -> list[dict[str, Any]]:
    """Return the objects of a list; none where it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


SUMMARY = 300
"""Characters of a summary."""


def summary_of(text: str) -> str:
    """Return the beginning of a text, which stands for it in a list."""
    return text if len(text) <= SUMMARY else f"{text[:SUMMARY].rstrip()}…"


def parsed_json(text: object) -> Any:
    """The value of JSON; None where it is none, or holds what no client can read."""
    if not isinstance(text, str):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if is_plain(value) else None


def importance(value: object, most: float = 10) -> int:
    """A number from 1 to 10, of a scale up to `most`; 5 where there is none."""
    try:
        number = float(str(value))
    except ValueError:
        return 5
    return min(10, max(1, round(number * 10 / most))) if number == number else 5


def hashed(*texts: object) -> str:
    """An id for what has none: what says the same is the same."""
    return hashlib.sha256("\0".join(map(str, texts)).encode(errors="surrogatepass")).hexdigest()[:32]


def filled(**fields: Any) -> dict[str, Any]:
    """The fields that have a value."""
    return {name: value for name, value in fields.items() if value not in (None, "", [], {}, ())}
