"""JSON values as clauses, as a person would write them: `{"module": "login", "progress": 70}` is "login 70 %"."""

import json
import re
from collections.abc import Sequence
from typing import Any

from memory_server.language import sentences
from memory_server.language.text import has_han
from memory_server.language.tokens import weigh

_SUBJECTS = (
    "name title task module feature component subject topic what item issue summary description"
    " 名称 标题 任务 模块 主题 内容"
).split()
"""The names under which an object says what it is about, the clearest first."""

_PROGRESS = "progress percent percentage percent_complete completion 进度 完成度".split()
_STATE = "status state phase stage 状态 阶段".split()
_NEXT = frozenset(
    (
        "next next_step next_steps next_action next_actions todo todos to_do remaining steps_left"
        " 下一步 待办 剩余 接下来"
    ).split()
)

ENTRIES = 5
"""A list of at most so many entries is said whole."""

KEPT = 3
"""Of a longer list so many are said: the last ones, because lists grow at their end; of next steps the first ones."""

SHORT_LIST = 20
"""Tokens: a list that costs no more is said whole, however many entries it has."""

ENTRY = 24
"""Tokens of one entry of a list or an object."""

DEEPEST = 3
"""Levels of a value that are said. Of what lies deeper only the number of entries is."""

_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def parts(value: Any, *, whole: bool = False) -> list[str]:
    """A value in words: the sentences of a text; else one sentence, with the most important clauses first.

    `whole`: a list is said with all of its entries.
    """
    match value:
        case str():
            return sentences.split(value)
        case list():
            filled = _filled(value)
            sentence = _joined(filled, "; ", 1) if whole else _list(filled, "; ", 1)
        case dict():
            sentence = "; ".join(_object(_filled(value), 1))
        case _:
            sentence = _scalar(value)
    return [sentence or json.dumps(value, ensure_ascii=False)]


def words(key: str) -> str:
    """The name of a key or a field as words."""
    return sentences.line(_CAPITAL.sub(" ", key).replace(".", " ").replace("_", " "))


def is_next(name: str) -> bool:
    """True if a field or the end of a key names the next steps."""
    return _known(name) in _NEXT


def _object(value: dict[str, Any], level: int) -> list[str]:
    """The clauses of an object: its subject, progress and state, the next steps, then the other fields in order."""
    fields = dict(value)
    about = _pick(fields, _SUBJECTS)
    share = _pick(fields, _PROGRESS)
    state = _pick(fields, _STATE)
    head = " ".join(
        part
        for part in (
            _about(fields.pop(about), level) if about else "",
            _percent(fields.pop(share)) if share else "",
            _state(fields.pop(state), bare=not about and not share) if state else "",
        )
        if part
    )
    following = [
        f"next: {_value(fields.pop(name), level, first=True)}" for name in list(fields) if is_next(name)
    ]
    return [
        *filter(None, [head]),
        *following,
        *(_field(name, child, level) for name, child in fields.items()),
    ]


def _about(value: Any, level: int) -> str:
    """The subject of an object: whole where the object is the value itself."""
    if level > 1 or not isinstance(value, str):
        return _value(value, level)
    return sentences.line(value).rstrip(".。")


def _filled(value: Any) -> Any:
    """A value without its empty elements and fields."""
    match value:
        case dict():
            fields = {name: _filled(child) for name, child in value.items()}
            return {name: child for name, child in fields.items() if child not in (None, "", [], {})}
        case list():
            return [element for element in map(_filled, value) if element not in (None, "", [], {})]
        case _:
            return value


def _pick(fields: dict[str, Any], names: Sequence[str]) -> str | None:
    """The field whose name comes first among these and that has a plain value."""
    fields_by_name = {
        _known(name): name for name, child in fields.items() if not isinstance(child, dict | list | bool)
    }
    return next((fields_by_name[name] for name in names if name in fields_by_name), None)


def _known(name: str) -> str:
    return _CAPITAL.sub("_", name).casefold().replace("-", "_").replace(" ", "_")


def _field(name: str, value: Any, level: int) -> str:
    mark = ": " if isinstance(value, dict | list | bool) else " "
    return f"{words(name)}{mark}{_value(value, level)}"


def _value(value: Any, level: int, *, first: bool = False) -> str:
    """A value inside another one."""
    match value:
        case str():
            pieces = sentences.split(value)
            return sentences.shortened(pieces[0], ENTRY).rstrip(".。") if pieces else ""
        case list() | dict() if level >= DEEPEST:
            return "1 entry" if len(value) == 1 else f"{len(value)} entries"
        case list():
            return _list(value, ", ", level + 1, first=first)
        case dict():
            return ", ".join(_object(value, level + 1))
        case _:
            return _scalar(value)


def _list(value: list[Any], mark: str, level: int, *, first: bool = False) -> str:
    """Whole where it is short, else some entries and the number of all."""
    if len(value) <= ENTRIES:
        return _joined(value, mark, level)
    if len(value) * 2 <= SHORT_LIST and weigh(whole := _joined(value, mark, level)) <= SHORT_LIST:
        return whole
    if first:
        return f"{_joined(value[:KEPT], mark, level)} ({KEPT} of {len(value)})"
    return f"{len(value)}, the last: {_joined(value[-KEPT:], mark, level)}"


def _joined(value: list[Any], mark: str, level: int) -> str:
    entries, stronger = [_value(element, level) for element in value], "; "
    if any(map(has_han, entries)):
        mark, stronger = {", ": "、", "; ": "；"}[mark], "；"
    return (stronger if any(mark in clause for clause in entries) else mark).join(entries)


def _percent(value: Any) -> str:
    """A share as per cent: 70, 0.7, "70%"."""
    if isinstance(value, float) and 0 <= value <= 1:
        value = round(100 * value)
    text = _scalar(value).removesuffix("%").strip()
    return f"{text} %" if re.fullmatch(r"[\d.]+", text) else text


def _state(value: Any, *, bare: bool) -> str:
    text = words(_scalar(value))
    return text if bare else f"({text})"


def _scalar(value: Any) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case str():
            return sentences.line(value)
        case _:
            return json.dumps(value, ensure_ascii=False)
