"""Keywords by jieba's table of word frequencies for Chinese and Snowball's stems for English."""

import re
import threading
from functools import lru_cache
from importlib.resources import files
from typing import Any

from memory_server.domain.short_term import Keyword, tf_idf
from memory_server.language.query import CHINESE_STOP_WORDS, ENGLISH_STOP_WORDS, STOP_CHARACTERS
from memory_server.language.text import has_han, words
from memory_server.nlp import Segmenter

MEDIAN_IDF = 11.9547675029
"""What jieba gives a word that is not in its table, and so every English one: the median of the table."""

COMMON_IDF = 4.5
"""What English words have that every conversation holds: so much do 需要, 知道, 东西, 使用 have in the table."""

TELLING = 5.0
"""A single Han character with less is as common as 去 or 很 and says nothing of a text; 茶 has 5.9, 猫 7.7."""

LONGEST = 100
"""Characters. What runs on for longer is no word but data, such as an image in base64."""

_STOP_WORDS = ENGLISH_STOP_WORDS | frozenset(CHINESE_STOP_WORDS) | STOP_CHARACTERS
_PLAIN = re.compile(r"[a-z]{3,}(?:['’]s)?")
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
"""Their stems. No stop words: a question of them alone still finds what holds them."""

_THOUSANDS = re.compile(r"(?<![\d.,])[0-9]{1,3}(?:,[0-9]{3})+(?![\d,])")
_DATE = re.compile(r"([0-9]{4})[/.-]([0-9]{1,2})[/.-]([0-9]{1,2})")
_CHINESE_DATE = re.compile(r"([0-9]{4})\s?年\s?([0-9]{1,2})\s?月\s?([0-9]{1,2})\s?[日号號]")
_SEAM = re.compile(r"[/:@#]+")
"""Between the parts of a path, an address or a `name:value`, which are words too; `pve-01` and `v1.2` have none."""


class JiebaKeywords:
    """TF-IDF with jieba's frequencies; its table is read at the first Chinese word (a quarter of a second)."""

    def __init__(self, segmenter: Segmenter) -> None:
        self._segmenter = segmenter
        self._lock = threading.Lock()
        self._frequencies: dict[str, float] = {}
        self._stemmer: Any = None
        self._stem = lru_cache(maxsize=8192)(self._stemmed)

    def extract(self, text: str) -> list[Keyword]:
        text = _CHINESE_DATE.sub(_iso, _THOUSANDS.sub(lambda number: number[0].replace(",", ""), text))
        found: list[tuple[str, str]] = []
        for token in words(text, self._segmenter.segment):
            for word in _parts(token):
                if word not in _STOP_WORDS and self._tells(word):
                    found.append((self._stem(word) if _PLAIN.fullmatch(word) else word, word))
        return tf_idf(found, self._idf, self._overlapping(text))

    def _overlapping(self, text: str) -> list[str]:
        """Chinese words that the cut may have missed: 后端 where it made 后 and 端, 牛肉 in 牛肉面."""
        return [
            word
            for word in words(text, self._segmenter.overlapping)
            if has_han(word) and word not in _STOP_WORDS and self._tells(word)
        ]

    def _stemmed(self, word: str) -> str:
        with self._lock:  # a stemmer keeps the word that it works on
            if self._stemmer is None:
                import snowballstemmer  # every language of it: 20 ms

                self._stemmer = snowballstemmer.stemmer("english")
            return str(self._stemmer.stemWord(word))

    def _tells(self, word: str) -> bool:
        if len(word) > 1:
            return len(word) <= LONGEST
        return self._idf(word) >= TELLING if has_han(word) else word.isdigit()

    def _idf(self, word: str) -> float:
        if not has_han(word):
            return COMMON_IDF if word in _COMMON else MEDIAN_IDF
        return self._table().get(word, MEDIAN_IDF)

    def _table(self) -> dict[str, float]:
        """Read as the file that it is: importing `jieba.analyse` also loads a tagger, 100 MB more."""
        with self._lock:
            if not self._frequencies:
                lines = (files("jieba") / "analyse" / "idf.txt").read_text(encoding="utf-8").splitlines()
                self._frequencies = {
                    word: float(idf) for word, _, idf in (line.partition(" ") for line in lines)
                }
            return self._frequencies


def _parts(token: str) -> list[str]:
    """A token whole, and the parts between its seams unless all are numbers; a date always in the same spelling."""
    if date := _DATE.fullmatch(token):
        return [_spelled(date)]
    parts = [part for part in _SEAM.split(token) if part]
    return [token, *parts] if len(parts) > 1 and not all(map(str.isdigit, parts)) else [token]


def _iso(date: re.Match[str]) -> str:
    return f" {_spelled(date)} "


def _spelled(date: re.Match[str]) -> str:
    return f"{date[1]}-{date[2]:0>2}-{date[3]:0>2}"
