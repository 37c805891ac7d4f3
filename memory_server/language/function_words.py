"""Words and endings that may differ between two texts with the same meaning: closed lists for English and Chinese.

If a word is missing here, two equal memories are not merged; if a word is wrongly here, a fact is lost. So doubtful
words are left out: prepositions, pronouns, conjunctions, quantifiers, modals, negations, tense, `only`, and politeness
in Chinese (请 also means invite, 麻烦 trouble, 吧 a guess) all carry meaning.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from memory_server.language import tables

# --- Endings ---------------------------------------------------------------------------------------------

_NO_INFLECTION = (
    # Words that look like an inflected form of another word.
    tables.words(
        "news means goods customs arms species windows pandas rails glasses terms ones imaps ldaps ftps"
    )
    | tables.words("ours yours theirs hers besides sometimes")
    | tables.words("tens twenties thirties forties fifties sixties seventies eighties nineties")
    | tables.words("hundreds thousands millions billions")
    # Monday is one day, Mondays is every week.
    | tables.words("mondays tuesdays wednesdays thursdays fridays saturdays sundays weekends")
)
"""Words that end like an inflected form but are not one."""

_WORD = re.compile(r"[a-z]{4,}")
"""Words that are long enough to have an ending."""

_STEM = re.compile(r"(?=.*[aeiouy])[a-z]{3,}|go")
"""What may remain without an ending: https is not the plural of http."""
_SHORT = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]")
"""A stem like `stop` or `fil`, whose last consonant is doubled: so `filing` comes from file, and `filling` does not."""
_DOUBLED = re.compile(r"([b-df-hj-np-tvz])\1$")
"""A doubled consonant at the end."""


@lru_cache(maxsize=10_000)
def without_s(word: str) -> frozenset[str]:
    """The words whose plural or third person `word` may be: retry for retries, push for pushes, use for uses."""
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
    """The verbs whose progressive `word` may be: stop for stopping, use for using, add for adding."""
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
CONTRACTIONS |= {
    f"{word}'s": f"{word} es" for word in ("gibt", "geht", "hat", "ist", "kommt", "war", "wird", "wenn", "ob")
} | {f"{word}'s": f"{word}s" for word in ("an", "auf", "durch", "für", "in", "um")}
CONTRACTIONS |= {f"{word}'m": f"{word}m" for word in ("hinter", "über", "unter", "vor")} | {"hab": "habe"}
"""Contractions that are not formed by an ending, and their long form; in English and in German."""

CONTRACTED_ENDINGS = {
    "n't": " not",
    "'re": " are",
    "'ve": " have",
    "'ll": " will",
    "'m": " am",
    "'d": " would",  # or had; both texts are read the same way, so a wrong reading can only prevent a merge
}
"""Contracted endings and their long form."""

IS_AFTER = tables.words("it he she that there here what who where how this everything everyone")
"""Words after which `'s` is short for is; after any other word it may also be the possessive."""

_PREDICATES = tables.words(
    "a an the not still always never very too so in on at under behind beside "
    "allergic afraid alone alive asleep available able unable "
    "aware ready sick ill tired hungry busy happy sad glad sorry sure pregnant deaf blind late empty broken due"
)
"""Words that follow `is` and, after an owner, no owner's thing: Leo's allergic, but Leo's boss."""

CANONICAL = {
    "时候": "时",
    "之前": "前",
    "之后": "后",
    "将": "把",  # before a verb, where it is will, no text has 把
    "里面": "里",
    "已经": "已",
    # 加上 means the same as 加, and so on; 上 alone (above, last) carries meaning.
    **{verb + "上": verb for verb in ("加", "带", "写", "配", "填", "附")},
}
"""A word in its longer or emphatic form, and its plain form."""

COMPOUNDS = frozenset({"就是", "就在"})
"""Words that are split into their characters: 就 in them may carry no meaning."""

FINAL_PARTICLES = ("的", "了")
"""Particles at the end of a Chinese word that are split off."""

ENDS_IN_PARTICLE = tables.words("目的 标的 有的 打的 似的 为了 除了 不了 罢了 算了 完了 得了")
"""Words whose last character looks like a particle but is part of the word."""

OPENINGS = (
    *((modal, "you", word) for modal in ("could", "can", "would", "will") for word in ("please", "kindly")),
    *((word,) for word in ("please", "kindly", "actually", "basically", "honestly", "btw", "fyi", "其实")),
)
"""Polite or filling words, longest first. They are ignored only at the start of a text: elsewhere please may
be a verb, and "not actually" is a different fact."""

PRESENT_BE = {"is": True, "are": False, "am": False}
"""Forms of be in the present progressive, and whether the simple present that means the same ends in -s."""

_BE = tables.words("be am is are was were been being")
_MODALS = tables.words("can could may might must shall should will would not")
_PREPOSITIONS = tables.words("in on at for with by of from to as")
NEGATIONS = tables.words(
    "not no never none nobody nothing neither nor cannot without nicht nie niemals nichts ohne weder"
)
"""Words that negate."""

NEGATIVE = "不没别未无非勿"
"""Chinese characters that negate."""

_LIMITS = NEGATIONS - {"without", "ohne"} | tables.words("only just nur bloß")
_LIMITING = frozenset(NEGATIVE + "只仅")
"""Words and characters that negate or limit."""

_TOTAL = ("所有", "全部", "一切", "任何", "每", "各", "大家")
"""How words for all or each start."""

_TIME = ("每", "周", "星期", "凌晨", "早上", "上午", "中午", "下午", "晚上", "今", "明", "昨")
"""How words for a time start."""

_MEANS = frozenset({"用", "由", "靠", "以", "通过"})
"""Words for by means of."""

_COUNTS = tuple("0123456789零一二三四五六七八九十百千万亿两几这那每")
"""Characters at the end of a number."""

_INSTITUTIONS = tuple(
    "大学 学院 中学 小学 医院 银行 公司 日报 晚报 机场 车站 大桥 大厦 饭店 "
    "酒店 图书馆 博物馆 电视台 出版社 研究所 研究院 法院 公园 中心".split()
)
"""How nouns start that make a name with the word before them: 北京大学 is one university, 北京的大学 are several."""

_TITLES = tuple(
    "经理 主任 总监 老师 教授 医生 大夫 护士 律师 老板 董事 主席 书记 局长 校长 "
    "院长 科长 处长 部长 组长 队长 班长 市长 省长 司长 厂长 店长 "
    "行长 所长 秘书 助理 师傅 博士 工程师 会计 先生 女士 小姐 太太 阿姨 叔叔 爷爷 奶奶 哥 姐 总".split()
)
"""How nouns start that make a person with the name before them: 李明经理 is Li Ming, 李明的经理 is his manager."""

_FEELING = tables.words(
    "讨厌 喜欢 喜爱 爱 恨 怕 害怕 担心 羡慕 嫉妒 想念 怀念 想 说 提到 骂 批评 表扬 怀疑 相信 支持 反对"
)
"""Verbs after which 的 changes the meaning: 我讨厌的猫 is a cat that I hate, 我讨厌猫 means I hate cats."""


_COUNTED_BY = tables.words(
    "minute hour day week month year night visit lesson session person head piece kilo kg litre l time"
)
"""Nouns before which a means per."""

_GERMAN_STATES = tables.words(
    "ist hat kostet liegt steht hängt wohnt schließt öffnet beginnt endet dauert fährt wiegt läuft heißt gehört"
)
_FELT = tables.words("kalt warm heiß schlecht übel langweilig schwindlig")
"""What someone is whom German names in the dative: mir ist kalt."""


class Surroundings(NamedTuple):
    """The words around a word in its clause."""

    before: Sequence[str]
    """The last words before it that were kept."""
    previous: str
    """The word directly before it, kept or not."""
    after: Sequence[str]
    """The next words after it, kept or not."""
    limited: bool
    """Whether the text contains not or only anywhere."""
    joined: bool = False
    """Whether the words before and after it are one word, or parts of other words, where they stand together."""

    @property
    def last(self) -> str:
        return self.before[-1] if self.before else ""

    @property
    def following(self) -> str:
        return self.after[0] if self.after else ""


def limits(word: str) -> bool:
    """True if `word` means not or only. A comma, a filler or 了 can change what such a word refers to."""
    return word in _LIMITS or word.startswith("kein") or not _LIMITING.isdisjoint(word)


def negates(word: str) -> bool:
    """True if a folded word says no."""
    return word in NEGATIONS or word.endswith("n't") or word[0] in NEGATIVE or word.startswith("kein")


def long_for_s(following: str) -> str:
    """Return what `'s` before this word is short for: `is`, `has`, or itself where it may be an owner's."""
    if following in {"got", "been"}:
        return "has"
    return "is" if following in _PREDICATES or following[:1].isdigit() else "'s"


def _verb(words: Iterable[str]) -> str:
    """The first word that is not a negation or an adverb in -ly."""
    return next((word for word in words if word not in {"not", "never"} and not word.endswith("ly")), "")


def _is_article(around: Surroundings) -> bool:
    """True if a noun follows: not so in a + b, select a, b, "plan a costs", "hall a is", "team a failed"."""
    following = around.following
    if following in _BE | _MODALS | _PREPOSITIONS | {"or", "and", "has", "have", "had"}:
        return False
    return (
        len(following) > 1 and following.isalnum() and not (without_s(following) or following.endswith("ed"))
    )


def _repeats_total(around: Surroundings) -> bool:
    """True if 都 only repeats a word such as 所有. Next to a negation its position changes the meaning (不都, 都不)."""
    if around.last.endswith(tuple(NEGATIVE)) or around.following.startswith(tuple(NEGATIVE)):
        return False
    return any(word.startswith(_TOTAL) for word in around.before)


def _stresses(around: Surroundings) -> bool:
    """True if 就 only adds stress, as in 就放在, 就是; but 不就是 differs from 不是."""
    stressed = around.following.startswith(("在", "是", "来自")) or around.following.endswith("在")
    return stressed and not around.last.endswith(tuple(NEGATIVE))


def _changes_the_noun(around: Surroundings) -> bool:
    """True if 的 before a noun changes the meaning."""
    if around.joined or around.following.startswith((*_INSTITUTIONS, *_TITLES)):
        return True
    # 咬了猎人的狗 has two meanings: the dog that bit the hunter, or bit the hunter's dog.
    return around.previous in _FEELING or "了" in around.before


def _always(_: Surroundings) -> bool:
    return True


def _if_unlimited(around: Surroundings) -> bool:
    """True if no word limits the clause: "not really ready" is a different fact from "not ready"."""
    return not around.limited


def _is_progressive_be(around: Surroundings) -> bool:
    return bool(without_ing(_verb(around.after)))


_SILENT_IF: dict[str, Callable[[Surroundings], bool]] = {
    "the": _always,
    "a": _is_article,
    # Before a vowel, a silent h or an 8; otherwise "an" is a name in lower case.
    "an": lambda around: around.following.startswith(tuple("aeiouh8")),
    # Two litres a day, two litres per day.
    "per": lambda around: around.following in _COUNTED_BY,
    **dict.fromkeys(("really", "basically", "actually", "simply"), _if_unlimited),
    **dict.fromkeys(("please", "kindly"), lambda around: not around.before and not around.after),
    # "In the editor and in the terminal": the second "in" may be left out.
    **dict.fromkeys(_PREPOSITIONS, lambda around: around.previous == "and" and around.last == "and"),
    # "He is running": in "he runs", the verb alone shows person and time.
    **dict.fromkeys(PRESENT_BE, _is_progressive_be),
    **dict.fromkeys(("一下", "呀", "哦", "啦", "呢", "嘛", "啊"), _always),
    "的": lambda around: not _changes_the_noun(around),
    # 去了 is past, 要来了 and 不抽了 are a change; after 已 and 太 it adds no meaning.
    "了": lambda around: not around.limited and any(word[0] in "已太" for word in around.before),
    "都": _repeats_total,
    "就": _stresses,
    # 在每月一号 means 每月一号; but 不在每周一 differs from 不每周一.
    "在": lambda around: around.following.startswith(_TIME) and not around.last.endswith(tuple(NEGATIVE)),
    # 在日志里 means 在日志; but 三里 is three miles.
    "里": lambda around: "在" in "".join(around.before) and not around.last.endswith(_COUNTS),
    # 用 Redis 来做 means 用 Redis 做; but 来 alone means to come.
    "来": lambda around: bool(around.after) and not _MEANS.isdisjoint(around.before),
    # 项目所使用 means 项目使用; but 三所 counts houses.
    "所": lambda around: bool(around.after and around.before) and not around.last.endswith(_COUNTS),
    "要": lambda around: around.last == "必须",
    # 3个人 means 3人; but 3个月 is not 3月.
    "个": lambda around: around.last.isdigit() and around.following.startswith("人"),
    # In 用的是 and 是由王芳整理的 it adds no meaning; but 他是老板 differs from 他老板.
    "是": lambda around: around.previous == "的" or around.following in {"由", "从", "在"},
}
"""For each word that can be without meaning, when it is."""


def opens_a_state(words: Sequence[str]) -> bool:
    """True if a German text begins with an article, a noun and a verb of state: a heading says it without the article.

    "Mutter ist kalt" is not "der Mutter ist kalt".
    """
    if len(words) < 4:
        return False
    article, noun, verb, complement = words[:4]
    return (
        article in {"Der", "Die", "Das"}
        and noun[0].isupper()
        and verb in _GERMAN_STATES
        and complement not in _FELT
    )


def is_silent(word: str, around: Surroundings) -> bool:
    """True if `word` carries no meaning in these surroundings."""
    return word in _SILENT_IF and _SILENT_IF[word](around)


def progressive_be(before: Sequence[str], word: str) -> str:
    """The `is` of "is (not) running" if `word` is its "running", else empty; `before` is the clause before `word`."""
    be = _verb(before[::-1])
    return be if be in PRESENT_BE and without_ing(word) else ""
