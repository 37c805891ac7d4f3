"""Finds keywords: Chinese by jieba's table of word frequencies, English by Snowball stems."""

import re
import threading
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any

from memory_server.domain.short_term import SEAM, Keyword, tf_idf
from memory_server.language import dates, numbers
from memory_server.language.query import (
    CHINESE_STOP_WORDS,
    ENGLISH_STOP_WORDS,
    GERMAN_STOP_WORDS,
    STOP_CHARACTERS,
)
from memory_server.language.text import fold, has_han, words
from memory_server.nlp import Segmenter
from memory_server.nlp.compat import idf_table
from memory_server.nlp.user_words import NO_WORDS, UserWords

MEDIAN_IDF = 11.9547675029
"""The inverse document frequency (IDF) of a word that is not in jieba's table, such as every English word: the median
of the table, as in jieba itself."""

COMMON_IDF = 4.5
"""The IDF of English words that occur in every conversation: that of 需要, 知道, 东西, 使用 in jieba's table."""

TELLING = 5.0
"""The least IDF of a keyword of one Han character. Common ones such as 去 and 很 are below it; 茶 has 5.9, 猫 7.7."""

LONGEST = 100
"""Characters of the longest keyword. Longer runs are data rather than words, such as an image in base64."""

STEMS = 8192
"""English words whose stem is cached. A choice: more than the different words of a long conversation."""

_STOP_WORDS = ENGLISH_STOP_WORDS | GERMAN_STOP_WORDS | frozenset(CHINESE_STOP_WORDS) | STOP_CHARACTERS
"""Words that are never keywords."""

_PLAIN = re.compile(r"[a-z]{3,}(?:['’]s)?")
"""English words that are stemmed."""

_COMMON = frozenset(
    """
    abl actual alreadi alway anoth anyth ask back becom believ best better big call came come cours day
    definit els enough even ever everyon everyth fact feel felt find fine first found gave give go goe
    gone good got great guess happen hear hello help hey hi idea keep kept kind knew know known last let
    like littl long look lot made make mani mayb mean might mind much must need never new nice noth now
    ok okay old part peopl perhap pleas point possibl probabl put quit rather real realli reason right
    said saw say see seem seen set shall show sinc someon someth soon sorri sort start still stuff sure
    take talk tell thank thing think thought time today told took tri turn understand use usual want way
    well went whether without word work yes yet
    """.split()
)
"""Stems of English words that occur in every conversation; they get COMMON_IDF. They are not stop words: a question of
only such words still finds texts. A list by hand."""

_DATE = re.compile(r"([0-9]{4})[/.-]([0-9]{1,2})[/.-]([0-9]{1,2})")
_CHINESE_DATE = re.compile(r"([0-9]{4})\s?年\s?([0-9]{1,2})\s?月\s?([0-9]{1,2})\s?[日号號]")

_HYPHENATED = re.compile(r"(?=.*[a-z])[^\W_]+(?:-[^\W_]+)+")
"""`multi-tenant`, `tmp-36`; a date in digits is none."""

_VERSION = re.compile(r"v(\d+(?:\.\d+)+.*)")

_MAY_BE_DATE = re.compile("[0-9\uff10-\uff19月]")

_CUT_OFF = "".join(STOP_CHARACTERS) + "我你他她它您咱谁以于为被把对有不没很太挺该会能要让将更最再来去"
"""Chinese function words that jieba takes for a part of a word where it does not know the word. A list by hand."""

_SINGULARS = {
    plural: singular
    for pair in """
    analyses/analysis appendices/appendix axes/axis buses/bus calves/calf children/child crises/crisis
    criteria/criterion diagnoses/diagnosis feet/foot gases/gas geese/goose grandchildren/grandchild halves/half
    hypotheses/hypothesis indices/index knives/knife lice/louse loaves/loaf matrices/matrix men/man mice/mouse
    oxen/ox parentheses/parenthesis phenomena/phenomenon scarves/scarf schemata/schema shelves/shelf
    teeth/tooth theses/thesis thieves/thief vertices/vertex wives/wife wolves/wolf women/woman
    """.split()
    for plural, singular in [pair.split("/")]
}
"""English plurals whose stem is not that of the singular. A list by hand; `leaves` and `lives` are verbs too."""


class JiebaKeywords:
    """TF-IDF with jieba's frequencies; the table is read at the first Chinese word (0.25 s).

    A word of the user is a keyword even if it is common or, in an alphabet, has spaces; an ignored word is none.
    """

    def __init__(self, segmenter: Segmenter, user_words: UserWords = NO_WORDS) -> None:
        self._segmenter = segmenter
        self._user_words = user_words
        self._lock = threading.Lock()
        self._stemmer: Any = None
        self._stem = lru_cache(maxsize=STEMS)(self._stemmed)

    def extract(self, text: str) -> list[Keyword]:
        text = _CHINESE_DATE.sub(_iso, numbers.without_commas(text))
        weighed = [
            (self._stem(word) if _PLAIN.fullmatch(word) else word, word)
            for token in words(text, self._segmenter.segment)
            for word in map(self._whole, _parts(token))
            if word not in _STOP_WORDS and self._tells(word)
        ]
        weighed += [(word, word) for word in self._user_words.within(fold(text)) if not _is_han(word)]
        seconds = [(second, word) for _, word in weighed for second in self._second_spellings(word)]
        also = [*self._overlapping(text), *seconds, *_days(text)]
        return tf_idf(self._without_ignored(weighed), self._idf, self._without_ignored(also))

    @cached_property
    def ignored(self) -> frozenset[str]:
        """The words that are never keywords, as keywords are written: without the endings of English."""
        words_ignored = self._user_words.ignored
        return words_ignored.union(self._stem(word) for word in words_ignored if _PLAIN.fullmatch(word))

    def _without_ignored(self, pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
        if not self._user_words.ignored:
            return pairs
        return [(word, form) for word, form in pairs if word not in self.ignored]

    def _overlapping(self, text: str) -> list[tuple[str, str]]:
        """Chinese words that the segmentation may have missed: 后端 if it was split into 后 and 端, 牛肉 in 牛肉面."""
        return [
            (word, word)
            for word in words(text, self._segmenter.overlapping)
            if has_han(word) and word not in _STOP_WORDS and self._tells(word)
        ]

    def _whole(self, word: str) -> str:
        """Strip function words from the ends of a Chinese word that jieba made up: 算 of 来算."""
        unknown = word not in self._user_words.weights
        if len(word) > 1 and unknown and has_han(word) and word not in self._table():
            return word.strip(_CUT_OFF)
        return word

    def _second_spellings(self, word: str) -> Iterator[str]:
        """`multitenant` for `multi-tenant`, `3.12.4` for `v3.12.4`, the stem of `mouse` for `mice`."""
        if _HYPHENATED.fullmatch(word):
            joined = word.replace("-", "")
            if joined not in _STOP_WORDS:
                yield self._stem(joined) if _PLAIN.fullmatch(joined) else joined
        if version := _VERSION.fullmatch(word):
            yield version[1]
        if word in _SINGULARS:
            yield self._stem(_SINGULARS[word])

    def _stemmed(self, word: str) -> str:
        with self._lock:  # a stemmer stores its current word, so threads must not share it
            if self._stemmer is None:
                import snowballstemmer  # imports all its languages, which takes 20 ms

                self._stemmer = snowballstemmer.stemmer("english")
            return str(self._stemmer.stemWord(word))

    def _tells(self, word: str) -> bool:
        if len(word) != 1 or word in self._user_words.weights:
            return 0 < len(word) <= LONGEST
        return self._idf(word) >= TELLING if has_han(word) else word.isdigit()

    def _idf(self, word: str) -> float:
        if not has_han(word):
            return COMMON_IDF if word in _COMMON else MEDIAN_IDF
        return self._table().get(word, MEDIAN_IDF)

    def _table(self) -> Mapping[str, float]:
        with self._lock:  # threads that come at once must not each read it
            return idf_table()


def _is_han(word: str) -> bool:
    """True if jieba cuts a word: it has Chinese characters only."""
    return all(map(has_han, word))


def _parts(token: str) -> list[str]:
    """A token, and its parts unless all of them are numbers; a date always in the same spelling."""
    if date := _DATE.fullmatch(token):
        return [_spelled(date)]
    parts = [part for part in SEAM.split(token) if part]
    return [token, *parts] if len(parts) > 1 and not all(map(str.isdigit, parts)) else [token]


def _days(text: str) -> Iterator[tuple[str, str]]:
    """The days that a text names as words, with and without the year, each with its longest form."""
    if _MAY_BE_DATE.search(text):
        for day in dates.spelled(numbers.in_digits(fold(text))):
            yield day, day
            if day != day[-5:]:
                yield day[-5:], day


def _iso(date: re.Match[str]) -> str:
    return f" {_spelled(date)} "


def _spelled(date: re.Match[str]) -> str:
    return f"{date[1]}-{date[2]:0>2}-{date[3]:0>2}"
