"""Tells whether two texts differ only in where an adverbial stands: "every Friday Ola bakes", "Ola bakes every Friday".

Words that change places may change roles: "Anna calls Ben" and "Ben calls Anna". So the moved part must begin with a
word that makes it an adverbial wherever it stands, and the rest must be one clause: "Anna said Ben leaves on Friday" is
another fact than "On Friday Anna said Ben leaves". In doubt nothing has moved.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.language import tables
from memory_server.language.function_words import limits
from memory_server.language.text import Segment

_CONJUNCTIONS = tables.words("if when whenever because unless until after before while")
_PREPOSITIONS = tables.words("on in at during")
_IDIOMS = tables.words(
    "all any case fact first general last least most once order part spite time total turn"
)
"""Words after a preposition that make another adverb: at least, in case."""

_BLOCKS = _CONJUNCTIONS | tables.words(
    "he him his she her hers it its they them their theirs himself herself itself themselves and or but that which who "
    "whom whose what where how why whether since though although so then than even just almost again too also"
)
"""Words with which the rest may be more than one clause, or the order may decide whom a pronoun means."""

_ATTITUDE = re.compile(
    r"(?:say|said|tell|told|ask|answer|think|thought|know|knew|believe|hope|expect|want|wish|decid|plan|promis|agree|hear|"
    r"heard|learn|see|saw|find|found|show|check|test|wonder|rem(?:emb|ind)|forg[eo]t|explain|describ|announc|claim|mean|"
    r"suggest|propos|order|request|schedul|cancel|book|mov|postpon|shift|notif|inform|warn|invit|report|writ|wrote|read|"
    r"confirm|reserv|need|try|tri|refus|offer|allow|forbid|like|lov|hat|seem|let|make|made|help)(?:e?s|e?d|ied|ies|ing|e)?"
)
"""Verbs whose object may have the adverbial: says that, cancels the meeting on Friday, asks if."""

_PAST = tables.words(
    "began bought broke brought came chose did drove fell felt found gave got held kept left lost met paid put ran saw "
    "sent sold spoke spent stood taught took went won"
)
_BE = tables.words("be am is are was were been being have has had get gets got")
_AUXILIARIES = _BE | tables.words("do does did can could may might must shall should will would")

_GERMAN_DAY = "(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|morgen|mittag|abend"
_GERMAN_TIME = re.compile(
    f"jeden (?:tag|monat|{_GERMAN_DAY})|jede (?:nacht|woche)|jedes (?:jahr|wochenende)|(?:{_GERMAN_DAY}|nacht)s"
    "|im (?:frühling|sommer|herbst|winter)"
)
_GERMAN_BLOCKS = tables.words(
    "nicht nie nur auch erst schon sogar fast zu und oder aber er sie es ihn ihm ihr ihre sein seine"
)

_TIME = (
    r"(?:每[天日年晚]|每?(?:周|星期)[一二三四五六日天末]|工作日|一到[春夏秋冬]天"
    r"|凌晨|早上|上午|中午|下午|晚上|\d{1,2}:\d\d)+"
)
_CHINESE_TIME = re.compile(_TIME)
_OF_A_NOUN = re.compile(f"{_TIME}[的之以前后]")
"""A time that belongs to a noun, as 周五的票, or is the end of another time."""

_CHINESE_VERBS = frozenset(
    "取消改订约定买卖说问告诉让叫请想觉得决把被给有在是和跟与同对向从为因交清理记录检查新删除备份部署发送参加安排准备通知提醒打扫做写看听读"
    "吃喝用去来到关开爱恨怕喜欢讨厌批评表扬帮找等接送还借收付算选管教练跑走搬换修洗织主持召举整汇统计负责支错过忘拒推迟期待论申报跳缺席拜访"
    "照顾陪邀印归不没未别只仅"
)
"""Characters of verbs, whose object may have the time, and of words that limit."""


@dataclass(frozen=True, slots=True)
class Ordered:
    """The words of a text that carry meaning, folded, and the numbers of words before its commas and full stops."""

    words: tuple[str, ...]
    pauses: frozenset[int]
    text: str


def only_moved(left: Ordered, right: Ordered, segment: Segment) -> bool:
    """True if the texts differ only in where an adverbial stands."""
    if sorted(left.words) != sorted(right.words):
        return False
    return any(
        _is_fronted(front, back, length, segment)
        for front, back in ((left, right), (right, left))
        for length in range(1, len(front.words))
        if front.pauses - {length} == back.pauses
    )


def _is_fronted(front: Ordered, back: Ordered, length: int, segment: Segment) -> bool:
    """True if so many words at the start of `front` are an adverbial that `back` has at its end, or after the
    subject in Chinese, after the verb in German."""
    moved, remaining = front.words[:length], front.words[length:]
    if back.words == remaining + moved:
        return not back.pauses and _is_adverbial(moved) and _is_one_clause(remaining, moved)
    if _GERMAN_TIME.fullmatch(" ".join(moved)):
        return _follows_german_verb(moved, remaining, back)
    if not _CHINESE_TIME.fullmatch("".join(moved)) or _OF_A_NOUN.search(front.text + back.text):
        return False
    return any(
        back.words == remaining[:end] + moved + remaining[end:]
        and _is_chinese_subject("".join(remaining[:end]), segment)
        and all(pause > end + length for pause in back.pauses)
        for end in range(1, len(remaining))
    )


def _is_adverbial(words: Sequence[str]) -> bool:
    first, second = words[0], words[1] if len(words) > 1 else ""
    return (
        bool(second)
        and second not in _IDIOMS
        and (first in _CONJUNCTIONS | _PREPOSITIONS or first == "every")
    )


def _is_one_clause(clause: Sequence[str], moved: Sequence[str]) -> bool:
    """True if the adverbial can belong to nothing but the whole clause."""
    if len(clause) < 2 or clause[0] in _AUXILIARIES or not _BLOCKS.isdisjoint((*clause, *moved[1:])):
        return False
    if any(word == ":" or limits(word) or _ATTITUDE.fullmatch(word) for word in (*clause, *moved)):
        return False
    # "Anna sold the tickets at the office": which are there, or where she sold them.
    return moved[0] in _CONJUNCTIONS or not any(
        word in _PAST or (word.endswith("ed") and before not in _BE)
        for before, word in zip(("", *clause), clause, strict=False)
    )


def _follows_german_verb(moved: tuple[str, ...], clause: tuple[str, ...], back: Ordered) -> bool:
    """True if `back` has the subject before the verb with which `clause` begins, and the time behind it."""
    if back.pauses or any(word in _GERMAN_BLOCKS or word.startswith("kein") for word in clause):
        return False
    verb, *after = clause
    for start in range(2, len(back.words)):
        words = back.words[:start] + back.words[start + len(moved) :]
        place = words.index(verb) if verb in words[1:start] else 0
        if back.words[start : start + len(moved)] == moved and place:
            return [*words[:place], *words[place + 1 :]] == after
    return False


def _is_chinese_subject(text: str, segment: Segment) -> bool:
    return _CHINESE_VERBS.isdisjoint(text) and len(segment(text)) <= 2
