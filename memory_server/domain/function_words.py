"""Words and endings that may differ between two texts that say the same: closed lists, English and Chinese.

What is missing here costs a merge; what is wrongly here costs somebody a fact. So what is doubtful stays out:
prepositions, pronouns, quantifiers, modals, negations and adverbs of time or degree all carry meaning.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# --- Endings ---------------------------------------------------------------------------------------------

_FORMS = """
    become became, begin began begun, bring brought, build built, buy bought, catch caught, choose chose
    chosen, come came, deal dealt, draw drew drawn, drink drank drunk, drive drove driven, eat ate eaten,
    fight fought, fly flew flown, forget forgot forgotten, give gave given, go goes went gone, grow grew
    grown, hear heard, hide hid hidden, hold held, keep kept, know knew known, learn learnt, lose lost, make
    made, mean meant, meet met, pay paid, ride rode ridden, run ran, say said, seek sought, sell sold, send
    sent, show shown, sing sang sung, sleep slept, speak spoke spoken, spend spent, stand stood, steal stole
    stolen, swim swam swum, take took taken, teach taught, tell told, think thought, throw threw thrown,
    understand understood, wear wore worn, win won, write wrote written, man men, woman women, person
    people, child children
"""
_IRREGULAR = {form: verb.split()[0] for verb in _FORMS.split(",") for form in verb.split()[1:]}
"""Only forms that are no other word: saw, felt, found, left, led, lay, rose and the like stay out."""

_NO_INFLECTION = (
    # Words of their own that end like a form of another.
    _set("news means goods customs arms species windows pandas rails ones ours yours theirs imaps ldaps ftps")
    | _set("need seed feed speed breed bleed shed indeed exceed embed hers besides sometimes")
    | _set("tens twenties thirties forties fifties sixties seventies eighties nineties")
    | _set("hundred hundreds thousands millions billions")
    # A weekday is one day, its plural every week.
    | _set("mondays tuesdays wednesdays thursdays fridays saturdays sundays weekends")
    # Family names beside the first names they come from.
    | _set("williams roberts peters andrews stephens adams edwards rogers daniels richards harris phillips")
    | _set("jacobs james jones davids matthews simons abrams owens evans hopkins")
)
_WORD = re.compile(r"[a-z]{4,}")
_STEM = re.compile(r"(?=.*[aeiouy])[a-z]{3,}")
"""What must be left: https is not the plural of http."""
_SHORT = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]")
"""A stem like `stop` or `fil`, which doubles its consonant: so `filed` is from file and `filled` is not."""
_DOUBLED = re.compile(r"([b-df-hj-np-tvz])\1$")


def _without_s(word: str) -> set[str]:
    stems = {word[:-1]} if word.endswith("s") and word[-2] not in "s'" else set()
    if word.endswith("ies"):
        stems.add(word[:-3] + "y")
    if word.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
        stems.add(word[:-2])
    return stems


def _without(word: str, ending: str) -> set[str]:
    """Stems of a form in -ed or -ing: stopp-ed is stop, retri-ed retry, us-ed use, add-ed add."""
    if not word.endswith(ending):
        return set()
    stem = word.removesuffix(ending)
    stems = {stem + "e"}
    if not _SHORT.fullmatch(stem):
        stems.add(stem)
    if _DOUBLED.search(stem):
        stems.add(stem[:-1])
    if stem.endswith("i"):
        stems.add(stem[:-1] + "y")
    return stems


@lru_cache(maxsize=10_000)
def bases(word: str, opening: bool = False, progressive: bool = False) -> frozenset[str]:
    """`word` and what it may be a form of; two words are forms of one verb or noun if their bases meet.

    Only endings of inflection go, so police and policy, organ and organizer stay apart, and -ing only in
    `progressive` use, for a training is not a train. At the `opening` of a clause -ed stays as well:
    "Fix the login" is a task and "Fixed the login" is none.
    """
    found = {word}
    if _WORD.fullmatch(word) and word not in _NO_INFLECTION:
        found |= _without_s(word)
        if progressive:
            found |= _without(word, "ing")
        if not opening:
            found |= _without(word, "ed")
    if not opening and word in _IRREGULAR:
        found.add(_IRREGULAR[word])
    return frozenset(base for base in found if base == word or _STEM.fullmatch(base) or base == "go")


def _is_ing_form(word: str) -> bool:
    return word == "being" or (word.endswith("ing") and len(bases(word, progressive=True)) > 1)


def _is_participle(word: str) -> bool:
    return word in _IRREGULAR or (word.endswith("ed") and len(bases(word)) > 1)


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
"""Words after which `'s` is the verb; after any other it marks the owner."""

_MODALS = _set("can could may might must shall should will would not")
_HAVE = _set("have has had having")
_BE = _set("be am is are was were been being")
_GET = _set("get gets got getting gotten")
CANONICAL = {
    **dict.fromkeys(_HAVE, "have"),
    **dict.fromkeys(("does", "did"), "do"),
    "时候": "时",
    "里面": "里",
    "已经": "已",
    # 加上 is 加 with the result spelt out, and so on; 上 alone (above, last) carries meaning.
    **{verb + "上": verb for verb in ("加", "带", "写", "配", "填", "附")},
}
"""One form for a word in any tense, or in its longer or emphatic form."""

COMPOUNDS = frozenset({"就是", "就在"})
FINAL_PARTICLES = ("的", "了")
ENDS_IN_PARTICLE = _set("目的 标的 有的 打的 似的 为了 除了 不了 罢了 算了 完了 得了")
"""Words whose last character looks like a particle and is none."""

_ASKING = ("could", "can", "would", "will")
_PLEASE = ("请", "麻烦", "劳驾", "拜托", "烦请")
POLITE_OPENINGS = (
    *((modal, "you", word) for modal in _ASKING for word in ("please", "kindly")),
    *(("could", "you"), ("would", "you"), ("please",), ("kindly",)),
    *((word, you) for word in _PLEASE for you in ("你", "您")),
    *((word,) for word in _PLEASE),
)
"""Longest first. Only at the very start of a text: 请 within it is to invite, 麻烦 is trouble."""

_FILLERS = _set(
    "an the please kindly really basically actually simply essentially literally honestly btw fyi"
) | _set("其实 的 了 一下 吧 呀 哦 啦 呢 嘛 啊")
_SUBJECTS = _set("i we you he she it they")
_PREPOSITIONS = _set("in on at for with by of from to as")
_SCOPE = _set("not no never none only just 只 仅")
_NEGATIVE = ("不", "没", "别", "未", "无", "非", "勿")
_TOTAL = ("所有", "全部", "一切", "任何", "每", "各", "大家")
_TIME = ("每", "周", "星期", "凌晨", "早上", "上午", "中午", "下午", "晚上", "今", "明", "昨")
_MEANS = frozenset({"用", "由", "靠", "以", "通过"})
_COUNTS = tuple("0123456789零一二三四五六七八九十百千万亿两几这那每")


class Place(NamedTuple):
    """Where in its clause a word stands, which is no filler."""

    previous: str
    """The word right in front of it, whatever it is."""
    before: Sequence[str]
    """The words that were kept."""
    after: Sequence[str]
    """The words that follow, without fillers."""

    @property
    def last(self) -> str:
        return self.before[-1] if self.before else ""

    @property
    def following(self) -> str:
        return self.after[0] if self.after else ""

    @property
    def verb(self) -> str:
        return _verb(self.after)


def _verb(words: Iterable[str]) -> str:
    """The first word that is neither a negation nor an adverb in -ly."""
    return next((word for word in words if word not in {"not", "never"} and not word.endswith("ly")), "")


def _is_article(place: Place) -> bool:
    """Not the A of "plan A costs", "hall A" or "team A failed": no noun can follow at once."""
    following = place.following
    return not (following in {"", "or", *_BE, *_HAVE, *_MODALS, *_PREPOSITIONS} or len(bases(following)) > 1)


def _repeats(word: str, before: Sequence[str]) -> bool:
    """In the editor and (in) the terminal, are rotated and (are) kept; but not is in Oslo and is paid."""
    if word == "be":
        return any(first == "be" and _is_participle(second) for first, second in pairwise(before))
    return word in _PREPOSITIONS and word in before


def _repeats_total(place: Place) -> bool:
    """所有副本都…: 都 only repeats 所有. Beside a negation its place decides (不都, 都不)."""
    if place.last.endswith(_NEGATIVE) or place.following.startswith(_NEGATIVE):
        return False
    return any(word.startswith(_TOTAL) for word in place.before)


def _stresses(place: Place) -> bool:
    """就放在, 就是; but 不就是 is not 不是."""
    placed = place.following.startswith(("在", "是", "来自")) or place.following.endswith("在")
    return placed and not place.last.endswith(_NEGATIVE)


_SILENT_IF: dict[str, Callable[[Place], bool]] = {
    "a": _is_article,
    # It only joins what follows; but "not this and that" is not "not this, that".
    "and": lambda place: not any(map(governs, place.before)),
    # He said that it works; but in "I know that" it points to something, as `this` always does.
    "that": lambda place: bool(place.after),
    # He has paid / he paid is an inflection, and so is he is running; he is paid / he paid is another fact.
    "be": lambda place: _is_ing_form(place.verb),
    "have": lambda place: place.verb in _BE or _is_participle(place.verb),
    "do": lambda place: place.following == "not",
    # I just found out; but "just two" and "just admins" mean only.
    "just": lambda place: place.last in _SUBJECTS,
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
    # 更快一些; but 一些副本 is a quantity.
    **dict.fromkeys(("一些", "一点"), lambda place: not place.after),
}


def governs(word: str) -> bool:
    """Whether punctuation after `word` decides what it is said of: No, deploy / no deploy; 不，要 / 不要."""
    return word in _SCOPE or word.startswith(_NEGATIVE)


def is_filler(word: str) -> bool:
    """Articles, particles, politeness: silent wherever they stand."""
    return word in _FILLERS


def is_silent(word: str, place: Place) -> bool:
    """Whether `word`, which is no filler, carries no meaning in its place either."""
    if place.previous == "and" and _repeats(word, place.before):
        return True
    return word in _SILENT_IF and _SILENT_IF[word](place)


def is_progressive(before: Sequence[str], word: str) -> bool:
    """Whether `word` is the running of "is (not) running"; `before` is the clause up to it, with fillers."""
    return _is_ing_form(word) and _verb(before[::-1]) in _BE


def plain(word: str, after: Sequence[str]) -> str:
    """The one form of `word`, whatever its tense or length; get is be in `get rotated`."""
    if word in _BE or (word in _GET and after and _is_participle(after[0])):
        return "be"
    return CANONICAL.get(word, word)
