"""Words and endings that may differ between two texts that say the same: closed lists, English and Chinese.

What is missing here costs a merge; what is wrongly here costs somebody a fact. So what is doubtful stays out:
prepositions, pronouns, conjunctions, quantifiers, modals, negations, tense, `only` and politeness in Chinese
(请 is also to invite, 麻烦 trouble, 吧 a guess) all carry meaning.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# --- Endings ---------------------------------------------------------------------------------------------

_NO_INFLECTION = (
    # Words of their own that end like a form of another.
    _set("news means goods customs arms species windows pandas rails glasses terms ones imaps ldaps ftps")
    | _set("ours yours theirs hers besides sometimes")
    | _set("tens twenties thirties forties fifties sixties seventies eighties nineties")
    | _set("hundreds thousands millions billions")
    # A weekday is one day, its plural every week.
    | _set("mondays tuesdays wednesdays thursdays fridays saturdays sundays weekends")
)
_WORD = re.compile(r"[a-z]{4,}")
_STEM = re.compile(r"(?=.*[aeiouy])[a-z]{3,}|go")
"""What must be left: https is not the plural of http."""
_SHORT = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]")
"""A stem like `stop` or `fil`, which doubles its consonant: so `filing` is from file and `filling` is not."""
_DOUBLED = re.compile(r"([b-df-hj-np-tvz])\1$")


@lru_cache(maxsize=10_000)
def without_s(word: str) -> frozenset[str]:
    """What `word` may be a plural or third person of: retries is retry, pushes push, uses use."""
    if not _WORD.fullmatch(word) or word in _NO_INFLECTION or not word.endswith("s") or word[-2] in "su":
        return frozenset()
    stems = {word[:-1]}
    if word.endswith("ies"):
        stems.add(word[:-3] + "y")
    if word.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
        stems.add(word[:-2])
    return frozenset(filter(_STEM.fullmatch, stems))


@lru_cache(maxsize=10_000)
def without_ing(word: str) -> frozenset[str]:
    """What `word` may be the progressive of: stopping is stop, using use, adding add."""
    if not _WORD.fullmatch(word) or not word.endswith("ing"):
        return frozenset()
    stem = word.removesuffix("ing")
    stems = {stem + "e"}
    if not _SHORT.fullmatch(stem):
        stems.add(stem)
    if _DOUBLED.search(stem):
        stems.add(stem[:-1])
    return frozenset(filter(_STEM.fullmatch, stems))


# --- Words -----------------------------------------------------------------------------------------------

CONTRACTIONS = {"can't": "can not", "cannot": "can not", "won't": "will not", "shan't": "shall not"}
CONTRACTED_ENDINGS = {
    "n't": " not",
    "'re": " are",
    "'ve": " have",
    "'ll": " will",
    "'m": " am",
    "'d": " would",  # or had: read alike in both texts, it can only keep two texts apart
}
IS_AFTER = _set("it he she that there here what who where how this everything everyone")
"""Words after which `'s` is the verb; after any other it may also mark the owner."""

CANONICAL = {
    "时候": "时",
    "里面": "里",
    "已经": "已",
    # 加上 is 加 with the result spelt out, and so on; 上 alone (above, last) carries meaning.
    **{verb + "上": verb for verb in ("加", "带", "写", "配", "填", "附")},
}
"""One form for a word in its longer or emphatic form."""

COMPOUNDS = frozenset({"就是", "就在"})
FINAL_PARTICLES = ("的", "了")
ENDS_IN_PARTICLE = _set("目的 标的 有的 打的 似的 为了 除了 不了 罢了 算了 完了 得了")
"""Words whose last character looks like a particle and is none."""

OPENINGS = (
    *((modal, "you", word) for modal in ("could", "can", "would", "will") for word in ("please", "kindly")),
    *((word,) for word in ("please", "kindly", "actually", "basically", "honestly", "btw", "fyi", "其实")),
)
"""Longest first. Only at the very start of a text: to please is a verb, and "not actually" is another fact."""

PRESENT_BE = {"is": True, "are": False, "am": False}
"""The forms that make a progressive of the present, and whether what they are short for has an -s."""

_BE = _set("be am is are was were been being")
_MODALS = _set("can could may might must shall should will would not")
_PREPOSITIONS = _set("in on at for with by of from to as")
_NEGATIONS = _set("not no never none neither nor only just")
_NEGATIVE = ("不", "没", "别", "未", "无", "非", "勿")
_LIMITING = (*_NEGATIVE, "只", "仅")
_TOTAL = ("所有", "全部", "一切", "任何", "每", "各", "大家")
_TIME = ("每", "周", "星期", "凌晨", "早上", "上午", "中午", "下午", "晚上", "今", "明", "昨")
_MEANS = frozenset({"用", "由", "靠", "以", "通过"})
_COUNTS = tuple("0123456789零一二三四五六七八九十百千万亿两几这那每")
_FEELING = _set(
    "讨厌 喜欢 喜爱 爱 恨 怕 害怕 担心 羡慕 嫉妒 想念 怀念 想 说 提到 骂 批评 表扬 怀疑 相信 支持 反对"
)
"""Verbs after which 的 turns the object into the subject: 我讨厌的猫 is a cat I hate, 我讨厌猫 that I hate cats."""


class Place(NamedTuple):
    """Where in its clause a word stands."""

    before: Sequence[str]
    """The words that were kept, as far as they may matter."""
    previous: str
    """The word right in front of it, kept or not."""
    after: Sequence[str]
    """The words that follow, kept or not, as far as they may matter."""
    limited: bool
    """Whether the text says not or only anywhere."""

    @property
    def last(self) -> str:
        return self.before[-1] if self.before else ""

    @property
    def following(self) -> str:
        return self.after[0] if self.after else ""


def limits(word: str) -> bool:
    """Whether `word` says not or only, whose reach a comma, a filler or 了 can change."""
    return word in _NEGATIONS or any(character in word for character in _LIMITING)


def _verb(words: Iterable[str]) -> str:
    """The first word that is neither a negation nor an adverb in -ly."""
    return next((word for word in words if word not in {"not", "never"} and not word.endswith("ly")), "")


def _is_article(place: Place) -> bool:
    """A noun follows: not as in a + b, select a, b, and not the a of "plan a costs", "hall a is", "team a failed"."""
    following = place.following
    if following in _BE | _MODALS | _PREPOSITIONS | {"or", "and", "has", "have", "had"}:
        return False
    return (
        len(following) > 1 and following.isalnum() and not (without_s(following) or following.endswith("ed"))
    )


def _repeats_total(place: Place) -> bool:
    """所有副本都…: 都 only repeats 所有. Beside a negation its place decides (不都, 都不)."""
    if place.last.endswith(_NEGATIVE) or place.following.startswith(_NEGATIVE):
        return False
    return any(word.startswith(_TOTAL) for word in place.before)


def _stresses(place: Place) -> bool:
    """就放在, 就是; but 不就是 is not 不是."""
    placed = place.following.startswith(("在", "是", "来自")) or place.following.endswith("在")
    return placed and not place.last.endswith(_NEGATIVE)


def _always(_: Place) -> bool:
    return True


def _if_unlimited(place: Place) -> bool:
    """Not really ready is another fact than not ready."""
    return not place.limited


def _is_progressive_be(place: Place) -> bool:
    return bool(without_ing(_verb(place.after)))


_SILENT_IF: dict[str, Callable[[Place], bool]] = {
    "the": _always,
    "a": _is_article,
    # Before a vowel or a silent h (or eight); any other is a name in small letters.
    "an": lambda place: place.following.startswith(tuple("aeiouh8")),
    **dict.fromkeys(("really", "basically", "actually", "simply"), _if_unlimited),
    **dict.fromkeys(("please", "kindly"), lambda place: not place.before and not place.after),
    # In the editor and (in) the terminal.
    **dict.fromkeys(_PREPOSITIONS, lambda place: place.previous == "and" and place.last == "and"),
    # He is running: the verb itself tells person and time.
    **dict.fromkeys(PRESENT_BE, _is_progressive_be),
    **dict.fromkeys(("一下", "呀", "哦", "啦", "呢", "嘛", "啊"), _always),
    # 咬了猎人的狗 is the dog that bit the hunter, or the hunter's.
    "的": lambda place: place.previous not in _FEELING and "了" not in place.before,
    # 去了 is past, 要来了 and 不抽了 are a change; after 已 and 太 it adds nothing.
    "了": lambda place: not place.limited and any(word[0] in "已太" for word in place.before),
    "都": _repeats_total,
    "就": _stresses,
    # 在每月一号; 不在每周一 is not 不每周一.
    "在": lambda place: place.following.startswith(_TIME) and not place.last.endswith(_NEGATIVE),
    # 在日志里; but 三里 is three miles.
    "里": lambda place: "在" in "".join(place.before) and not place.last.endswith(_COUNTS),
    # 用 Redis 来做; but 来 alone is to come.
    "来": lambda place: bool(place.after) and not _MEANS.isdisjoint(place.before),
    # 项目所使用; but 三所 counts houses.
    "所": lambda place: bool(place.after and place.before) and not place.last.endswith(_COUNTS),
    "要": lambda place: place.last == "必须",
    # 用的是, 是由王芳整理的; but 他是老板 is not 他老板.
    "是": lambda place: place.previous == "的" or place.following in {"由", "从", "在"},
}


def is_silent(word: str, place: Place) -> bool:
    """Whether `word` carries no meaning in its place."""
    return word in _SILENT_IF and _SILENT_IF[word](place)


def progressive_be(before: Sequence[str], word: str) -> str:
    """The `is` of "is (not) running" if `word` is its running; `before` is the clause up to it."""
    be = _verb(before[::-1])
    return be if be in PRESENT_BE and without_ing(word) else ""
