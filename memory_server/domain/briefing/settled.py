"""Recognizes what is over: a blocker or a task whose value says that there is none, or that it is done."""

import re
from typing import Any

from memory_server.language.lazy import lazy

_WHEN = r"(?: (?:yet|now|right now|currently|at the moment|so far|left|remaining|today))?"

_NONE = (
    r"(?:currently |目前|暂时|当前|现在)?(?:"
    rf"(?:none|nothing|nil|null|n/a|na|no|nope|empty|clear){_WHEN}"
    r"|(?:no|nothing) (?:open |current |known |active |more |further )?"
    rf"(?:blockers?|blocking(?: issues?)?|tasks?){_WHEN}"
    rf"|not blocked{_WHEN}|unblocked"
    "|无|没有|沒有|暂无|無|空|没了|(?:无|没有|暂无)(?:任何)?(?:阻塞|阻碍|障碍|卡点|任务|待办|问题)(?:项)?"
    r"|[-—–/]+|\[\]|\{\}|)"
)
"""A value that says: there is none."""

_DONE = (
    r"(?:all |everything |already )?(?:is |are )?"
    r"(?:done|finished|completed?|resolved|solved|closed|fixed|shipped|cancell?ed|abandoned)"
    "|(?:都|全部|已经?|均)?(?:完成|解决|结束|关闭|取消|修复|搞定|做完|处理)(?:了|完毕)?|✅|✓|☑"
)
"""A value that says: it is done. Also as the state of an object."""

_TAIL = r"\s*[.!。！✅✓]*(?:(?:\s*[:(（：；;]|\s[-–—]|[.。!！])\s?.*)?"
"""After the word: nothing, or a mark and more words: "done: it was the proxy"."""

_TICKED = re.compile(r"\s*(?:[-*]\s*)?(?:\[[xX]\]|✅|✓|☑|~~)")
"""The start of a list's entry that is done."""

_STATES = frozenset(["status", "state", "状态"])
_FLAGS = frozenset(
    ["done", "completed", "complete", "finished", "resolved", "closed", "solved", "完成", "已完成"]
)
_SHARES = frozenset(["progress", "percent", "percentage", "进度", "完成度"])

_FINISHED = lazy(rf"(?:{_NONE}|{_DONE}){_TAIL}", re.IGNORECASE | re.DOTALL)
_FINISHED_STATE = lazy(rf"(?:{_DONE}){_TAIL}", re.IGNORECASE | re.DOTALL)


def still_open(value: Any) -> Any:
    """The value of a blocker or a task without the parts that are over; None where nothing is left."""
    match value:
        case None | False:
            return None
        case str():
            return None if _is_over(value) else value
        case list():
            return [open_value for open_value in map(still_open, value) if open_value is not None] or None
        case dict():
            return None if _is_finished(value) else _open_entries(value)
        case _:
            return value


def _is_over(text: str) -> bool:
    return bool(_TICKED.match(text) or _FINISHED.fullmatch(text.strip()))


def _is_finished(value: dict[str, Any]) -> bool:
    for name, child in value.items():
        key = name.casefold()
        if key in _STATES and isinstance(child, str) and _FINISHED_STATE.fullmatch(child.strip()):
            return True
        if key in _FLAGS and child is True:
            return True
        if key in _SHARES and str(child).replace("%", "").strip() in ("100", "100.0"):
            return True
    return False


def _open_entries(value: dict[str, Any]) -> dict[str, Any] | None:
    """The fields that say something; None where none does."""
    fields = {name: child for name, child in value.items() if child not in (None, "", [], {})}
    return fields if any(child is not False for child in fields.values()) else None
