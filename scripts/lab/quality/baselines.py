"""The baselines: plain BM25 and the exact cosine, each alone, without the product's search."""

import re
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from math import log

import numpy as np
import snowballstemmer

from memory_server.embedding import Embedder
from memory_server.language.query import CHINESE_STOP_WORDS, ENGLISH_STOP_WORDS, STOP_CHARACTERS
from memory_server.language.text import HAN, fold
from quality.data import Memory, Question
from quality.doors import Answer
from quality.measures import FIRST

K1 = 1.2
B = 0.75
"""The usual constants of BM25 (Robertson and Zaragoza, 2009)."""

_RUN = re.compile(f"[{HAN}]+|[^\\W_{HAN}]+")
_CHINESE_STOPS = re.compile("|".join(CHINESE_STOP_WORDS))
_stem = snowballstemmer.stemmer("porter").stemWord


def terms(text: str) -> list[str]:
    """Stemmed words without stop words, and overlapping pairs of Han characters."""
    found: list[str] = []
    for run in _RUN.findall(fold(text)):
        if not re.match(f"[{HAN}]", run):
            found += [] if run in ENGLISH_STOP_WORDS else [_stem(run)]
            continue
        for part in _CHINESE_STOPS.split(run):
            pairs = [part[i : i + 2] for i in range(len(part) - 1)] or [part]
            found += [pair for pair in pairs if pair and not STOP_CHARACTERS.intersection(pair)]
    return found


class Bm25:
    """BM25 over all memories, with the inverse document frequency that is never below 0."""

    def __init__(self, memories: Sequence[Memory]) -> None:
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        lengths = []
        for place, memory in enumerate(memories):
            counts = Counter(terms(memory.text))
            lengths.append(sum(counts.values()))
            for term, number in counts.items():
                self._postings[term].append((place, number))
        mean = sum(lengths) / len(lengths) or 1.0
        self._norms = [K1 * (1 - B + B * length / mean) for length in lengths]

    def ask(self, question: Question) -> Answer:
        cpu, wall = time.process_time(), time.perf_counter()
        scores: dict[int, float] = defaultdict(float)
        for term in set(terms(question.text)):
            postings = self._postings.get(term, [])
            idf = log(1 + (len(self._norms) - len(postings) + 0.5) / (len(postings) + 0.5))
            for place, number in postings:
                scores[place] += idf * number * (K1 + 1) / (number + self._norms[place])
        best = sorted(scores.items(), key=lambda item: (-item[1], -item[0]))[:FIRST]
        return Answer(best, 1000 * (time.process_time() - cpu), 1000 * (time.perf_counter() - wall))


class Cosine:
    """The cosine between the vectors of a question and of each memory."""

    def __init__(self, memories: Sequence[Memory], embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors = np.array(embedder.embed_documents([memory.text for memory in memories]))

    def ask(self, question: Question) -> Answer:
        cpu, wall = time.process_time(), time.perf_counter()
        cosines = self._vectors @ self._embedder.embed_questions([question.text])[0]
        best = np.argsort(-cosines, kind="stable")[:FIRST].tolist()
        hits = [(place, float(cosines[place])) for place in best]
        return Answer(hits, 1000 * (time.process_time() - cpu), 1000 * (time.perf_counter() - wall))
