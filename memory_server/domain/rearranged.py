"""Tells whether two texts differ only in an order that says nothing: of a shopping list, of "Ravi is Mina's cousin" and
"Mina's cousin is Ravi", of 弟弟把杯子打碎了 and 杯子被弟弟打碎了.

Elsewhere the order says who does what, or what comes first. So both texts must have one of three forms, as a whole.
"""

import re

from memory_server.language.lazy import lazy
from memory_server.language.text import HAN

_OPENERS = (
    "buy|bring|pack|needs?|has|have|likes?|loves?|eats?|speaks?|contains?|includes?"
    "|kaufen?|bringen?|packen?|brauch(?:e|t|en)|hat|haben?|mag|mögen|isst|essen|spricht|sprechen|enthält"
)
_LISTS = (
    "shopping(?: list)?|groceries|packing(?: list)?|ingredients|allergies"
    "|einkauf(?:sliste)?|packliste|zutaten|allergien"
)
_WORD = r"[^\W\d_]+"
_LIST = lazy(
    rf"(?P<before>(?:.* )?(?:{_OPENERS}) |(?:{_LISTS}): )"
    rf"(?P<items>{_WORD}(?:, {_WORD})*(?:,? (?P<joint>and|und) {_WORD}|, {_WORD}))"
    r"(?P<after>(?: (?:for|from|in|on|at|für|aus|von|im|am|beim?|with|mit) [^,;:]+)?)",
    re.IGNORECASE,
)
_CHINESE_LIST = lazy(
    r"(?P<before>[^、]*(?:买|带|需要|喜欢|爱吃|会说|对)|购物清单:|要买:)"
    rf"(?P<items>[{HAN}]{{1,3}}(?:、[{HAN}]{{1,3}})*(?P<joint>和|与|及|、)[{HAN}]{{1,3}})"
    r"(?P<after>(?:过敏)?)"
)
_SEPARATORS = re.compile(r"\s*(?:,\s*(?:and|und)\s|,|、|和|与|及|\s(?:and|und)\s)\s*")
_RANKS = lazy(
    r"\b(?:then|first|next|last|order|after|before|respectively|each|not|no|only|or|she|he|they|who|which"
    r"|dann|danach|zuerst|zuletzt|reihenfolge|nach|vor|jeweils|nicht|kein\w*|nur|oder|er|sie|der|die|das)\b"
    r"|先|后|再|然后|依次|顺序|分别|不|没|只|或",
    re.IGNORECASE,
)
"""Words beside which the order of a list may say something."""

_NAME = r"(?:(?:Mr|Mrs|Ms|Dr|Herr|Frau)\.? )?[A-ZÄÖÜ][\w-]*(?: [A-ZÄÖÜ][\w-]*)?"
_ENGLISH_IS = lazy(
    rf"(?P<what>(?:[Tt]he|[Oo]ur|[Mm]y|{_NAME}'s) [a-z]+(?: [a-z]+)?) is (?P<name>{_NAME})"
    rf"|(?P<first>{_NAME}) is (?P<then>(?:the|our|my|{_NAME}'s) [a-z]+(?: [a-z]+)?)"
)
_GERMAN_IS = lazy(
    rf"(?P<what>(?:[Uu]nsere?|[Mm]eine?|[A-ZÄÖÜ][a-zäöüß]+s) [A-ZÄÖÜ][a-zäöüß]+) ist (?P<name>{_NAME})"
    rf"|(?P<first>{_NAME}) ist (?P<then>(?:unsere?|meine?|[A-ZÄÖÜ][a-zäöüß]+s) [A-ZÄÖÜ][a-zäöüß]+)"
)
_CHINESE_IS = lazy(
    rf"(?P<what>[{HAN}]{{1,4}}的[{HAN}]{{1,4}})是(?P<name>[{HAN}]{{2,4}})"
    rf"|(?P<first>[{HAN}]{{2,4}})是(?P<then>[{HAN}]{{1,4}}的[{HAN}]{{1,4}})"
)
_PASSIVE = lazy(rf"(?P<patient>[{HAN}]{{1,8}})被(?P<action>[{HAN}]{{3,}})")
_MANY = frozenset("都全各每所有些们")

_AROUND = ("before", "joint", "after")
"""What must be the same around the members of a list."""


def only_rearranged(left: str, right: str) -> bool:
    """True if two texts differ only in such an order."""
    left, right = (text.strip(" .,;!。！").replace("，", ",") for text in (left, right))
    return len(left) == len(right) and (
        _is_list(left, right)
        or _is_turned(left, right)
        or _is_passive(left, right)
        or _is_passive(right, left)
    )


def _is_list(left: str, right: str) -> bool:
    for form in (_LIST, _CHINESE_LIST):
        if (before := form.fullmatch(left)) and (after := form.fullmatch(right)):
            around = [[(match[part] or "").lower() for part in _AROUND] for match in (before, after)]
            alike = around[0] == around[1] and _items(before["items"]) == _items(after["items"])
            return alike and not _RANKS.search(left)
    return False


def _items(text: str) -> list[str]:
    return sorted(_SEPARATORS.split(text))


def _is_turned(left: str, right: str) -> bool:
    """True for "Ravi is Mina's cousin" and "Mina's cousin is Ravi": beside a name stands what only one can be."""
    for form in (_ENGLISH_IS, _GERMAN_IS, _CHINESE_IS):
        if (before := form.fullmatch(left)) and (after := form.fullmatch(right)):
            return _what_and_name(before) == _what_and_name(after)
    return False


def _what_and_name(match: re.Match[str]) -> tuple[str, str]:
    what = match["what"] or match["then"]
    return what[0].lower() + what[1:], match["name"] or match["first"]


def _is_passive(passive: str, active: str) -> bool:
    """True for 杯子被弟弟打碎了 and 弟弟把杯子打碎了: both name who does it."""
    match = _PASSIVE.fullmatch(passive)
    if match is None or not _MANY.isdisjoint(passive):
        return False
    patient, action = match["patient"], match["action"]
    return any(
        active == f"{action[:end]}{mark}{patient}{action[end:]}"
        for end in range(1, len(action))
        for mark in "把将"
    )
