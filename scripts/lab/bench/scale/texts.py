"""Memories of any number, the same every time: words of Zipf's frequencies in English and Chinese, topics, projects.

The first thousand memories of a larger number are those of a smaller one. A topic is a handful of words that its
memories share; its language is English, or Chinese for one topic of five. What no list of words has is made of
syllables.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

import jieba
import numpy as np
from numpy.typing import NDArray

from memory_server.domain.memory import MemoryType
from memory_server.language import background

BATCH = 1000
"""Memories that are made together; each batch has a seed of its own."""

TOPICS = 400
CHINESE_EACH = 5
"""One topic of so many is Chinese."""
TOPIC_WORDS = 30
ABOUT = 0.4
"""Share of the words of a memory that are its topic's."""

WORDS = 50_000
"""Words of each language."""
SHIFT = 2.7
"""Frequency is 1 / (rank + SHIFT), as Zipf and Mandelbrot found in English."""
GRAMMAR = (
    "the of and to a in is it for that on with as was be by this are at from or not have but we they".split()
)
COMMON = 200
"""The most frequent words, which no topic has for its own."""

PROJECTS = [f"project-{number:02}" for number in range(1, 31)]
"""Their sizes are as 1 : 1/2 : 1/3 and so on."""
LARGE, SMALL = PROJECTS[0], PROJECTS[-1]
"""25 % and 0.8 % of the memories."""

_NUMBERED = 0.3
"""Share of the texts that end with a number that hardly another has."""

Shares: TypeAlias = NDArray[np.float64]
"""Cumulated shares of shape (number,), ending with 1."""


@dataclass(frozen=True, slots=True)
class Text:
    """What one memory says, and how it is filed; `topic` is its number."""

    content: str
    topic: int
    type: MemoryType
    project: str
    importance: int
    tags: tuple[str, ...]


def batch(number: int) -> list[Text]:
    """The memories number * BATCH up to the next batch."""
    chance = np.random.default_rng((1, number))
    kinds = list(MemoryType)
    topics = _drawn(chance, _zipf(TOPICS), BATCH)
    projects = _drawn(chance, _zipf(len(PROJECTS), shift=0), BATCH)
    types, importance = chance.integers(0, len(kinds), BATCH), chance.integers(1, 11, BATCH)
    contents = _contents(chance, topics)
    return [
        Text(
            content,
            int(topic),
            kinds[int(types[at])],
            PROJECTS[int(projects[at])],
            int(importance[at]),
            (_topic(int(topic))[0],) if at % 7 == 0 else (),
        )
        for at, (content, topic) in enumerate(zip(contents, topics, strict=True))
    ]


def first(count: int, after: int = 0) -> list[Text]:
    """So many memories in order, after so many."""
    batches = range(after // BATCH, (after + count - 1) // BATCH + 1)
    made = [text for number in batches for text in batch(number)]
    start = after - batches[0] * BATCH
    return made[start : start + count]


def questions(count: int) -> list[str]:
    """Questions of four to seven words, most of them of one topic."""
    chance = np.random.default_rng(2)
    return [_question(chance) for _ in range(count)]


def of_topics() -> list[str]:
    """For each topic a text of its words alone: what its vector is made of."""
    return [_joined(_topic(topic), topic) for topic in range(TOPICS)]


def _contents(chance: np.random.Generator, topics: NDArray[np.int64]) -> list[str]:
    lengths = np.clip(chance.lognormal(np.log(19), 0.5, BATCH), 5, 120).astype(int)
    total = int(lengths.sum())
    of_topic = chance.random(total) < ABOUT
    own = _drawn(chance, _zipf(TOPIC_WORDS), total)
    common = _drawn(chance, _zipf(WORDS), total)
    references = chance.integers(1, 1_000_000, BATCH)
    numbered = chance.random(BATCH) < _NUMBERED
    contents, at = [], 0
    for number, length in enumerate(lengths):
        topic = int(topics[number])
        words, mine = _words(_is_chinese(topic)), _topic(topic)
        said = [mine[own[i]] if of_topic[i] else words[common[i]] for i in range(at, at + length)]
        at += length
        contents.append(_sentence(said, topic, int(references[number]) if numbered[number] else None))
    return contents


def _sentence(words: list[str], topic: int, reference: int | None) -> str:
    chinese = _is_chinese(topic)
    text = _joined(words, topic)
    if reference is not None:
        text += f"，编号{reference}" if chinese else f", ref {reference}"
    return f"{text}。" if chinese else f"{text[0].upper()}{text[1:]}."


def _question(chance: np.random.Generator) -> str:
    topic = int(_drawn(chance, _zipf(TOPICS), 1)[0])
    chinese = _is_chinese(topic)
    asked = [_topic(topic)[at] for at in _drawn(chance, _zipf(TOPIC_WORDS), int(chance.integers(3, 6)))]
    asked += [_words(chinese)[at] for at in _drawn(chance, _zipf(WORDS), 1)]
    return f"{''.join(asked)}是什么？" if chinese else f"What about {' '.join(asked)}?"


def _joined(words: list[str], topic: int) -> str:
    return ("" if _is_chinese(topic) else " ").join(words)


def _is_chinese(topic: int) -> bool:
    return topic % CHINESE_EACH == CHINESE_EACH - 1


@cache
def _topic(topic: int) -> list[str]:
    chance = np.random.default_rng((3, topic))
    words = _words(_is_chinese(topic))
    return [words[COMMON + at] for at in _drawn(chance, _zipf(WORDS - COMMON, shift=60), TOPIC_WORDS)]


@cache
def _words(chinese: bool) -> list[str]:
    """The words of a language, the most frequent first."""
    return _chinese() if chinese else _english()


def _english() -> list[str]:
    """Words of grammar, what is common in ordinary texts, and words made of syllables."""
    path = Path(background.__file__).with_name("background.json")
    shares: dict[str, float] = json.loads(path.read_text(encoding="utf-8"))
    usual = sorted(
        (word for word in shares if word.isascii() and word.isalpha()), key=lambda word: -shares[word]
    )
    words = dict.fromkeys([*GRAMMAR, *usual])
    chance = np.random.default_rng(4)
    while len(words) < WORDS:
        begins, vowels = chance.choice(list("bcdfghklmnprstvz"), 3), chance.choice(list("aeiou"), 3)
        word = "".join(map(str.__add__, begins, vowels))
        words[word[: int(chance.integers(4, 7))] + str(chance.choice(["n", "r", "s", "t", "l"]))] = None
    return list(words)


def _chinese() -> list[str]:
    """jieba's dictionary: words of two characters and more, and the commonest of one, by their frequency."""
    with jieba.get_dict_file() as file:
        entries = [line.decode().split()[:2] for line in file]
    known = sorted(entries, key=lambda entry: -int(entry[1]))
    return [word for word, _ in known if not word.isascii()][:WORDS]


@cache
def _zipf(number: int, shift: float = SHIFT) -> Shares:
    shares = 1 / (np.arange(1, number + 1) + shift)
    cumulated: Shares = np.cumsum(shares) / shares.sum()
    return cumulated


def _drawn(chance: np.random.Generator, shares: Shares, count: int) -> NDArray[np.int64]:
    """So many ranks from 0, by their shares."""
    return np.minimum(np.searchsorted(shares, chance.random(count)), len(shares) - 1)
